import Foundation
import TestSupport
import Testing

/// The abstract tests of the standards that the server claims, replayed against the command. It is no certification.
@Suite("Abstract tests of OGC API standards")
struct ConformanceTests {
    private struct Replay: Decodable {
        var passed: [String]
        var wrong: [String]
    }

    @Test("the abstract tests of Features, Tiles, Maps and EDR hold, with the demo's data")
    func replay() async throws {
        let folder = try TemporaryFolder()
        let server = try await Server("--demo", "--database", folder.path("demo.sqlite"))
        try await eventually("every layer has data", within: .seconds(300)) {
            for collection in ["observations", "hexagons", "pireps", "hazards", "traffic", "gtg"] {
                let page = try await server.get("/collections/\(collection)/items?limit=1")
                guard page.status == 200, page.text.contains("\"Feature\"") else { return false }
            }
            return true
        }
        let replay = try Oracle.ask(
            "conformance.py", ["base": "http://127.0.0.1:\(server.port)"], answer: Replay.self)
        #expect(replay.wrong == [])
        #expect(replay.passed.count == 33, "\(replay.passed)")
        #expect(try await server.stop() == 0)
    }
}
