package import BillowAreas
import BillowFields
package import BillowSnapshot
import BillowTiles
import Geometry
package import Turbulence

/// The turbulence field along a flight, seen from the side: where and when the aircraft will be there.
package struct FieldProfile: Sendable {
    package let flight: PlannedFlight
    /// Metres of a stretch.
    package let stretch: Double
    /// Thousands of feet, the lowest first.
    package let rows: Range<Int>
    /// The largest EDR by row and stretch, in ten-thousandths of m^(2/3)/s; nil where nothing is known.
    package let values: [[Int?]]
    /// By stretch the worst of the aircraft's own way; empty where no level is planned.
    package let way: [WayPoint]
    package let gaps: [GapStretch]
    package let worst: WorstStretch?
    /// The fields that it is made of, by valid time.
    package let parts: [FieldSection.Part]
    package let thresholds: SeverityThresholds

    /// A stretch of the aircraft's own way.
    package struct WayPoint: Sendable, Hashable {
        /// When and how high the aircraft is where it is worst; in the middle where nothing is known.
        package let time: Instant
        package let altitudeFeet: Double
        package let tenThousandths: Int?
    }

    /// A part of the route along which the field has no value, and why: at the planned level, or else at any.
    package struct GapStretch: Sendable, Hashable {
        /// Metres flown.
        package let distance: ClosedRange<Double>
        package let gap: FieldSection.Gap
    }

    /// The worst of the flight.
    package struct WorstStretch: Sendable, Hashable {
        /// Metres flown along which the severity stays the same.
        package let distance: ClosedRange<Double>
        package let times: ClosedRange<Instant>
        /// Where it is worst.
        package let altitudeFeet: Double
        package let tenThousandths: Int
        /// Levels nearby that have less all along the stretch, the best first.
        package let better: [Level]

        package struct Level: Sendable, Hashable {
            package let feet: Int
            package let tenThousandths: Int
        }
    }

    /// Metres between the places that are looked at, at least: a cell of GTG's grid.
    static let step = 3_000.0
    /// Places that are looked at, beside the corners of the route.
    static let mostPlaces = 2_000
    /// Thousands of feet that a level nearby is away at most.
    static let nearby = 4
    /// What counts as less, in ten-thousandths: a step of the stored values.
    static let less = 100

    init(
        _ section: FieldSection, _ points: [PlannedFlight.Point], of flight: PlannedFlight, stretch: Double,
        rows: Range<Int>, thresholds: SeverityThresholds
    ) {
        let count = max(1, Int((flight.route.metres / stretch - 1e-9).rounded(.up)))
        let byRow = rows.map { row in section.values(atFeet: Double(row) * 1_000) }
        let planned = points.enumerated().map { site, point in
            point.altitudeFeet.map { section.value(at: site, feet: $0) }
        }
        let columns = points.map { min(Int($0.distance / stretch), count - 1) }
        self.flight = flight
        self.stretch = stretch
        self.rows = rows
        self.thresholds = thresholds
        parts = section.parts.filter { !$0.levels.isEmpty }
        values = byRow.map { Self.largest($0, columns, count) }
        let track = Track(flight, points, byRow, planned, rows)
        way = flight.levelFeet == nil ? [] : track.way(columns, count, stretch)
        gaps = track.gaps()
        worst = track.worst(thresholds)
    }

    /// Of each stretch.
    private static func largest(_ values: [Result<Int, FieldSection.GapError>], _ columns: [Int], _ count: Int)
        -> [Int?]
    {
        var largest = [Int?](repeating: nil, count: count)
        for (column, value) in zip(columns, values) {
            guard case .success(let value) = value else { continue }
            largest[column] = max(largest[column] ?? 0, value)
        }
        return largest
    }

    package func severity(_ tenThousandths: Int) -> Severity { thresholds.severity(ofTenThousandths: tenThousandths) }

    /// The instants of the fields that it is made of; nil where there are none.
    package var validTimes: ClosedRange<Instant>? {
        guard let first = parts.first, let last = parts.last else { return nil }
        return first.frame.identity.validTime...last.frame.identity.validTime
    }
}

