import AviationWeather
import BillowStore
import Datasets
import Foundation
import Geometry
import Testing
import Turbulence
import UpstreamKit
import UpstreamSimulator

@testable import BillowSync

private func awc() throws -> SourceID { try SourceID("awc").orMissing() }

private func area(_ west: Double, _ south: Double, _ east: Double, _ north: Double) throws -> GeographicBox {
    try GeographicBox(west: west, south: south, east: east, north: north).orMissing()
}

extension Rig {
    fileprivate func weather(
        baseURL: String? = nil, simulated: Bool = true, spacingSeconds: Int = 60, areas: [GeographicBox]? = nil,
        products: [AviationWeatherUpstream.Product] = AviationWeatherUpstream.Product.all
    ) throws -> AviationWeatherUpstream {
        let clock = clock
        return AviationWeatherUpstream(
            id: try awc(),
            client: try AviationWeatherClient(
                configuration: AviationWeatherConfiguration(baseURL: baseURL ?? self.baseURL, timeout: timeout),
                httpClient: http,
                now: { clock.seconds1970 }),
            products: products, areas: try areas ?? [area(-180, -90, 180, 90)], spacingSeconds: spacingSeconds,
            simulated: simulated, store: store, retentionSeconds: 86_400)
    }

    fileprivate func hazards(at instant: Instant? = nil) async throws -> [IssuedArea] {
        let instant = instant ?? clock.now
        return try await store.areas(.hazards, from: instant, to: instant.advanced(by: 1), asOf: nil)
    }

    fileprivate func reports() async throws -> [PilotReport] {
        try await store.pilotReports(from: .distantPast, to: .distantFuture, asOf: nil)
    }
}

@Suite("The Aviation Weather Center in the store")
struct AviationWeatherTests {
    @Test("a round brings reports, observations and hazards, and the same again changes nothing")
    func aRoundBringsReportsObservationsAndHazardsAndTheSameAgainChangesNothing() async throws {
        try await withRig(flights: 20) { rig in
            let upstream = try rig.weather(spacingSeconds: 0)
            let first = try await upstream.synchronise(now: rig.clock.now)
            #expect(first.accepted > 0 && first.skipped[.report(.notAnArea("LINE"))] ?? 0 > 0)
            let reports = try await rig.reports()
            #expect(!reports.isEmpty && reports.allSatisfy { $0.source.name == "awc" })
            #expect(reports.contains { $0.turbulence.isEmpty })
            let rows = try await rig.store.allRows()
            #expect(rows.count == reports.flatMap(\.turbulence).count { $0.severity != nil })
            #expect(rows.allSatisfy { $0.kind == .pilotReport })
            let hazards = try await rig.hazards()
            #expect(Set(hazards.map(\.kind)) == ["gairmet", "sigmet", "isigmet"])
            #expect(Set(hazards.map(\.id)).count == hazards.count)
            let head = try await rig.store.head()
            let second = try await upstream.synchronise(now: rig.clock.now)
            #expect(second.accepted == 0 && second.skipped.isEmpty)
            // Another process, which remembers nothing, brings nothing new either.
            let third = try await rig.weather(spacingSeconds: 0).synchronise(now: rig.clock.now)
            #expect(third.accepted == 0 && third.duplicates > 0)
            #expect(try await rig.store.head() == head)
            #expect(try await rig.store.source().fetchedAt == rig.clock.now)
        }
    }

