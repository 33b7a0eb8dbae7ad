internal import GRDBSQLite
import Synchronization

/// An SQLite file in an exchange format: MBTiles or GeoPackage. It is written from the first page to the last, in one
/// transaction and without a journal. A caller that must never see an incomplete file writes to a temporary name.
///
/// A lock limits the connection to one caller at a time.
///
/// Source: https://sqlite.org/pragma.html (journal_mode, synchronous, locking_mode)
package final class SQLiteFile: Sendable {
    /// A connection with its prepared statements.
    private struct Connection {
        var handle: OpaquePointer
        var statements: [OpaquePointer] = []
        /// The positions of statements by their texts.
        var numbers: [String: Int] = [:]
        var isOpen = true
    }

    private let connection: Mutex<Connection>

    /// Creates a file.
    /// - Parameters:
    ///   - path: an empty or missing file. It is open when this returns, so the name may then be removed.
    ///   - applicationID: the format's number in the file's header.
    ///   - userVersion: the version of the format.
    package init(creating path: String, applicationID: Int32, userVersion: Int32 = 0) throws(PackError) {
        connection = Mutex(Connection(handle: try Self.open(path)))
        try execute("PRAGMA page_size = 4096; PRAGMA encoding = 'UTF-8'")
        try begin()
        try execute("PRAGMA application_id = \(applicationID); PRAGMA user_version = \(userVersion)")
    }

    /// Opens an existing file for reading and changes.
    package init(changing path: String) throws(PackError) {
        connection = Mutex(Connection(handle: try Self.open(path)))
        try begin()
    }

    /// Nothing is durable before the file is closed, because an unfinished file is deleted.
    private func begin() throws(PackError) {
        try execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE")
        try execute("PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY; BEGIN EXCLUSIVE")
    }

    deinit { connection.withLock { Self.close(&$0) } }

    private static func open(_ path: String) throws(PackError) -> OpaquePointer {
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE
        let code = sqlite3_open_v2(path, &handle, flags, nil)
        guard code == SQLITE_OK, let handle else {
            let error = failure(code, handle)
            sqlite3_close_v2(handle)
            throw error
        }
        sqlite3_extended_result_codes(handle, 1)
        return handle
    }

    private static func close(_ connection: inout Connection) {
        guard connection.isOpen else { return }
        connection.isOpen = false
        for statement in connection.statements { sqlite3_finalize(statement) }
        connection.statements = []
        connection.numbers = [:]
        sqlite3_close_v2(connection.handle)
    }

    private static func failure(_ code: Int32, _ handle: OpaquePointer?) -> PackError {
        .database(code: code, handle.map { String(cString: sqlite3_errmsg($0)) } ?? "no connection")
    }

    /// Executes statements without results.
    package func execute(_ sql: String) throws(PackError) {
        let error = connection.withLock { connection -> PackError? in
            let code = sqlite3_exec(connection.handle, sql, nil, nil, nil)
            return code == SQLITE_OK ? nil : Self.failure(code, connection.handle)
        }
        if let error { throw error }
    }

    /// Commits the transaction and closes the file, which is then complete.
    package func finish() throws(PackError) {
        try execute("COMMIT")
        connection.withLock { Self.close(&$0) }
    }

    /// The approximate current size in bytes.
    package var size: Int {
        get throws(PackError) {
            try first("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size") { Int($0.only ?? 0) }
                ?? 0
        }
    }

    /// A statement that is prepared once, for rows in large numbers.
    package struct Statement: Sendable {
        fileprivate let number: Int
    }

    /// Prepares a statement, or finds the one that was prepared from the same text.
    package func prepare(_ sql: String) throws(PackError) -> Statement {
        let result = connection.withLock { connection -> Result<Statement, PackError> in
            if let number = connection.numbers[sql] { return .success(Statement(number: number)) }
            var handle: OpaquePointer?
            let code = sqlite3_prepare_v3(
                connection.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
            guard code == SQLITE_OK, let handle else { return .failure(Self.failure(code, connection.handle)) }
            let number = connection.statements.count
            connection.statements.append(handle)
            connection.numbers[sql] = number
            return .success(Statement(number: number))
        }
        return try result.get()
    }

    /// Calls `body` with a statement, which is prepared once and valid only during the call.
    package func with<Value: Sendable>(_ sql: String, _ body: (Row) throws(PackError) -> Value) throws(PackError)
        -> Value
    {
        try with(try prepare(sql), body)
    }

    /// Calls `body` with a statement, which is valid only during the call. The body may run it for many rows; it must
    /// not use the file otherwise.
    package func with<Value: Sendable>(
        _ statement: Statement, _ body: (Row) throws(PackError) -> Value
    ) throws(PackError) -> Value {
        let result = connection.withLock { connection -> Result<Value, PackError> in
            let handle = connection.statements[statement.number]
            defer {
                sqlite3_reset(handle)
                sqlite3_clear_bindings(handle)
            }
            do throws(PackError) { return .success(try body(Row(handle: handle))) } catch { return .failure(error) }
        }
        return try result.get()
    }

    /// Applies `body` to the first row of a query; nil if there is none.
    package func first<Value: Sendable>(_ sql: String, _ body: (Row) -> Value) throws(PackError) -> Value? {
        try with(sql) { row throws(PackError) in try row.step() ? body(row) : nil }
    }

    /// A prepared statement, and its current row.
    package struct Row {
        fileprivate let handle: OpaquePointer

        /// Moves to the next row.
        /// - Returns: whether there is a row.
        package func step() throws(PackError) -> Bool {
            switch sqlite3_step(handle) {
            case SQLITE_ROW: return true
            case SQLITE_DONE: return false
            case let code: throw SQLiteFile.failure(code, sqlite3_db_handle(handle))
            }
        }

        /// Executes the statement and resets it for the next arguments.
        package func run() throws(PackError) {
            while try step() {}
            sqlite3_reset(handle)
        }

        /// Binds all arguments, in the order of their placeholders.
        package func bind<each Value: SQLiteValue>(_ values: repeat each Value) {
            var arguments = Arguments(handle: handle)
            for value in repeat each values { value.bind(to: &arguments) }
            check(arguments)
        }

        /// Binds all arguments, in the order in which `body` appends them.
        package func bind(_ body: (inout Arguments) -> Void) {
            var arguments = Arguments(handle: handle)
            body(&arguments)
            check(arguments)
        }

        private func check(_ arguments: Arguments) {
            precondition(
                arguments.count == sqlite3_bind_parameter_count(handle), "a statement has another number of arguments")
        }

        /// 0 for NULL.
        package func integer<Column: FileColumn>(_ column: Column) -> Int64 {
            sqlite3_column_int64(handle, column.rawValue)
        }

        package func text<Column: FileColumn>(_ column: Column) -> String? { text(at: column.rawValue) }

        /// The integer of a query with one column; nil for NULL.
        package var only: Int64? {
            assert(sqlite3_column_count(handle) == 1, "the query has other columns")
            return sqlite3_column_type(handle, 0) == SQLITE_NULL ? nil : sqlite3_column_int64(handle, 0)
        }

        /// The text of a query with one column; nil for NULL.
        package var onlyText: String? {
            assert(sqlite3_column_count(handle) == 1, "the query has other columns")
            return text(at: 0)
        }

        private func text(at position: Int32) -> String? {
            sqlite3_column_text(handle, position).map { String(cString: $0) }
        }
    }

    /// Binds the arguments of a statement one after the other. SQLite copies texts and bytes, unless they are lent.
    package struct Arguments {
        fileprivate let handle: OpaquePointer
        fileprivate private(set) var count: Int32 = 0

        fileprivate init(handle: OpaquePointer) { self.handle = handle }

        package mutating func append(_ value: Int64) { check(sqlite3_bind_int64(handle, next(), value)) }
        package mutating func append(_ value: Double) { check(sqlite3_bind_double(handle, next(), value)) }
        package mutating func appendNull() { check(sqlite3_bind_null(handle, next())) }

        /// - Parameter bytes: UTF-8.
        package mutating func append(text bytes: UnsafeRawBufferPointer) {
            guard let start = bytes.baseAddress, !bytes.isEmpty else {
                return check(sqlite3_bind_text(handle, next(), "", 0, transient))
            }
            check(
                sqlite3_bind_text64(
                    handle, next(), start.assumingMemoryBound(to: CChar.self), UInt64(bytes.count), transient,
                    UInt8(SQLITE_UTF8)))
        }

        package mutating func append(blob bytes: UnsafeRawBufferPointer) {
            guard let start = bytes.baseAddress, !bytes.isEmpty else {
                return check(sqlite3_bind_zeroblob(handle, next(), 0))
            }
            check(sqlite3_bind_blob64(handle, next(), start, UInt64(bytes.count), transient))
        }

        /// Lends UTF-8 to SQLite, which does not copy it.
        /// - Parameter bytes: must stay valid until `SQLiteFile.with` returns.
        package mutating func append(lentText bytes: UnsafeRawBufferPointer) {
            guard let start = bytes.baseAddress, !bytes.isEmpty else { return append(text: bytes) }
            check(
                sqlite3_bind_text64(
                    handle, next(), start.assumingMemoryBound(to: CChar.self), UInt64(bytes.count), nil,
                    UInt8(SQLITE_UTF8)))
        }

        /// Lends bytes to SQLite, which does not copy them.
        /// - Parameter bytes: must stay valid until `SQLiteFile.with` returns.
        package mutating func append(lentBlob bytes: UnsafeRawBufferPointer) {
            guard let start = bytes.baseAddress, !bytes.isEmpty else { return append(blob: bytes) }
            check(sqlite3_bind_blob64(handle, next(), start, UInt64(bytes.count), nil))
        }

        private mutating func next() -> Int32 {
            count += 1
            return count
        }

        /// Binding fails only for a position without a placeholder, or without memory.
        private func check(_ code: Int32) {
            precondition(code == SQLITE_OK, "arguments don't fit a statement (SQLite code \(code))")
        }
    }

    /// Inserts a row into a table. Columns without a value get their default.
    package func insert(into table: String, _ values: KeyValuePairs<String, any SQLiteValue>) throws(PackError) {
        let names = values.map(\.key).joined(separator: ", ")
        let marks = values.map { _ in "?" }.joined(separator: ", ")
        try with("INSERT INTO \(table) (\(names)) VALUES (\(marks))") { row throws(PackError) in
            row.bind { arguments in
                for (_, value) in values { value.bind(to: &arguments) }
            }
            try row.run()
        }
    }
}

/// The columns of a query's result, in their order. Query texts and value positions are derived from this list.
package protocol FileColumn: CaseIterable, RawRepresentable, Sendable where RawValue == Int32 {
    /// The column's name in the file.
    var name: String { get }
}

extension FileColumn {
    /// All columns, for SELECT and INSERT.
    package static var list: String { allCases.map(\.name).joined(separator: ", ") }
}

/// A value that can be bound to a placeholder.
package protocol SQLiteValue: Sendable {
    func bind(to arguments: inout SQLiteFile.Arguments)
}

extension Int64: SQLiteValue {
    package func bind(to arguments: inout SQLiteFile.Arguments) { arguments.append(self) }
}

extension Double: SQLiteValue {
    package func bind(to arguments: inout SQLiteFile.Arguments) { arguments.append(self) }
}

extension String: SQLiteValue {
    package func bind(to arguments: inout SQLiteFile.Arguments) {
        var text = self
        text.withUTF8 { arguments.append(text: UnsafeRawBufferPointer($0)) }
    }
}

extension [UInt8]: SQLiteValue {
    package func bind(to arguments: inout SQLiteFile.Arguments) {
        withUnsafeBytes { arguments.append(blob: $0) }
    }
}

/// SQLITE_TRANSIENT, a C macro that Swift doesn't import: SQLite copies what is bound.
private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
