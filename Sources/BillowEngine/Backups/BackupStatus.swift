import Synchronization
import Turbulence

/// What the metrics say about backups.
package final class BackupStatus: Sendable {
    private struct Values {
        var newest: Instant?
        var counts = (made: 0, failed: 0)
        var copies = (made: 0, failed: 0)
    }

    private let intervalSeconds: Int
    private let values = Mutex(Values())

    package init(_ settings: BackupSettings) { intervalSeconds = settings.everySeconds }

    func note(newest: Instant) { values.withLock { $0.newest = max($0.newest ?? newest, newest) } }

    func noteSuccess(at time: Instant) {
        values.withLock { values in
            values.newest = time
            values.counts.made += 1
        }
    }

    func noteFailure() { values.withLock { $0.counts.failed += 1 } }

    func noteCopy(isGood: Bool) {
        values.withLock { values in
            if isGood { values.copies.made += 1 } else { values.copies.failed += 1 }
        }
    }

    package func add(to exposition: inout Exposition) {
        let (newest, counts, copies) = values.withLock { ($0.newest, $0.counts, $0.copies) }
        exposition.add(.backupTime, newest?.seconds)
        exposition.add(.backupInterval, intervalSeconds)
        exposition.add(
            .backups,
            [
                (labels: ["backup", "ok"], value: Double(counts.made)),
                (labels: ["backup", "failed"], value: Double(counts.failed)),
                (labels: ["copy", "ok"], value: Double(copies.made)),
                (labels: ["copy", "failed"], value: Double(copies.failed)),
            ])
    }
}
