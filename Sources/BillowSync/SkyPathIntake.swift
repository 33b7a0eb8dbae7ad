import BillowStore
import Geometry
import SkyPath
import Turbulence

/// What the log takes of one answer, and what the answer says of the rows that are there.
struct SkyPathIntake {
    /// What records must be to be taken.
    struct Rules {
        var source: SourceID
        var category: AircraftCategory
        var severities: SeveritySet
        /// nil takes the world.
        var areas: [AreaRing]?
        var oldest: Instant
        var latest: Instant
    }

    /// In the order of time (which the store likes best), one for each place and second.
    private(set) var observations: [Observation] = []
    /// The newest time that the answer has of each place, but for the places in `ended`.
    private(set) var standing: [Retraction.Place: Instant] = [:]
    /// Places whose newest value is of a severity that isn't wanted: what was taken there before stands no more.
    private(set) var ended: [Retraction.Place: Instant] = [:]
    /// The newest time in the answer, refused records included; nil when it is empty.
    private(set) var newest: Instant?

    init(_ records: [SkyPathRecord], _ rules: Rules, skipped: inout [String: Int]) {
        var order: [(key: UInt64, index: Int)] = []
        order.reserveCapacity(records.count)
        for (index, record) in records.enumerated() {
            if let areas = rules.areas, !areas.contains(where: { $0.touches(record.cell) }) {
                skipped["outside the area", default: 0] += 1
                continue
            }
            guard let observedAt = Instant(seconds: record.observedAt), let block = record.block else {
                skipped["unreadable", default: 0] += 1
                continue
            }
            newest = max(newest ?? observedAt, observedAt)
            if observedAt > rules.latest {
                // Wrong or not: the upstream has something there, so what we have isn't retracted.
                standing[rules.place(record.cell, block)] = .distantFuture
                skipped["in the future", default: 0] += 1
            } else if observedAt < rules.oldest {
                skipped["older than retention", default: 0] += 1
            } else {
                let place = UInt64(record.cell.dense) << 6 | UInt64(block.thousands)
                order.append((UInt64(observedAt.seconds) << 27 | place, index))
            }
        }
        order.sort { $0.key < $1.key }
        observations.reserveCapacity(order.count)
        var start = order.startIndex
        while start < order.endIndex {
            let group = order[start...].prefix { $0.key == order[start].key }
            start = group.endIndex
            // Finer cells that were brought to one parent may say different things in one second: the worst counts.
            if let worst = group.map({ records[$0.index] }).max(by: { $0.isMilder(than: $1) }) { take(worst, rules) }
        }
        guard !ended.isEmpty else { return }
        ended = ended.filter { place, time in standing[place].map { $0 <= time } ?? true }
        for place in ended.keys { standing[place] = nil }
        observations.removeAll { observation in
            ended[rules.place(observation.cell, observation.altitude.lowest)].map { observation.observedAt <= $0 }
                ?? false
        }
    }

    private mutating func take(_ record: SkyPathRecord, _ rules: Rules) {
        guard let observedAt = Instant(seconds: record.observedAt), let block = record.block,
            let severity = Severity(rawValue: record.severity)
        else { return }
        let place = rules.place(record.cell, block)
        guard rules.severities.contains(severity) else {
            ended[place] = observedAt
            return
        }
        if standing[place] != .distantFuture { standing[place] = observedAt }
        observations.append(
            Observation(
                cell: record.cell, altitude: AltitudeBand(block),
                intensity: .reported(severity, edr: record.edr.flatMap { EDR($0) }), observedAt: observedAt,
                category: rules.category, source: rules.source))
    }
}

extension SkyPathIntake.Rules {
    fileprivate func place(_ cell: Cell, _ block: AltitudeBlock) -> Retraction.Place {
        Retraction.Place(cell: cell.dense, altitude: AltitudeBand(block), category: category)
    }
}

extension SkyPathRecord {
    fileprivate var block: AltitudeBlock? { AltitudeBlock(thousands: altitudeThousands) }

    /// By severity, then EDR; one without EDR is the milder.
    fileprivate func isMilder(than other: SkyPathRecord) -> Bool {
        (severity, edr ?? -1) < (other.severity, other.edr ?? -1)
    }
}
