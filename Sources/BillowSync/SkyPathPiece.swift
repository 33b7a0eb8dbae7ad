import Geometry

/// The part of a query that a single request covers.
struct SkyPathPiece: Sendable {
    enum Area: Sendable {
        case world
        case ring(AreaRing)
        /// A cell of resolution 0 and the number of its base cell.
        case baseCell(UInt64, number: Int)
    }

    /// Equal for equal areas, in every process.
    let name: String
    let area: Area

    /// Whether a response includes a cell that has data.
    func covers(_ cell: Cell) -> Bool {
        switch area {
        case .world: true
        case .ring(let ring): ring.contains(H3.center(of: cell))
        case .baseCell(_, let number): Int(cell.dense) / Cell.slotsPerBaseCell == number
        }
    }

    /// The pieces for v4: a single request.
    static func map(_ polygon: AreaRing?) -> [SkyPathPiece] {
        guard let polygon else { return [SkyPathPiece(name: "map", area: .world)] }
        return [SkyPathPiece(name: "map-" + stableHash(polygon.text), area: .ring(polygon))]
    }

    /// The pieces for corridor requests: parts up to the maximum area.
    static func corridors(_ polygon: AreaRing, maximumAreaKm2: Double) -> [SkyPathPiece] {
        polygon.pieces(maximumAreaKm2: maximumAreaKm2).map {
            SkyPathPiece(name: "ring-" + stableHash($0.text), area: .ring($0))
        }
    }

    /// The pieces for bulk requests of the world: one per base cell.
    static let baseCells: [SkyPathPiece] = H3.cells(resolution: 0).enumerated().map { number, cell in
        SkyPathPiece(name: String(cell, radix: 16), area: .baseCell(cell, number: number))
    }

    /// The pieces for bulk requests of a ring: the base cells with cells in it, and possibly some beside it.
    static func baseCells(touching ring: AreaRing) -> [SkyPathPiece] {
        guard let box = MultiPolygon(outline: ring.places)?.box.map({ GridBox($0) }) else { return baseCells }
        // A base cell has 49 children of resolution 2, whose boxes are much tighter than its own.
        return baseCells.enumerated().filter { number, _ in
            (number * 49..<number * 49 + 49).contains { CellTree.shared.mayIntersect(resolution: 2, dense: $0, box) }
        }.map(\.element)
    }

    /// A hash in hexadecimal digits: FNV-1a, 64 bit.
    static func stableHash(_ text: String) -> String {
        let hash = text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return String(hash, radix: 16)
    }
}

extension AreaRing {
    /// Equal for equal rings, in every process.
    var text: String { places.map { "\($0.longitude),\($0.latitude)" }.joined(separator: ";") }

    /// Whether the ring contains a cell's centre or one of its vertices.
    func touches(_ cell: Cell) -> Bool {
        contains(H3.center(of: cell)) || H3.boundary(h3: cell.h3).contains(where: contains)
    }
}
