import SkyPath
import Testing
import UpstreamSimulator

@Suite("A session of an account")
struct SessionTests {
    private func withAccount(_ body: @escaping @Sendable (Rig) async throws -> Void) async throws {
        try await withRig(
            configure: { $0.account = SkyPathAccount(company: "ABC", user: "dispatch-1") }, body)
    }

    @Test("is opened once for all calls, and anew before it ends") func renewal() async throws {
        try await withAccount { rig in
            #expect(await rig.client.session == nil)
            for _ in 0..<3 { _ = try await rig.client.nowcast() }
            #expect(rig.simulator.skyPathSessions == 1)
            #expect(await rig.client.session?.expiresAt == testTime + 3_600)
            rig.clock.advance(3_569)
            _ = try await rig.client.nowcast()
            #expect(rig.simulator.skyPathSessions == 1)
            rig.clock.advance(1)
            _ = try await rig.client.nowcast()
            #expect(rig.simulator.skyPathSessions == 2)
        }
    }

    @Test("that is refused is over, and no other is opened by itself") func refused() async throws {
        try await withAccount { rig in
            let unknown = try unwrap(Secret("from-another-day"))
            await rig.client.resume(SkyPathSession(token: unknown, expiresAt: testTime + 600))
            let error = await #expect(throws: UpstreamError.self) { try await rig.client.nowcast() }
            guard case .unauthorized = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(rig.simulator.skyPathSessions == 0)
            #expect(await rig.client.session == nil)
            _ = try await rig.client.nowcast()
            #expect(rig.simulator.skyPathSessions == 1)
        }
    }
}
