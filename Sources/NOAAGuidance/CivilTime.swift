/// A moment of the Gregorian calendar in UTC, to the minute.
struct CivilTime: Sendable, Hashable {
    var year: Int
    /// 1…12.
    var month: Int
    /// 1…31.
    var day: Int
    var hour = 0
    var minute = 0

    private static let daySeconds = 86_400

    init(year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0) {
        (self.year, self.month, self.day, self.hour, self.minute) = (year, month, day, hour, minute)
    }

    /// The minute of some Unix seconds from 1970 on.
    ///
    /// Source: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days
    init(unixSeconds: Int) {
        let days = unixSeconds / Self.daySeconds + 719_468
        let era = days / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shifted + 2) / 5 + 1
        month = shifted < 10 ? shifted + 3 : shifted - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        hour = unixSeconds % Self.daySeconds / 3_600
        minute = unixSeconds % 3_600 / 60
    }

    /// nil where no such day or minute exists, or before 1970 or after 2099.
    ///
    /// Source: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil
    var unixSeconds: Int? {
        guard (1970...2099).contains(year), (1...12).contains(month), (1...31).contains(day), (0..<24).contains(hour),
            (0..<60).contains(minute)
        else { return nil }
        let years = month <= 2 ? year - 1 : year
        let era = years / 400
        let yearOfEra = years - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let seconds =
            (era * 146_097 + dayOfEra - 719_468) * Self.daySeconds + hour * 3_600 + minute * 60
        // The 31st of a shorter month is the 1st of the next.
        return CivilTime(unixSeconds: seconds) == self ? seconds : nil
    }

    /// `YYYYMMDD`.
    var dayText: String { Self.padded(year, 4) + Self.padded(month, 2) + Self.padded(day, 2) }
    /// `HH`.
    var hourText: String { Self.padded(hour, 2) }
    /// `MM`.
    var minuteText: String { Self.padded(minute, 2) }

    /// A number with zeros in front.
    static func padded(_ number: Int, _ digits: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }

    /// The number that a text of digits only, and of exactly so many, is.
    static func number(_ text: some StringProtocol, digits: Int) -> Int? {
        guard text.utf8.count == digits, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }
}
