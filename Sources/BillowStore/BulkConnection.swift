/// A connection for which each statement is a journey to a server, so that rows are read and written many at a time.
package protocol BulkConnection: SQLConnection {
    /// Copies rows into a table.
    func copy(_ rows: [[SQLValue]], into table: String, _ columns: [String]) throws

    /// Copies rows into a table, except those whose key exists or came before.
    ///
    /// - Parameter returning: an integer column.
    /// - Returns: its value in each new row.
    func copyNew(
        _ rows: [[SQLValue]], into table: String, _ columns: [String], key: [String], returning: String
    ) throws -> [Int64]
}
