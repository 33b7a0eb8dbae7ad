internal import BillowStore
internal import Foundation

/// A connection to a PostgreSQL server. All calls block, and happen on the thread of its `ConnectionWorker`.
///
/// Parameters and results are binary. Each text of SQL is prepared once per connection.
final class PostgreSQLConnection: BulkConnection {
    let pq: LibPQ
    private let handle: LibPQ.Connection
    /// Interrupts the running statement, from any thread.
    let interrupt: ConnectionInterrupt?
    /// The rows that the last statement changed.
    private(set) var changesCount = 0
    /// Throws if the running job was cancelled.
    var cancellationCheck: () throws -> Void = {}
    /// Called before the end of a writing transaction is sent.
    var willCommit: () -> Void = {}
    private var prepared: [String: PreparedQuery] = [:]
    private var cursors = 0

    /// The seconds after which an attempt to connect fails.
    private static let connectSeconds = 5
    /// The milliseconds after which a peer that acknowledges nothing is gone, for both sides of a connection.
    private static let longestSilence = 10_000
    /// The settings of each session: bounded waits, and times that don't depend on the server's configuration. Those of
    /// TCP let the server notice that the network to this client was cut, where it waits for the rows of a COPY.
    private static let settings = """
        SET statement_timeout = '300s'; SET lock_timeout = '10s'; SET idle_in_transaction_session_timeout = '60s';
        SET tcp_keepalives_idle = 5; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3;
        SET tcp_user_timeout = \(longestSilence);
        SET DateStyle = 'ISO'; SET client_min_messages = 'warning'
        """
    /// A writing transaction holds the head's lock, for which all other servers wait. So one whose client has gone, was
    /// cut off or suspended ends soon; nothing of it is stored. A reading transaction locks nothing, and may wait for a
    /// slow reader of an export.
    private static let longestPauseOfWriter = "5s"
    /// How long a writer of the log waits for the head's lock before it looks for a stalled copy.
    private static let longestWaitForHead = "5s"
    /// The first server version with all that the store uses.
    private static let oldestVersion: Int32 = 140_000

    /// - Throws: `PostgreSQLError`, and `LibraryError` if libpq is missing.
    init(_ address: DatabaseAddress) throws {
        pq = try LibPQ.shared.get()
        // What stands before the address may be changed by it; what stands after it may not.
        let parameters: [(String, String)] = [
            ("application_name", "billow"), ("connect_timeout", "\(Self.connectSeconds)"), ("keepalives_idle", "5"),
            ("keepalives_interval", "2"), ("keepalives_count", "3"), ("tcp_user_timeout", "\(Self.longestSilence)"),
            ("dbname", address.text), ("client_encoding", "UTF8"),
        ]
        let opened = Self.withTexts(parameters.map(\.0)) { [pq] names in
            Self.withTexts(parameters.map(\.1)) { values in pq.connect(names, values, 1) }
        }
        guard let opened else { throw PostgreSQLError(state: "", message: "out of memory", isLost: true) }
        handle = opened
        interrupt = ConnectionInterrupt(pq, opened)
        // Without this, libpq writes the server's notices to standard error.
        _ = pq.setNoticeProcessor(handle, { _, _ in }, nil)
        guard pq.connectionStatus(handle) == LibPQ.connected else { throw connectionError() }
        guard pq.serverVersion(handle) >= Self.oldestVersion else {
            throw PostgreSQLError(
                state: "0A000",
                message: "the server's version is \(pq.serverVersion(handle) / 10_000); "
                    + "at least \(Self.oldestVersion / 10_000) is needed", isLost: false)
        }
        guard pq.parameterStatus(handle, "server_encoding").map({ String(cString: $0) }) == "UTF8" else {
            throw PostgreSQLError(state: "22021", message: "the encoding of the database is not UTF8", isLost: false)
        }
        try execute(Self.settings)
        // A commit must be durable when it returns. A stricter setting of the operator stays.
        try execute(
            """
            SELECT set_config('synchronous_commit', 'on', false)
            WHERE current_setting('synchronous_commit') IN ('off', 'local')
            """)
    }

    deinit { pq.finish(handle) }

    /// Whether the connection can't be used any more.
    ///
    /// libpq may say that it is connected after the server has closed the connection, until it reads or writes again.
    var isLost: Bool { hasFailed || pq.connectionStatus(handle) != LibPQ.connected }
    /// Whether sending or receiving has failed.
    private var hasFailed = false

    // MARK: Transactions

    enum Access {
        case reading, writing
        /// Locks the head first.
        case writingLog

        fileprivate var beginning: String {
            let writing =
                "BEGIN ISOLATION LEVEL READ COMMITTED; "
                + "SET LOCAL idle_in_transaction_session_timeout = '\(longestPauseOfWriter)'"
            return switch self {
            case .reading: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
            case .writing: writing
            case .writingLog: writing + "; SET LOCAL lock_timeout = '\(longestWaitForHead)'"
            }
        }
    }