    @Test("a response of unreadable reports is a fault and is requested again")
    func reportsNoneOfWhichCanBeReadAreAFaultAndAskedForAgain() async throws {
        let body = #"[{"rawOb":null,"obsTime":null,"lat":null,"lon":null},{"icaoId":"KWBC"}]"#
        let head = "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n"
        try await withRig(flights: 5) { rig in
            try await ScriptedServer.withRunning(.bytes(Array((head + body).utf8))) { server, port in
                let upstream = try rig.weather(
                    baseURL: "http://127.0.0.1:\(port)", spacingSeconds: 0, products: [.pilotReports, .sigmets])
                for _ in 0..<2 {
                    let error = await #expect(throws: SyncError.self) {
                        try await upstream.synchronise(now: rig.clock.now)
                    }
                    #expect(error?.code == .upstream(.unreadable) && error?.outcome.wasAnswered == false)
                    #expect(error?.message.hasPrefix("none of its 2 records can be used: ") == true)
                    #expect(try await rig.store.source().fetchedAt == nil)
                }
                // Never whether it has changed: there is nothing to keep.
                #expect(server.requests == 4)
            }
        }
    }

    @Test("the forecast hours are there before their time")
    func theForecastHoursAreThereBeforeTheirTime() async throws {
        try await withRig(flights: 5) { rig in
            _ = try await rig.weather(spacingSeconds: 0, products: [.gairmets]).synchronise(now: rig.clock.now)
            for hours in [0, 3, 6, 9] {
                let at = rig.clock.now.advanced(by: hours * 3_600)
                let valid = try await rig.hazards(at: at)
                #expect(!valid.isEmpty && valid.allSatisfy { $0.isValid(at: at) }, "\(hours)")
                #expect(Set(valid.map(\.validFrom)).count == 1, "\(hours)")
            }
        }
    }

    @Test("a product is requested at most once a minute, its parts in turn")
    func aProductIsAskedOnceAMinuteAtMostAndItsPartsInTurns() async throws {
        try await withRig(flights: 5) { rig in
            let upstream = try rig.weather(areas: [area(-130, 20, -60, 55), area(-60, 0, 0, 60)])
            var calls: [Int] = []
            var before = rig.simulator.calls
            for seconds in [0, 20, 39, 1, 60, 60, 60, 60] {
                rig.clock.advance(seconds)
                _ = try await upstream.synchronise(now: rig.clock.now)
                calls.append(rig.simulator.calls - before)
                before = rig.simulator.calls
            }
            #expect(calls == [5, 0, 0, 5, 5, 5, 5, 5])
            // After five turns every picture is there.
            let later = try await rig.hazards(at: rig.clock.now.advanced(by: 9 * 3_600))
            #expect(!later.isEmpty)
        }
    }

    @Test("after an outage reports are known from when all areas were asked again")
    func afterAnOutageReportsAreKnownFromWhenAllAreasWereAskedAgain() async throws {
        try await withRig(flights: 0) { rig in
            func make() throws -> AviationWeatherUpstream {
                try rig.weather(areas: [area(-130, 20, -60, 55), area(-60, 0, 0, 60)], products: [.pilotReports])
            }
            func since(_ upstream: AviationWeatherUpstream) async throws -> Int? {
                _ = try await upstream.synchronise(now: rig.clock.now)
                let record = try #require(try await rig.store.sources().first { try $0.id == awc() })
                return record.completeSince(.reports).map { $0.seconds - rig.clock.now.seconds }
            }
            let first = try make()
            #expect(try await since(first) == nil)
            rig.clock.advance(60)
            #expect(try await since(first) == -60 - 6 * 3_600)
            // A restart is no outage.
            let second = try make()
            rig.clock.advance(600)
            #expect(try await since(second) == -660 - 6 * 3_600)
            rig.clock.advance(60)
            #expect(try await since(second) == -720 - 6 * 3_600)
            // Seven hours are one, whether the process lives through it or not.
            for upstream in [second, try make()] {
                rig.clock.advance(7 * 3_600)
                #expect(try await since(upstream) == 0)
                rig.clock.advance(60)
                #expect(try await since(upstream) == -60 - 6 * 3_600)
            }
        }
    }

    @Test("a hazard that a complete answer no longer has ends then")
    func aHazardThatACompleteAnswerNoLongerHasEndsThen() async throws {
        try await withRig(flights: 5) { rig in
            let upstream = try rig.weather(products: [.sigmets, .internationalSigmets])
            _ = try await upstream.synchronise(now: rig.clock.now)
            let began = rig.clock.now
            let before = try await rig.hazards()
            #expect(!before.isEmpty)
            rig.simulator.setFault(.empty)
            rig.clock.advance(60)
            // A single empty response may be a fault, and is requested again.
            _ = try await upstream.synchronise(now: rig.clock.now)
            #expect(try await rig.hazards().map(\.id) == before.map(\.id))
            rig.clock.advance(60)
            _ = try await upstream.synchronise(now: rig.clock.now)
            #expect(try await rig.hazards().isEmpty)
            #expect(try await rig.hazards(at: began).map(\.id) == before.map(\.id))
            rig.simulator.setFault(nil)
            rig.clock.advance(60)
            _ = try await upstream.synchronise(now: rig.clock.now)
            #expect(try await rig.hazards().map(\.id) == before.map(\.id))
        }
    }

    @Test("an empty answer between good ones ends nothing however often it comes")
    func anEmptyAnswerBetweenGoodOnesEndsNothingHoweverOftenItComes() async throws {
        try await withRig(flights: 5) { rig in
            let upstream = try rig.weather(products: [.sigmets, .internationalSigmets])
            _ = try await upstream.synchronise(now: rig.clock.now)
            let before = try await rig.hazards()
            let head = try await rig.store.head()
            for _ in 0..<3 {
                for fault in [Fault.empty, nil] {
                    rig.simulator.setFault(fault)
                    rig.clock.advance(60)
                    _ = try await upstream.synchronise(now: rig.clock.now)
                    #expect(try await rig.hazards() == before)
                }
            }
            #expect(try await rig.store.head() == head)
        }
    }

    @Test("an answer that is partly unreadable ends nothing")
    func anAnswerThatIsPartlyUnreadableEndsNothing() async throws {
        try await withRig(flights: 5) { rig in
            let upstream = try rig.weather(products: [.sigmets, .internationalSigmets, .gairmets])
            _ = try await upstream.synchronise(now: rig.clock.now)
            let before = try await rig.hazards()
            rig.simulator.setFault(.wrongTypes)
            rig.clock.advance(60)
            let outcome = try await upstream.synchronise(now: rig.clock.now)
            #expect(outcome.skipped.values.reduce(0, +) > 0)
            #expect(try await rig.hazards() == before)
        }
    }

    @Test("a product that cannot be read grows old alone")
    func aProductThatCannotBeReadGrowsOldAlone() async throws {
        try await withRig(flights: 5) { rig in
            let upstream = try rig.weather()
            _ = try await upstream.synchronise(now: rig.clock.now)
            let good = rig.clock.now
            rig.clock.advance(60)
            // The first call is that for pilot reports.
            rig.simulator.setFault(.cutJSON, count: 1)
            let error = await #expect(throws: SyncError.self) { try await upstream.synchronise(now: rig.clock.now) }
            #expect(error?.isPartial == true)
            let source = try await rig.store.source()
            #expect(source.fetchedAt == good)
            let now = rig.clock.now
            let expected: [FeedKind: Instant] = [
                .reports: good, .observations: good, .hazards: now, Dataset.advisories.kind: now,
            ]
            #expect(source.fetchedKinds == expected)
        }
    }

    @Test("a round without due requests doesn't change the upstream's state")
    func aRoundInWhichNothingIsDueTellsNothingOfTheUpstream() async throws {
        try await withRig(flights: 5) { rig in
            let (loop, states) = rig.loop(try rig.weather(products: [.sigmets]), interval: .seconds(2))
            rig.simulator.setFault(.serverError)
            #expect(await loop.round() == .seconds(60), "no more often than anything is due")
            let failed = try states.all.first.orMissing()
            rig.clock.advance(2)
            _ = await loop.round()
            let state = try states.all.first.orMissing()
            #expect(state.activity == .failing && state.lastError == failed.lastError && state.lastSuccess == nil)
            #expect(state.consecutiveFailures == 1)
        }
    }

    @Test("made-up answers are refused where real ones are expected")
    func madeUpAnswersAreRefusedWhereRealOnesAreExpected() async throws {
        try await withRig(flights: 5) { rig in
            let upstream = try rig.weather(simulated: false)
            let error = await #expect(throws: SyncError.self) {
                try await upstream.synchronise(now: rig.clock.now)
            }
            #expect(error?.code == .simulatedData && error?.isPartial == false)
            #expect(try await rig.hazards().isEmpty)
            #expect(try await rig.reports().isEmpty)
        }
    }

    private static let faults: [(Fault, code: String)] = [
        (.forbidden, "disabled"), (.rateLimited, "rate-limited"), (.serverError, "upstream-error"),
        (.unavailable, "upstream-error"), (.upgradeRequired, "query-refused"), (.truncatedBody, "unreadable"),
        (.cutJSON, "unreadable"), (.htmlPage, "unreadable"), (.emptyBody, "unreadable"),
        (.connectionReset, "unreachable"),
    ]

    @Test("every fault is reported, leaves the data unchanged, and ends")
    func everyFaultIsToldLeavesTheDataAndPasses() async throws {
        try await withRig(flights: 5) { rig in
            let (loop, states) = rig.loop(try rig.weather(products: [.sigmets, .internationalSigmets]))
            _ = await loop.round()
            let hazards = try await rig.hazards()
            #expect(!hazards.isEmpty)
            for (fault, code) in Self.faults {
                let good = rig.clock.now
                #expect(try states.all.first.orMissing().lastSuccess == good, "before \(fault)")
                rig.simulator.setFault(fault)
                rig.clock.advance(60)
                _ = await loop.round()
                let state = try states.all.first.orMissing()
                #expect(state.lastError?.code.rawValue == code && state.lastSuccess == good, "\(fault)")
                #expect(state.consecutiveFailures == 1 && !state.isRefused, "\(fault)")
                #expect(try await rig.hazards() == hazards, "\(fault)")
                #expect(try await rig.store.source().fetchedAt == good, "\(fault)")
                rig.simulator.setFault(nil)
                rig.clock.advance(60)
                _ = await loop.round()
            }
        }
    }

    @Test("captured answers come in as they are")
    func capturedAnswersComeInAsTheyAre() async throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "BillowExchangeTests/Fixtures").path
        try await withRig(flights: 5, replay: try Replay(folder: folder)) { rig in
            _ = try await rig.weather(spacingSeconds: 0).synchronise(now: rig.clock.now)
            let hazards = try await rig.hazards()
            #expect(
                Dictionary(grouping: hazards, by: \.kind).mapValues(\.count) == [
                    "gairmet": 2, "sigmet": 17, "isigmet": 2,
                ])
            // Their words are moved too, the heading that tells when they were issued among them.
            for area in hazards where area.kind == "isigmet" {
                let text = try area.text.orMissing()
                let issued = try area.issuedAt.orMissing()
                #expect(abs(issued.seconds - area.validFrom.seconds) < 4 * 3_600, "\(area.validFrom) \(text)")
                let valid = [area.validFrom, area.validTo].map { $0.compact.dropFirst(6).prefix(7).filter(\.isNumber) }
                #expect(text.contains("VALID \(valid[0])/\(valid[1])"), "\(valid) \(text)")
            }
            #expect(try await rig.reports().count == 57 + 16 + 3)
            #expect(try await rig.store.allRows().count == 33 + 12 + 3)
        }
    }
}

