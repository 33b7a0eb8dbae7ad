import BillowEngine
package import BillowTiles
import Turbulence

/// The z/x/y part of a tile's path: plain decimal digits, and the suffix `.png`, `@2x.png`, `@3x.png`, `.mvt` or
/// `.pbf`. The last two are equivalent.
package struct TilePath {
    package enum Format: Sendable, Hashable {
        case picture, vector
    }

    package let format: Format
    package let coord: TileCoord
    let scale: TileScale

    init(z: String, x: String, y: String) throws(ParameterProblem) {
        var row = y[...]
        let suffixes: [(String, Format)] = [(".png", .picture), (".mvt", .vector), (".pbf", .vector)]
        guard let format = suffixes.first(where: { row.hasSuffix($0.0) })?.1 else {
            throw Self.unreadable("y", y, "a number followed by .png, @2x.png, @3x.png, .mvt or .pbf")
        }
        self.format = format
        row = row.dropLast(4)
        if format == .picture, let at = row.firstIndex(of: "@") {
            guard let scale = TileScale.allCases.first(where: { $0 != .one && row[at...] == "@\($0.rawValue)x" }) else {
                throw Self.unreadable("y", y, "a number followed by .png, @2x.png, @3x.png, .mvt or .pbf")
            }
            self.scale = scale
            row = row[..<at]
        } else {
            scale = .one
        }
        func number(_ name: String, _ text: some StringProtocol) throws(ParameterProblem) -> Int {
            if let value = Digits.integer(text) { return value }
            // The number is valid but too large, and outside every range.
            if Digits.areTooMany(text) { return .max }
            throw Self.unreadable(name, String(text), "a whole number in plain digits")
        }
        let zoom = try number("z", z)
        let column = try number("x", x)
        let line = try number("y", row)
        guard zoom <= TileCoord.maximumZoom else {
            throw Self.outside("z", z, "from 0 to \(TileCoord.maximumZoom)")
        }
        let last = (1 << zoom) - 1
        guard column <= last else { throw Self.outside("x", x, "from 0 to \(last) at zoom \(zoom)") }
        guard line <= last else { throw Self.outside("y", String(row), "from 0 to \(last) at zoom \(zoom)") }
        guard let coord = TileCoord(z: zoom, x: column, y: line) else {
            throw Self.outside("z", z, "from 0 to \(TileCoord.maximumZoom)")
        }
        self.coord = coord
    }

    private static func unreadable(_ name: String, _ value: String, _ expected: String) -> ParameterProblem {
        ParameterProblem(ParameterError(parameter: name, value: value, expected: expected))
    }

    private static func outside(_ name: String, _ value: String, _ allowed: String) -> ParameterProblem {
        ParameterProblem(
            ParameterError(parameter: name, value: String(value.prefix(100)), expected: allowed), .outsideGrid)
    }
}
