package import Turbulence

/// What a salvage copied, and what it could not.
package struct Salvaged: Sendable, Hashable {
    package struct Table: Sendable, Hashable {
        package var name: String
        /// Rows in the new database.
        package var rows: Int
        /// Rows whose values make no sense.
        package var refused: Int
        /// Ranges of keys in pages that can't be read; how many rows they had isn't known.
        package var gaps: [ClosedRange<Int64>]
    }

    package var tables: [Table] = []
    /// From when on nothing that pictures show is missing; nil where nothing is missing.
    package var completeSince: Instant?
    package var version: Version = .zero

    /// Whether everything could be read.
    package var isWhole: Bool { tables.allSatisfy { $0.refused == 0 && $0.gaps.isEmpty } }

    /// A line for each table with rows or with something missing.
    package var lines: [String] {
        tables.filter { $0.rows + $0.refused + $0.gaps.count > 0 }.map { table in
            var line = "\(table.name): \(table.rows) rows"
            if table.refused > 0 { line += ", \(table.refused) make no sense" }
            if !table.gaps.isEmpty { line += ", \(table.gaps.count) gaps that can't be read" }
            return line
        }
    }
}
