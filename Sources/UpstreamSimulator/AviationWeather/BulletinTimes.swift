import Foundation

/// Shifts the times in the text of a bulletin: a day of the month with hour and minute (`212155`), or hour and minute
/// (`2155Z`).
///
/// Source: WMO-No. 386 (headings), ICAO Annex 3 appendix 6 (validity)
enum BulletinTimes {
    /// The text with its times shifted.
    ///
    /// - Parameter near: Unix seconds of a time near those in the text. A day of the month is the nearest such day.
    static func moved(in text: String, by seconds: Int, near: Int) -> String {
        text.replacing(/\b([0-9]{2})?([0-9]{2})([0-9]{2})(Z?)\b/) { match in
            let (all, day, hour, minute, zone) = match.output
            // Four digits without a zone are a place or a height.
            guard day != nil || !zone.isEmpty, let hour = Int(hour), let minute = Int(minute), hour < 24, minute < 60,
                let start = self.day(day.flatMap { Int($0) }, near: near)
            else { return String(all) }
            let time = gregorian.dateComponents(
                [.day, .hour, .minute], from: start.addingTimeInterval(Double(hour * 3_600 + minute * 60 + seconds)))
            return [day == nil ? nil : time.day, time.hour, time.minute].compactMap { $0 }.map(twoDigits).joined()
                + zone
        }
    }

    private static let gregorian = {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .gmt
        return calendar
    }()

    /// The start of the nearest day with this number, or of the day itself without one. nil for a day that doesn't
    /// exist in the adjacent months.
    private static func day(_ number: Int?, near: Int) -> Date? {
        let today = gregorian.startOfDay(for: Date(timeIntervalSince1970: TimeInterval(near)))
        guard let number else { return today }
        for distance in 0...31 {
            for days in [-distance, distance] {
                let date = today.addingTimeInterval(TimeInterval(days * 86_400))
                if gregorian.component(.day, from: date) == number { return date }
            }
        }
        return nil
    }

    private static func twoDigits(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
}
