import BillowFields
import BillowTiles
package import Geometry
import Turbulence

/// The sites at which a field is sampled.
package enum FieldSites: Sendable {
    /// Places, each with the value of the nearest grid point, or interpolated between the four around it.
    case places([LonLat], isSmoothed: Bool)
    /// Cells, each with the largest value of the grid points in it.
    case cells([Cell])

    package var count: Int {
        switch self {
        case .places(let places, _): places.count
        case .cells(let cells): cells.count
        }
    }

    /// A cache key for some sites and the kind of sampling, valid within this process.
    ///
    /// - Parameter needed: the sites that a field is needed for.
    func name(_ needed: [Int]) -> String {
        var fingerprint = Fingerprint()
        fingerprint.mix(UInt64(needed.count))
        for site in needed { fingerprint.mix(UInt64(site)) }
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

/// Sites in grid coordinates.
struct GridSites: Sendable {
    private enum Form: Sendable {
        /// nil for a place without a nearby grid point.
        case places([FieldSurroundings?], isSmoothed: Bool)
        /// Cells, as indices into `GridCells.cells`.
        case cells([Int?])
    }

    private let form: Form

    /// - Parameter cells: the cells of the grid; called only if cells are sampled.
    init(_ sites: FieldSites, on grid: GridDefinition, cells: () async throws(EngineError) -> GridCells)
        async throws(EngineError)
    {
        switch sites {
        case .places(let places, let isSmoothed):
            let projection = GridProjection(grid)
            form = .places(
                places.map { projection.index(of: $0).map { FieldSurroundings($0, on: projection) } },
                isSmoothed: isSmoothed)
        case .cells(let wanted):
            let known = try await cells()
            form = .cells(wanted.map(known.place(of:)))
        }
    }

    var areCells: Bool { if case .cells = form { true } else { false } }

    /// Whether a site is inside the grid.
    func isInside(_ site: Int) -> Bool {
        switch form {
        case .places(let places, _): places[site] != nil
        case .cells(let places): places[site] != nil
        }
    }

    /// The indices of the grid points on which the values of some sites depend.
    func points(of sites: [Int]) -> [Int] {
        guard case .places(let places, let isSmoothed) = form else { return [] }
        return sites.flatMap { places[$0].map { isSmoothed ? $0.points : [$0.nearest] } ?? [] }
    }

    /// The EDR of some sites in ten-thousandths of m^(2/3)/s. All other sites get `FieldSection.missing`.
    ///
    /// - Parameter value: returns the value of a grid point.
    /// - Complexity: O(sites)
    func values(of sites: [Int], _ value: (Int) -> UInt8) -> [Int16] {
        guard case .places(let places, let isSmoothed) = form else { return [] }
        var values = [Int16](repeating: FieldSection.missing, count: places.count)
        for site in sites {
            guard let place = places[site] else { continue }
            if isSmoothed {
                values[site] = place.tenThousandths(value).map { Int16(clamping: $0) } ?? FieldSection.missing
            } else {
                let hundredths = value(place.nearest)
                if hundredths != FieldPlane.missing { values[site] = Int16(hundredths) * 100 }
            }
        }
        return values
    }

    /// The EDR of all sites, from a level's largest values by cell.
    func values(ofLargest largest: [UInt8]) -> [Int16] {
        guard case .cells(let places) = form else { return [] }
        return places.map { place in
            guard let place, largest[place] != FieldPlane.missing else { return FieldSection.missing }
            return Int16(largest[place]) * 100
        }
    }
}
