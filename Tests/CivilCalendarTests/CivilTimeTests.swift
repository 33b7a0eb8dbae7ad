import CivilCalendar
import Foundation
import Testing

@Suite("Civil time")
struct CivilTimeTests {
    @Test("every day of 0 to 9999 is the one after the day before, and comes back")
    func everyDay() {
        var year = 0
        var month = 1
        var day = 1
        // Source: ISO 8601-1:2019, the proleptic Gregorian calendar; 0000-01-01 is 719,528 days before 1970-01-01.
        var seconds = -719_528 * 86_400
        var wrong: [String] = []
        while year <= 9_999 {
            let time = CivilTime(unixSeconds: seconds)
            if (time.year, time.month, time.day) != (year, month, day) || time.unixSeconds != seconds
                || CivilTime(year: year, month: month, day: day) != time
            {
                wrong.append("\(year)-\(month)-\(day)")
            }
            seconds += 86_400
            day += 1
            if day > lastDay(month, year) { (month, day) = (month + 1, 1) }
            if month > 12 { (year, month) = (year + 1, 1) }
        }
        #expect(wrong.isEmpty, "\(wrong.prefix(5))")
    }

    /// The rule as people say it.
    private func lastDay(_ month: Int, _ year: Int) -> Int {
        if month == 2 { return year % 400 == 0 || year % 4 == 0 && year % 100 != 0 ? 29 : 28 }
        return [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    @Test("Foundation's calendar has the same seconds")
    func foundation() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(secondsFromGMT: 0))
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<500 {
            // After the calendar's reform of 1582, from which on Foundation counts as Gregorian.
            let seconds = Int.random(in: -12_000_000_000...200_000_000_000, using: &generator)
            let time = CivilTime(unixSeconds: seconds)
            let parts = calendar.dateComponents(
                [.year, .month, .day, .hour, .minute, .second],
                from: Date(timeIntervalSince1970: Double(seconds)))
            #expect(
                [time.year, time.month, time.day, time.hour, time.minute, time.second]
                    == [parts.year, parts.month, parts.day, parts.hour, parts.minute, parts.second], "\(seconds)")
            #expect(time.unixSeconds == seconds)
        }
    }

    @Test(
        "a day or a clock time that doesn't exist is none",
        arguments: [
            (2026, 2, 29, 0, 0, 0), (1900, 2, 29, 0, 0, 0), (2026, 4, 31, 0, 0, 0), (2026, 0, 1, 0, 0, 0),
            (2026, 13, 1, 0, 0, 0), (2026, 1, 0, 0, 0, 0), (2026, 1, 32, 0, 0, 0), (2026, 1, 1, 24, 0, 0),
            (2026, 1, 1, -1, 0, 0), (2026, 1, 1, 0, 60, 0), (2026, 1, 1, 0, 0, 60), (-1, 1, 1, 0, 0, 0),
            (10_000, 1, 1, 0, 0, 0),
        ])
    func refused(_ year: Int, _ month: Int, _ day: Int, _ hour: Int, _ minute: Int, _ second: Int) {
        #expect(
            CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second) == nil)
    }

    @Test("a leap day exists")
    func leapDay() {
        #expect(CivilTime(year: 2000, month: 2, day: 29)?.unixSeconds == 951_782_400)
        #expect(
            CivilTime(year: 2024, month: 2, day: 29, hour: 23, minute: 59, second: 59)?.unixSeconds == 1_709_251_199)
    }
}
