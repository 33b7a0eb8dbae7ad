import Foundation
import Turbulence

/// Dates in HTTP format.
///
/// Source: RFC 9110 section 5.6.7 (IMF-fixdate)
enum HTTPDate {
    static func text(of instant: Instant) -> String { text(unixSeconds: instant.seconds) }

    static func text(of date: Date) -> String { text(unixSeconds: Int(date.timeIntervalSince1970.rounded(.down))) }

    private static func text(unixSeconds: Int) -> String {
        var seconds = time_t(unixSeconds)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func two(_ number: Int32) -> String { (number < 10 ? "0" : "") + String(number) }
        return
            "\(days[Int(parts.tm_wday)]), \(two(parts.tm_mday)) \(months[Int(parts.tm_mon)]) \(parts.tm_year + 1_900) "
            + "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT"
    }

    private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
}
