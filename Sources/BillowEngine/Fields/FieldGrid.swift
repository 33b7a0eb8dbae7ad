package import BillowFields
package import BillowSnapshot
import BillowTiles
import Foundation
package import Geometry
package import Turbulence

/// The values of a turbulence field on a regular grid of longitudes and latitudes. Each value comes from the nearest
/// point of the field's own grid.
package struct FieldGrid: Sendable {
    /// Evenly spaced values of an axis in degrees. Longitudes go on beyond 180 across the antimeridian.
    package struct Axis: Sendable, Hashable {
        package let start: Double
        package let step: Double
        package let count: Int

        package var stop: Double { start + Double(count - 1) * step }

        /// Creates an axis from `start` over a length in degrees.
        init(from start: Double, length: Double, step: Double) {
            self.start = start
            self.step = step
            count = Int(min((length / step + 1e-6).rounded(.down), 1e9)) + 1
        }
    }

    package let frame: FieldFrame
    package let longitudes: Axis
    package let latitudes: Axis
    /// The levels in feet, each with its values; without levels one entry, the maximum of the altitudes.
    package let levels: [Int]
    /// The EDR in ten-thousandths of m^(2/3)/s by level, latitude and longitude; nil without a value.
    package let values: [[Int?]]
    package let severities: [[Severity?]]
}

/// A grid would have more values than a response may have.
package struct TooManyGridValues: Error, Sendable, Hashable {
    package let values: Int
    package let most: Int
}

extension FrameSource {
    /// The most values of a grid: some 5 MB of JSON.
    package static let maximumGridValues = 400_000

    /// The field that frames at an instant show, on a regular grid over a box.
    ///
    /// - Parameters:
    ///   - levels: nil for the maximum over the filter's altitudes.
    ///   - area: values outside are omitted; nil includes all.
    /// - Returns: nil without a field, or without a level of it.
    /// - Throws: `EngineError.tooManyGridValues`
    package func fieldGrid(
        over box: BoundingBox, _ levels: FieldLevelSelection?, area: AreaIndex?, at instant: Instant, filter: Filter,
        in snapshot: Snapshot
    ) async throws(EngineError) -> FieldGrid? {
        WorkExecutor.assertIsJob()
        guard let frame = snapshot.field(at: instant, filter), let grid = snapshot.fieldGrids[frame.grid] else {
            return nil
        }
        let groups =
            levels.map { $0.levels(of: frame).filter { $0.level != .column }.map { [$0] } }
            ?? [frame.levels(in: filter.altitudes)].filter { !$0.isEmpty }
        guard !groups.isEmpty else { return nil }
        let (dx, dy) = grid.spacing(at: (box.south + box.north) / 2)
        let width = box.crossesAntimeridian ? box.east + 360 - box.west : box.east - box.west
        let longitudes = FieldGrid.Axis(from: box.west, length: width, step: dx)
        let latitudes = FieldGrid.Axis(from: box.south, length: box.north - box.south, step: dy)
        let (count, overflow) = longitudes.count.multipliedReportingOverflow(by: latitudes.count * groups.count)
        guard !overflow, count <= Self.maximumGridValues else {
            throw .tooManyGridValues(
                TooManyGridValues(values: overflow ? .max : count, most: Self.maximumGridValues))
        }
        let projection = GridProjection(grid)
        var positions: [GridPosition?] = []
        positions.reserveCapacity(longitudes.count * latitudes.count)
        for row in 0..<latitudes.count {
            for column in 0..<longitudes.count {
                let place = LonLat(
                    longitude: LonLat.wrap(longitudes.start + Double(column) * longitudes.step),
                    latitude: min(latitudes.start + Double(row) * latitudes.step, 90))
                let isWanted = place.map { area?.contains($0) ?? true } ?? false
                positions.append(isWanted ? place.flatMap { projection.index(of: $0) } : nil)
            }
            try WorkExecutor.checkCancellation()
        }
        let thresholds = snapshot.severityTable.thresholds(for: filter.category)
        let appearance = FieldAppearance(
            thresholds: thresholds, showsSmoothAir: true, isSmoothed: filter.field.isSmoothed)
        var values: [[Int?]] = []
        for group in groups {
            guard let found = try await fieldValues(of: frame, at: group, in: snapshot),
                let picture = FieldPicture(plane: found.plane, projection: projection, appearance: appearance)
            else { return nil }
            values.append(
                positions.map { position in
                    position.flatMap {
                        appearance.isSmoothed ? picture.tenThousandths(at: $0) : picture.nearest(to: $0)
                    }
                })
        }
        return FieldGrid(
            frame: frame, longitudes: longitudes, latitudes: latitudes,
            levels: levels == nil ? [] : groups.compactMap { $0.first?.level.number }, values: values,
            severities: values.map { $0.map { $0.flatMap { appearance.severity(tenThousandths: $0) } } })
    }
}

extension GridDefinition {
    /// The distance of neighbouring points in degrees of longitude and latitude, near a latitude.
    fileprivate func spacing(at latitude: Double) -> (dx: Double, dy: Double) {
        switch projection {
        case .lonLat(_, _, let dx, let dy): return (dx, dy)
        case .polarStereographic(_, _, _, let mesh), .lambertConformal(_, _, _, let mesh):
            let metresPerDegree = Geodesic.metresPerNauticalMile * 60
            let parallel = max(cos(latitude * .pi / 180), 0.05)
            // Rounded, so that axes have short numbers.
            func rounded(_ degrees: Double) -> Double { max((degrees * 1_000).rounded(), 1) / 1_000 }
            return (rounded(mesh.dx / metresPerDegree / parallel), rounded(mesh.dy / metresPerDegree))
        }
    }
}
