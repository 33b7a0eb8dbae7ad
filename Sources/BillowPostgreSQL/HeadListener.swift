internal import BillowStore
internal import Dispatch
internal import Foundation
internal import Synchronization

/// Listens for changes of the head, so that a server need not wait for its next poll. A lost notification costs only
/// that wait.
package final class HeadListener: Sendable {
    private let address: DatabaseAddress
    private let isStopped = Atomic(false)

    /// The milliseconds after which a stop is noticed.
    private static let step: Int32 = 250
    /// The pause before it listens again, in seconds.
    private static let pause = 1.0

    package init(_ address: DatabaseAddress) { self.address = address }

    /// Calls `onChange` for each notification, until the task is cancelled. It has its own connection and thread.
    package func run(_ onChange: @escaping @Sendable () -> Void) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let thread = Thread {
                    while !self.isStopped.load(ordering: .relaxed) {
                        // The polls of the head go on, and report a server that can't be reached.
                        do { try self.listen(onChange) } catch {}
                        // It also ends without an error, for example where there is no schema.
                        if !self.isStopped.load(ordering: .relaxed) { Thread.sleep(forTimeInterval: Self.pause) }
                    }
                    continuation.resume()
                }
                thread.name = "billow-listen"
                thread.start()
            }
        } onCancel: {
            isStopped.store(true, ordering: .relaxed)
        }
    }

    private func listen(_ onChange: () -> Void) throws {
        let connection = try PostgreSQLConnection(address)
        var schema: String?
        try connection.run("SELECT quote_ident('billow_' || current_schema())").forEachRow { columns in
            schema = columns.firstText
        }
        guard let schema else { return }
        try connection.execute("LISTEN \(schema)")
        while !isStopped.load(ordering: .relaxed) {
            guard let socket = connection.socket else { return }
            var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            guard poll(&descriptor, 1, Self.step) > 0 else { continue }
            if try connection.takeNotifications() { onChange() }
        }
    }
}
