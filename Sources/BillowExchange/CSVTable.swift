import JSONKit

/// The header of a CSV file of observations, or of exported pilot reports. It parses the file's rows.
///
/// Source: RFC 4180; if the header has no comma, semicolons and tabs are separators too
struct CSVTable {
    private let separator: UInt8
    /// The meaning of each column; nil for an unknown column.
    private let columns: [FieldName?]
    /// Whether the rows are pilot reports.
    let holdsPilotReports: Bool

    /// Parses the header row.
    ///
    /// - Throws: errors that make the whole file unusable.
    init(header: ArraySlice<UInt8>) throws(RefusalReason) {
        separator = CSVTable.separator(of: header)
        let names = try CSVTable.cells(of: header, separator: separator)
        columns = names.map { FieldName($0) }
        let known = Set(columns.compactMap { $0 })
        guard !known.isEmpty else {
            throw .unknownFormat("it begins with '\(names.joined(separator: ",").prefix(40))'")
        }
        for name in known where columns.count(where: { $0 == name }) > 1 { throw .duplicateColumn(name.name) }
        guard !known.contains(.reports) else { throw .aggregated }
        func need(_ alternatives: [[FieldName]], _ message: String) throws(RefusalReason) {
            guard alternatives.contains(where: known.isSuperset) else { throw .missing("the column \(message)") }
        }
        holdsPilotReports = known.contains(.turbulence)
        try need([[.observedAt]], "observedAt")
        if holdsPilotReports {
            try need([[.longitude, .latitude]], "longitude or latitude")
            try need([[.text]], "text")
        } else {
            try need([[.h3], [.longitude, .latitude]], "h3 (or longitude and latitude)")
            try need([[.altitude], [.altitudeMin], [.altitudeMax]], "altitude")
            try need([[.severity], [.severityName], [.edr]], "severity (or edr)")
        }
    }

    /// Whether a row could be the header of a supported table.
    static func isHeader(_ row: ArraySlice<UInt8>) -> Bool {
        // A row that can't be split into cells is no header; the reason doesn't matter here.
        guard let names = try? cells(of: row, separator: separator(of: row)) else { return false }
        return names.contains { FieldName($0) != nil }
    }

    /// Parses a row into `fields`; returns false for a blank row.
    func read(_ row: ArraySlice<UInt8>, into fields: inout RecordFields) throws(RefusalReason) -> Bool {
        fields.removeAll()
        var cells = try CSVTable.cells(of: row, separator: separator)
        while cells.count > columns.count, cells.last?.isEmpty == true { cells.removeLast() }
        if cells.allSatisfy(\.isEmpty) { return false }
        guard cells.count == columns.count else {
            throw .syntax("\(cells.count) cells under \(columns.count) columns")
        }
        for (name, cell) in zip(columns, cells) {
            if let name { try fields.set(name, .text(CSVFormula.unmarked(cell))) }
        }
        return true
    }

    private static func separator(of header: ArraySlice<UInt8>) -> UInt8 {
        [UInt8(ascii: ","), UInt8(ascii: ";"), 0x09].first(where: header.contains) ?? UInt8(ascii: ",")
    }

    /// Splits a row into cells, and trims blanks around cells without quotes.
    private static func cells(of row: ArraySlice<UInt8>, separator: UInt8) throws(RefusalReason) -> [String] {
        var cells: [String] = []
        var at = row.startIndex
        while true {
            let start = at
            var blank = at
            while blank < row.endIndex, row[blank] == 0x20 { blank += 1 }
            if blank < row.endIndex, row[blank] == UInt8(ascii: "\"") {
                at = blank + 1
                cells.append(try quoted(row, &at))
                while at < row.endIndex, row[at] == 0x20 { at += 1 }
                guard at == row.endIndex || row[at] == separator else { throw .syntax("text behind a closing quote") }
            } else {
                while at < row.endIndex, row[at] != separator { at += 1 }
                var cell = row[start..<at]
                while let first = cell.first, first == 0x20 || first == 0x09 { cell.removeFirst() }
                while let last = cell.last, last == 0x20 || last == 0x09 || last == 0x0D { cell.removeLast() }
                cells.append(try text(cell))
            }
            guard at < row.endIndex else { return cells }
            at += 1
        }
    }

    /// The text up to the closing quote, with doubled quotes decoded. Moves `at` after the quote.
    private static func quoted(_ row: ArraySlice<UInt8>, _ at: inout Int) throws(RefusalReason) -> String {
        var bytes: [UInt8] = []
        while at < row.endIndex {
            let byte = row[at]
            at += 1
            if byte == UInt8(ascii: "\"") {
                guard at < row.endIndex, row[at] == UInt8(ascii: "\"") else { return try text(bytes[...]) }
                at += 1
            }
            bytes.append(byte)
        }
        throw .syntax("a quote that isn't closed")
    }

    private static func text(_ bytes: ArraySlice<UInt8>) throws(RefusalReason) -> String {
        guard let text = String(validUTF8: bytes) else { throw .notUTF8 }
        return text
    }
}
