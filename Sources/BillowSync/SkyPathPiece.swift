import Geometry

/// One call's worth of a query.
struct SkyPathPiece: Sendable {
    enum Area: Sendable {
        case world
        case ring(AreaRing)
        /// A cell of resolution 0 and its base cell's number.
        case baseCell(UInt64, number: Int)
    }

    /// The same for the same area, in every process.
    let name: String
    let area: Area

    /// Whether an answer has the cell, if there is anything to be had of it.
    func covers(_ cell: Cell) -> Bool {
        switch area {
        case .world: true
        case .ring(let ring): ring.contains(H3.center(of: cell))
        case .baseCell(_, let number): Int(cell.dense) / Cell.slotsPerBaseCell == number
        }
    }

    /// By v4: all in one call.
    static func map(_ polygon: AreaRing?) -> [SkyPathPiece] {
        guard let polygon else { return [SkyPathPiece(name: "map", area: .world)] }
        return [SkyPathPiece(name: "map-" + stableHash(polygon.text), area: .ring(polygon))]
    }

    /// By the corridor call: parts of at most an area each.
    static func corridors(_ polygon: AreaRing, maximumAreaKm2: Double) -> [SkyPathPiece] {
        polygon.pieces(maximumAreaKm2: maximumAreaKm2).map {
            SkyPathPiece(name: "ring-" + stableHash($0.text), area: .ring($0))
        }
    }

    /// By the bulk call: the world, base cell by base cell.
    static let baseCells: [SkyPathPiece] = H3.cells(resolution: 0).enumerated().map { number, cell in
        SkyPathPiece(name: String(cell, radix: 16), area: .baseCell(cell, number: number))
    }

    /// By the bulk call: the base cells that have cells in a ring, and perhaps some beside it.
    static func baseCells(touching ring: AreaRing) -> [SkyPathPiece] {
        guard let box = MultiPolygon(outline: ring.places)?.box.map({ GridBox($0) }) else { return baseCells }
        // A base cell has 49 children of resolution 2, whose boxes are much tighter than its own.
        return baseCells.enumerated().filter { number, _ in
            (number * 49..<number * 49 + 49).contains { CellTree.shared.mayIntersect(resolution: 2, dense: $0, box) }
        }.map(\.element)
    }

    /// FNV-1a, 64 bit, in hexadecimal digits.
    static func stableHash(_ text: String) -> String {
        let hash = text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return String(hash, radix: 16)
    }
}

extension AreaRing {
    /// The same for the same ring, in every process.
    var text: String { places.map { "\($0.longitude),\($0.latitude)" }.joined(separator: ";") }

    /// Whether a cell's centre or one of its vertices lies inside.
    func touches(_ cell: Cell) -> Bool {
        contains(H3.center(of: cell)) || H3.boundary(h3: cell.h3).contains(where: contains)
    }
}
