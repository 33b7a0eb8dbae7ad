import EngineTestSupport
import BillowStore
import Foundation
import Geometry
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import JSONKit
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

/// Not a test: prints how long pictures of an archive and manifests take. Means something in a release build only.
@Suite("Measuring timelines", .enabled(if: ProcessInfo.processInfo.environment["BILLOW_MEASURE"] != nil), .serialized)
struct MeasureTests {
    private static let count = 10_000_000
    private static let batchSize = 20_000
    private static let days = 7

    private func measure<T>(_ what: String, _ body: () async throws -> T) async rethrows -> T {
        let clock = ContinuousClock()
        let start = clock.now
        let result = try await body()
        let took = start.duration(to: clock.now)
        print("\(what): \(took.formatted(.units(allowed: [.milliseconds], fractionalPart: .show(length: 1))))")
        return result
    }

    @Test("timelines over ten million records are measured")
    func tenMillion() async throws {
        try await withWorld { world in
            var random = SystemRandomNumberGenerator()
            try await measure("commit \(Self.count)") {
                var batch: [Observation] = []
                for number in 0..<Self.count {
                    guard let cell = Cell(dense: Int.random(in: 0..<Cell.slots / 4, using: &random)) else { continue }
                    batch.append(
                        try observation(
                            cell, altitude: Int.random(in: 28...41, using: &random),
                            severity: Severity(rawValue: UInt8.random(in: 0...4, using: &random)),
                            at: -Self.days * 86_400 + number * Self.days * 86_400 / Self.count))
                    guard batch.count == Self.batchSize || number == Self.count - 1 else { continue }
                    _ = try await world.store.commit(Batch(source: nil, observations: batch))
                    batch = []
                }
            }
            try await world.refresh()
            for hours in [12, 36, 61, 90, 121, 150] {
                let time = noon.advanced(by: -hours * 3_600 - 1_234).compact
                let picture = try await measure("archived tile of \(time)") {
                    try await world.get("/tiles/hexagons/\(time)/5/8/12.png")
                }
                #expect(picture.status == .ok)
            }
            for _ in 0..<5 {
                let manifest = try await measure("manifest") { try await world.get("/timeline.json") }
                #expect(manifest.status == .ok)
            }
            for _ in 0..<3 {
                _ = try await measure("manifest of the archive") {
                    try await world.get("/timeline.json?start=-5d&end=-3d&intervals=20")
                }
            }
            try await measure("480 tiles of 20 frames") {
                let frames = try await world.json("/timeline.json?intervals=20&layers=hexagons")
                for frame in frames["layers"]?[0]?["frames"]?.items ?? [] {
                    let template = frame["tiles"]?.string ?? ""
                    let path = template.replacing(/^http:\/\/[^\/]*/, with: "").replacing("{z}", with: "5")
                    for x in 5..<11 {
                        for y in 10..<14 {
                            _ = try await world.get(
                                path.replacing("{x}", with: "\(x)").replacing("{y}", with: "\(y)"))
                        }
                    }
                }
            }
            try await measure("dropping a day") {
                _ = try await world.store.prune(Pruning(before: noon.advanced(by: -6 * 86_400)))
            }
        }
    }
}