extension SeverityThresholds {
    /// The severity of an EDR, not below 0; what is above 1 m^(2/3)/s counts as 1.
    package func severity(ofTenThousandths edr: Int) -> Severity {
        EDR(tenThousandths: min(edr, 10_000)).map { severity(of: $0) } ?? .smooth
    }
}

/// The values that decide what is worst: of the aircraft's own way where a level is planned, else of all rows.
private struct Track {
    private let flight: PlannedFlight
    private let points: [PlannedFlight.Point]
    private let byRow: [[Result<Int, FieldSection.GapError>]]
    private let planned: [Result<Int, FieldSection.GapError>?]
    private let rows: Range<Int>

    init(
        _ flight: PlannedFlight, _ points: [PlannedFlight.Point], _ byRow: [[Result<Int, FieldSection.GapError>]],
        _ planned: [Result<Int, FieldSection.GapError>?], _ rows: Range<Int>
    ) {
        self.flight = flight
        self.points = points
        self.byRow = byRow
        self.planned = planned
        self.rows = rows
    }

    func way(_ columns: [Int], _ count: Int, _ stretch: Double) -> [FieldProfile.WayPoint] {
        var worst = [(value: Int, point: Int)?](repeating: nil, count: count)
        for (point, column) in columns.enumerated() {
            guard case .success(let value)? = planned[point] else { continue }
            if let known = worst[column], known.value >= value { continue }
            worst[column] = (value, point)
        }
        return worst.enumerated().map { column, worst in
            let middle = min((Double(column) + 0.5) * stretch, flight.route.metres)
            let distance = worst.map { points[$0.point].distance } ?? middle
            return FieldProfile.WayPoint(
                time: flight.time(at: distance), altitudeFeet: flight.altitudeFeet(at: distance) ?? 0,
                tenThousandths: worst?.value)
        }
    }

    /// From halfway to the point before to halfway to the one after.
    private func distance(_ range: ClosedRange<Int>) -> ClosedRange<Double> {
        let (first, last) = (range.lowerBound, range.upperBound)
        let start = first == 0 ? 0 : (points[first - 1].distance + points[first].distance) / 2
        let end =
            last + 1 == points.count
            ? flight.route.metres : (points[last].distance + points[last + 1].distance) / 2
        return start...max(start, end)
    }

    func gaps() -> [FieldProfile.GapStretch] {
        var gaps: [FieldProfile.GapStretch] = []
        var open: (gap: FieldSection.Gap, first: Int)?
        for point in 0...points.count {
            let gap = point < points.count ? gap(at: point) : nil
            if let known = open, known.gap != gap {
                gaps.append(FieldProfile.GapStretch(distance: distance(known.first...(point - 1)), gap: known.gap))
                open = nil
            }
            if let gap, open == nil { open = (gap, point) }
        }
        return gaps
    }

    private func gap(at point: Int) -> FieldSection.Gap? {
        if let planned = planned[point] { return planned.gap }
        let gaps = byRow.map { $0[point].gap }
        guard !gaps.contains(nil) else { return nil }
        // What a level near by says counts more than that another one has no level near.
        return gaps.compactMap(\.self).first { $0 != .level } ?? .level
    }

