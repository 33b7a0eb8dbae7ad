import BillowFields
import BillowSnapshot
import BillowTiles
package import Geometry
import Turbulence

/// Where a field is sampled.
package enum FieldSites: Sendable {
    /// The value of the grid's nearest point to each place, or between the four around it.
    case places([LonLat], isSmoothed: Bool)
    /// The largest value of the grid's points in each cell.
    case cells([Cell])

    package var count: Int {
        switch self {
        case .places(let places, _): places.count
        case .cells(let cells): cells.count
        }
    }

    /// The same for the same places looked at alike, in this process.
    var name: String {
        var fingerprint = Fingerprint()
        switch self {
        case .places(let places, let isSmoothed):
            fingerprint.mix(isSmoothed ? 1 : 0)
            for place in places {
                fingerprint.mix(place.longitude.bitPattern)
                fingerprint.mix(place.latitude.bitPattern)
            }
        case .cells(let cells):
            fingerprint.mix(2)
            for cell in cells { fingerprint.mix(UInt64(cell.dense)) }
        }
        return fingerprint.text
    }
}

/// Places on a grid.
struct GriddedSites: Sendable {
    private enum Form: Sendable {
        /// nil for a place that the grid has no point near.
        case positions([GridPosition?], GridProjection, isSmoothed: Bool)
        /// By their place in `GridCells.cells`.
        case cells([Int?])
    }

    private let form: Form

    /// - Parameter cells: those of the grid; asked for where cells are sampled.
    init(_ sites: FieldSites, on grid: GridDefinition, cells: () async throws -> GridCells) async throws {
        switch sites {
        case .places(let places, let isSmoothed):
            let projection = GridProjection(grid)
            form = .positions(places.map(projection.index(of:)), projection, isSmoothed: isSmoothed)
        case .cells(let wanted):
            let known = try await cells()
            form = .cells(wanted.map(known.place(of:)))
        }
    }

    var areCells: Bool { if case .cells = form { true } else { false } }

    /// Whether the grid reaches a site.
    func isInside(_ site: Int) -> Bool {
        switch form {
        case .positions(let positions, _, _): positions[site] != nil
        case .cells(let places): places[site] != nil
        }
    }

    /// The EDR of each site in ten-thousandths of m^(2/3)/s, or `FieldSection.missing`.
    /// - Complexity: O(sites)
    func values(of plane: FieldPlane) -> [Int16] {
        guard case .positions(let positions, let projection, let isSmoothed) = form,
            let picture = FieldPicture(plane: plane, projection: projection, look: FieldLook(isSmoothed: isSmoothed))
        else { return [] }
        return positions.map { position in
            let edr = position.flatMap {
                isSmoothed ? picture.tenThousandths(at: $0) : picture.nearest(to: $0)
            }
            return edr.map { Int16(clamping: $0) } ?? FieldSection.missing
        }
    }

    /// The same of a level's largest values by cell.
    func values(ofLargest largest: [UInt8]) -> [Int16] {
        guard case .cells(let places) = form else { return [] }
        return places.map { place in
            guard let place, largest[place] != FieldPlane.missing else { return FieldSection.missing }
            return Int16(largest[place]) * 100
        }
    }
}