@Suite("The next request to the Aviation Weather Center")
struct AviationWeatherScheduleTests {
    private let start = Instant(clamping: 1_795_214_400)

    private func places(_ schedule: AviationWeatherSchedule, at now: Instant) -> [AviationWeatherSchedule.CallTarget] {
        schedule.due(.pilotReports, at: now).map(\.place)
    }

    @Test("an area with too many reports is requested by quarters from then on")
    func anAreaThatIsFullIsAskedByQuartersFromThenOn() throws {
        let whole = try area(0, 0, 40, 40)
        var schedule = AviationWeatherSchedule(products: [.pilotReports], areas: [whole], spacingSeconds: 60)
        #expect(places(schedule, at: start) == [.area(whole)])
        schedule.noteRequest(.pilotReports, .area(whole), at: start)
        #expect(places(schedule, at: start.advanced(by: 59)).isEmpty)
        let isLost = schedule.answered(.pilotReports, .area(whole), count: 400, validators: .init(), at: start)
        #expect(!isLost && schedule.oldestResponse(.pilotReports) == nil)
        var now = start
        var asked: [AviationWeatherSchedule.CallTarget] = []
        for _ in 0..<5 {
            now = now.advanced(by: 60)
            let place = try places(schedule, at: now).first.orMissing()
            asked.append(place)
            schedule.noteRequest(.pilotReports, place, at: now)
            _ = schedule.answered(.pilotReports, place, count: 399, validators: .init(), at: now)
        }
        #expect(asked.prefix(4) == ArraySlice(whole.quarters.map { .area($0) }) && asked.last == asked.first)
        #expect(schedule.oldestResponse(.pilotReports) == start.advanced(by: 120))
    }

