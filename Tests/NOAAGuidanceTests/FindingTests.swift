import Testing
import UpstreamKit
import UpstreamSimulator

@testable import NOAAGuidance

@Suite("Finding files")
struct FindingTests {
    @Test("the newest nowcast is found from the clock backwards, growing ones are named") func nowcast() async throws {
        try await withRig { rig in
            // The file of 22:30 is whole by 22:35 at the latest.
            let search = try await rig.client.newest(.gtgn)
            #expect(search.newest?.runSeconds == testTime - 600 && search.growing.isEmpty)
            #expect(search.head?.bytes == rig.content.all(try #require(search.newest)).reduce(0) { $0 + $1.count })
            #expect(rig.simulator.calls == 1)
            // The caller has it: nothing is requested.
            let again = try await rig.client.newest(.gtgn, afterRun: testTime - 600)
            #expect(again.newest == nil && rig.simulator.calls == 1)
            // 22:45: not there, then growing, then whole.
            var seen: [String] = []
            for _ in 0..<90 {
                rig.clock.advance(10)
                let search = try await rig.client.newest(.gtgn, afterRun: testTime - 600)
                let word = search.newest != nil ? "whole" : search.growing.isEmpty ? "absent" : "growing"
                if seen.last != word { seen.append(word) }
                if word == "whole" { break }
            }
            #expect(seen == ["absent", "growing", "whole"])
        }
    }

    @Test("after some missing files directories are read, and the search is bounded") func late() async throws {
        try await withRig { rig in
            rig.simulator.setFault(.lateFiles)
            let search = try await rig.client.newest(.gtgn)
            // 21:30 is the newest that is there at 21:40.
            #expect(search.newest?.runSeconds == testTime - 600 - 3_600)
            // 22:30, 22:15, 22:00, the page of 21 (all files of 22 were requested), and the file.
            #expect(rig.simulator.calls == 5)
            rig.simulator.setFault(.empty)
            let none = try await rig.client.newest(.gtgn)
            #expect(none.newest == nil && none.growing.isEmpty)
            // Three files and the pages of 21 and 20.
            #expect(rig.simulator.calls == 10)
        }
    }

    @Test("a forecast's leads appear one by one while its run grows") func leads() async throws {
        // 22:00's run: its first lead is whole at 22:50, each other 90 s later.
        try await withRig(clock: ManualClock(testTime + 600)) { rig in
            let run = testTime - 2_400
            let wanted = [0, 1, 2, 3, 6, 18]
            var present: [Int] = []
            for _ in 0..<30 {
                let states = try await rig.client.leads(of: .gtg, runSeconds: run, leadHours: wanted)
                #expect(states.count == wanted.count)
                let now = wanted.filter { states[$0] == .present }
                #expect(now.count >= present.count && now == Array(wanted.prefix(now.count)))
                if now.count > present.count, now.count < wanted.count {
                    // The next is not there, or there without its index.
                    #expect(states[wanted[now.count]] != .present)
                }
                present = now
                rig.clock.advance(60)
            }
            #expect(present == wanted)
            // One page each time.
            #expect(rig.simulator.calls == 30)
            let few = try await rig.client.leads(of: .gtg, runSeconds: run, leadHours: [1, 2])
            #expect(few == [1: .present, 2: .present] && rig.simulator.calls == 32)
            let future = try await rig.client.leads(of: .gtg, runSeconds: run + 86_400 * 2, leadHours: wanted)
            #expect(Set(future.values) == [.absent])
        }
    }

    @Test("a lead that is listed without its index is growing") func growing() async throws {
        try await withRig { rig in
            rig.simulator.setFault(.growingFile)
            let many = try await rig.client.leads(of: .gtg, runSeconds: testTime - 9_600, leadHours: [0, 1, 2, 3])
            #expect(Set(many.values) == [.growing])
            let few = try await rig.client.leads(of: .gtg, runSeconds: testTime - 9_600, leadHours: [0])
            #expect(few == [0: .growing])
            #expect(try await rig.client.newest(.gtgn).newest == nil)
        }
    }

    @Test("the newest run with a lead falls back over runs that lack it") func run() async throws {
        try await withRig { rig in
            // At 22:40 the run of 21:00 is whole for an hour ahead since 21:51:30; that of 22:00 isn't there.
            let search = try await rig.client.newest(.gtg, leadHours: 1)
            #expect(search.newest?.runSeconds == testTime - 6_000 && search.newest?.leadHours == 1)
        }
    }

    @Test("an unchanged listing has no body") func unchanged() async throws {
        try await withRig { rig in
            guard case .whole(let head) = try await rig.client.state(of: rig.forecast),
                case .present(let index, let validators) = try await rig.client.index(of: rig.forecast)
            else {
                Issue.record("no file")
                return
            }
            #expect(head.isSimulated && index.entries.count == 25)
            #expect(try await rig.client.state(of: rig.forecast, since: head.validators) == .unchanged)
            #expect(try await rig.client.index(of: rig.forecast, since: validators) == .unchanged)
            rig.content.replace(rig.forecast.simulated)
            #expect(try await rig.client.state(of: rig.forecast, since: head.validators) != .unchanged)
            #expect(try await rig.client.index(of: rig.forecast, since: validators) != .unchanged)
        }
    }

    @Test("a directory page has the files, and none is where there is no directory") func listing() async throws {
        try await withRig { rig in
            let page = try #require(try await rig.client.listing(of: rig.forecast.directory))
            #expect(page.entries.contains { $0.name == rig.forecast.name && $0.modifiedSeconds != nil })
            #expect(page.entries.contains { $0.name == rig.forecast.name + ".idx" })
            let root = try #require(try await rig.client.listing(of: GuidanceFile.root))
            #expect(root.entries.map(\.name) == ["dafs", "gtgn"] && root.entries.allSatisfy(\.isDirectory))
            #expect(try await rig.client.listing(of: GuidanceFile.root + "gtgn/prod/gtgn.19990101/") == nil)
        }
        try await withRig(configure: { $0.maximumListingBytes = 500 }) { rig in
            await #expect(throws: UpstreamError.tooLarge(limitBytes: 500)) {
                try await rig.client.listing(of: rig.forecast.directory)
            }
        }
    }
}
