import BillowEngine
import Synchronization

/// Limits the memory of response bodies while clients read them. A body that several responses share counts once.
package final class ResponseBudget: Sendable {
    private struct SharedBody {
        var bytes: Int
        var count: Int
    }

    private struct BudgetState {
        var bytes = 0
        /// The shared bodies, by address.
        var shared: [UInt: SharedBody] = [:]
    }

    /// The budget of the server whose request is handled. Servers of one process don't refuse each other's responses.
    @TaskLocal static var ofServer = ResponseBudget()
    /// The budget of a server.
    package static let standardBytes = 128 << 20
    /// The memory of a streamed response: the current piece, and the connection's copy of the previous one.
    static let stream = 2 * PageLimit.piece.bytes
    /// The largest body that is not counted: the number of connections limits such bodies.
    static let least = 256 << 10

    private let most: Int
    private let state = Mutex(BudgetState())

    package init(bytes: Int = standardBytes) { most = bytes }

    /// The currently reserved bytes.
    package var bytes: Int { state.withLock { $0.bytes } }

    /// A reservation that lasts as long as the object.
    final class Reservation: Sendable {
        private let release: @Sendable () -> Void

        fileprivate init(_ release: @escaping @Sendable () -> Void) { self.release = release }

        deinit { release() }
    }

    /// Reserves memory for a streamed response.
    /// - Throws: `WorkError.tooManyAnswers`.
    func reserve(_ bytes: Int) throws(WorkError) -> Reservation {
        let hasRoom = state.withLock { state in
            guard state.bytes + bytes <= most else { return false }
            state.bytes += bytes
            return true
        }
        guard hasRoom else { throw .tooManyAnswers }
        return Reservation { [self] in state.withLock { $0.bytes -= bytes } }
    }

    /// Reserves memory for a whole body, which the caller must retain as long as the reservation; nil for a small body.
    /// A body above the limit is permitted if there is no other reservation.
    /// - Throws: `WorkError.tooManyAnswers`.
    func reserve(_ body: [UInt8]) throws(WorkError) -> Reservation? {
        guard body.count > Self.least else { return nil }
        // The address is unique while the array exists, and equal for all that share its buffer.
        let address = body.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
        let hasRoom = state.withLock { state in
            if state.shared[address] != nil {
                state.shared[address]?.count += 1
                return true
            }
            guard state.bytes == 0 || state.bytes + body.count <= most else { return false }
            state.bytes += body.count
            state.shared[address] = SharedBody(bytes: body.count, count: 1)
            return true
        }
        guard hasRoom else { throw .tooManyAnswers }
        return Reservation { [self] in
            withExtendedLifetime(body) {}
            state.withLock { state in
                guard let shared = state.shared[address] else { return }
                state.shared[address]?.count -= 1
                guard shared.count == 1 else { return }
                state.shared[address] = nil
                state.bytes -= shared.bytes
            }
        }
    }
}
