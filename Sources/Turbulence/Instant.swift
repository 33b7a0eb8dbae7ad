public import Foundation

/// A moment in whole seconds UTC, from 1970 to the end of 2105 (so that a column of them fits 32 bits).
public struct Instant: Sendable, Hashable, Comparable {
    /// Unix seconds, 0…4,291,747,199.
    public let seconds: Int

    /// Seconds since 1970 that an instant may have.
    public static let range = 0...4_291_747_199
    /// The earliest instant.
    public static let distantPast = Instant(clamping: 0)
    /// The latest instant.
    public static let distantFuture = Instant(clamping: .max)

    /// Unix seconds; nil outside `range`.
    public init?(seconds: Int) {
        guard Instant.range.contains(seconds) else { return nil }
        self.seconds = seconds
    }

    /// Unix seconds, brought into `range`.
    public init(clamping seconds: Int) {
        self.seconds = min(max(seconds, Instant.range.lowerBound), Instant.range.upperBound)
    }

    /// The whole second that a date lies in, brought into `range`.
    public init(_ date: Date) {
        let seconds = date.timeIntervalSince1970
        self.init(clamping: seconds >= 0 ? (seconds < 5e9 ? Int(seconds) : .max) : 0)
    }

    /// The same as Foundation's date.
    public var date: Date { Date(timeIntervalSince1970: TimeInterval(seconds)) }

    /// Moves by seconds, held within `range`.
    public func advanced(by seconds: Int) -> Instant {
        let (sum, overflow) = self.seconds.addingReportingOverflow(seconds)
        return Instant(clamping: overflow ? (seconds > 0 ? .max : 0) : sum)
    }

    /// By how many seconds two clocks, or two readings of one, may differ.
    package static let mostAheadSeconds = 300

    /// Whether it lies further ahead than clocks may differ. When such a time was, nobody knows: the clock that told it
    /// was wrong, or is now.
    package func isAhead(of now: Instant) -> Bool { self > now.advanced(by: Self.mostAheadSeconds) }

    /// The start of the minute, hour, … of `seconds` length that this instant lies in.
    package func floored(toMultipleOf length: Int) -> Instant { Instant(clamping: seconds / length * length) }

    public static func < (a: Instant, b: Instant) -> Bool { a.seconds < b.seconds }
}

// MARK: - Text

extension Instant: CustomStringConvertible {
    /// ISO 8601, `2026-11-21T02:30:00Z`.
    public var description: String { text(separators: true) }

    /// The form in paths, `20261121T023000Z`.
    package var compact: String { text(separators: false) }

    private func text(separators: Bool) -> String {
        let (days, time) = seconds.quotientAndRemainder(dividingBy: 86_400)
        let (year, month, day) = CivilDate.from(daysSince1970: days)
        let dash = separators ? "-" : ""
        let colon = separators ? ":" : ""
        return
            "\(year)\(dash)\(two(month))\(dash)\(two(day))T\(two(time / 3_600))\(colon)\(two(time / 60 % 60))\(colon)"
            + "\(two(time % 60))Z"
    }

    /// Reads ISO 8601 with a zone, whole seconds: extended (`2026-11-21T02:30:00Z`, `…+01:00`) or basic
    /// (`20261121T023000Z`). A fraction of a second is taken where `fraction` allows, and cut off. nil for anything
    /// else, a leap second, a time without a zone and an instant outside `range` included.
    ///
    /// Source: ISO 8601-1:2019 sections 5.4.2, 4.3.13; RFC 3339 section 5.6
    public init?(_ text: some StringProtocol, fraction: Bool = false) {
        guard let seconds = Instant.unixSeconds(text, fraction: fraction) else { return nil }
        self.init(seconds: seconds)
    }

    /// The Unix seconds of the same forms, of any year from 0 to 9999.
    package static func unixSeconds(_ text: some StringProtocol, fraction: Bool = false) -> Int? {
        var reader = TimeReader(text)
        guard let year = reader.number(4) else { return nil }
        let extended = reader.skip("-")
        guard let month = reader.number(2), !extended || reader.skip("-"), let day = reader.number(2) else {
            return nil
        }
        guard reader.skip("T") || reader.skip("t") || (extended && reader.skip(" ")) else { return nil }
        // Colons are accepted in paths beside a date without dashes.
        guard let hour = reader.number(2) else { return nil }
        let colons = reader.skip(":")
        guard let minute = reader.number(2), !colons || reader.skip(":"), let second = reader.number(2) else {
            return nil
        }
        if reader.skip(".") || reader.skip(",") {
            guard fraction, reader.skipDigits() > 0 else { return nil }
        }
        guard let offset = reader.zone(), reader.isAtEnd else { return nil }
        guard (1...12).contains(month), day >= 1, day <= CivilDate.days(inMonth: month, of: year), hour < 24,
            minute < 60,
            second < 60
        else { return nil }
        let days = CivilDate.daysSince1970(year: year, month: month, day: day)
        return days * 86_400 + hour * 3_600 + minute * 60 + second - offset
    }
}

private func two(_ value: Int) -> String { value < 10 ? "0\(value)" : String(value) }

/// Reads fixed-width digits and separators from the front of a text.
private struct TimeReader {
    private var rest: Substring.UTF8View

    init(_ text: some StringProtocol) { rest = Substring(text).utf8 }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard let first = rest.first, first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    mutating func number(_ width: Int) -> Int? {
        guard rest.count >= width else { return nil }
        var value = 0
        for byte in rest.prefix(width) {
            guard byte >= 0x30, byte <= 0x39 else { return nil }
            value = value * 10 + Int(byte - 0x30)
        }
        rest.removeFirst(width)
        return value
    }

    mutating func skipDigits() -> Int {
        let digits = rest.prefix { $0 >= 0x30 && $0 <= 0x39 }.count
        rest.removeFirst(digits)
        return digits
    }

    /// Seconds east of UTC of `Z`, `±hh`, `±hhmm` or `±hh:mm`.
    mutating func zone() -> Int? {
        if skip("Z") || skip("z") { return 0 }
        let sign: Int
        if skip("+") { sign = 1 } else if skip("-") { sign = -1 } else { return nil }
        guard let hours = number(2), hours <= 18 else { return nil }
        if isAtEnd { return sign * hours * 3_600 }
        _ = skip(":")
        guard let minutes = number(2), minutes < 60 else { return nil }
        return sign * (hours * 3_600 + minutes * 60)
    }
}

/// The proleptic Gregorian calendar as arithmetic.
///
/// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil and civil_from_days
private enum CivilDate {
    static func daysSince1970(year: Int, month: Int, day: Int) -> Int {
        let y = month <= 2 ? year - 1 : year
        let era = (y >= 0 ? y : y - 399) / 400
        let yearOfEra = y - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    static func from(daysSince1970 days: Int) -> (year: Int, month: Int, day: Int) {
        let z = days + 719_468
        let era = (z >= 0 ? z : z - 146_096) / 146_097
        let dayOfEra = z - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }

    static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