    /// Runs a transaction. An error rolls it back.
    func transaction<T>(_ access: Access, _ body: () throws -> T) throws -> T {
        try execute(access.beginning)
        do {
            let value = try body()
            try cancellationCheck()
            if access != .reading { willCommit() }
            try execute("COMMIT")
            return value
        } catch {
            // If the rollback fails, the connection is lost, and so is the transaction.
            if !isLost { try? execute("ROLLBACK") }
            throw error
        }
    }

    // MARK: Statements

    func statement(_ sql: String) throws -> RawStatement {
        RawStatement(driver: PostgreSQLStatement(self, try prepare(sql), isLong: LongQueries.contains(sql)))
    }

    func checkCancellation() throws { try cancellationCheck() }

    /// Executes one or more statements without parameters.
    func execute(_ sql: String) throws {
        let result = pq.execute(handle, sql)
        defer { pq.clear(result) }
        try check(result)
    }

    private func prepare(_ sql: String) throws -> PreparedQuery {
        if let known = prepared[sql] { return known }
        let text = PostgreSQLDialect.translated(sql)
        let name = "q\(prepared.count)"
        let declared = PostgreSQLDialect.declaredTypes(text)
        let result = pq.prepare(handle, name, text, Int32(declared.count), declared)
        defer { pq.clear(result) }
        try check(result)
        let described = pq.describePrepared(handle, name)
        defer { pq.clear(described) }
        let types = try (0..<pq.parameterCount(check(described))).map { pq.parameterType(try check(described), $0) }
        let query = PreparedQuery(name: name, text: text, types: types)
        prepared[sql] = query
        return query
    }

    /// Runs a prepared query.
    func run(_ query: PreparedQuery, _ arguments: [SQLValue]) throws -> PostgreSQLResult {
        try cancellationCheck()
        let result = try BinaryArguments.with(arguments, query.types) { pointers, lengths, formats in
            pq.executePrepared(handle, query.name, Int32(arguments.count), pointers, lengths, formats, 1)
        }
        return try checked(result)
    }

    /// Runs a query that is not prepared.
    func run(_ text: String, _ arguments: [SQLValue] = [], types: [UInt32] = []) throws -> PostgreSQLResult {
        try cancellationCheck()
        let result = try BinaryArguments.with(arguments, types) { pointers, lengths, formats in
            pq.executeWithParameters(handle, text, Int32(arguments.count), types, pointers, lengths, formats, 1)
        }
        return try checked(result)
    }

    /// A name for a cursor that this connection has not used.
    func newCursor() -> String {
        cursors += 1
        return "c\(cursors)"
    }

    // MARK: Copying

