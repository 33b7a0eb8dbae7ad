import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Testing
import UpstreamSimulator

@testable import NOAAGuidance
@testable import UpstreamKit

@Suite("Faults of the server")
struct FaultTests {
    /// Each fault with the code of the error of a download that it touches from its first range on.
    private static let errors: [(Fault, UpstreamError.Code)] = [
        (.htmlPage, .unreadable), (.emptyBody, .unreadable), (.cutJSON, .unreadable), (.wrongRange, .unreadable),
        (.connectionReset, .unreachable), (.serverError, .upstreamError), (.unavailable, .upstreamError),
        (.redirected, .unexpectedStatus),
    ]

    @Test("each is one typed error, and passes", arguments: [false, true])
    func errors(isIndexed: Bool) async throws {
        try await withRig { rig in
            let file = isIndexed ? rig.forecast : rig.nowcast
            for (fault, code) in Self.errors {
                let reports = Reports()
                do throws(UpstreamError) {
                    _ = try await rig.download(file, .everything, reports) { event in
                        if case .began = event { rig.simulator.setFault(fault) }
                        return .goOn
                    }
                    Issue.record("\(fault) passed")
                } catch {
                    #expect(error.code == code, "\(fault): \(error)")
                }
                #expect(reports.messages.isEmpty, "\(fault)")
                rig.simulator.setFault(nil)
                let ending = try await rig.ending(file, .everything, reports)
                #expect(ending == .whole, "\(fault)")
                #expect(reports.messages.map(\.bytes) == rig.content.all(file))
            }
        }
    }

