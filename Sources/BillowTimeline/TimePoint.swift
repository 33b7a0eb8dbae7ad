package import Turbulence

/// One end of a requested timeline: an instant, or an offset from now.
package enum TimePoint: Sendable, Hashable {
    case instant(Instant)
    /// Seconds from now, negative before it.
    case offset(seconds: Int)

    package static let now = TimePoint.offset(seconds: 0)
    /// The syntax that `init(_:)` accepts, for error messages.
    package static let expected =
        "an instant with a zone (2026-11-21T02:30:00Z), now, or an offset from now such as -2h, +30m, "
        + "-PT2H or P1D (no months or years: their length varies)"

    /// Parses `now`, an instant in ISO 8601, or an offset. An offset is a signed number with a unit (`-2h`, `+90m`,
    /// `-4d`, `30s`) or a signed ISO 8601 duration (`-PT2H`). nil for any other text, and for offsets of more than ten
    /// years.
    package init?(_ text: some StringProtocol) {
        if text == "now" {
            self = .now
            return
        }
        if let instant = Instant(text, fraction: true) {
            self = .instant(instant)
            return
        }
        // The plus sign of a query arrives as a space if the client didn't encode it.
        let sign: Int = text.first == "-" ? -1 : 1
        let length = text.first.map { "+- ".contains($0) } == true ? text.dropFirst() : text[...]
        guard let seconds = ISODuration.seconds(length) ?? Self.counted(length) else { return nil }
        self = .offset(seconds: sign * seconds)
    }

    /// Parses `2h`, `30m`, `45s`, `4d`.
    private static func counted(_ text: some StringProtocol) -> Int? {
        let units: [Character: Int] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
        let digits = text.dropLast()
        guard let unit = text.last.flatMap({ units[$0] }), (1...9).contains(digits.utf8.count),
            digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let count = Int(digits)
        else { return nil }
        let seconds = count * unit
        return seconds <= ISODuration.longestSeconds ? seconds : nil
    }

    /// The instant of the point, clamped to the range of `Instant`.
    package func resolved(now: Instant) -> Instant {
        switch self {
        case .instant(let instant): instant
        case .offset(let seconds): now.advanced(by: seconds)
        }
    }
}
