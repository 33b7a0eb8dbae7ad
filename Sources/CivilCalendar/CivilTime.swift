/// A second of UTC in the proleptic Gregorian calendar: a valid date and a time without leap seconds.
///
/// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil and civil_from_days
/// (https://howardhinnant.github.io/date_algorithms.html)
package struct CivilTime: Sendable, Hashable {
    package let year: Int
    /// The month, 1…12.
    package let month: Int
    /// The day of the month, from 1.
    package let day: Int
    /// The hour, 0…23.
    package let hour: Int
    /// The minute, 0…59.
    package let minute: Int
    /// The second, 0…59.
    package let second: Int

    /// The allowed years: those of four digits.
    package static let years = 0...9_999

    /// Returns nil for a day or time that doesn't exist, or a year outside `years`.
    package init?(year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0) {
        guard Self.years.contains(year), (1...12).contains(month), (0...23).contains(hour), (0...59).contains(minute),
            (0...59).contains(second), day >= 1, day <= Self.days(inMonth: month, of: year)
        else { return nil }
        (self.year, self.month, self.day) = (year, month, day)
        (self.hour, self.minute, self.second) = (hour, minute, second)
    }

    /// Converts seconds since 1970-01-01T00:00:00Z; negative seconds are before it.
    ///
    /// - Precondition: the seconds are within ±10^17, so that `Int` can count the days.
    package init(unixSeconds: Int) {
        let time = Self.floored(unixSeconds, by: Self.daySeconds).remainder
        let shiftedDays = Self.floored(unixSeconds, by: Self.daySeconds).quotient + Self.daysFromEpochYear
        let era = Self.floored(shiftedDays, by: Self.eraDays).quotient
        let dayOfEra = shiftedDays - era * Self.eraDays
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        // Months are counted from March, so that the leap day is the last of the year.
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        (hour, minute, second) = (time / 3_600, time / 60 % 60, time % 60)
    }

    /// Seconds since 1970-01-01T00:00:00Z.
    package var unixSeconds: Int {
        let yearFromMarch = month <= 2 ? year - 1 : year
        let era = Self.floored(yearFromMarch, by: 400).quotient
        let yearOfEra = yearFromMarch - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let days = era * Self.eraDays + dayOfEra - Self.daysFromEpochYear
        return days * Self.daySeconds + hour * 3_600 + minute * 60 + second
    }

    /// The number of days of a month, 1…12.
    package static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static let daySeconds = 86_400
    /// The days in 400 years, after which the calendar repeats.
    private static let eraDays = 146_097
    /// The days from 0000-03-01 to 1970-01-01.
    private static let daysFromEpochYear = 719_468

    /// Division that rounds down, so that the remainder is never negative.
    private static func floored(_ value: Int, by divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
