import CivilCalendar

// Times in the formats of NOAA's paths, listings and indexes.
extension CivilTime {
    /// The date as `YYYYMMDD`.
    var dayText: String { Self.padded(year, 4) + Self.padded(month, 2) + Self.padded(day, 2) }
    /// The hour as `HH`.
    var hourText: String { Self.padded(hour, 2) }
    /// The minute as `MM`.
    var minuteText: String { Self.padded(minute, 2) }

    /// The same day at another time; nil for a time that doesn't exist.
    func at(hour: Int, minute: Int = 0) -> CivilTime? {
        CivilTime(year: year, month: month, day: day, hour: hour, minute: minute)
    }

    /// Seconds since 1970-01-01T00:00:00Z; nil outside 1970 to 2099.
    var guidanceSeconds: Int? { (1970...2099).contains(year) ? unixSeconds : nil }

    /// A number padded with zeros.
    static func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }

    /// The number of a text with exactly the given count of digits; nil for any other text.
    static func number(_ text: some StringProtocol, digits: Int) -> Int? {
        guard text.utf8.count == digits, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }
}
