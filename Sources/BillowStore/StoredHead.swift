internal import Turbulence

/// The row about the whole log.
struct StoredHead {
    var head: Head
    /// The last version that changed every frame.
    var rules: Version
    /// The number of transactions that deleted observations.
    var deletions: Int64
    /// 16 bytes.
    var tagSecret: [UInt8]

    /// - Throws: `UnreadableRow` if it is missing or has a wrong checksum.
    init(_ db: any SQLConnection) throws {
        let stored = try RawStatement(db, Query.head).first { try StoredHead($0) }
        guard let stored else { throw UnreadableRow(table: .head, key: 1) }
        self = stored
    }

    private init(_ columns: Columns) throws {
        typealias Column = HeadColumn
        tagSecret = columns.bytes(Column.tagSecret)
        guard columns.isWhole(Column.self), let log = columns.text(Column.log), tagSecret.count == 16 else {
            throw UnreadableRow(table: .head, key: 1)
        }
        head = Head(version: Version(rawValue: columns.integer(Column.version)), log: log)
        rules = Version(rawValue: columns.integer(Column.rules))
        deletions = columns.integer(Column.deletions)
    }
}

extension Head {
    package init(_ db: any SQLConnection) throws { self = try StoredHead(db).head }

    /// A random name for a log: 16 hexadecimal digits.
    package static func newName() -> String {
        let digits = String(UInt64.random(in: 0...UInt64.max), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    /// Gives a file a new name, which makes it another log.
    package static func rename(_ db: any SQLConnection) throws {
        let rename = try RawStatement(db, Query.renameLog)
        try rename.bind(newName())
        try rename.run()
    }

    /// Raises the version. This is the last statement of every transaction that changes rows.
    static func raise(_ db: any SQLConnection) throws -> Int64 {
        guard let version = try RawStatement(db, Query.raiseHead).value() else {
            throw UnreadableRow(table: .head, key: 1)
        }
        return version
    }
}
