internal import GRDB

/// A connection to a database, inside a transaction: of SQLite, or of a driver in another module.
///
/// All queries of the log have one text (`Query`), in the SQL that SQLite and PostgreSQL share. A driver translates the
/// rest: the placeholders `?` and `?1`, `max` and `min` with several arguments, `INDEXED BY`, and checksums of rows.
package protocol SQLConnection: AnyObject {
    /// A prepared statement, ready for its arguments.
    func statement(_ sql: String) throws -> RawStatement

    /// The number of rows that the last INSERT, UPDATE or DELETE changed.
    var changesCount: Int { get }

    /// - Throws: if the task that waits for the transaction was cancelled.
    func checkCancellation() throws
}

extension Database: SQLConnection {
    package func statement(_ sql: String) throws -> RawStatement { try RawStatement(sqlite: self, sql) }
}

/// A prepared statement of a driver.
package protocol DriverStatement: AnyObject {
    /// The number of placeholders.
    var parameterCount: Int { get }

    /// Binds an argument by its position, from 1. An argument stays until another one is bound.
    func bind(_ value: SQLValue, at position: Int32)

    /// Executes the statement.
    func run() throws

    /// Calls `body` for each row of the result, which may be longer than memory allows.
    func forEachRow(_ body: (Columns) throws -> Void) throws

    /// Calls `body` for the first row, if there is one.
    func first(_ body: (Columns) throws -> Void) throws
}

/// A value of SQL.
package enum SQLValue: Sendable, Hashable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case bytes([UInt8])
    /// For drivers with arrays.
    case integers([Int64])
    case texts([String])
}

/// A value in a row of a driver, in PostgreSQL's binary format: big-endian numbers of 1, 2, 4 or 8 bytes.
package struct SQLCell {
    /// Without an address the value is NULL.
    package var start: UnsafeRawPointer?
    package var count: Int32

    package init(start: UnsafeRawPointer? = nil, count: Int32 = 0) {
        self.start = start
        self.count = count
    }

    /// 0 for NULL, and for a value of another length.
    var integer: Int64 {
        guard let start else { return 0 }
        return switch count {
        case 8: Int64(bigEndian: start.loadUnaligned(as: Int64.self))
        case 4: Int64(Int32(bigEndian: start.loadUnaligned(as: Int32.self)))
        case 2: Int64(Int16(bigEndian: start.loadUnaligned(as: Int16.self)))
        case 1: Int64(start.loadUnaligned(as: UInt8.self))
        default: 0
        }
    }

    /// 0 for NULL, and for a value of another length.
    var double: Double {
        guard let start, count == 8 else { return 0 }
        return Double(bitPattern: UInt64(bigEndian: start.loadUnaligned(as: UInt64.self)))
    }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(count)) }
}

/// The queries whose results may be longer than memory allows, or whose reader may stop early. A driver reads them
/// piece by piece.
package enum LongQueries {
    private static let all = Set(Query.long)

    package static func contains(_ sql: String) -> Bool { all.contains(sql) }
}
