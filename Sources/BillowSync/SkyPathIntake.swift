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
        var area: AreaRing?
        var oldest: Instant
        var latest: Instant
    }

    /// In the order of time (which the store likes best), one for each place and second.
    private(set) var observations: [Observation] = []
    /// The newest time that the answer has of each place.
    private(set) var standing: [Retraction.ValuePlace: Instant] = [:]
    /// The newest time in the answer, refused records included; nil when it is empty.
    private(set) var newest: Instant?

    init(_ records: [SkyPathRecord], _ rules: Rules, skipped: inout [SkipReason: Int]) {
        var order: [(key: UInt64, index: Int)] = []
        order.reserveCapacity(records.count)
        for (index, record) in records.enumerated() {
            if let area = rules.area, !area.touches(record.cell) {
                skipped[.outsideTheArea, default: 0] += 1
                continue
            }
            guard let observedAt = Instant(seconds: record.observedAt), let block = record.block else {
                skipped[.skyPath(.unreadable), default: 0] += 1
                continue
            }
            newest = max(newest ?? observedAt, observedAt)
            if observedAt > rules.latest {
                // Wrong or not: the upstream has something there, so what we have isn't retracted.
                standing[rules.place(record.cell, block)] = .distantFuture
                skipped[.inTheFuture, default: 0] += 1
            } else if observedAt < rules.oldest {
                skipped[.olderThanRetention, default: 0] += 1
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
    }

    /// A severity that isn't wanted is taken too, for it ends what stood there before: at its own time, so that
    /// pictures of before stay as they were. Nothing shows it.
    private mutating func take(_ record: SkyPathRecord, _ rules: Rules) {
        guard let observedAt = Instant(seconds: record.observedAt), let block = record.block,
            let severity = Severity(rawValue: record.severity)
        else { return }
        let place = rules.place(record.cell, block)
        if standing[place] != .distantFuture { standing[place] = observedAt }
        observations.append(
            Observation(
                cell: record.cell, altitude: AltitudeBand(block),
                intensity: .reported(severity, edr: record.edr.flatMap { EDR($0) }), observedAt: observedAt,
                category: rules.category, source: rules.source,
                kind: rules.severities.contains(severity) ? .inSitu : .superseding))
    }
}

extension SkyPathIntake.Rules {
    fileprivate func place(_ cell: Cell, _ block: AltitudeBlock) -> Retraction.ValuePlace {
        Retraction.ValuePlace(cell: cell.dense, altitude: AltitudeBand(block), category: category)
    }
}

extension SkyPathRecord {
    fileprivate var block: AltitudeBlock? { AltitudeBlock(thousands: altitudeThousands) }

    /// By severity, then EDR; one without EDR is the milder.
    fileprivate func isMilder(than other: SkyPathRecord) -> Bool {
        (severity, edr ?? -1) < (other.severity, other.edr ?? -1)
    }
}
