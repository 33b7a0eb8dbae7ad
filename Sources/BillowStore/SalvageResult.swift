package import Turbulence

/// The result of a salvage: the copied and the lost rows.
package struct SalvageResult: Sendable, Hashable {
    package struct Table: Sendable, Hashable {
        package var name: String
        /// The number of rows in the new database.
        package var rows: Int
        /// The number of invalid rows.
        package var refused: Int
        /// Key ranges in unreadable pages; the number of their rows is unknown.
        package var gaps: [ClosedRange<Int64>]
    }

    package var tables: [Table] = []
    /// The time from which no data of frames is missing; nil if nothing is missing.
    package var completeSince: Instant?
    package var version: Version = .zero

    /// Whether everything was readable.
    package var isWhole: Bool { tables.allSatisfy { $0.refused == 0 && $0.gaps.isEmpty } }

    /// One line for each table with rows or with missing data.
    package var lines: [String] {
        tables.filter { $0.rows + $0.refused + $0.gaps.count > 0 }.map { table in
            var line = "\(table.name): \(table.rows) rows"
            if table.refused > 0 { line += ", \(table.refused) with unusable values" }
            if !table.gaps.isEmpty { line += ", \(table.gaps.count) gaps that can't be read" }
            return line
        }
    }
}
