import Foundation
import Geometry
import HTTPTypes
import HummingbirdTesting
import NIOCore
import TestSupport
import Testing
import Turbulence

@testable import BillowServer

/// A copy of a collection that a client keeps current.
private struct ClientCopy {
    var features: [String: JSON] = [:]
    var version: Double?

    /// Asks for what changed, and takes it in.
    mutating func update(_ world: World, _ path: String) async throws -> JSON {
        let since = version.map { "&since=\(Int($0))" } ?? ""
        let answer = try await world.json("\(path)\(since)")
        if answer["full"]?.bool == true { features = [:] }
        for id in answer["removed"]?.items ?? [] { features[id.string ?? ""] = nil }
        for feature in answer.features { features[feature["id"]?.string ?? ""] = feature }
        version = answer["version"]?.double
        return answer
    }
}

@Suite("Changes")
struct ChangeTests {
    @Test(
        "taking in every delta gives exactly what is there, whatever came, went and aged in between",
        arguments: [
            "/changes/hexagons?hours=0.5", "/changes/polygons?hours=1",
            "/changes/hexagons?minSeverity=2&geometry=false",
        ])
    func deltas(_ path: String) async throws {
        try await withWorld { world in
            var random = SeededGenerator(seed: UInt64(path.utf8.count))
            let cells = H3.disk(around: try cell(10, 50), distance: 3).sorted()
            var steady = ClientCopy()
            var lazy = ClientCopy()
            var deltas = 0
            for step in 0..<25 {
                if random.next() % 4 > 0 {
                    let observations = try (0..<random.next() % 6).map { _ in
                        try observation(
                            cells[Int(random.next() % UInt64(cells.count))], altitude: Int(30 + random.next() % 3),
                            severity: Severity(rawValue: UInt8(random.next() % 5)),
                            at: world.clock.now.seconds - noon.seconds - Int(random.next() % 600),
                            source: ["skypath", "import"][Int(random.next() % 2)])
                    }
                    try await world.take(observations)
                }
                // The same version, aged; a minute on, so that it is published anew.
                if random.next() % 2 == 0 {
                    world.clock.advance(by: 60 + Int(random.next() % 900))
                    try await world.refresh()
                }
                let answer = try await steady.update(world, path)
                if answer["full"]?.bool == false { deltas += 1 }
                if step % 7 == 0 { _ = try await lazy.update(world, path) }
                var fresh = ClientCopy()
                _ = try await fresh.update(world, path)
                #expect(steady.features == fresh.features, "step \(step)")
                if step % 7 == 0 { #expect(lazy.features == fresh.features, "step \(step)") }
            }
            #expect(deltas == 24, "all but the first")
        }
    }

    @Test("a version that isn't remembered gives everything, and says so")
    func full() async throws {
        try await withWorld { world in
            try await world.take([try observation(try cell(10, 50))])
            let answer = try await world.json("/changes/hexagons?since=999")
            #expect(answer["full"]?.bool == true)
            #expect(answer["since"] == .null)
            #expect(answer.features.count == 1)
            let version = try #require(answer["version"]?.double)
            let nothing = try await world.json("/changes/hexagons?since=\(Int(version))")
            #expect(nothing["full"]?.bool == false)
            #expect(nothing.features.isEmpty)
            let problem = try await world.json("/changes/observations", status: .notFound)
            #expect(problem["code"]?.string == "unknown-collection")
        }
    }

    @Test("a client that takes gzip gets it")
    func gzip() async throws {
        try await withWorld { world in
            let cells = H3.disk(around: try cell(10, 50), distance: 3)
            try await world.take(try cells.map { try observation($0) })
            let plain = try await world.get("/changes/hexagons")
            let packed = try await world.get("/changes/hexagons", [.acceptEncoding: "br, gzip"])
            #expect(plain.headers[.contentEncoding] == nil)
            #expect(packed.headers[.contentEncoding] == "gzip")
            #expect(Array(packed.body.readableBytesView.prefix(2)) == [0x1F, 0x8B])
            #expect(packed.body.readableBytes < plain.body.readableBytes / 3)
        }
    }
}