    func worst(_ thresholds: SeverityThresholds) -> FieldProfile.WorstStretch? {
        let tracks: [[Result<Int, FieldSection.GapError>?]] =
            flight.levelFeet == nil ? byRow.map { $0.map(Optional.some) } : [planned]
        var worst: (value: Int, point: Int, track: Int)?
        for (number, track) in tracks.enumerated() {
            for (point, result) in track.enumerated() {
                guard case .success(let value)? = result else { continue }
                if let worst, (worst.value, -worst.point) >= (value, -point) { continue }
                worst = (value, point, number)
            }
        }
        guard let worst else { return nil }
        let severity = thresholds.severity(ofTenThousandths: worst.value)
        func isAsBad(_ point: Int) -> Bool {
            guard case .success(let value)? = tracks[worst.track][point] else { return false }
            return thresholds.severity(ofTenThousandths: value) == severity
        }
        var (first, last) = (worst.point, worst.point)
        while first > 0, isAsBad(first - 1) { first -= 1 }
        while last + 1 < points.count, isAsBad(last + 1) { last += 1 }
        let distance = distance(first...last)
        let altitude = points[worst.point].altitudeFeet ?? Double(rows.lowerBound + worst.track) * 1_000
        return FieldProfile.WorstStretch(
            distance: distance, times: flight.time(at: distance.lowerBound)...flight.time(at: distance.upperBound),
            altitudeFeet: altitude, tenThousandths: worst.value,
            better: better(first...last, altitude, than: worst.value, thresholds))
    }

    /// Levels near an altitude with less all along some points.
    private func better(
        _ range: ClosedRange<Int>, _ altitude: Double, than worst: Int, _ thresholds: SeverityThresholds
    ) -> [FieldProfile.WorstStretch.Level] {
        let middle = Int((altitude / 1_000).rounded())
        var levels: [FieldProfile.WorstStretch.Level] = []
        for row in rows where abs(row - middle) <= FieldProfile.nearby {
            let values = byRow[row - rows.lowerBound][range].map { try? $0.get() }
            // What isn't known on the way is no less.
            guard !values.contains(nil), let most = values.compactMap(\.self).max(),
                most <= worst - FieldProfile.less
            else { continue }
            levels.append(FieldProfile.WorstStretch.Level(feet: row * 1_000, tenThousandths: most))
        }
        func rank(_ level: FieldProfile.WorstStretch.Level) -> (Severity, Double, Int) {
            (
                thresholds.severity(ofTenThousandths: level.tenThousandths), abs(Double(level.feet) - altitude),
                level.tenThousandths
            )
        }
        return levels.sorted { rank($0) < rank($1) }
    }
}

extension Result where Success == Int, Failure == FieldSection.GapError {
    /// nil where there is a value.
    fileprivate var gap: FieldSection.Gap? {
        if case .failure(let error) = self { error.gap } else { nil }
    }
}

extension FrameSource {
    /// The turbulence field along a flight; nil where no field is stored that the filter takes.
    ///
    /// - Parameters:
    ///   - stretch: metres; at least a thousandth of the route.
    ///   - rows: thousands of feet.
    /// - Complexity: that of `fieldSection`, for at most `FieldProfile.mostPlaces` places and the route's corners.
    package func fieldProfile(
        of flight: PlannedFlight, stretch: Double, rows: Range<Int>, filter: Filter, in snapshot: Snapshot
    ) async throws -> FieldProfile? {
        let query = FieldIndex.Query(filter)
        guard !rows.isEmpty, snapshot.fields.frames.contains(where: query.takes) else { return nil }
        let step = max(
            min(FieldProfile.step, stretch / 2), flight.route.metres / Double(FieldProfile.mostPlaces))
        let points = flight.points(every: step)
        let planned = points.compactMap(\.altitudeFeet)
        let section = try await fieldSection(
            at: .places(points.map(\.place), isSmoothed: filter.field.isSmoothed), times: points.map(\.time),
            levels: .around(
                min(
                    Double(rows.lowerBound) * 1_000, planned.min() ?? .infinity)...max(
                        Double(rows.upperBound - 1) * 1_000, planned.max() ?? 0)),
            filter: filter, in: snapshot)
        return FieldProfile(
            section, points, of: flight, stretch: stretch, rows: rows,
            thresholds: snapshot.severityTable.thresholds(for: filter.category))
    }
}
