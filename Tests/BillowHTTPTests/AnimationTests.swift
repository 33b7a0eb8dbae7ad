import EngineTestSupport
import BillowRaster
import Foundation
import Geometry
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import JSONKit
import NIOCore
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

@Suite("Animated pictures over HTTP")
struct AnimationTests {
    private static let query = "bbox=6,49,14,51&width=240&intervals=3&start=-20m&end=now&legend=false"

    /// The content of all chunks of a kind.
    private func chunks(_ kind: String, of file: [UInt8]) -> [[UInt8]] {
        var found: [[UInt8]] = []
        var at = 8
        while at + 8 <= file.count {
            let count = file[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
            if Array(kind.utf8) == Array(file[at + 4..<at + 8]) { found.append(Array(file[at + 8..<at + 8 + count])) }
            at += count + 12
        }
        return found
    }

    private func withMoves(_ test: @Sendable (World) async throws -> Void) async throws {
        try await withWorld { world in
            try await world.insert([
                try observation(try cell(10, 50), severity: .moderate, at: -1_500),
                try observation(try cell(10.5, 50), severity: .light, at: -900),
                try observation(try cell(11, 50), severity: .moderateSevere, at: -60),
            ])
            try await test(world)
        }
    }

    @Test("the frames of a region, one after the other, the last one longer")
    func frames() async throws {
        try await withMoves { world in
            let answer = try await world.get("/animations/hexagons.png?\(Self.query)&delay=200&hold=900&loop=2")
            #expect(answer.status == .ok)
            #expect(answer.headers[.contentType] == "image/apng")
            let file = Array(buffer: answer.body)
            let control = try chunks("acTL", of: file).first.orMissing("acTL")
            #expect(control == [0, 0, 0, 3, 0, 0, 0, 2])
            #expect(chunks("fcTL", of: file).map { Int($0[20]) << 8 | Int($0[21]) } == [200, 200, 900])
            // The second frame is new where its time stamp and its hexagon are, and no wider.
            let first = try PNG.decode(file)
            #expect(first.width == 240)
            #expect(first.pixels.contains(StraightColour(red: 255, green: 113, blue: 0, alpha: 204)))
            #expect(!first.pixels.contains(StraightColour(red: 255, green: 0, blue: 0, alpha: 204)))
            let again = try await world.get(
                "/animations/hexagons.png?\(Self.query)&delay=200&hold=900&loop=2",
                [.ifNoneMatch: try answer.headers[.eTag].orMissing()])
            #expect(again.status == .notModified)
        }
    }

    @Test("as a sheet all frames stand beside each other")
    func sheet() async throws {
        try await withMoves { world in
            let sheet = try await world.picture(
                "/animations/hexagons.png?\(Self.query)&form=sheet&timestamp=false")
            #expect(sheet.width == 2 * 240 + 4)
            let height = (sheet.height - 4) / 2
            func has(_ colour: StraightColour, _ columns: Range<Int>, _ rows: Range<Int>) -> Bool {
                rows.contains { y in columns.contains { sheet[$0, y] == colour } }
            }
            let red = StraightColour(red: 255, green: 0, blue: 0, alpha: 204)
            #expect(!has(red, 0..<240, 0..<height) && !has(red, 244..<484, 0..<height))
            #expect(has(red, 0..<240, height + 4..<sheet.height))
        }
    }

    @Test(
        "however small a picture is, its time stamp is whole, and the legend covers nothing",
        arguments: [(64, 64), (120, 90), (200, 110), (400, 225)])
    func small(width: Int, height: Int) async throws {
        try await withWorld(simulated: true) { world in
            try await world.insert([try observation(try cell(10, 50), at: -60)])
            let region = "bbox=6,49,14,51&width=\(width)&height=\(height)&intervals=2"
            let bare = try await world.picture("/animations/hexagons.png?\(region)&legend=false&form=sheet")
            let sheet = try await world.picture("/animations/hexagons.png?\(region)&form=sheet")
            // The legend is below the frames, which are what they are without it.
            #expect(sheet.height > bare.height && sheet.width >= bare.width)
            #expect((0..<bare.height).allSatisfy { y in (0..<bare.width).allSatisfy { sheet[$0, y] == bare[$0, y] } })
            // All around the first frame's stamp there is something else.
            let plate = try #require(sheet[sheet.width > 64 ? 12 : 8, 12])
            #expect(plate.alpha > 200)
            #expect((0..<height).allSatisfy { sheet[width - 1, $0]?.alpha ?? 0 < 200 }, "cut at the right")
            #expect((0..<width).allSatisfy { sheet[$0, height - 1]?.alpha ?? 0 < 200 }, "cut at the bottom")
        }
    }

    @Test(
        "an undrawable request is rejected with parameter and range",
        arguments: [
            ("width=4000&height=4000&intervals=13", 400, "intervals", "16777216"), ("delay=1", 400, "delay", "20"),
            ("hold=x", 400, "hold", "60000"), ("loop=-1", 400, "loop", "0"), ("form=gif", 400, "form", "sheet"),
            ("bbox=1,2,3", 400, "bbox", "west"), ("start=now", 400, "start", "before"), ("width=0", 400, "width", "1"),
            ("start=2020-01-01T00:00:00Z&end=2020-01-02T00:00:00Z", 404, "end", "2026-11-14T12:00:00Z"),
        ])
    func refused(query: String, status: Int, parameter: String, allowed: String) async throws {
        try await withWorld { world in
            let answer = try await world.get("/animations/hexagons.png?\(query)")
            #expect(answer.status.code == status)
            let problem = try answer.json
            #expect(problem["parameter"]?.string == parameter)
            #expect(problem["allowed"]?.string?.contains(allowed) == true, "\(problem)")
        }
    }
}
