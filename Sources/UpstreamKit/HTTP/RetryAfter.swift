import CivilCalendar

/// The `Retry-After` header.
///
/// Source: RFC 9110 sections 10.2.3 and 5.6.7
package enum RetryAfter {
    /// The maximum delay: a day. Longer ones are clamped.
    package static let longestSeconds = 86_400

    /// The delay in seconds, 0…86,400, from either form; nil for any other text. Of the date formats only IMF-fixdate
    /// is accepted, the only one that may be sent.
    package static func seconds(_ text: String, now: Int) -> Int? {
        let text = text.split(separator: " ").joined(separator: " ")
        if !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return min(Int(text) ?? longestSeconds, longestSeconds)
        }
        return date(text).map { min(max(0, $0 - now), longestSeconds) }
    }

    /// Parses `Sun, 06 Nov 1994 08:49:37 GMT` to Unix seconds.
    package static func date(_ text: String) -> Int? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", parts[0].count == 4, parts[0].last == ",",
            let day = number(parts[1], digits: 2),
            let month = months.firstIndex(of: parts[2]), let year = number(parts[3], digits: 4),
            year >= 1970
        else { return nil }
        let clock = parts[4].split(separator: ":", omittingEmptySubsequences: false)
        guard clock.count == 3, let hour = number(clock[0], digits: 2), let minute = number(clock[1], digits: 2),
            // A leap second becomes the next second.
            let second = number(clock[2], digits: 2), second <= 60,
            let time = CivilTime(year: year, month: month + 1, day: day, hour: hour, minute: minute)
        else { return nil }
        return time.unixSeconds + second
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
}
