internal import Synchronization

/// The newest head that a process has read of a database, to notice that the database lost commits.
package final class NewestHead: Sendable {
    private let newest = Mutex<Head?>(nil)

    package init() {}

    /// The newest head; nil before the first one. A transaction that begins later sees this head or a later one, unless
    /// commits were lost.
    package var head: Head? { newest.withLock { $0 } }

    /// Remembers a head, if it is of another log or has a higher version.
    package func note(_ head: Head) {
        newest.withLock { newest in
            guard let known = newest, known.log == head.log, known.version >= head.version else {
                newest = head
                return
            }
        }
    }
}

extension Head {
    /// Whether a later head shows that the commits up to this one were lost.
    package func isLost(in later: Head) -> Bool { later.log == log && later.version < version }
}
