import BillowEngine
import Synchronization

/// How many bytes the bodies of answers may take together while clients read them. A body that several clients are sent
/// is in memory once, and counted once.
package final class AnswerBudget: Sendable {
    private struct Held {
        var bytes: Int
        var count: Int
    }

    private struct BudgetState {
        var bytes = 0
        /// By the address of the body.
        var shared: [UInt: Held] = [:]
    }

    /// Of the process, as its memory is.
    package static let shared = AnswerBudget(bytes: 128 << 20)
    /// What a streamed answer takes at any time: a piece, and what the connection has of the one before.
    static let stream = 2 * PageLimit.piece.bytes
    /// Bodies up to this size are not counted: the number of connections bounds them.
    static let least = 256 << 10

    private let most: Int
    private let state = Mutex(BudgetState())

    package init(bytes: Int) { most = bytes }

    /// What is held at present.
    package var bytes: Int { state.withLock { $0.bytes } }

    /// Holds room for as long as it exists.
    final class Hold: Sendable {
        private let release: @Sendable () -> Void

        fileprivate init(_ release: @escaping @Sendable () -> Void) { self.release = release }

        deinit { release() }
    }

    /// Room for a streamed answer.
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

    /// Room for a whole body, which the caller keeps as long as the hold; nil for a small one. One larger than all that
    /// may be held has room where nothing else is held.
    /// - Throws: `WorkError.tooManyAnswers`.
    func hold(_ body: [UInt8]) throws(WorkError) -> Hold? {
        guard body.count > Self.least else { return nil }
        // Unique while the array exists, and the same for all that share it.
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