    @Test("an area is not cut for ever")
    func anAreaIsNotCutForEver() throws {
        let whole = try area(0, 0, 1.5, 40)
        var schedule = AviationWeatherSchedule(products: [.pilotReports], areas: [whole], spacingSeconds: 0)
        let isLost = schedule.answered(.pilotReports, .area(whole), count: 400, validators: .init(), at: start)
        #expect(isLost && places(schedule, at: start) == [.area(whole)])
    }

    @Test("a clock that was set back is not waited for")
    func aClockThatWasSetBackIsNotWaitedFor() throws {
        let whole = try area(0, 0, 40, 40)
        var schedule = AviationWeatherSchedule(products: [.pilotReports], areas: [whole], spacingSeconds: 60)
        schedule.noteRequest(.pilotReports, .area(whole), at: start)
        #expect(places(schedule, at: start.advanced(by: -3_600)) == [.area(whole)])
    }

    @Test("the newest issue pictures an hour and the current picture is needed to end others")
    func theNewestIssuePicturesAnHourAndTheCurrentPictureIsNeededToEndOthers() {
        var pictures = GairmetForecasts()
        func insert(_ hour: Int, issued: Int) {
            let from = start.advanced(by: hour * 3_600)
            pictures.insert(
                [], validFrom: from, validTo: from.advanced(by: 3 * 3_600), issuedAt: start.advanced(by: issued * 60))
        }
        for hour in [3, 6, 9, 12, 15] { insert(hour, issued: 165) }
        #expect(!pictures.isComplete(at: start.advanced(by: 10_000)))
        insert(0, issued: -195)
        #expect(pictures.isComplete(at: start.advanced(by: 10_000)))
        pictures.drop(before: start.advanced(by: 3 * 3_600))
        #expect(pictures.isComplete(at: start.advanced(by: 3 * 3_600)))
        #expect(!pictures.isComplete(at: start.advanced(by: 6 * 3_600)))
    }
}
