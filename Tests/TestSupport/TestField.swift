package import BillowFields
package import Geometry
package import Turbulence

/// Small fields whose planes differ by a number.
package enum TestField {
    private struct Impossible: Error {}

    /// A grid of longitudes and latitudes from 100° W 30° N on, a degree apart.
    package static func grid(_ columns: Int = 6, _ rows: Int = 4) throws -> GridDefinition {
        try GridDefinition(
            shape: .sphere, columns: columns, rows: rows, projection: .lonLat(west: -100, south: 30, dx: 1, dy: 1))
    }

    /// A plane that no other number below 25,000 gives.
    package static func plane(_ number: Int, on grid: GridDefinition) throws -> FieldPlane {
        let values = (0..<grid.count).map { UInt8((number + $0) % 200 + ($0 == 0 ? number / 200 % 50 : 0)) }
        guard let plane = FieldPlane(width: grid.columns, height: grid.rows, values: values) else { throw Impossible() }
        return plane
    }

    /// A level of a field, with the plane of a number.
    package static func draft(
        _ product: FieldProduct = .nowcast, run: Instant, lead: Int = 0, level: FieldLevel = .column, number: Int = 1,
        on grid: GridDefinition
    ) throws -> FieldLevelDraft {
        guard let identity = FieldIdentity(product: product, run: run, validTime: run.advanced(by: lead)) else {
            throw Impossible()
        }
        return FieldLevelDraft(
            identity: identity, grid: grid, level: level, packed: try plane(number, on: grid).packed())
    }
}