    /// Copies rows into a table: `COPY … FROM STDIN (FORMAT binary)`.
    func copy(_ command: String, _ rows: CopyBuffer) throws {
        try cancellationCheck()
        // While it waits for rows, the server heeds no timeout but those of TCP. `StalledCopies` ends such a session.
        let start = pq.execute(handle, command)
        defer { pq.clear(start) }
        guard pq.resultStatus(start) == LibPQ.Status.copyIn.rawValue else {
            try check(start)
            throw PostgreSQLError(state: "", message: "the server refuses to copy", isLost: isLost)
        }
        var isSent = true
        rows.forEachPiece { piece in
            guard isSent, let start = piece.baseAddress else { return }
            isSent = pq.putCopyData(handle, start, Int32(piece.count)) == 1
        }
        guard isSent, pq.putCopyEnd(handle, nil) == 1 else { throw connectionError() }
        var failure: (any Error)?
        while let result = pq.nextResult(handle) {
            defer { pq.clear(result) }
            do { try check(result) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }

    /// The types of a table's columns: those of an insertion's parameters.
    func types(of columns: [String], in table: String) throws -> [UInt32] {
        let values = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        return try prepare("INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(values))").types
    }

    func copy(_ rows: [[SQLValue]], into table: String, _ columns: [String]) throws {
        let list = columns.joined(separator: ", ")
        let types = try types(of: columns, in: table)
        var buffer = CopyBuffer()
        for row in rows { try buffer.append(row, types: types) }
        try copy("COPY \(table) (\(list)) FROM STDIN (FORMAT binary)", buffer)
    }

    /// The rows go through a temporary table of the session, because COPY has no rule for existing keys.
    func copyNew(
        _ rows: [[SQLValue]], into table: String, _ columns: [String], key: [String], returning: String
    ) throws -> [Int64] {
        let incoming = "incoming_\(table)"
        try execute(
            """
            CREATE TEMPORARY TABLE IF NOT EXISTS \(incoming) (LIKE \(table)) ON COMMIT DELETE ROWS;
            TRUNCATE \(incoming)
            """)
        try copy(rows, into: incoming, columns)
        let list = columns.joined(separator: ", ")
        var values: [Int64] = []
        let insertion = try statement(
            """
            INSERT INTO \(table) (\(list)) SELECT \(list) FROM \(incoming)
            ON CONFLICT (\(key.joined(separator: ", "))) DO NOTHING RETURNING \(returning)
            """)
        try insertion.forEachValue { values.append($0) }
        return values
    }

    // MARK: Notifications

    /// The socket, to wait for notifications; nil for a lost connection.
    var socket: Int32? {
        let socket = pq.socket(handle)
        return socket >= 0 ? socket : nil
    }

    /// Reads what has arrived. Returns whether a notification was among it.
    func takeNotifications() throws -> Bool {
        guard pq.consumeInput(handle) == 1 else { throw connectionError() }
        var isNotified = false
        while let notification = pq.notification(handle) {
            isNotified = true
            pq.freeMemory(notification)
        }
        return isNotified
    }

    // MARK: Results

    private func checked(_ result: LibPQ.Result?) throws -> PostgreSQLResult {
        do {
            let owned = PostgreSQLResult(pq, try check(result))
            if let changed = owned.changedRows { changesCount = changed }
            return owned
        } catch {
            pq.clear(result)
            throw error
        }
    }

    @discardableResult
    private func check(_ result: LibPQ.Result?) throws -> LibPQ.Result {
        guard let result else { throw connectionError() }
        switch LibPQ.Status(rawValue: pq.resultStatus(result)) {
        case .commandOK, .tuplesOK, .emptyQuery: return result
        default:
            let state = pq.errorField(result, LibPQ.Field.state.rawValue).map { String(cString: $0) } ?? ""
            guard let text = pq.errorField(result, LibPQ.Field.message.rawValue) else { throw connectionError() }
            throw PostgreSQLError(state: state, message: String(cString: text), isLost: isLost)
        }
    }

    private func connectionError() -> PostgreSQLError {
        hasFailed = true
        let text = pq.connectionError(handle).map { String(cString: $0) } ?? ""
        // libpq indents further lines by a tab.
        let line = text.split(whereSeparator: \.isNewline).map { $0.trimmingPrefix(while: \.isWhitespace) }
            .joined(separator: "; ")
        return PostgreSQLError(state: "", message: line.isEmpty ? "the connection is lost" : line, isLost: true)
    }

    /// Calls `body` with an array of C strings that ends with a null pointer.
    private static func withTexts<T>(_ texts: [String], _ body: (UnsafePointer<LibPQ.Text?>) -> T) -> T {
        let copies = texts.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        var pointers = copies.map { $0.map { LibPQ.Text($0) } }
        pointers.append(nil)
        return body(pointers)
    }
}

/// A prepared query: its name on the connection, its text in PostgreSQL's dialect, and the types of its parameters.
struct PreparedQuery {
    var name: String
    var text: String
    var types: [UInt32]
}

/// The rows of a result. It frees them with itself.
final class PostgreSQLResult {
    private let pq: LibPQ
    private let result: LibPQ.Result
    let rowCount: Int32

    init(_ pq: LibPQ, _ result: LibPQ.Result) {
        self.pq = pq
        self.result = result
        rowCount = pq.rowCount(result)
    }

    deinit { pq.clear(result) }

    /// The number of rows that the command changed; nil for a query.
    var changedRows: Int? {
        guard let text = pq.changedRows(result), text.pointee != 0 else { return nil }
        return Int(String(cString: text))
    }

    /// Calls `body` with each row, which is valid only during the call.
    func forEachRow(_ body: (Columns) throws -> Void) throws {
        let count = Int(pq.columnCount(result))
        let cells = UnsafeMutablePointer<SQLCell>.allocate(capacity: max(1, count))
        cells.initialize(repeating: SQLCell(), count: max(1, count))
        defer { cells.deallocate() }
        for row in 0..<rowCount {
            for column in 0..<Int32(count) {
                let isNull = pq.isNull(result, row, column) == 1
                let start = isNull ? nil : pq.value(result, row, column)
                cells[Int(column)] = SQLCell(start: UnsafeRawPointer(start), count: pq.length(result, row, column))
            }
            try body(Columns(cells: cells))
        }
    }
}

/// Interrupts the statement of a connection, from any thread.
///
/// `@unchecked Sendable`: libpq allows `PQcancel` in any thread, because the object holds only the address and the key
/// of a session, and nothing changes it.
final class ConnectionInterrupt: @unchecked Sendable {
    private let pq: LibPQ
    private let handle: OpaquePointer

    init?(_ pq: LibPQ, _ connection: LibPQ.Connection) {
        guard let handle = pq.makeCancel(connection) else { return nil }
        self.pq = pq
        self.handle = handle
    }

    deinit { pq.freeCancel(handle) }

    /// Sends the request over a connection of its own, which blocks.
    func send() {
        var reason = [CChar](repeating: 0, count: 256)
        // Without effect the statement ends by itself, at the latest by its time limit.
        _ = pq.cancel(handle, &reason, Int32(reason.count))
    }
}
