/// Protects against CSV injection: texts that a spreadsheet would evaluate as formulas. An export prefixes them with an
/// apostrophe, and an import removes it. Numbers are exempt.
///
/// Source: OWASP, "CSV Injection" (https://owasp.org/www-community/attacks/CSV_Injection)
enum CSVFormula {
    static let mark = "'"

    /// Whether a text starts like a formula, possibly after apostrophes.
    static func isOne(_ text: some StringProtocol) -> Bool {
        let first = text.utf8.first { $0 != UInt8(ascii: "'") }
        return switch first {
        case UInt8(ascii: "="), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "@"), 0x09, 0x0D: true
        default: false
        }
    }

    /// The original text of an exported cell.
    static func unmarked(_ cell: String) -> String {
        cell.hasPrefix(mark) && isOne(cell) ? String(cell.dropFirst()) : cell
    }
}
