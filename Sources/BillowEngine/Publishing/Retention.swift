import BillowFields
package import BillowSnapshot
package import BillowStore
package import Logging
import ServiceLifecycle
package import Turbulence

/// Deletes fetched and ingested data in small steps once no frame inside the retention shows it. Imports are spared,
/// whatever their source.
///
/// A wrong clock must not delete data, because a machine may start with one. So two things must agree with the clock.
/// Stored data must confirm its time (`Store.trustedNow`), so a fast clock deletes only data that is older than stored
/// data by the retention. And the clock must have run evenly during a whole pause: a clock change postpones the
/// deletion.
package struct Retention: Service {
    private let store: any Store
    private let lifetimes: DataLifetimes
    private let now: @Sendable () -> Instant
    private let logger: Logger

    /// The pause between two rounds, and before the first one.
    private static let pause = Duration.seconds(600)
    /// The largest permitted difference of the clock after a pause.
    private static let clockTolerance = Duration.seconds(60)
    /// The largest step, in seconds. Each deletion gives new URLs to old frames, so there should be few.
    private static let longestStep = 6 * 3_600

    package init(
        store: any Store, lifetimes: DataLifetimes, now: @escaping @Sendable () -> Instant, logger: Logger
    ) {
        self.store = store
        self.lifetimes = lifetimes
        self.now = now
        self.logger = logger
    }

    package func run() async {
        // Later rounds start where the last one ended, because only imports add data that old.
        var from = Instant.distantPast
        while true {
            let watch = ClockWatch(now())
            let began = ContinuousClock.now
            guard await ServicePause.rest(Self.pause) else { return }
            guard watch.ranEvenly(now(), after: ContinuousClock.now - began) else {
                logger.warning("the clock was set; this round deletes nothing")
                continue
            }
            do throws(StoreError) {
                from = try await prune(from: from)
            } catch {
                // A cancelled deletion is no failure.
                if Task.isCancelled { return }
                logger.error("old data could not be deleted; the deletion is retried", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Detects clock changes.
    struct ClockWatch: Sendable {
        private let start: Instant

        init(_ start: Instant) { self.start = start }

        /// - Parameter elapsed: the time by a monotonic clock.
        func ranEvenly(_ now: Instant, after elapsed: Duration) -> Bool {
            let difference = Duration.seconds(now.seconds - start.seconds) - elapsed
            return abs(difference.components.seconds) <= Retention.clockTolerance.components.seconds
        }
    }

    /// Runs one round.
    /// - Returns: the instant before which it deleted.
    @discardableResult
    package func prune(from: Instant = .distantPast) async throws(StoreError) -> Instant {
        guard let now = try await store.trustedNow(now(), retentionSeconds: lifetimes.retentionSeconds) else {
            return from
        }
        let before = Self.limit(now, lifetimes.retentionSeconds)
        let pruned = try await store.prune(
            Pruning(
                from: min(from, before), before: before,
                positionsBefore: Self.limit(now, lifetimes.trafficRetentionSeconds),
                fieldsBefore: Self.fieldLimit(now, lifetimes.fieldRetentionSeconds),
                earlierForecastsBefore: Self.fieldLimit(now, 0), sparesImports: true))
        if !pruned.isNothing {
            logger.info(
                "deleted data older than the retention",
                metadata: [
                    "before": "\(before)", "observations": "\(pruned.observations)",
                    "reports": "\(pruned.pilotReports)", "areas": "\(pruned.areas)", "positions": "\(pruned.positions)",
                    "fieldLevels": "\(pruned.fieldLevels)",
                ])
        }
        return before
    }

    /// The instant before which data is deleted. Data is needed for the oldest frame and for its trend half an hour
    /// before, and in the live window. It is rounded to steps, at least 24 per retention.
    private static func limit(_ now: Instant, _ retentionSeconds: Int) -> Instant {
        let shown = now.advanced(by: -retentionSeconds - History.sixHours.seconds - Frame.trendSeconds)
        let step = max(600, min(longestStep, retentionSeconds / 24))
        return min(shown, SnapshotPublisher.liveFrom(now)).floored(toMultipleOf: step)
    }
}

extension Retention {
    /// The valid time before which fields are deleted, because the oldest frame can't show them. It is rounded to steps
    /// as in `limit`, of at least an hour, the interval of forecasts.
    private static func fieldLimit(_ now: Instant, _ retentionSeconds: Int) -> Instant {
        let shown = now.advanced(by: -retentionSeconds - FieldProduct.longestReach.upperBound)
        return shown.floored(toMultipleOf: max(3_600, min(longestStep, retentionSeconds / 24)))
    }
}

extension Store {
    /// The current time for deletion and for rejecting old data. It is the clock's time, but no later than stored data
    /// confirms (`confirmedTime`); nil if no data confirms it. Retention, `billow prune` and ingest use it, so that no
    /// single reporter can cause data loss.
    ///
    /// - Parameter sent: the observation times in one reporter's request. Two of them count as a confirmation for that
    ///   reporter.
    package func trustedNow(_ clock: Instant, retentionSeconds: Int, sent: [Instant] = []) async throws(StoreError)
        -> Instant?
    {
        let confirmed = try await confirmedTime(retentionSeconds: retentionSeconds)
        return [confirmed, sent.sorted().dropLast().last].compactMap { $0 }.max().map { min($0, clock) }
    }
}
