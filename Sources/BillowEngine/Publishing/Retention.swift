import BillowFields
import BillowSnapshot
package import BillowStore
package import Logging
import ServiceLifecycle
package import Turbulence

/// Deletes what was fetched or sent in once no picture inside the retention shows it, a little at a time. What was
/// imported stays, whichever source it is of.
///
/// The clock alone deletes nothing: a machine may start with a wrong one. Two things must agree with it. What is stored
/// must confirm its time (`Store.trustedNow`), so a clock that is ahead deletes only what is older than that by the
/// retention. And the clock must have run evenly for a whole pause: one that is set meanwhile postpones the deletion.
package struct Retention: Service {
    private let store: any Store
    private let retentionSeconds: Int
    /// Of positions.
    private let trafficRetentionSeconds: Int
    private let fieldRetentionSeconds: Int
    private let now: @Sendable () -> Instant
    private let logger: Logger

    /// Between two rounds, and before the first one.
    private static let pause = Duration.seconds(600)
    /// The most by which the clock may differ after a pause.
    private static let clockTolerance = Duration.seconds(60)
    /// Each deletion gives new addresses to old pictures, so few make many.
    private static let longestStep = 6 * 3_600

    /// How long fields are kept where no setting says so: two days, in seconds.
    package static let defaultFieldSeconds = 2 * 86_400

    /// - Parameters:
    ///   - trafficRetentionSeconds: of positions; as for all else where it is nil, and never longer.
    ///   - fieldRetentionSeconds: of fields, by the instants that they are about; never longer than for all else.
    package init(
        store: any Store, retentionSeconds: Int, trafficRetentionSeconds: Int? = nil,
        fieldRetentionSeconds: Int = defaultFieldSeconds,
        now: @escaping @Sendable () -> Instant, logger: Logger
    ) {
        self.store = store
        self.retentionSeconds = retentionSeconds
        self.trafficRetentionSeconds = min(trafficRetentionSeconds ?? retentionSeconds, retentionSeconds)
        self.fieldRetentionSeconds = min(fieldRetentionSeconds, retentionSeconds)
        self.now = now
        self.logger = logger
    }

    package func run() async throws {
        // What was left the first time stays: nothing as old comes in but imports.
        var from = Instant.distantPast
        while true {
            let watch = ClockWatch(now())
            let began = ContinuousClock.now
            guard await ServicePause.rest(Self.pause) else { return }
            guard watch.isSteady(now(), after: ContinuousClock.now - began) else {
                logger.warning("the clock was set; nothing is deleted for now")
                continue
            }
            do throws(StoreError) {
                from = try await prune(from: from)
            } catch {
                // Cut short by an end that has its own reason to tell.
                if Task.isCancelled { return }
                logger.error("what is too old could not be deleted; it is tried again", metadata: ["error": "\(error)"])
            }
        }
    }

    /// Whether a clock goes as time does.
    struct ClockWatch: Sendable {
        private let start: Instant

        init(_ start: Instant) { self.start = start }

        /// - Parameter elapsed: by a clock that nobody sets.
        func isSteady(_ now: Instant, after elapsed: Duration) -> Bool {
            let difference = Duration.seconds(now.seconds - start.seconds) - elapsed
            return abs(difference.components.seconds) <= Retention.clockTolerance.components.seconds
        }
    }

    /// One round.
    /// - Returns: up to when it went.
    @discardableResult
    package func prune(from: Instant = .distantPast) async throws(StoreError) -> Instant {
        guard let now = try await store.trustedNow(now(), retentionSeconds: retentionSeconds) else { return from }
        let before = Self.limit(now, retentionSeconds)
        let pruned = try await store.prune(
            Pruning(
                from: min(from, before), before: before, positionsBefore: Self.limit(now, trafficRetentionSeconds),
                fieldsBefore: Self.fieldLimit(now, fieldRetentionSeconds),
                earlierForecastsBefore: Self.fieldLimit(now, 0), sparesImports: true))
        if !pruned.isNothing {
            logger.info(
                "deleted what is older than the retention",
                metadata: [
                    "before": "\(before)", "observations": "\(pruned.observations)",
                    "reports": "\(pruned.pilotReports)", "areas": "\(pruned.areas)", "positions": "\(pruned.positions)",
                    "fieldLevels": "\(pruned.fieldLevels)",
                ])
        }
        return before
    }

    /// What the oldest picture that may be asked for shows, and its trend half an hour before; nothing that a server
    /// has in memory. A whole number of steps, of which a retention has at least 24.
    private static func limit(_ now: Instant, _ retentionSeconds: Int) -> Instant {
        let shown = now.advanced(by: -retentionSeconds - History.sixHours.seconds - Frame.trendSeconds)
        let step = max(600, min(longestStep, retentionSeconds / 24))
        return min(shown, SnapshotPublisher.liveFrom(now)).floored(toMultipleOf: step)
    }
}

extension Retention {
    /// The instant that the oldest field is about which the oldest picture may show. A whole number of steps, as
    /// `limit`; at least an hour, as often as forecasts come.
    private static func fieldLimit(_ now: Instant, _ retentionSeconds: Int) -> Instant {
        let shown = now.advanced(by: -retentionSeconds - FieldProduct.longestReach.upperBound)
        return shown.floored(toMultipleOf: max(3_600, min(longestStep, retentionSeconds / 24)))
    }
}

extension Store {
    /// The time that counts as now where something is deleted, or refused as too old: the clock's, but no later than
    /// what is stored confirms (`confirmedTime`); nil where nothing does. Retention, `billow prune` and the intake of
    /// observations all go by it, so that nothing that one reporter says costs what others said.
    ///
    /// - Parameter sent: when what one reporter sends at once was observed. Two of these count for that reporter.
    package func trustedNow(_ clock: Instant, retentionSeconds: Int, sent: [Instant] = []) async throws(StoreError)
        -> Instant?
    {
        let confirmed = try await confirmedTime(retentionSeconds: retentionSeconds)
        return [confirmed, sent.sorted().dropLast().last].compactMap { $0 }.max().map { min($0, clock) }
    }
}
