import BillowEngine
import BillowPostgreSQL
import BillowStore
import Foundation
import Logging
import ServiceLifecycle
import Synchronization

/// Decides whether this server syncs: of all servers on one PostgreSQL database, the holder of the lease does.
///
/// A holder that can't renew its lease stops by its own monotonic clock, before the database's clock gives the lease
/// away. What it still tries to write is refused by its fencing number (`PostgreSQLStore.fenced`).
final class Leadership: Service {
    private let store: PostgreSQLStore
    private let logger: Logger
    /// A name of this process.
    private let holder =
        "\(ProcessInfo.processInfo.hostName):\(ProcessInfo.processInfo.processIdentifier):"
        + "\(UInt64.random(in: 0...UInt64.max))"
    private let state = Mutex<Lease?>(nil)
    /// The holder at the last look.
    private let other = Mutex<String?>(nil)

    private struct Lease {
        var fence: Int64
        /// When this process stops, if it can't renew the lease before.
        var end: ContinuousClock.Instant
    }

    /// Another server takes over at the latest after this time and a poll.
    private static let leaseSeconds = 5
    /// The time before its end from which a lease doesn't count any more.
    private static let margin = Duration.seconds(1)
    private static let poll = Duration.seconds(1)

    init(_ store: PostgreSQLStore, logger: Logger) {
        self.store = store
        self.logger = logger
    }

    /// The store for what only the leader writes.
    var fencedStore: PostgreSQLStore { store.fenced { [self] in state.withLock { $0?.fence } } }

    var isLeading: Bool { state.withLock { $0.map { ContinuousClock.now < $0.end } ?? false } }

    /// This server's role, for answers.
    var role: FleetRole {
        FleetRole(isLeading: { [self] in isLeading }, leader: { [self] in leader })
    }

    /// The host and process of the server that syncs.
    private var leader: String? {
        guard let name = isLeading ? holder : other.withLock({ $0 }) else { return nil }
        return name.lastIndex(of: ":").map { String(name[..<$0]) } ?? name
    }

    func run() async {
        while !Self.hasEnded {
            do throws(StoreError) { try await step() } catch {
                logger.warning("the lease of the sync can't be read", metadata: ["error": "\(error)"])
            }
            if !isLeading, state.withLock({ $0 != nil }) { lost() }
            await Self.rest(Self.poll)
        }
        // Without this, the next leader waits for the end of the lease.
        if let lease = state.withLock({ $0 }) {
            do throws(StoreError) { try await store.releaseLease(holder: holder, fence: lease.fence) } catch {
                logger.warning("the lease of the sync ends by itself", metadata: ["error": "\(error)"])
            }
        }
        state.withLock { $0 = nil }
    }

    /// Renews the lease, or takes it if it is free.
    private func step() async throws(StoreError) {
        let end = ContinuousClock.now + .seconds(Self.leaseSeconds) - Self.margin
        if let lease = state.withLock({ $0 }) {
            guard try await store.renewLease(holder: holder, fence: lease.fence, seconds: Self.leaseSeconds) else {
                return lost()
            }
            state.withLock { $0 = Lease(fence: lease.fence, end: end) }
            return
        }
        let current = try await store.leaseHolder()
        other.withLock { $0 = current }
        // After an outage of the database this server may find the lease still its own.
        guard current == nil || current == holder else { return }
        if let fence = try await store.takeLease(holder: holder, seconds: Self.leaseSeconds) {
            state.withLock { $0 = Lease(fence: fence, end: end) }
            logger.notice("this server syncs for all servers on the database", metadata: ["lease": "\(fence)"])
        }
    }

    private func lost() {
        state.withLock { $0 = nil }
        logger.notice("this server doesn't sync any more; another one takes over")
    }

    // MARK: Waiting

    private static let step = Duration.milliseconds(100)

    private static var hasEnded: Bool { Task.isShuttingDownGracefully || Task.isCancelled }

    /// Sleeps. Only the end of the service interrupts the sleep.
    private static func rest(_ duration: Duration) async {
        // The only error is that end.
        try? await cancelWhenGracefulShutdown { try await Task.sleep(for: duration) }
    }

    /// Waits until this server leads, or doesn't.
    /// - Returns: false at the end of the service.
    func waits(until isLeading: Bool) async -> Bool {
        while self.isLeading != isLeading {
            if Self.hasEnded { return false }
            await Self.rest(Self.step)
        }
        return !Self.hasEnded
    }
}

/// A service that runs only while this server leads.
struct LeaderOnly: Service {
    let leadership: Leadership
    /// Makes the service anew each time, because it may remember what another server has changed since.
    let make: @Sendable () throws -> any Service

    func run() async throws {
        while await leadership.waits(until: true) {
            let service = try make()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await service.run()
                    // A service that has ended by itself isn't started again.
                    _ = await leadership.waits(until: false)
                }
                group.addTask { _ = await leadership.waits(until: false) }
                _ = try await group.next()
                group.cancelAll()
            }
        }
    }
}

/// Wakes the publisher at each change of the database's head.
struct HeadWatch: Service {
    let address: DatabaseAddress
    let wake: @Sendable () -> Void

    func run() async {
        let listener = HeadListener(address)
        await cancelWhenGracefulShutdown { await listener.run(wake) }
    }
}
