internal import GRDB
internal import GRDBSQLite

/// A prepared statement for loops over thousands of rows: on SQLite's C interface, or of a driver. It binds and reads
/// typed columns, without an argument array or a row dictionary. No pointer and no position leaves this file.
///
/// A statement is prepared once per connection and used only on that connection's thread.
package struct RawStatement {
    private enum Source {
        case sqlite(Statement)
        case driver(any DriverStatement)
    }

    private let source: Source

    init(_ connection: any SQLConnection, _ sql: String) throws { self = try connection.statement(sql) }

    /// A statement from GRDB's cache.
    init(sqlite db: Database, _ sql: String) throws {
        let statement = try db.cachedStatement(sql: sql)
        // An error may have left the statement in the middle of a result.
        sqlite3_reset(statement.sqliteStatement)
        sqlite3_clear_bindings(statement.sqliteStatement)
        source = .sqlite(statement)
    }

    package init(driver statement: any DriverStatement) { source = .driver(statement) }

    // MARK: Arguments, from position 1

    fileprivate func bind(_ value: Int64, at position: Int32) {
        switch source {
        case .sqlite(let statement): check(sqlite3_bind_int64(statement.sqliteStatement, position, value))
        case .driver(let statement): statement.bind(.integer(value), at: position)
        }
    }

    private func bindNull(at position: Int32) {
        switch source {
        case .sqlite(let statement): check(sqlite3_bind_null(statement.sqliteStatement, position))
        case .driver(let statement): statement.bind(.null, at: position)
        }
    }

    private func bind(_ value: Int64?, at position: Int32) {
        if let value { bind(value, at: position) } else { bindNull(at: position) }
    }

    private func bind(_ value: Double, at position: Int32) {
        switch source {
        case .sqlite(let statement): check(sqlite3_bind_double(statement.sqliteStatement, position, value))
        case .driver(let statement): statement.bind(.real(value), at: position)
        }
    }

    private func bind(_ value: Double?, at position: Int32) {
        if let value { bind(value, at: position) } else { bindNull(at: position) }
    }

    /// - Throws: if the text is longer than SQLite's limit (1 GB).
    fileprivate func bind(_ value: String?, at position: Int32) throws {
        guard var value else { return bindNull(at: position) }
        let handle: SQLiteStatement
        switch source {
        case .sqlite(let statement): handle = statement.sqliteStatement
        case .driver(let statement): return statement.bind(.text(value), at: position)
        }
        // Binds by length, because the text may contain NUL. An empty buffer may have no address, which would bind
        // NULL.
        let code = value.withUTF8 { bytes in
            guard let start = bytes.baseAddress else { return sqlite3_bind_text(handle, position, "", 0, transient) }
            return start.withMemoryRebound(to: CChar.self, capacity: bytes.count) {
                sqlite3_bind_text64(handle, position, $0, UInt64(bytes.count), transient, UInt8(SQLITE_UTF8))
            }
        }
        if code != SQLITE_OK { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }

    /// SQLite copies the bytes. An empty buffer may have no address, which would bind NULL.
    private func bind(_ value: [UInt8], at position: Int32) {
        switch source {
        case .sqlite(let statement):
            let handle = statement.sqliteStatement
            guard !value.isEmpty else { return check(sqlite3_bind_zeroblob(handle, position, 0)) }
            check(sqlite3_bind_blob64(handle, position, value, UInt64(value.count), transient))
        case .driver(let statement): statement.bind(.bytes(value), at: position)
        }
    }

    private var parameterCount: Int {
        switch source {
        case .sqlite(let statement): Int(sqlite3_bind_parameter_count(statement.sqliteStatement))
        case .driver(let statement): statement.parameterCount
        }
    }

    /// Binds all arguments of a query, in the order of their placeholders.
    func bind<each Argument: QueryArgument>(_ arguments: repeat each Argument) throws {
        var position: Int32 = 0
        for argument in repeat each arguments {
            position += 1
            try argument.bind(to: self, at: position)
        }
        precondition(position == parameterCount, "a query's arguments don't fit its text")
    }

    /// Binds an argument of a driver's own query.
    package func bind(_ value: SQLValue, at position: Int32) throws {
        switch value {
        case .null: bindNull(at: position)
        case .integer(let value): bind(value, at: position)
        case .real(let value): bind(value, at: position)
        case .text(let value): try bind(value, at: position)
        case .bytes(let value): bind(value, at: position)
        case .integers, .texts:
            guard case .driver(let statement) = source else { preconditionFailure("SQLite has no arrays") }
            statement.bind(value, at: position)
        }
    }

    // MARK: Columns of an inserted row

    func bind<Column: StoredColumn>(_ value: Int64, _ column: Column) { bind(value, at: column.argument) }
    func bind<Column: StoredColumn>(_ value: Int64?, _ column: Column) { bind(value, at: column.argument) }
    func bind<Column: StoredColumn>(_ value: Double, _ column: Column) { bind(value, at: column.argument) }
    func bind<Column: StoredColumn>(_ value: Double?, _ column: Column) { bind(value, at: column.argument) }
    func bind<Column: StoredColumn>(_ value: Bool, _ column: Column) {
        bind(value ? 1 : 0 as Int64, at: column.argument)
    }
    func bind<Column: StoredColumn>(_ value: [UInt8], _ column: Column) { bind(value, at: column.argument) }

    /// - Throws: if the text is longer than SQLite's limit (1 GB).
    func bind<Column: StoredColumn>(_ value: String?, _ column: Column) throws { try bind(value, at: column.argument) }

    /// Binds the checksum of a row; 0 where rows have none.
    func bind<Column: StoredColumn>(_ sum: RowSum, _ column: Column) {
        switch source {
        case .sqlite: bind(sum.value, column)
        case .driver: bind(0 as Int64, column)
        }
    }

    // MARK: Running

    /// Executes the statement and resets it for the next arguments.
    package func run() throws {
        switch source {
        case .sqlite(let statement):
            let handle = statement.sqliteStatement
            defer { sqlite3_reset(handle) }
            while try Self.step(handle) {}
        case .driver(let statement): try statement.run()
        }
    }

    /// Calls `body` for each row of the result.
    package func forEachRow(_ body: (Columns) throws -> Void) throws {
        switch source {
        case .sqlite(let statement):
            let handle = statement.sqliteStatement
            defer { sqlite3_reset(handle) }
            while try Self.step(handle) { try body(Columns(handle: handle)) }
        case .driver(let statement): try statement.forEachRow(body)
        }
    }

    /// Applies `body` to the first row; nil if there is none.
    func first<T>(_ body: (Columns) throws -> T) throws -> T? {
        switch source {
        case .sqlite(let statement):
            let handle = statement.sqliteStatement
            defer { sqlite3_reset(handle) }
            return try Self.step(handle) ? try body(Columns(handle: handle)) : nil
        case .driver(let statement):
            var value: T?
            try statement.first { value = try body($0) }
            return value
        }
    }

    /// The value of a query with one column, in its first row; nil for NULL or without a row.
    package func value() throws -> Int64? { try first(\.only) ?? nil }

    /// All values of a query with one column. NULL is skipped.
    package func forEachValue(_ body: (Int64) throws -> Void) throws {
        try forEachRow { row in
            if let value = row.only { try body(value) }
        }
    }

    /// Whether the result has a row.
    func hasRow() throws -> Bool { try first { _ in true } ?? false }

    private static func step(_ handle: SQLiteStatement) throws -> Bool {
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code:
            let connection = sqlite3_db_handle(handle)
            throw DatabaseError(
                resultCode: ResultCode(rawValue: connection.map { sqlite3_extended_errcode($0) } ?? code),
                message: connection.map { String(cString: sqlite3_errmsg($0)) })
        }
    }

    /// Binding fails only for an unknown position or without memory. Neither depends on data.
    private func check(_ code: Int32) {
        precondition(code == SQLITE_OK, "a query's arguments don't fit its text (SQLite code \(code))")
    }
}

