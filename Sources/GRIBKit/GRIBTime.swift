import CivilCalendar

/// Converts times of messages to whole seconds since 1970-01-01T00:00:00Z.
enum GRIBTime {
    /// - Throws: `invalid` for a time that doesn't exist. A leap second becomes the next second.
    static func seconds(
        year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int
    ) throws(GRIBError) -> Int {
        guard (1900...2200).contains(year), second <= 60,
            let time = CivilTime(year: year, month: month, day: day, hour: hour, minute: minute)
        else { throw .invalid("\(year)-\(month)-\(day) \(hour):\(minute):\(second) is no time") }
        return time.unixSeconds + second
    }

    /// The time in seven octets of a section: year (two octets), month, day, hour, minute, second.
    static func seconds(_ section: GRIBSection, at octet: Int) throws(GRIBError) -> Int {
        try seconds(
            year: try section.unsigned(octet...octet + 1), month: try section.octet(octet + 2),
            day: try section.octet(octet + 3), hour: try section.octet(octet + 4),
            minute: try section.octet(octet + 5), second: try section.octet(octet + 6))
    }

    /// The seconds in a unit of time; nil for units without a fixed length (months, years) and unknown ones.
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
