package import BillowAreas
import BillowExchange
import BillowFields
package import BillowSnapshot
import Datasets
package import Geometry
package import Turbulence

/// The turbulence field at the points of a flight, each at its time.
package struct FieldTrajectory: Sendable {
    /// A point of the flight, with the value there or the reason for its absence.
    package struct Point: Sendable {
        package let at: PlannedFlight.Point
        package let value: Result<FieldSection.Sample, FieldSection.GapError>
        /// nil without a value.
        package let severity: Severity?

        /// nil without a value.
        package var sample: FieldSection.Sample? { try? value.get() }
    }

    package let points: [Point]

    /// The distance in metres between points, not counting the positions of the route.
    package static func step(along route: Route) -> Double {
        max(FieldProfile.step, route.metres / Double(FieldProfile.maximumPlaces))
    }
}

extension FrameSource {
    /// The turbulence field at the points of a flight. The value is taken at the point's altitude. For points without
    /// an altitude it is the maximum over the filter's altitudes.
    ///
    /// - Complexity: that of `fieldSection`
    package func fieldTrajectory(_ points: [PlannedFlight.Point], filter: Filter, in snapshot: Snapshot)
        async throws(EngineError)
        -> FieldTrajectory
    {
        let altitudes = points.compactMap(\.altitudeFeet)
        let planned = altitudes.min().flatMap { low in altitudes.max().map { low...$0 } }
        let section = try await fieldSection(
            at: .places(points.map(\.place), isSmoothed: filter.field.isSmoothed), times: points.map(\.time),
            levels: planned.map { .around($0) } ?? .shown(filter.altitudes), filter: filter, in: snapshot)
        let thresholds = snapshot.severityTable.thresholds(for: filter.category)
        return FieldTrajectory(
            points: points.enumerated().map { site, point in
                let value =
                    point.altitudeFeet.map { section.sample(at: site, feet: $0) }
                    ?? section.largest(at: site, in: filter.altitudes)
                return FieldTrajectory.Point(
                    at: point, value: value,
                    severity: (try? value.get()).map { thresholds.severity(ofTenThousandths: $0.tenThousandths) })
            })
    }
}

extension Feature {
    /// The value of a field at a point of a flight, with the properties of `Schema.fieldSamples`.
    ///
    /// - Parameters:
    ///   - number: the point's number, for its id.
    ///   - hasTimes: whether the flight takes time.
    package init(_ point: FieldTrajectory.Point, number: Int, hasTimes: Bool) {
        var sample = FieldSampleFeature(feet: point.at.altitudeFeet.map { Int($0.rounded()) })
        switch point.value {
        case .failure(let error): sample.gap = error.gap.rawValue
        case .success(let value):
            sample.tenThousandths = value.tenThousandths
            sample.severity = point.severity
            sample.feet = value.feet
            sample.identity = value.before.identity
            sample.source = value.before.source
            if value.after != value.before { sample.next = value.after.identity }
        }
        var properties = Schema.fieldSamples.values(of: sample)
        properties.append(
            ("distanceAlong", .decimal(point.at.distance / Geodesic.metresPerNauticalMile, decimals: 1)))
        if hasTimes { properties.append(("eta", .instant(point.at.time))) }
        self.init(id: "\(number)", geometry: .point(point.at.place), properties: properties)
    }
}
