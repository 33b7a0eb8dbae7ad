import Testing
import Turbulence

@testable import BillowTimeline

/// 2026-11-21T12:00:00Z.
private let noon = Instant(clamping: 1_795_262_400)

private func timeline(_ start: String?, _ end: String?, _ intervals: Int? = nil, now: Instant = noon) throws -> Timeline
{
    func point(_ text: String?) throws -> RequestedTimePoint? {
        try text.map { try #require(RequestedTimePoint($0)) }
    }
    return try TimelineRequest(start: try point(start), end: try point(end), intervals: intervals)
        .resolved(now: now, defaults: TimelineDefaults())
}

@Suite("Timeline arithmetic")
struct TimelineTests {
    @Test("six hours in ten intervals gives frames exactly 40 minutes apart")
    func sixHours() throws {
        let times = try timeline("-6h", "now", 10).times()
        #expect(times.count == 10)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1.seconds - $0.seconds == 2_400 })
        #expect(times.first == noon.advanced(by: -21_600))
        #expect(times.last == noon)
    }

    @Test(
        "both ends are frames and all lie equally far apart, to the second", arguments: [2, 3, 7, 11, 13, 20, 499, 500])
    func ends(count: Int) throws {
        let timeline = try timeline("-4d", "+4d", count)
        let times = timeline.times()
        #expect(times.count == count)
        #expect(times.first == timeline.start)
        #expect(times.last == timeline.end)
        let exact = Double(timeline.rangeSeconds) / Double(count - 1)
        for (index, time) in times.enumerated() {
            let offset = Double(time.seconds - timeline.start.seconds) - exact * Double(index)
            #expect(offset <= 0 && offset > -1)
        }
    }

    @Test("four days back to four days ahead spans now")
    func fourDays() throws {
        let timeline = try timeline("-4d", "P4D", 9)
        #expect(timeline.times()[4] == noon)
        #expect(timeline.rangeSeconds == 8 * 86_400)
    }

    @Test("one interval is one frame, at the end")
    func oneFrame() throws {
        #expect(try timeline("-2h", "now", 1).times() == [noon])
        #expect(try timeline(nil, nil, 1).times() == [noon])
    }

    @Test("layers animate each at its own interval: radar of 6 min has 20 frames where satellite of 15 min has 9")
    func ownIntervals() throws {
        let timeline = try timeline("-2h", "now", 20)
        #expect(timeline.times(updateInterval: 360).count == 20)
        #expect(timeline.times(updateInterval: 900).count == 9)
        #expect(timeline.times(updateInterval: 900)[1] == noon.advanced(by: -7_200 + 900))
        #expect(timeline.times(updateInterval: 86_400) == [noon])
    }

    @Test("what is new at its changes has a frame at the start and at each of them, the end's too, and none outside")
    func changes() throws {
        let changes = [-9_000, -7_200, -5_400, -5_399, 0, 60].map { noon.advanced(by: $0) }
        let times = try timeline("-2h", "now", 13).times(changes: changes)
        #expect(times.map { $0.seconds - noon.seconds } == [-7_200, -5_400, -5_399, 0])
        #expect(try timeline("-2h", "now", 13).times(changes: []) == [noon.advanced(by: -7_200)])
        #expect(try timeline("-2h", "now", 1).times(changes: changes) == [noon])
    }

    @Test("more changes than frames leave those that hold at equally spaced instants")
    func manyChanges() throws {
        // One at each quarter of an hour, and none in the second hour.
        let changes = (1...4).map { noon.advanced(by: -7_200 + $0 * 900) }
        let times = try timeline("-2h", "now", 3).times(changes: changes)
        #expect(times.map { $0.seconds - noon.seconds } == [-7_200, -3_600])
        let all = (1...1_000).map { noon.advanced(by: -7_200 + $0 * 7) }
        let thinned = try timeline("-2h", "now", 13).times(changes: all)
        #expect(thinned.count == 13 && thinned.dropFirst().allSatisfy(all.contains))
    }

    @Test("at changes, too, frames of a timeline on round times stay as it moves on")
    func changesStay() throws {
        let change = noon.advanced(by: -3_000)
        for minute in 1..<10 {
            let times = try timeline(nil, nil, now: noon.advanced(by: minute * 60)).times(changes: [change])
            #expect(times == [noon.advanced(by: minute * 60 - 7_200), change])
        }
    }

    @Test("an update rule is a duration or the word for changes")
    func updateRules() {
        #expect(UpdateRule("PT10S") == .every(seconds: 10) && UpdateRule("changes") == .changes)
        for text in ["", "PT0S", "never", "-PT1M", "P1M", "Changes"] { #expect(UpdateRule(text) == nil) }
    }

    @Test("a stretch of few seconds never gives one instant twice")
    func fewSeconds() throws {
        let times = try timeline("-5s", "now", 500).times()
        #expect(times.map(\.seconds) == Array(noon.seconds - 5...noon.seconds))
    }

    @Test("without ends the frames lie on round UTC times, between the announced start and a live frame at the end")
    func anchored() throws {
        let now = noon.advanced(by: 7 * 60)
        let moving = try timeline(nil, nil, now: now)
        let times = moving.times()
        #expect(times.count == 13)
        #expect(times.dropFirst().dropLast().allSatisfy { $0.seconds % 600 == 0 })
        #expect(times.last == now && moving.end == now)
        #expect(times.dropLast().last == noon)
        #expect(times.first == moving.start && moving.start == now.advanced(by: -7_200))
        // On the round time itself the live frame is one of them.
        let round = try timeline(nil, nil, now: noon).times()
        #expect(round.count == 13 && round.last == noon && round.allSatisfy { $0.seconds % 600 == 0 })
    }

    @Test(
        "on round times a timeline keeps its ends, its number of frames and a live frame where now lies within",
        arguments: [("-3h", "+3h"), ("-6h", "+1h"), ("-2h", "now"), ("-90m", "-30m"), ("+1h", "+6h"), ("-61s", "+7s")])
    func live(start: String, end: String) throws {
        for minute in stride(from: 0, to: 61, by: 7) {
            let now = noon.advanced(by: minute * 60)
            for count in [2, 3, 4, 13, 20, 500] {
                for update in [1, 10, 60, 900] {
                    let timeline = try TimelineRequest(
                        start: RequestedTimePoint(start), end: RequestedTimePoint(end), intervals: count,
                        isAnchored: true
                    ).resolved(now: now, defaults: TimelineDefaults())
                    let times = timeline.times(updateInterval: update)
                    #expect(times.count <= count && times.last == timeline.end)
                    #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
                    guard timeline.frameCount(updateInterval: update) > 1 else { continue }
                    #expect(times.first == timeline.start)
                    let isWithin = timeline.start <= now && now <= timeline.end
                    if isWithin, timeline.frameCount(updateInterval: update) > 2 {
                        #expect(times.contains(now), "\(count) \(update) \(now)")
                    }
                    let round = times.dropFirst().dropLast().filter { $0 != now }
                    let frames = timeline.frameCount(updateInterval: update)
                    let step = Timeline.roundStep(atLeast: (timeline.rangeSeconds + frames - 2) / (frames - 1))
                    #expect(round.allSatisfy { $0.seconds % step == 0 })
                    // Only the gap after the start may be wider than a step, or any gap if there are few frames.
                    let gaps = zip(times, times.dropFirst()).map { $1.seconds - $0.seconds }
                    #expect(gaps.allSatisfy { $0 < 3 * step })
                    if frames > 5 { #expect(gaps.dropFirst().allSatisfy { $0 <= step }) }
                }
            }
        }
    }

    @Test("a live frame replaces no round time next to it")
    func liveBetween() throws {
        let now = noon.advanced(by: 7 * 60)
        let times = try TimelineRequest(
            start: RequestedTimePoint("-3h"), end: RequestedTimePoint("+3h"), intervals: 13, isAnchored: true
        ).resolved(now: now, defaults: TimelineDefaults()).times()
        let minutes = times.map { ($0.seconds - noon.seconds) / 60 }
        #expect(minutes == [-173, -90, -60, -30, 0, 7, 30, 60, 90, 120, 150, 180, 187])
    }

    @Test(
        "many frames of any range lie on times that a clock shows as round",
        arguments: [("-2h", 100, 120), ("-2h", 71, 120), ("-1h", 47, 120), ("-6h", 10, 3_600), ("-3d", 500, 600)])
    func roundTimes(start: String, count: Int, step: Int) throws {
        let now = noon.advanced(by: 7 * 60)
        let timeline = try TimelineRequest(
            start: RequestedTimePoint(start), end: RequestedTimePoint("now"), intervals: count, isAnchored: true
        ).resolved(now: now, defaults: TimelineDefaults())
        let times = timeline.times()
        #expect(times.count > 3 && times.count <= count)
        #expect(times.dropFirst().dropLast().allSatisfy { $0.seconds % step == 0 })
    }

    @Test("a round step divides the next larger unit of the clock")
    func roundSteps() {
        for seconds in 1...200_000 {
            let step = Timeline.roundStep(atLeast: seconds)
            let unit = step <= 60 ? 60 : step <= 3_600 ? 3_600 : 86_400
            #expect(step >= seconds && (step > 86_400 ? step % 86_400 == 0 : unit % step == 0), "\(seconds)")
        }
    }

    @Test("from minute to minute all frames but the ends stay")
    func stay() throws {
        var before = Set(try timeline(nil, nil, now: noon).times())
        for minute in 1..<120 {
            let times = Set(try timeline(nil, nil, now: noon.advanced(by: minute * 60)).times())
            // The ends, and now and then a round time.
            #expect(times.subtracting(before).count <= 3)
            before = times
        }
    }

    @Test("an end alone starts two hours before it, a start alone ends now")
    func halves() throws {
        #expect(try timeline(nil, "-1d").start == noon.advanced(by: -86_400 - 7_200))
        #expect(try timeline("-30m", nil).end == noon)
        #expect(try !timeline("-30m", nil).isAnchored)
    }

    @Test(
        "an invalid timeline is rejected with the valid range",
        arguments: [
            ("now", "now", 13, "end", "after the start, 2026-11-21T12:00:00Z"),
            ("now", "-2h", 13, "end", "after the start, 2026-11-21T12:00:00Z"),
            ("-2h", "now", 0, "intervals", "from 1 to 500"),
            ("-2h", "now", -1, "intervals", "from 1 to 500"),
            ("-2h", "now", 10_000, "intervals", "from 1 to 500"),
            (
                "-3652d", "now", 13, "end",
                "at most P366D after the start, 2017-11-22T12:00:00Z at the latest"
            ),
        ] as [(String, String, Int, String, String)])
    func refused(start: String, end: String, intervals: Int, parameter: String, expected: String) throws {
        let error = try #require(throws: ParameterError.self) { try timeline(start, end, intervals) }
        #expect(error.parameter == parameter)
        #expect(error.expected == expected)
    }

    @Test(
        "an error has the client's own words for the end that it gave",
        arguments: [
            ("PT1H", nil, "start", "PT1H", "before the end, 2026-11-21T12:00:00Z"),
            ("now", nil, "start", "now", "before the end, 2026-11-21T12:00:00Z"),
            ("-3652d", nil, "start", "-3652d", "at most P366D before the end, 2025-11-20T12:00:00Z at the earliest"),
            ("-1h", "-PT2H", "end", "-PT2H", "after the start, 2026-11-21T11:00:00Z"),
            ("2026-11-21T14:00:00+01:00", "-2h", "end", "-2h", "after the start, 2026-11-21T13:00:00Z"),
        ] as [(String, String?, String, String, String)])
    func words(start: String, end: String?, parameter: String, value: String, expected: String) throws {
        let error = try #require(throws: ParameterError.self) { try timeline(start, end, 13) }
        #expect(error == ParameterError(parameter: parameter, value: value, expected: expected))
    }

    @Test("more than twenty frames are advised against, and given")
    func advice() throws {
        #expect(try timeline("-2h", "now", 20).advice == nil)
        #expect(try timeline("-2h", "now", 21).advice?.contains("20 or fewer") == true)
        #expect(try timeline("-2h", "now", 21).times().count == 21)
    }

    @Test("going to one hour ago is inside, a second outside is refused")
    func seek() throws {
        let timeline = try timeline("-2h", "now")
        #expect(try timeline.seek(to: noon.advanced(by: -3_600)) == noon.advanced(by: -3_600))
        #expect(try timeline.seek(to: timeline.start) == timeline.start)
        #expect(try timeline.seek(to: timeline.end) == timeline.end)
        let error = try #require(throws: ParameterError.self) { try timeline.seek(to: noon.advanced(by: 1)) }
        #expect(error.expected == "from 2026-11-21T10:00:00Z to 2026-11-21T12:00:00Z")
        #expect(throws: ParameterError.self) { try timeline.seek(to: noon.advanced(by: -7_201)) }
    }

    @Test("the frame shown is the latest at or before, the nearest, or that very one")
    func rules() throws {
        let times = [0, 600, 1_200].map { noon.advanced(by: $0) }
        func shown(_ rule: FrameRule, _ seconds: Int) -> Int? {
            rule.frame(at: noon.advanced(by: seconds), of: times).map { $0.seconds - noon.seconds }
        }
        #expect(shown(.latest, -1) == nil)
        #expect(shown(.latest, 0) == 0)
        #expect(shown(.latest, 599) == 0)
        #expect(shown(.latest, 9_000) == 1_200)
        #expect(shown(.nearest, -1) == 0)
        #expect(shown(.nearest, 300) == 0)
        #expect(shown(.nearest, 301) == 600)
        #expect(shown(.exact, 600) == 600)
        #expect(shown(.exact, 601) == nil)
        for rule in FrameRule.allCases { #expect(rule.frame(at: noon, of: []) == nil) }
    }
}

@Suite("Points in time")
struct TimePointTests {
    @Test(
        "offsets are read in every form",
        arguments: [
            ("now", 0), ("-2h", -7_200), ("+90m", 5_400), ("-4d", -345_600), ("30s", 30), ("-PT2H", -7_200),
            ("PT0S", 0), ("-PT0S", 0), ("P1D", 86_400), ("P1DT2H30M5S", 95_405), ("-P1W", -604_800), (" 2h", 7_200),
        ])
    func offsets(text: String, seconds: Int) { #expect(TimePoint(text) == .offset(seconds: seconds)) }

    @Test("instants are read with their zone")
    func instants() {
        #expect(TimePoint("2026-11-21T12:00:00Z") == .instant(noon))
        #expect(TimePoint("2026-11-21T13:00:00+01:00") == .instant(noon))
        #expect(TimePoint("20261121T120000Z") == .instant(noon))
    }

    @Test(
        "anything else is not read",
        arguments: [
            "", "-", "P", "PT", "-P", "P1M", "P1Y", "PT1H2D", "--2h", "-2", "2x", "h", "1e3s", "٣h", "Now",
            "2026-11-21T12:00:00", "2016-12-31T23:59:60Z", "2026-02-30T00:00:00Z", "99999999999h", "999999999d",
            "-P9999999999D", "yesterday", "P1.5D", "-2h ", "\u{0}",
        ])
    func junk(text: String) { #expect(TimePoint(text) == nil) }

    @Test(
        "durations come back as they were written", arguments: [0, 1, 59, 60, 3_600, 7_200, 86_400, 95_405, 31_622_400])
    func durations(seconds: Int) { #expect(ISODuration.seconds(ISODuration.text(seconds)) == seconds) }
}
