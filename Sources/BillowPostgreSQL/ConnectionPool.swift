internal import BillowStore
internal import Dispatch
internal import Foundation
internal import Synchronization

/// A few connections to one database, each with a thread of its own. A connection is opened when it is first needed,
/// and again after the server closed it.
final class ConnectionPool: Sendable {
    let address: DatabaseAddress
    private let permits: Permits
    private let idle = Mutex<[ConnectionWorker]>([])

    init(_ address: DatabaseAddress, connections: Int) {
        self.address = address
        permits = Permits(connections)
    }

    /// Runs `body` with a connection, off the caller's thread. Cancellation interrupts its statements.
    func run<T: Sendable>(_ body: @escaping @Sendable (PostgreSQLConnection) throws -> T) async throws -> T {
        try await permits.acquire()
        defer { permits.release() }
        // The last used one, so that a quiet server needs few connections.
        let worker = idle.withLock { $0.popLast() } ?? ConnectionWorker(address)
        defer { idle.withLock { $0.append(worker) } }
        return try await worker.run(body)
    }

    /// Closes the idle connections.
    func close() { idle.withLock { $0.removeAll() } }
}

/// A connection and the serial queue on which all its calls happen.
///
/// `@unchecked Sendable`: `connection` is only used on the queue.
private final class ConnectionWorker: @unchecked Sendable {
    private let address: DatabaseAddress
    private let queue = DispatchQueue(label: "billow.postgresql")
    private var connection: PostgreSQLConnection?

    /// The time in which a starting server is awaited.
    private static let longestWait = Duration.seconds(5)

    init(_ address: DatabaseAddress) { self.address = address }

    func run<T: Sendable>(_ body: @escaping @Sendable (PostgreSQLConnection) throws -> T) async throws -> T {
        let job = CancellableJob()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                queue.async {
                    continuation.resume(with: Result { try self.runOnQueue(job, body) })
                }
            }
        } onCancel: {
            job.cancel()
        }
    }

    private func runOnQueue<T>(_ job: CancellableJob, _ body: (PostgreSQLConnection) throws -> T) throws -> T {
        do { return try attempt(job, body) } catch let error as PostgreSQLError
            where error.isLost && !job.isCommitting
        {
            // The server closed the connection, for example because it restarted. Nothing was committed.
            return try attempt(job, body)
        }
    }

    private func attempt<T>(_ job: CancellableJob, _ body: (PostgreSQLConnection) throws -> T) throws -> T {
        let connection = try opened(job)
        job.begin(connection.interrupt)
        connection.cancellationCheck = job.check
        connection.willCommit = { job.isCommitting = true }
        defer {
            connection.cancellationCheck = {}
            connection.willCommit = {}
            // A late interruption would end the next job's statement.
            if job.end() || connection.isLost { self.connection = nil }
        }
        return try body(connection)
    }

    private func opened(_ job: CancellableJob) throws -> PostgreSQLConnection {
        if let connection { return connection }
        let deadline = ContinuousClock.now + Self.longestWait
        while true {
            try job.check()
            do {
                let opened = try PostgreSQLConnection(address)
                connection = opened
                return opened
            } catch let error as PostgreSQLError where error.isTemporary && ContinuousClock.now < deadline {
                Thread.sleep(forTimeInterval: 0.1)
            }
        }
    }
}

/// One use of a connection, which may be cancelled from any thread.
private final class CancellableJob: Sendable {
    private struct State {
        var interrupt: ConnectionInterrupt?
        var isCancelled = false
        var isInterrupted = false
        var isCommitting = false
    }

    private let state = Mutex(State())

    /// Whether the transaction's last statement was sent, so that it may be committed.
    var isCommitting: Bool {
        get { state.withLock { $0.isCommitting } }
        set { state.withLock { $0.isCommitting = newValue } }
    }

    func begin(_ interrupt: ConnectionInterrupt?) { state.withLock { $0.interrupt = interrupt } }

    /// Returns whether an interruption was sent.
    func end() -> Bool {
        state.withLock {
            $0.interrupt = nil
            return $0.isInterrupted
        }
    }

    func check() throws {
        if state.withLock({ $0.isCancelled }) { throw CancellationError() }
    }

    func cancel() {
        let interrupt = state.withLock { state -> ConnectionInterrupt? in
            state.isCancelled = true
            state.isInterrupted = state.interrupt != nil
            return state.interrupt
        }
        guard let interrupt else { return }
        // Opens a connection, which blocks.
        DispatchQueue.global(qos: .utility).async { interrupt.send() }
    }
}
