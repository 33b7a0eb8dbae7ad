internal import BillowStore

/// A prepared query with its arguments.
final class PostgreSQLStatement: DriverStatement {
    private let connection: PostgreSQLConnection
    private let query: PreparedQuery
    /// Whether the result may have more rows than fit into memory. They are then read through a cursor.
    private let isLong: Bool
    private var arguments: [SQLValue]

    /// The rows of the first piece of a long result. Each further piece has twice as many.
    private static let firstPiece = 128
    private static let largestPiece = 4_096

    init(_ connection: PostgreSQLConnection, _ query: PreparedQuery, isLong: Bool) {
        self.connection = connection
        self.query = query
        self.isLong = isLong
        arguments = Array(repeating: .null, count: query.types.count)
    }

    var parameterCount: Int { arguments.count }

    func bind(_ value: SQLValue, at position: Int32) { arguments[Int(position) - 1] = value }

    func run() throws { _ = try connection.run(query, arguments) }

    func forEachRow(_ body: (Columns) throws -> Void) throws {
        guard isLong else { return try connection.run(query, arguments).forEachRow(body) }
        let cursor = connection.newCursor()
        _ = try connection.run(
            "DECLARE \(cursor) NO SCROLL CURSOR FOR \(query.text)", arguments, types: query.types)
        defer {
            // After an error of the server the transaction has failed, and its cursors are gone.
            try? connection.execute("CLOSE \(cursor)")
        }
        var piece = Self.firstPiece
        while true {
            let rows = try connection.run("FETCH FORWARD \(piece) FROM \(cursor)")
            try rows.forEachRow(body)
            if rows.rowCount < piece { return }
            piece = min(piece * 2, Self.largestPiece)
        }
    }

    func first(_ body: (Columns) throws -> Void) throws {
        struct Done: Error {}
        do {
            try connection.run(query, arguments).forEachRow {
                try body($0)
                throw Done()
            }
        } catch is Done {}
    }
}
