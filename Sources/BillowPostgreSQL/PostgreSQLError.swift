/// An error of the server or of the connection to it.
struct PostgreSQLError: Error, Hashable, CustomStringConvertible {
    /// The five characters of SQLSTATE; empty for an error of the connection.
    ///
    /// Source: PostgreSQL documentation, appendix A, https://www.postgresql.org/docs/15/errcodes-appendix.html
    var state: String
    var message: String
    /// Whether the connection is lost, so that the transaction is unfinished.
    var isLost: Bool

    var description: String { state.isEmpty ? message : "\(message) (SQLSTATE \(state))" }

    /// Whether a new attempt may succeed in a moment: the server starts, stops or restarts.
    var isTemporary: Bool { isLost || state.hasPrefix("08") || state.hasPrefix("57P") || state == "53300" }
    /// A lock was not free in time.
    var isLockTimeout: Bool { state == "55P03" }
    var isCancelled: Bool { state == "57014" }
    /// Another transaction created the same thing first, or took a lock in another order.
    var isConflict: Bool { ["23505", "42P07", "42P06", "42710", "40001", "40P01"].contains(state) }
}
