package import BillowAreas
import BillowFields
package import BillowSnapshot
import BillowTiles
import Geometry
package import Turbulence

/// A vertical section of the turbulence field along a flight, at the places and times of the aircraft.
package struct FieldProfile: Sendable {
    package let flight: PlannedFlight
    /// The length of a stretch in metres.
    package let stretch: Double
    /// The altitude blocks in thousands of feet, lowest first.
    package let rows: Range<Int>
    /// The largest EDR by row and stretch, in ten-thousandths of m^(2/3)/s; nil without a known value.
    package let values: [[Int?]]
    /// The worst point of the aircraft's own path in each stretch; empty without a planned level.
    package let way: [PathPoint]
    package let gaps: [GapStretch]
    package let worst: WorstStretch?
    /// The fields that it is computed from, by valid time.
    package let parts: [FieldSection.FieldLevels]
    package let thresholds: SeverityThresholds

    /// A stretch of the aircraft's own path.
    package struct PathPoint: Sendable, Hashable {
        /// The time and altitude of the aircraft at the worst point; at the middle if no value is known.
        package let time: Instant
        package let altitudeFeet: Double
        package let tenThousandths: Int?
    }

    /// A part of the route without a value of the field, and the reason. It refers to the planned level, or else to all
    /// levels.
    package struct GapStretch: Sendable, Hashable {
        /// The part of the route, in metres flown.
        package let distance: ClosedRange<Double>
        package let gap: FieldSection.Gap
    }

    /// The worst stretch of the flight.
    package struct WorstStretch: Sendable, Hashable {
        /// The part of the route, in metres flown, along which the severity stays the same.
        package let distance: ClosedRange<Double>
        package let times: ClosedRange<Instant>
        /// The altitude of the worst point.
        package let altitudeFeet: Double
        package let tenThousandths: Int
        /// Nearby levels with less turbulence all along the stretch: least severe first, then nearest.
        package let better: [Level]

        package struct Level: Sendable, Hashable {
            package let feet: Int
            package let tenThousandths: Int
        }
    }

    /// The smallest distance between sampled places in metres: a cell of GTG's grid.
    static let step = 3_000.0
    /// The most sampled places, not counting the corners of the route.
    static let maximumPlaces = 2_000
    /// The largest vertical distance of a nearby level, in thousands of feet.
    static let nearby = 4
    /// The smallest difference that counts as less turbulence, in ten-thousandths: one step of the stored values.
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
        way = flight.levelFeet == nil ? [] : track.pathPoints(columns, count, stretch)
        gaps = track.gaps()
        worst = track.worst(thresholds)
    }

    /// The largest value of each stretch.
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

    /// The valid times of the fields that it is computed from; nil if there are none.
    package var validTimes: ClosedRange<Instant>? {
        guard let first = parts.first, let last = parts.last else { return nil }
        return first.frame.identity.validTime...last.frame.identity.validTime
    }
}

extension SeverityThresholds {
    /// The severity of an EDR, which must not be below 0; values above 1 m^(2/3)/s count as 1.
    package func severity(ofTenThousandths edr: Int) -> Severity {
        EDR(tenThousandths: min(edr, 10_000)).map { severity(of: $0) } ?? .smooth
    }
}

/// The values that decide which stretch is worst: the aircraft's own path if a level is planned, else all rows.
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

    func pathPoints(_ columns: [Int], _ count: Int, _ stretch: Double) -> [FieldProfile.PathPoint] {
        var worst = [(value: Int, point: Int)?](repeating: nil, count: count)
        for (point, column) in columns.enumerated() {
            guard case .success(let value)? = planned[point] else { continue }
            if let known = worst[column], known.value >= value { continue }
            worst[column] = (value, point)
        }
        return worst.enumerated().map { column, worst in
            let middle = min((Double(column) + 0.5) * stretch, flight.route.metres)
            let distance = worst.map { points[$0.point].distance } ?? middle
            return FieldProfile.PathPoint(
                time: flight.time(at: distance), altitudeFeet: flight.altitudeFeet(at: distance) ?? 0,
                tenThousandths: worst?.value)
        }
    }

    /// The part of the route around some points: from halfway to the previous point to halfway to the next one.
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
        // Another reason takes precedence over a missing level nearby.
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
        func isEquallySevere(_ point: Int) -> Bool {
            guard case .success(let value)? = tracks[worst.track][point] else { return false }
            return thresholds.severity(ofTenThousandths: value) == severity
        }
        var (first, last) = (worst.point, worst.point)
        while first > 0, isEquallySevere(first - 1) { first -= 1 }
        while last + 1 < points.count, isEquallySevere(last + 1) { last += 1 }
        let distance = distance(first...last)
        let altitude = points[worst.point].altitudeFeet ?? Double(rows.lowerBound + worst.track) * 1_000
        return FieldProfile.WorstStretch(
            distance: distance, times: flight.time(at: distance.lowerBound)...flight.time(at: distance.upperBound),
            altitudeFeet: altitude, tenThousandths: worst.value,
            better: better(first...last, altitude, than: worst.value, thresholds))
    }

    /// Nearby levels with less turbulence along all of some points.
    private func better(
        _ range: ClosedRange<Int>, _ altitude: Double, than worst: Int, _ thresholds: SeverityThresholds
    ) -> [FieldProfile.WorstStretch.Level] {
        let middle = Int((altitude / 1_000).rounded())
        var levels: [FieldProfile.WorstStretch.Level] = []
        for row in rows where abs(row - middle) <= FieldProfile.nearby {
            let values = byRow[row - rows.lowerBound][range].map { try? $0.get() }
            // A level with an unknown value is not better.
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
    /// nil if there is a value.
    fileprivate var gap: FieldSection.Gap? {
        if case .failure(let error) = self { error.gap } else { nil }
    }
}

extension FrameSource {
    /// The turbulence field along a flight; nil if the filter selects no stored field.
    ///
    /// - Parameters:
    ///   - stretch: the length in metres, at least a thousandth of the route.
    ///   - rows: the altitude blocks in thousands of feet.
    /// - Complexity: that of `fieldSection`, for at most `FieldProfile.maximumPlaces` places and the route's corners.
    package func fieldProfile(
        of flight: PlannedFlight, stretch: Double, rows: Range<Int>, filter: Filter, in snapshot: Snapshot
    ) async throws(EngineError) -> FieldProfile? {
        let query = FieldIndex.Query(filter)
        guard !rows.isEmpty, snapshot.fields.frames.contains(where: query.matches) else { return nil }
        let step = max(
            min(FieldProfile.step, stretch / 2), flight.route.metres / Double(FieldProfile.maximumPlaces))
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
