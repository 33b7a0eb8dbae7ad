import BillowEngine
import Synchronization

/// Limits the memory of response bodies while clients read them. A body that several responses share counts once.
package final class AnswerBudget: Sendable {
    private struct Held {
        var bytes: Int
        var count: Int
    }

    private struct BudgetState {
        var bytes = 0
        /// The shared bodies, by address.
        var shared: [UInt: Held] = [:]
    }

    /// The budget of the process.
    package static let shared = AnswerBudget(bytes: 128 << 20)
    /// The memory of a streamed response: the current piece, and the connection's copy of the previous one.
    static let stream = 2 * PageLimit.piece.bytes
    /// The largest body that is not counted: the number of connections limits such bodies.
    static let least = 256 << 10

    private let most: Int
    private let state = Mutex(BudgetState())

    package init(bytes: Int) { most = bytes }

    /// The currently reserved bytes.
    package var bytes: Int { state.withLock { $0.bytes } }

    /// A reservation that lasts as long as the object.
    final class Hold: Sendable {
        private let release: @Sendable () -> Void

        fileprivate init(_ release: @escaping @Sendable () -> Void) { self.release = release }

        deinit { release() }
    }

    /// Reserves memory for a streamed response.
    /// - Throws: `WorkError.tooManyAnswers`.
    func hold(_ bytes: Int) throws(WorkError) -> Hold {
        let hasRoom = state.withLock { state in
            guard state.bytes + bytes <= most else { return false }
            state.bytes += bytes
            return true
        }
        guard hasRoom else { throw .tooManyAnswers }
        return Hold { [self] in state.withLock { $0.bytes -= bytes } }
    }

    /// Reserves memory for a whole body, which the caller must retain as long as the reservation; nil for a small body.
    /// A body above the limit is permitted if there is no other reservation.
    /// - Throws: `WorkError.tooManyAnswers`.
    func hold(_ body: [UInt8]) throws(WorkError) -> Hold? {
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
            state.shared[address] = Held(bytes: body.count, count: 1)
            return true
        }
        guard hasRoom else { throw .tooManyAnswers }
        return Hold { [self] in
            withExtendedLifetime(body) {}
            state.withLock { state in
                guard let held = state.shared[address] else { return }
                state.shared[address]?.count -= 1
                guard held.count == 1 else { return }
                state.shared[address] = nil
                state.bytes -= held.bytes
            }
        }
    }
}
