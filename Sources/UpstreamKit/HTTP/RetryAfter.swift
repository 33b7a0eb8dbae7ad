/// The `Retry-After` header.
///
/// Source: RFC 9110 sections 10.2.3 and 5.6.7
package enum RetryAfter {
    /// A longer wait is taken as a day.
    package static let longestSeconds = 86_400

    /// Seconds to wait, 0…86,400, of either form; nil where it is neither. Of the dates only IMF-fixdate, the one form
    /// that may be sent.
    package static func seconds(_ text: String, now: Int) -> Int? {
        let text = text.split(separator: " ").joined(separator: " ")
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return min(Int(text) ?? longestSeconds, longestSeconds)
        }
        return date(text).map { min(max(0, $0 - now), longestSeconds) }
    }

    /// Unix seconds of `Sun, 06 Nov 1994 08:49:37 GMT`.
    package static func date(_ text: String) -> Int? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", parts[0].count == 4, parts[0].last == ",",
            let day = number(parts[1], digits: 2), (1...31).contains(day),
            let month = months.firstIndex(of: parts[2]), let year = number(parts[3], digits: 4),
            year >= 1970
        else { return nil }
        let clock = parts[4].split(separator: ":", omittingEmptySubsequences: false)
        guard clock.count == 3, let hour = number(clock[0], digits: 2), hour < 24,
            let minute = number(clock[1], digits: 2), minute < 60,
            let second = number(clock[2], digits: 2), second <= 60
        else { return nil }
        return days(year: year, month: month + 1, day: day) * 86_400 + hour * 3_600 + minute * 60
            + second
    }

    private static let months: [Substring] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private static func number(_ text: Substring, digits: Int) -> Int? {
        guard text.count == digits, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int(text)
    }

    /// Days since 1970-01-01 of a Gregorian date.
    ///
    /// Source: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let y = month <= 2 ? year - 1 : year
        let era = y / 400
        let yearOfEra = y - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
