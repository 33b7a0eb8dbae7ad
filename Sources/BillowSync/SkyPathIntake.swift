import BillowStore
import Geometry
import SkyPath
import Turbulence

/// The observations that one response yields, and its statements about existing rows.
struct SkyPathIntake {
    /// The criteria for accepted records.
    struct Rules {
        var source: SourceID
        var category: AircraftCategory
        var severities: SeveritySet
        /// nil accepts the whole world.
        var area: AreaRing?
        var oldest: Instant
        var latest: Instant
    }

    /// The accepted observations in time order, which suits the store best; one for each place and second.
    private(set) var observations: [Observation] = []
    /// The newest time of each place in the response.
    private(set) var standing: [Retraction.ValueKey: Instant] = [:]
    /// The newest time in the response, including rejected records; nil if it is empty.
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
                // The record may be wrong, but the upstream has data there, so the stored row isn't retracted.
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
            // Finer cells that were replaced by one parent may have different values in one second: the worst counts.
            if let worst = group.map({ records[$0.index] }).max(by: { $0.isLessSevere(than: $1) }) {
                append(worst, rules)
            }
        }
    }

    /// A severity outside the query is stored too, because it ends the earlier value at its place. It does so at its
    /// own time, so that earlier frames stay unchanged. It is never shown.
    private mutating func append(_ record: SkyPathRecord, _ rules: Rules) {
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
    fileprivate func place(_ cell: Cell, _ block: AltitudeBlock) -> Retraction.ValueKey {
        Retraction.ValueKey(cell: cell.dense, altitude: AltitudeBand(block), category: category)
    }
}

extension SkyPathRecord {
    fileprivate var block: AltitudeBlock? { AltitudeBlock(thousands: altitudeThousands) }

    /// Compares severity, then EDR; a record without EDR is milder.
    fileprivate func isLessSevere(than other: SkyPathRecord) -> Bool {
        (severity, edr ?? -1) < (other.severity, other.edr ?? -1)
    }
}
