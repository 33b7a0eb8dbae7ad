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

    /// What an interface calls the three numbers.
    struct Names: Sendable {
        let z: String
        let x: String
        let y: String

        static let path = Names(z: "z", x: "x", y: "y")
        /// Source: OGC 20-057 (OGC API – Tiles – Part 1: Core) section 7.1
        static let ogcTiles = Names(z: "tileMatrix", x: "tileCol", y: "tileRow")
        /// Source: OGC 07-057r7 (WMTS 1.0.0) table 29
        static let wmts = Names(z: "TILEMATRIX", x: "TILECOL", y: "TILEROW")
    }

    /// - Parameter names: those that errors use.
    init(z: String, x: String, y: String, names: Names = .path) throws(ParameterProblem) {
        var row = y[...]
        let suffixes: [(String, Format)] = [(".png", .picture), (".mvt", .vector), (".pbf", .vector)]
        guard let format = suffixes.first(where: { row.hasSuffix($0.0) })?.1 else {
            throw Self.unreadable(names.y, y, "a number followed by .png, @2x.png, @3x.png, .mvt or .pbf")
        }
        self.format = format
        row = row.dropLast(4)
        if format == .picture, let at = row.firstIndex(of: "@") {
            guard let scale = TileScale.allCases.first(where: { $0 != .one && row[at...] == "@\($0.rawValue)x" }) else {
                throw Self.unreadable(names.y, y, "a number followed by .png, @2x.png, @3x.png, .mvt or .pbf")
            }
            self.scale = scale
            row = row[..<at]
        } else {
            scale = .one
        }
        func number(_ name: String, _ text: some StringProtocol) throws(ParameterProblem) -> Int {
            if let value = PlainInteger.parse(text) { return value }
            // The number is valid but too large, and outside every range.
            if PlainInteger.hasTooManyDigits(text) { return .max }
            throw Self.unreadable(name, String(text), "a whole number in plain digits")
        }
        let zoom = try number(names.z, z)
        let column = try number(names.x, x)
        let line = try number(names.y, row)
        guard zoom <= TileCoord.maximumZoom else {
            throw Self.outside(names.z, z, "from 0 to \(TileCoord.maximumZoom)")
        }
        let last = (1 << zoom) - 1
        guard column <= last else { throw Self.outside(names.x, x, "from 0 to \(last) at zoom \(zoom)") }
        guard line <= last else { throw Self.outside(names.y, String(row), "from 0 to \(last) at zoom \(zoom)") }
        guard let coord = TileCoord(z: zoom, x: column, y: line) else {
            throw Self.outside(names.z, z, "from 0 to \(TileCoord.maximumZoom)")
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