    @Test("each is one typed error of heads, indexes and directories too") func smallAnswers() async throws {
        try await withRig { rig in
            for fault in [Fault.htmlPage, .connectionReset, .serverError, .unavailable, .redirected] {
                rig.simulator.setFault(fault)
                await #expect(throws: UpstreamError.self, "\(fault)") { try await rig.client.state(of: rig.nowcast) }
                await #expect(throws: UpstreamError.self, "\(fault)") { try await rig.client.index(of: rig.forecast) }
                if fault != .htmlPage {
                    await #expect(throws: UpstreamError.self, "\(fault)") {
                        try await rig.client.listing(of: rig.nowcast.directory)
                    }
                }
            }
            rig.simulator.setFault(.emptyBody)
            await #expect(throws: UpstreamError.unreadable(.empty)) { try await rig.client.index(of: rig.forecast) }
            await #expect(throws: UpstreamError.unreadable(.empty)) {
                try await rig.client.listing(of: rig.nowcast.directory)
            }
            rig.simulator.setFault(.truncatedBody)
            await #expect(throws: UpstreamError.unreadable(.truncated)) {
                try await rig.client.index(of: rig.forecast)
            }
            rig.simulator.setFault(nil)
            #expect(rig.client.budget.ledger.blocks == 0)
        }
    }

    @Test("a server that ignores ranges sends everything once, and all wanted messages are used")
    func rangeIgnored() async throws {
        try await withRig { rig in
            rig.simulator.setFault(.rangeIgnored)
            for (file, selection, numbers) in [
                (rig.forecast, rig.everyOther, [1, 3, 5, 7, 9, 11]), (rig.nowcast, .everything, Array(1...12)),
            ] {
                let calls = rig.simulator.calls
                let reports = Reports()
                let outcome = try await rig.download(file, selection, reports)
                #expect(outcome.ending == .whole && reports.messages.map(\.bytes) == rig.expected(file, numbers))
                #expect(rig.simulator.calls == calls + 3)
            }
        }
    }

    @Test("a whole file in place of a range is held to the byte budget") func budgetOfWholeFile() async throws {
        try await withRig(configure: { $0.bytesPerDay = 9_000 }) { rig in
            rig.simulator.setFault(.rangeIgnored)
            let first = MessageSelection([.edr], altitudesMeters: altitudes.prefix(1))
            let reports = Reports()
            do throws(UpstreamError) {
                _ = try await rig.download(rig.forecast, first, reports)
                Issue.record("the budget did not hold")
            } catch {
                #expect(error.code == .creditsSpent && error.retryAfterSeconds == 4_800)
            }
            #expect(rig.client.budget.ledger.bytes < 9_000)
        }
    }

    @Test("when the day's bytes are spent nothing more is received, and the messages that came stay")
    func budget() async throws {
        try await withRig(configure: { $0.bytesPerDay = 4_000 }) { rig in
            let reports = Reports()
            do throws(UpstreamError) {
                _ = try await rig.download(rig.forecast, rig.everyOther, reports)
                Issue.record("the budget did not hold")
            } catch {
                // 22:40: an hour and twenty minutes to midnight.
                #expect(error == .creditsSpent(budget: "bytes-a-day", retryAfterSeconds: 4_800))
            }
            #expect((1..<6).contains(reports.messages.count) && rig.client.budget.ledger.bytes <= 4_000)
            rig.clock.advance(4_800)
            let ending = try await rig.ending(rig.forecast, rig.everyOther, reports)
            #expect(ending == .whole)
            #expect(reports.messages.map(\.bytes) == rig.expected(rig.forecast, [1, 3, 5, 7, 9, 11]))
        }
    }

    @Test("requests keep their distance by the clock") func spacing() async throws {
        try await withRig(configure: { $0.spacing = .seconds(1) }) { rig in
            _ = try await rig.download(rig.forecast, rig.everyOther, Reports())
            #expect(rig.clock.slept == Array(repeating: .seconds(1), count: rig.simulator.calls - 1))
        }
    }

    @Test("too many requests a minute are blocked, and nothing is sent until the block is over") func ban() async throws
    {
        try await withRig(simulate: { simulation in
            simulation.requestsPerMinute = 5
            simulation.banSeconds = 900
        }) { rig in
            let reports = Reports()
            do throws(UpstreamError) {
                _ = try await rig.download(rig.forecast, rig.everyOther, reports)
                Issue.record("no block")
            } catch {
                #expect(error.code == .rateLimited && error.retryAfterSeconds == 600 && error.problem?.status == 403)
            }
            #expect(reports.messages.count == 3 && rig.simulator.calls == 6)
            rig.clock.advance(500)
            await #expect(throws: UpstreamError.self) { try await rig.client.newest(.gtgn) }
            #expect(rig.simulator.calls == 6)
            // The server's block lasts longer than the first wait: the second is twice as long.
            rig.clock.advance(100)
            do throws(UpstreamError) { _ = try await rig.client.newest(.gtgn) } catch {
                #expect(error.retryAfterSeconds == 1_200)
            }
            #expect(rig.simulator.calls == 7)
            rig.clock.advance(1_200)
            let rest = try await rig.download(rig.forecast, rig.everyOther, reports)
            #expect(rest.messages == 3)
            #expect(rig.client.budget.ledger.blocks == 0)
        }
    }

    @Test("every form of the block's notice is one, at every call", arguments: GuidanceSimulation.BanAnswer.allCases)
    func notices(answer: GuidanceSimulation.BanAnswer) async throws {
        for allowed in 0...2 {
            try await withRig(simulate: { simulation in
                simulation.requestsPerMinute = allowed
                simulation.banAnswer = answer
            }) { rig in
                do throws(UpstreamError) {
                    // A head has no page: the first request is a directory's.
                    if allowed == 0 { _ = try await rig.client.listing(of: rig.forecast.directory) }
                    _ = try await rig.download(rig.forecast, rig.everyOther, Reports())
                    Issue.record("no block")
                } catch {
                    #expect(error.code == .rateLimited && error.retryAfterSeconds == 600, "\(allowed): \(error)")
                }
                #expect(rig.client.budget.ledger.blocks == 1)
                await #expect(throws: UpstreamError.self) { try await rig.client.state(of: rig.nowcast) }
                #expect(rig.simulator.calls == allowed + 1)
            }
        }
    }

    @Test("a 429 is waited for as it says, or longer") func rateLimited() async throws {
        try await withRig(configure: { $0.blockSeconds = 10 }) { rig in
            rig.simulator.setFault(.rateLimited, count: 1)
            await #expect(
                throws: UpstreamError.rateLimited(UpstreamProblem(status: 429), retryAfterSeconds: 60)
            ) { try await rig.client.state(of: rig.nowcast) }
            rig.clock.advance(59)
            await #expect(throws: UpstreamError.self) { try await rig.client.state(of: rig.nowcast) }
            rig.clock.advance(1)
            _ = try await rig.client.state(of: rig.nowcast)
        }
    }

    @Test("broken messages are refused one by one, counted, and the rest is used", arguments: [false, true])
    func brokenMessages(isIndexed: Bool) async throws {
        try await withRig { rig in
            let file = isIndexed ? rig.forecast : rig.nowcast
            for (fault, code) in [
                (Fault.truncatedMessage, isIndexed ? "wrong-length" : "missing-end"),
                (.wrongLength, isIndexed ? "wrong-length" : "missing-end"),
            ] {
                rig.simulator.setFault(fault)
                let reports = Reports()
                let outcome = try await rig.download(file, rig.everything12, reports)
                let good = (1...12).filter { $0 % 3 != 0 }
                #expect(reports.messages.map(\.bytes) == rig.expected(file, good), "\(fault)")
                // A last message without its end is cut off by the end of the file.
                #expect(outcome.refused.values.reduce(0, +) == 4 && outcome.refused[code] ?? 0 >= 3, "\(outcome)")
                #expect(reports.refused.map(\.1) == [3, 6, 9, 12])
            }
        }
    }

    @Test("broken lines of an index cost their messages only") func brokenIndex() async throws {
        try await withRig { rig in
            rig.simulator.setFault(.wrongTypes)
            let reports = Reports()
            let outcome = try await rig.download(rig.forecast, rig.everything12, reports)
            #expect(reports.plans.first?.refusedLines == [.missingFields: 5])
            #expect(
                outcome.ending == .growing
                    && outcome.missing == [message(.edr, altitudes[4]), message(.edr, altitudes[9])])
            #expect(
                reports.messages.map(\.bytes) == rig.expected(rig.forecast, (1...12).filter { $0 != 5 && $0 != 10 }))
        }
    }

    @Test("an answer that drips is a timeout, however often it is resumed") func timeout() async throws {
        try await withRig(
            scale: 20,
            configure: { configuration in
                configuration.timeout = .milliseconds(300)
                configuration.slowestBytesPerSecond = 1 << 40
                configuration.maximumResumptions = 1
            }
        ) { rig in
            await #expect(throws: UpstreamError.timeout) {
                try await rig.download(rig.nowcast, .everything, Reports()) { event in
                    if case .began = event { rig.simulator.setFault(.slowBody) }
                    return .goOn
                }
            }
        }
    }

    @Test("a caller's own time is no part of the timeout, and a longer body may be given more") func deadline() {
        let start = ContinuousClock.now
        let deadline = StreamDeadline(after: .seconds(60), from: start)
        #expect(deadline.rest(at: start + .seconds(20)) == .seconds(40))
        deadline.pause(at: start + .seconds(30))
        // Looked at again and again, never over.
        #expect(deadline.rest(at: start + .seconds(500)) == .seconds(1))
        deadline.resume(at: start + .seconds(530))
        #expect(deadline.rest(at: start + .seconds(530)) == .seconds(30))
        deadline.extend(by: .seconds(100))
        #expect(deadline.rest(at: start + .seconds(600)) == .seconds(60))
        #expect(deadline.rest(at: start + .seconds(700)) < .zero)
    }

    @Test("a file or message longer than the limit is refused") func limits() async throws {
        try await withRig(configure: { $0.maximumFileBytes = 1_000 }) { rig in
            await #expect(throws: UpstreamError.tooLarge(limitBytes: 1_000)) {
                try await rig.download(rig.nowcast, .everything, Reports())
            }
        }
        try await withRig(configure: { $0.maximumMessageBytes = 500 }) { rig in
            for file in [rig.nowcast, rig.forecast] {
                let reports = Reports()
                let outcome = try await rig.download(file, rig.everything12, reports)
                let short = (1...12).filter { rig.content.all(file)[$0 - 1].count <= 500 }
                #expect(reports.messages.map(\.bytes) == rig.expected(file, short))
                #expect(outcome.refused == ["too-long": 12 - short.count])
            }
        }
        try await withRig(configure: { $0.maximumIndexBytes = 100 }) { rig in
            await #expect(throws: UpstreamError.tooLarge(limitBytes: 100)) {
                try await rig.client.index(of: rig.forecast)
            }
        }
    }

    @Test("several ranges at once are refused by the look-alike, and a range beyond the end too") func ranges()
        async throws
    {
        try await withRig { rig in
            for (header, status) in [
                ("bytes=0-9", 206), ("bytes=-4", 206), ("bytes=10-", 206), ("bytes=0-1,4-5", 416),
                ("bytes=999999-", 416), ("bytes=5-2", 416), ("lines=1-2", 416),
            ] {
                var request = HTTPClientRequest(url: rig.client.configuration.baseURL + rig.nowcast.path)
                request.headers.add(name: "range", value: header)
                let response = try await HTTPClient.shared.execute(request, timeout: .seconds(120))
                #expect(Int(response.status.code) == status, "\(header)")
                #expect(response.headers.first(name: "content-range") != nil)
                let body = try await response.body.collect(upTo: 1_000_000)
                if header == "bytes=-4" { #expect(String(buffer: body) == "7777") }
            }
        }
    }

    @Test("the client speaks HTTP/1.1 and follows no redirect") func httpConfiguration() {
        let configuration = GuidanceClient.recommendedHTTPConfiguration
        #expect("\(configuration.httpVersion)" == "\(HTTPClient.Configuration.HTTPVersion.http1Only)")
        var wrong = GuidanceConfiguration(baseURL: "ftp://x")
        wrong.userAgent = ""
        wrong.timeout = .zero
        wrong.spacing = .seconds(-1)
        wrong.bytesPerDay = 0
        wrong.maximumMessageBytes = 19
        #expect(wrong.problems.count == 6 && GuidanceConfiguration().problems.isEmpty)
        #expect(throws: UpstreamError.self) {
            try GuidanceClient(configuration: wrong, httpClient: .shared)
        }
    }
}
