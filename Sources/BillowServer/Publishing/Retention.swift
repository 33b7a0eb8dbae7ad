public import BillowStore
public import Logging
public import ServiceLifecycle
public import Turbulence

/// Deletes what was fetched or sent in once no picture inside the retention shows it. Nobody waits for it: pictures from
/// before are refused by their time already, and it deletes a little at a time. What was imported stays, whichever source
/// it is of.
public struct Retention: Service {
    private let store: any Store
    private let retentionSeconds: Int
    /// Of positions.
    private let trafficRetentionSeconds: Int
    private let now: @Sendable () -> Instant
    private let logger: Logger

    /// Seldom enough to cost nothing, often enough that the file stays as large as it is.
    private static let pause = Duration.seconds(600)

    /// - Parameter trafficRetentionSeconds: of positions; as for all else where it is nil, and never longer.
    public init(
        store: any Store, retentionSeconds: Int, trafficRetentionSeconds: Int? = nil,
        now: @escaping @Sendable () -> Instant, logger: Logger
    ) {
        self.store = store
        self.retentionSeconds = retentionSeconds
        self.trafficRetentionSeconds = min(trafficRetentionSeconds ?? retentionSeconds, retentionSeconds)
        self.now = now
        self.logger = logger
    }

    public func run() async throws {
        // What was left the first time stays: nothing as old comes in but imports.
        var from = Instant.distantPast
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            do throws(StoreError) {
                from = try await prune(from: from)
            } catch {
                // Cut short by an end that has its own reason to tell.
                if Task.isCancelled { return }
                logger.error("what is too old could not be deleted; it is tried again", metadata: ["error": "\(error)"])
            }
            try? await cancelWhenGracefulShutdown {
                // Cut short only by the shutdown that ends the loop.
                try await Task.sleep(for: Self.pause)
            }
        }
    }

    /// One round; gives up to when it went.
    @discardableResult
    public func prune(from: Instant = .distantPast) async throws(StoreError) -> Instant {
        // The oldest picture that may be asked for looks back over the longest history.
        let now = now().advanced(by: -History.sixHours.seconds)
        let before = now.advanced(by: -retentionSeconds)
        let pruned = try await store.prune(
            Pruning(
                from: from, before: before, positionsBefore: now.advanced(by: -trafficRetentionSeconds),
                sparesImports: true))
        if !pruned.isNothing {
            logger.info(
                "deleted what is older than the retention",
                metadata: [
                    "before": "\(before)", "observations": "\(pruned.observations)",
                    "reports": "\(pruned.pilotReports)", "areas": "\(pruned.areas)", "positions": "\(pruned.positions)",
                ])
        }
        return before
    }
}