/// A value that can be bound to a placeholder.
protocol QueryArgument {
    func bind(to statement: RawStatement, at position: Int32) throws
}

extension Int64: QueryArgument {
    func bind(to statement: RawStatement, at position: Int32) { statement.bind(self, at: position) }
}

extension String: QueryArgument {
    func bind(to statement: RawStatement, at position: Int32) throws { try statement.bind(self, at: position) }
}

/// The current row of a statement. Valid until the next step.
package struct Columns {
    /// SQLite's statement; nil for a driver's row.
    private let handle: SQLiteStatement?
    /// The values of a driver's row.
    private let cells: UnsafePointer<SQLCell>?

    fileprivate init(handle: SQLiteStatement) {
        self.handle = handle
        cells = nil
    }

    /// A row of a driver, with a cell for each column.
    package init(cells: UnsafePointer<SQLCell>) {
        handle = nil
        self.cells = cells
    }

    private func cell(_ position: Int32) -> SQLCell { cells?[Int(position)] ?? SQLCell() }

    /// Whether rows have checksums. A driver's database checks its own pages.
    private var hasSums: Bool { handle != nil }

    /// The value of a query with one column; nil for NULL.
    fileprivate var only: Int64? {
        guard let handle else { return cell(0).start == nil ? nil : cell(0).integer }
        assert(sqlite3_column_count(handle) == 1, "the query has other columns")
        return sqlite3_column_type(handle, 0) == SQLITE_NULL ? nil : sqlite3_column_int64(handle, 0)
    }

    func isNull<Column: ResultColumn>(_ column: Column) -> Bool {
        guard let handle else { return cell(column.rawValue).start == nil }
        return sqlite3_column_type(handle, column.rawValue) == SQLITE_NULL
    }

    /// The text of a driver's first column; nil for NULL.
    package var firstText: String? {
        let cell = cell(0)
        return cell.start == nil ? nil : StoredText.decoded(cell.bytes)
    }

    /// 0 for NULL.
    func integer<Column: ResultColumn>(_ column: Column) -> Int64 {
        guard let handle else { return cell(column.rawValue).integer }
        return sqlite3_column_int64(handle, column.rawValue)
    }

    func optionalInteger<Column: ResultColumn>(_ column: Column) -> Int64? {
        isNull(column) ? nil : integer(column)
    }

    /// 0 for NULL.
    func double<Column: ResultColumn>(_ column: Column) -> Double {
        guard let handle else { return cell(column.rawValue).double }
        return sqlite3_column_double(handle, column.rawValue)
    }

    /// Empty for NULL.
    func bytes<Column: ResultColumn>(_ column: Column) -> [UInt8] {
        guard let handle else { return Array(cell(column.rawValue).bytes) }
        let start = sqlite3_column_blob(handle, column.rawValue)
        return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column.rawValue))))
    }

    func text<Column: ResultColumn>(_ column: Column) -> String? {
        guard let handle else {
            let cell = cell(column.rawValue)
            return cell.start == nil ? nil : StoredText.decoded(cell.bytes)
        }
        guard let start = sqlite3_column_text(handle, column.rawValue) else { return nil }
        let count = Int(sqlite3_column_bytes(handle, column.rawValue))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    /// The first values of SQLite's row, as they are stored.
    func values(count: Int) -> [SQLValue] {
        guard let handle else { return [] }
        return (0..<Int32(count)).map { position in
            switch sqlite3_column_type(handle, position) {
            case SQLITE_INTEGER: return .integer(sqlite3_column_int64(handle, position))
            case SQLITE_FLOAT: return .real(sqlite3_column_double(handle, position))
            case SQLITE_NULL: return .null
            case SQLITE_TEXT:
                let start = UnsafeRawPointer(sqlite3_column_text(handle, position))
                let bytes = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, position)))
                return .text(String(decoding: bytes, as: UTF8.self))
            default:
                let start = sqlite3_column_blob(handle, position)
                let bytes = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, position)))
                return .bytes(Array(bytes))
            }
        }
    }

    /// The first values of a driver's row, in its binary format; nil for NULL.
    package func binaryValues(count: Int) -> [[UInt8]?] {
        (0..<Int32(count)).map { position in
            let cell = cell(position)
            return cell.start == nil ? nil : Array(cell.bytes)
        }
    }

    /// Whether the checksum of a row is right, for a query that begins with all columns of a table.
    func isWhole<Column: StoredColumn>(_ table: Column.Type) -> Bool {
        isRight(sum(ofFirst: Column.sum.rawValue), Column.sum)
    }

    /// Whether a checksum is the one that a column holds; true without checksums.
    @inline(__always)
    func isRight<Column: ResultColumn>(_ sum: RowSum, _ column: Column) -> Bool {
        !hasSums || sum.value == integer(column)
    }

    /// The checksum over the first columns, of any type.
    func sum(ofFirst count: Int32) -> RowSum {
        var sum = RowSum()
        guard let handle else { return sum }
        for position in 0..<count { sum.add(sqlite3_column_value(handle, position), at: position) }
        return sum
    }

    // MARK: Reading with a checksum

    @inline(__always)
    func integer(_ column: ObservationColumn, _ sum: inout RowSum) -> Int64 {
        let value = integer(column)
        sum.add(value, at: column.rawValue)
        return value
    }

    /// Checks the type only for zeros, because NULL reads as 0.
    @inline(__always)
    func optionalInteger(_ column: ObservationColumn, _ sum: inout RowSum) -> Int64? {
        let value = integer(column)
        if value == 0, isNull(column) {
            sum.addNull(at: column.rawValue)
            return nil
        }
        sum.add(value, at: column.rawValue)
        return value
    }

    /// Adds a text to the checksum without creating a string.
    @inline(__always)
    func sumText(_ column: ObservationColumn, _ sum: inout RowSum) {
        guard let handle else { return }
        guard let start = sqlite3_column_text(handle, column.rawValue) else {
            return sum.addNull(at: column.rawValue)
        }
        let count = Int(sqlite3_column_bytes(handle, column.rawValue))
        sum.add(UnsafeRawBufferPointer(start: start, count: count), at: column.rawValue)
    }
}

/// SQLITE_TRANSIENT, a C macro that Swift doesn't import. It makes SQLite copy the bound value.
private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
