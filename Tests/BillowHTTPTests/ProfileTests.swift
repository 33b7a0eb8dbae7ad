import EngineTestSupport
import BillowRaster
import BillowStore
import Foundation
import Geometry
import HTTPTypes
import HummingbirdTesting
import JSONKit
import NIOCore
import Synchronization
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

@Suite("Profiles over HTTP")
struct ProfileTests {
    @Test("a profile has the most severe of each stretch and level within its width, as JSON and as a picture")
    func profile() async throws {
        try await withWorld { world in
            _ = try await world.insertDisk(.moderate, at: try place(5, 0), distance: 0)
            let answer = try await world.json("/profiles.json?route=00N000E%2000N010E&stretch=60&minAltitude=30000")
            let altitudes = (answer["altitudes"]?.items ?? []).compactMap(\.double)
            let row = try #require(altitudes.firstIndex(of: 35_000))
            #expect(altitudes.first == 30_000)
            let severities = answer["severities"]?[row]?.items ?? []
            let hits = severities.indices.filter { severities[$0].double == 3 }
            #expect(hits == [5] || hits == [4])
            #expect(answer["records"]?.double == 1)
            let picture = try await world.picture("/profiles.png?route=00N000E%2000N010E")
            #expect(picture.width == 1_000)
            // The legend's swatches are in the colours of the cells, over paper.
            let narrow = try await world.picture("/profiles.png?route=00N000E%2000N010E&width-pixels=320&severity=3,4")
            func colours(_ picture: DecodedPNG) -> Set<StraightColour> {
                Set((0..<picture.height).flatMap { row in (0..<picture.width).compactMap { picture[$0, row] } })
            }
            let severe = colours(picture).subtracting(colours(narrow))
            #expect(!severe.isEmpty, "a legend names what isn't filtered out")
            for (query, isDark) in [
                ("", false), ("&theme=light", false), ("&theme=dark", true), ("&style=night", true),
                ("&style=night&theme=light", false), ("&style=day&theme=dark", true),
            ] {
                let themed = try await world.picture("/profiles.png?route=00N000E%2000N010E\(query)")
                let paper = try #require(themed[1, 1])
                #expect((paper.red < 100) == isDark, "\(query)")
            }
            let far = try await world.json("/profiles.json?route=10N000E%2010N010E")
            #expect(far["records"]?.double == 0)
        }
    }

    @Test("a profile's picture says when its air is simulated or old, as maps do")
    func profileCaption() async throws {
        func header(simulated: Bool, silent: Int) async throws -> Set<Int> {
            let ink = Mutex<Set<Int>>([])
            try await withWorld(configured: ["skypath"], simulated: simulated) { world in
                try await world.fetched("skypath", secondsAgo: silent)
                try await world.refresh()
                let picture = try await world.picture("/profiles.png?route=00N000E%2000N010E")
                let paper = picture[0, 0]
                ink.withLock {
                    $0 = Set(
                        (0..<picture.width).filter { column in (28..<48).contains { picture[column, $0] != paper } })
                }
            }
            return ink.withLock { $0 }
        }
        let plain = try #require(try await header(simulated: false, silent: 10).max())
        let simulated = try #require(try await header(simulated: true, silent: 10).max())
        let both = try #require(try await header(simulated: true, silent: 1_000).max())
        #expect(plain > 100 && simulated > plain + 60 && both > simulated + 40)
    }
}
