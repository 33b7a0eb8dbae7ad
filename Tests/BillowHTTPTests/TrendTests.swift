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

@Suite("Trends of hexagons")
struct TrendTests {
    @Test("a hexagon says whether it is worse or better than half an hour before, by the same rule")
    func trend() async throws {
        try await withWorld { world in
            func trend() async throws -> String? {
                try await world.json("/collections/hexagons/items").features.first?.property("trend")?.string
            }
            let place = try place(10, 50)
            _ = try await world.insertDisk(.light, at: place, distance: 0, secondsAgo: 2_400)
            #expect(try await trend() == nil)
            _ = try await world.insertDisk(.moderate, at: place, distance: 0, secondsAgo: 60)
            #expect(try await trend() == "worse")
            _ = try await world.insertDisk(.smooth, at: place, distance: 0, secondsAgo: 30)
            #expect(try await trend() == "better")
        }
    }
}
