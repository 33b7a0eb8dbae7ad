import Foundation

/// Parses the text of a SIGMET bulletin for information that its fields lack.
///
/// Source: NWS Instruction 10-811 (domestic SIGMETs), ICAO Annex 3 appendix 6 (international ones), WMO-No. 386
/// (headings)
struct SigmetText {
    private let lines: [Substring]

    init(_ text: String) { lines = text.split(whereSeparator: \.isNewline) }

    /// The bulletin without the headings, which differ between offices; nil if it is empty.
    var body: String? {
        let start = lines.firstIndex { $0.contains("SIGMET") } ?? lines.startIndex
        let text = lines[start...].map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
        return text.isEmpty ? nil : text
    }

    /// Whether the bulletin says that no SIGMET is issued: `CONVECTIVE SIGMET...NONE`.
    var saysNone: Bool { lines.contains { $0.firstMatch(of: /SIGMET\.\.\.NONE\b/) != nil } }

    /// The name of a domestic series: `PAPA` of `SIGMET PAPA 11 VALID UNTIL …`, `72C` of `CONVECTIVE SIGMET 72C`.
    var series: String? {
        for line in lines {
            if let match = line.wholeMatch(of: /CONVECTIVE SIGMET +([0-9]+[A-Z]) */) { return String(match.1) }
            if let match = line.wholeMatch(of: /SIGMET +([A-Z]+) +[0-9]+ +VALID.*/) { return String(match.1) }
        }
        return nil
    }

    /// `SEV` if the bulletin mentions severe turbulence.
    var intensity: String? {
        let words = lines.joined(separator: " ")
        return words.contains("SEV TURB") || words.contains("EXTRM TURB") ? "SEV" : nil
    }

    /// The time of issue by the day and time in its heading: the last such time before its end.
    func issuedAt(before end: Date) -> Date? {
        guard let match = lines.first?.firstMatch(of: /^[A-Z]{4}[0-9]{2} [A-Z]{4} ([0-9]{2})([0-9]{2})([0-9]{2})/),
            let day = Int(match.1), let hour = Int(match.2), let minute = Int(match.3), hour < 24, minute < 60
        else { return nil }
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        let time = TimeInterval(hour * 3_600 + minute * 60)
        let lastDay = calendar.startOfDay(for: end)
        // A day of the month recurs within 31 days, except the 29th to 31st. Two months contain each of them.
        for daysBefore in 0..<62 {
            let date = lastDay.addingTimeInterval(TimeInterval(-86_400 * daysBefore))
            if calendar.component(.day, from: date) == day, date.addingTimeInterval(time) <= end {
                return date.addingTimeInterval(time)
            }
        }
        return nil
    }
}
