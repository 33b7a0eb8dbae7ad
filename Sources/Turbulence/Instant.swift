import CivilCalendar
public import Foundation

/// An instant in whole seconds UTC, from 1970 to the end of 2105 (so that a column of them fits 32 bits).
public struct Instant: Sendable, Hashable, Comparable {
    /// Unix seconds, 0…4,291,747,199.
    public let seconds: Int

    /// The allowed range in Unix seconds.
    public static let range = 0...4_291_747_199
    /// The earliest instant.
    public static let distantPast = Instant(clamping: 0)
    /// The latest instant.
    public static let distantFuture = Instant(clamping: .max)

    /// Makes an instant from Unix seconds; nil outside `range`.
    public init?(seconds: Int) {
        guard Instant.range.contains(seconds) else { return nil }
        self.seconds = seconds
    }

    /// Makes an instant from Unix seconds, clamped to `range`.
    public init(clamping seconds: Int) {
        self.seconds = min(max(seconds, Instant.range.lowerBound), Instant.range.upperBound)
    }

    /// Makes an instant from a date, truncated to whole seconds and clamped to `range`.
    public init(_ date: Date) {
        let seconds = date.timeIntervalSince1970
        self.init(clamping: seconds >= 0 ? (seconds < 5e9 ? Int(seconds) : .max) : 0)
    }

    /// The instant as a Foundation date.
    public var date: Date { Date(timeIntervalSince1970: TimeInterval(seconds)) }

    /// The instant shifted by seconds, clamped to `range`.
    public func advanced(by seconds: Int) -> Instant {
        let (sum, overflow) = self.seconds.addingReportingOverflow(seconds)
        return Instant(clamping: overflow ? (seconds > 0 ? .max : 0) : sum)
    }

    /// The tolerance for differences between clocks, in seconds.
    package static let clockToleranceSeconds = 300

    /// Whether the instant is in the future by more than that tolerance. Such a time is unknown: the clock that gave it
    /// was wrong, or the local clock is.
    package func isAhead(of now: Instant) -> Bool { self > now.advanced(by: Self.clockToleranceSeconds) }

    /// The start of the interval of `length` seconds (a minute, an hour …) that contains the instant.
    package func floored(toMultipleOf length: Int) -> Instant { Instant(clamping: seconds / length * length) }

    public static func < (a: Instant, b: Instant) -> Bool { a.seconds < b.seconds }
}

// MARK: - Text

extension Instant: CustomStringConvertible {
    /// The instant in ISO 8601, such as `2026-11-21T02:30:00Z`.
    public var description: String { text(separators: true) }

    /// The form in paths: `20261121T023000Z`.
    package var compact: String { text(separators: false) }

    private func text(separators: Bool) -> String {
        let time = CivilTime(unixSeconds: seconds)
        let dash = separators ? "-" : ""
        let colon = separators ? ":" : ""
        return
            "\(time.year)\(dash)\(two(time.month))\(dash)\(two(time.day))T\(two(time.hour))\(colon)\(two(time.minute))"
            + "\(colon)\(two(time.second))Z"
    }

    /// Parses ISO 8601 with a zone and whole seconds: extended (`2026-11-21T02:30:00Z`, `…+01:00`) or basic
    /// (`20261121T023000Z`). If `fraction` allows it, a fraction of a second is accepted and truncated. Returns nil for
    /// any other text, including a leap second, a time without a zone, and an instant outside `range`.
    ///
    /// Source: ISO 8601-1:2019 sections 5.4.2, 4.3.13; RFC 3339 section 5.6
    public init?(_ text: some StringProtocol, fraction: Bool = false) {
        guard let seconds = Instant.unixSeconds(text, fraction: fraction) else { return nil }
        self.init(seconds: seconds)
    }

    /// Parses the same forms to Unix seconds, for any year from 0 to 9999.
    package static func unixSeconds(_ text: some StringProtocol, fraction: Bool = false) -> Int? {
        var reader = TimeReader(text)
        guard let year = reader.number(4) else { return nil }
        let extended = reader.skip("-")
        guard let month = reader.number(2), !extended || reader.skip("-"), let day = reader.number(2) else {
            return nil
        }
        guard reader.skip("T") || reader.skip("t") || (extended && reader.skip(" ")) else { return nil }
        // In paths, a date without dashes may have a time with colons.
        guard let hour = reader.number(2) else { return nil }
        let colons = reader.skip(":")
        guard let minute = reader.number(2), !colons || reader.skip(":"), let second = reader.number(2) else {
            return nil
        }
        if reader.skip(".") || reader.skip(",") {
            guard fraction, reader.skipDigits() > 0 else { return nil }
        }
        guard let offset = reader.zone(), reader.isAtEnd else { return nil }
        return CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
            .map { $0.unixSeconds - offset }
    }
}

private func two(_ value: Int) -> String { value < 10 ? "0\(value)" : String(value) }

/// Parses fixed-width digits and separators at the start of a text.
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

    /// Parses `Z`, `±hh`, `±hhmm` or `±hh:mm` to seconds east of UTC.
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
