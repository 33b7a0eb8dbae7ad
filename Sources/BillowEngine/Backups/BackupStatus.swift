import Synchronization
package import Turbulence

/// What metrics and `/status` say about backups.
package final class BackupStatus: Sendable {
    private struct Values {
        var newest: Instant?
        var counts = (made: 0, failed: 0)
        var copies = (made: 0, failed: 0)
        var failure: String?
        var copyFailure: String?
    }

    /// The state of the schedule.
    package struct Report: Sendable {
        package var newest: Instant?
        /// Why the last backup failed; nil after a successful one.
        package var failure: String?
        /// Why the last copy command failed; nil after a successful one.
        package var copyFailure: String?
    }

    private let intervalSeconds: Int
    private let values = Mutex(Values())

    package init(_ settings: BackupSettings) { intervalSeconds = settings.everySeconds }

    func note(newest: Instant) { values.withLock { $0.newest = max($0.newest ?? newest, newest) } }

    package var report: Report {
        values.withLock { Report(newest: $0.newest, failure: $0.failure, copyFailure: $0.copyFailure) }
    }

    func noteSuccess(at time: Instant) {
        values.withLock { values in
            values.newest = time
            values.failure = nil
            values.counts.made += 1
        }
    }

    func noteFailure(_ reason: String) {
        values.withLock { values in
            values.counts.failed += 1
            values.failure = reason
        }
    }

    /// - Parameter failure: nil if the command succeeded.
    func noteCopy(failure: String?) {
        values.withLock { values in
            values.copyFailure = failure
            if failure == nil { values.copies.made += 1 } else { values.copies.failed += 1 }
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
