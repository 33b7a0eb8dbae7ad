/// Times of messages as whole seconds since 1970-01-01T00:00:00Z.
enum GRIBTime {
    /// - Throws: `invalid` where the calendar has no such second; a leap second is the next one.
    static func seconds(
        year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int
    ) throws(GRIBRefusal) -> Int {
        guard (1900...2200).contains(year), (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60,
            second <= 60
        else { throw .invalid("\(year)-\(month)-\(day) \(hour):\(minute):\(second) is no time") }
        let days = days(year: year, month: month, day: day)
        // The 31st of a month of 30 days is the 1st of the next, whose day is another.
        let next = self.days(year: month == 12 ? year + 1 : year, month: month == 12 ? 1 : month + 1, day: 1)
        guard days < next else { throw .invalid("\(year)-\(month)-\(day) is no day") }
        return days * 86_400 + hour * 3_600 + minute * 60 + second
    }

    /// Days since 1970-01-01 in the Gregorian calendar.
    ///
    /// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms" (days_from_civil)
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let year = month <= 2 ? year - 1 : year
        let era = year / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The time that seven octets of a section give: year (two octets), month, day, hour, minute, second.
    static func seconds(_ section: GRIBSection, at octet: Int) throws(GRIBRefusal) -> Int {
        try seconds(
            year: try section.unsigned(octet...octet + 1), month: try section.octet(octet + 2),
            day: try section.octet(octet + 3), hour: try section.octet(octet + 4),
            minute: try section.octet(octet + 5), second: try section.octet(octet + 6))
    }

    /// The seconds of a unit of time; nil for those without a fixed length (months, years) and unknown ones.
    ///
    /// Source: WMO FM 92 GRIB edition 2, code table 4.4
    static func seconds(unit: Int) -> Int? {
        switch unit {
        case 0: 60
        case 1: 3_600
        case 2: 86_400
        case 10: 3 * 3_600
        case 11: 6 * 3_600
        case 12: 12 * 3_600
        case 13: 1
        default: nil
        }
    }
}
