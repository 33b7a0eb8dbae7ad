import Synchronization
import Testing
import UpstreamKit
import UpstreamSimulator

@testable import NOAAGuidance

@Suite("Downloads")
struct DownloadTests {
    @Test("with an index only wanted messages are received, neighbours by one range") func indexed() async throws {
        try await withRig { rig in
            let reports = Reports()
            let outcome = try await rig.download(rig.forecast, rig.everyOther, reports)
            #expect(outcome.ending == .whole && outcome.messages == 6 && outcome.refused.isEmpty)
            #expect(reports.messages.map(\.number) == [1, 3, 5, 7, 9, 11])
            #expect(reports.messages.map(\.bytes) == rig.expected(rig.forecast, [1, 3, 5, 7, 9, 11]))
            #expect(reports.messages.map(\.keys) == [0, 2, 4, 6, 8, 10].map { [message(.edr, altitudes[$0])] })
            let plan = try #require(reports.plans.first)
            #expect(plan.messageCount == 6 && plan.requestCount == 6 && plan.isSimulated && !plan.startsOver)
            #expect(
                plan.byteCount == outcome.bytes && outcome.bytes == reports.messages.reduce(0) { $0 + $1.bytes.count })
            // Its head, its index and six ranges.
            #expect(rig.simulator.calls == 8)
            #expect(rig.client.budget.ledger.bytes >= outcome.bytes)
        }
    }

    @Test("a gap that is cheaper than a request is received, and dropped") func merged() async throws {
        try await withRig(configure: { $0.gapBytes = 10_000 }) { rig in
            let reports = Reports()
            let outcome = try await rig.download(rig.forecast, rig.everyOther, reports)
            #expect(reports.messages.map(\.bytes) == rig.expected(rig.forecast, [1, 3, 5, 7, 9, 11]))
            #expect(reports.plans.first?.requestCount == 1 && rig.simulator.calls == 3)
            #expect(outcome.bytes == rig.expected(rig.forecast, 1...11).reduce(0) { $0 + $1.count })
        }
    }

    @Test("all messages, with the last to the file's end, are one range") func everything() async throws {
        try await withRig { rig in
            let reports = Reports()
            let outcome = try await rig.download(rig.forecast, .everything, reports)
            #expect(outcome.ending == .whole && reports.messages.map(\.bytes) == rig.expected(rig.forecast, 1...25))
            #expect(reports.messages.last?.keys == [GuidanceMessageKey(.columnMaximum, .entireAtmosphere)])
            #expect(rig.simulator.calls == 3)
        }
    }

    @Test("without an index the file is read in pieces, and counted") func sequential() async throws {
        try await withRig(configure: { $0.rangeBytes = 1_000 }) { rig in
            let reports = Reports()
            let outcome = try await rig.download(rig.nowcast, .everything, reports)
            #expect(outcome.ending == .whole && reports.messages.map(\.bytes) == rig.expected(rig.nowcast, 1...12))
            #expect(reports.messages.map(\.number) == Array(1...12) && reports.messages.allSatisfy(\.keys.isEmpty))
            let plan = try #require(reports.plans.first)
            #expect(plan.messageCount == nil && plan.byteCount == outcome.bytes)
            #expect(plan.requestCount.map { $0 + 2 } == rig.simulator.calls)
            // A file of fewer messages than a whole one has is growing.
            #expect(try await rig.ending(rig.nowcast, .everything, Reports(), expecting: 13) == .growing)
        }
    }

    @Test("a nowcast that has an index is read by it") func indexedNowcast() async throws {
        try await withRig(simulate: { $0.indexed = [.gtgn, .gtg] }) { rig in
            let reports = Reports()
            let ending = try await rig.ending(rig.nowcast, rig.everyOther, reports)
            #expect(ending == .whole)
            #expect(reports.messages.map(\.bytes) == rig.expected(rig.nowcast, [1, 3, 5, 7, 9, 11]))
        }
    }

    private func leads(_ rig: Rig) async throws -> Set<GuidanceLeadState> {
        let run = rig.forecast.runSeconds
        return try await Set(rig.client.leads(of: .gtg, runSeconds: run, leadHours: Array(0...3)).values)
    }

    @Test("a forecast without its index is growing, and is read whole when the index is overdue")
    func missingIndex() async throws {
        // Two minutes after the forecast became whole.
        let clock = ManualClock(testTime - 9_600 + 3_390)
        try await withRig(clock: clock) { (rig: Rig) async throws in
            rig.simulator.setFault(.missingIndex)
            #expect(try await rig.ending(rig.forecast, .everything, Reports()) == .growing)
            #expect(try await leads(rig).contains(.growing))
            clock.advance(600)
            #expect(try await leads(rig) == [.present])
            let reports = Reports()
            #expect(try await rig.ending(rig.forecast, .everything, reports, expecting: 25) == .whole)
            #expect(reports.messages.map(\.bytes) == rig.expected(rig.forecast, 1...25))
        }
    }

    @Test("a forecast that changed a moment ago is growing and not read") func growing() async throws {
        try await withRig { rig in
            rig.simulator.setFault(.growingFile)
            for file in [rig.forecast, rig.nowcast] {
                #expect(try await rig.ending(file, .everything, Reports()) == .growing)
            }
            rig.simulator.setFault(nil)
            let absent = try #require(GuidanceFile(product: .gtg, runSeconds: testTime + 4_800))
            #expect(try await rig.ending(absent, .everything, Reports()) == .absent)
            let missing = MessageSelection([.edr], altitudesMeters: [altitudes[0], 99])
            let outcome = try await rig.download(rig.forecast, missing, Reports())
            #expect(outcome.ending == .growing && outcome.messages == 1)
            #expect(outcome.missing == [message(.edr, 99)])
        }
    }

    @Test("what settles too early is found out by its last message") func unsettled() async throws {
        try await withRig(configure: { $0.settleSeconds = 0 }) { rig in
            rig.simulator.setFault(.growingFile)
            let reports = Reports()
            let outcome = try await rig.download(rig.nowcast, .everything, reports)
            #expect(outcome.ending == .growing && outcome.refused == ["cut-off": 1])
            #expect(reports.messages.map(\.bytes) == rig.expected(rig.nowcast, 1...reports.messages.count))
            rig.simulator.setFault(nil)
            // It was another version: all begins again.
            #expect(try await rig.ending(rig.nowcast, .everything, reports) == .whole)
            #expect(reports.plans.map(\.startsOver) == [false, true])
            #expect(reports.messages.map(\.bytes) == rig.expected(rig.nowcast, 1...12))
        }
    }

    // MARK: Going on

    @Test("a download cut inside a message resumes at the next byte", arguments: [false, true])
    func cut(isIndexed: Bool) async throws {
        try await withRig(configure: { $0.rangeBytes = 1_500 }) { rig in
            let file = isIndexed ? rig.forecast : rig.nowcast
            let reports = Reports()
            let outcome = try await rig.download(file, .everything, reports) { event in
                if case .began = event { rig.simulator.setFault(.truncatedBody, count: 2) }
                return .goOn
            }
            let all = rig.content.all(file)
            #expect(outcome.ending == .whole && reports.messages.map(\.bytes) == all)
            // No byte came twice.
            #expect(outcome.bytes == all.reduce(0) { $0 + $1.count })
        }
    }

    @Test("a server that cuts every answer is given up, and the messages that came stay") func cutForEver() async throws
    {
        try await withRig(configure: { $0.maximumResumptions = 3 }) { rig in
            let reports = Reports()
            await #expect(throws: UpstreamError.unreadable(.truncated)) {
                try await rig.download(rig.nowcast, .everything, reports) { event in
                    if case .began = event { rig.simulator.setFault(.truncatedBody) }
                    return .goOn
                }
            }
            #expect((6..<12).contains(reports.messages.count))
            rig.simulator.setFault(nil)
            // A later call resumes after the last whole message.
            let before = reports.messages.count
            let outcome = try await rig.download(rig.nowcast, .everything, reports)
            #expect(outcome.ending == .whole && outcome.messages == 12 - before)
            #expect(reports.messages.map(\.bytes) == rig.expected(rig.nowcast, 1...12))
            #expect(reports.messages.map(\.number) == Array(1...12))
        }
    }

    @Test("a caller may stop at any message and go on later, in another process", arguments: [false, true])
    func stopped(isIndexed: Bool) async throws {
        try await withRig { rig in
            let file = isIndexed ? rig.forecast : rig.nowcast
            let reports = Reports()
            var calls = 0
            while reports.messages.count < 12, calls < 12 {
                let seen = Mutex(0)
                let outcome = try await rig.download(file, rig.everything12, reports) { event in
                    guard case .message = event else { return .goOn }
                    return seen.withLock { seen in
                        seen += 1
                        return seen == 5 ? .stop : .goOn
                    }
                }
                calls += 1
                #expect(outcome.ending == (calls == 3 ? .whole : .stopped))
            }
            #expect(calls == 3 && reports.messages.map(\.bytes) == rig.expected(file, 1...12))
            // Nothing is left: the head and perhaps the index are read, no message.
            let outcome = try await rig.download(file, rig.everything12, reports)
            #expect(outcome.ending == .whole && outcome.messages == 0 && outcome.bytes == 0)
        }
    }

    @Test("a cancelled download ends at once, and what arrived is counted", arguments: [false, true])
    func cancelled(isDripping: Bool) async throws {
        try await withRig(scale: 40, configure: { $0.bytesPerDay = 10_000_000 }) { rig in
            let reports = Reports()
            let (signals, signal) = AsyncStream.makeStream(of: Void.self)
            let download = Task {
                defer { signal.finish() }
                return try await rig.download(rig.nowcast, .everything, reports) { event in
                    switch event {
                    case .began where isDripping:
                        rig.simulator.setFault(.slowBody)
                        signal.yield()
                    case .message where !isDripping:
                        signal.yield()
                        // As a slow caller: it is cancelled while it works.
                        try? await Task.sleep(for: .seconds(3_600))
                    default: break
                    }
                    return .goOn
                }
            }
            for await _ in signals { break }
            download.cancel()
            await #expect(throws: UpstreamError.cancelled) { try await download.value }
            let used = rig.client.budget.ledger.bytes
            #expect(used < rig.expected(rig.nowcast, 1...12).reduce(0) { $0 + $1.count })
            #expect(isDripping || used >= (reports.messages.first?.bytes.count ?? 0))
            rig.simulator.setFault(nil)
            let ending = try await rig.ending(rig.nowcast, .everything, reports)
            #expect(ending == .whole)
            #expect(reports.messages.map(\.bytes) == rig.expected(rig.nowcast, 1...12))
        }
    }

    // MARK: Replaced files

    @Test("a file replaced while it is read is begun again", arguments: [false, true])
    func replaced(isIndexed: Bool) async throws {
        try await withRig(configure: { $0.rangeBytes = 1_500 }) { rig in
            let file = isIndexed ? rig.forecast : rig.nowcast
            let reports = Reports()
            let isDone = Mutex(false)
            let outcome = try await rig.download(file, .everything, reports) { event in
                guard case .message = event else { return .goOn }
                let isFirst = isDone.withLock { done in
                    defer { done = true }
                    return !done
                }
                if isFirst { rig.content.replace(file.simulated) }
                return .goOn
            }
            #expect(outcome.ending == .whole && reports.plans.map(\.startsOver) == [false, true])
            #expect(reports.messages.map(\.bytes) == rig.content.all(file))
            #expect(reports.progress.validators == reports.plans.last?.validators)
        }
    }

    @Test("a file replaced between two downloads is begun again") func replacedBetween() async throws {
        try await withRig { rig in
            let reports = Reports()
            _ = try await rig.download(rig.forecast, rig.everyOther, reports)
            rig.content.replace(rig.forecast.simulated)
            let outcome = try await rig.download(rig.forecast, rig.everyOther, reports)
            #expect(outcome.messages == 6 && reports.plans.map(\.startsOver) == [false, true])
            #expect(reports.messages.map(\.bytes) == rig.expected(rig.forecast, [1, 3, 5, 7, 9, 11]))
        }
    }

    @Test("a file replaced at every call is given up") func replacedForEver() async throws {
        try await withRig { rig in
            rig.simulator.setFault(.replacedFile)
            await #expect(throws: UpstreamError.self) { try await rig.download(rig.forecast, .everything, Reports()) }
            do throws(UpstreamError) { _ = try await rig.download(rig.nowcast, .everything, Reports()) } catch {
                #expect(error.code == .unreadable && error.isTransient && "\(error)".contains("replaced"))
            }
        }
    }
}

extension Rig {
    /// The combined EDR of every altitude: the first twelve messages of either product.
    var everything12: MessageSelection { MessageSelection([.edr], altitudesMeters: altitudes) }
}
