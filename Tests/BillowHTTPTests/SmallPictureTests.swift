import EngineTestSupport
import BillowRaster
import Foundation
import Geometry
import HTTPTypes
import HummingbirdTesting
import JSONKit
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

@Suite("Small pictures")
struct SmallPictureTests {
    @Test("a map of any size and with any options is a picture or a request that names what is wrong")
    func maps() async throws {
        try await withWorld(simulated: true) { world in
            try await world.insert([try observation(try cell(10, 50))])
            var random = SeededGenerator(seed: 13)
            for side in 1...80 {
                for _ in 0..<3 {
                    let other = Int(random.next() % 80) + 1
                    let (width, height) = random.next() % 2 == 0 ? (side, other) : (other, side)
                    let options = ["legend", "timestamp", "scalebar"].filter { _ in random.next() % 3 > 0 }
                    let uri =
                        "/maps/hexagons,pireps.png?bbox=0,40,20,60&width=\(width)&height=\(height)"
                        + "&scale=\(1 + random.next() % 3)" + options.map { "&\($0)=true" }.joined()
                    let answer = try await world.get(uri)
                    #expect(answer.status == .ok || answer.status == .badRequest, "\(uri)")
                }
            }
            // SIMULATED is on it, however small.
            let mark = try await world.picture("/maps/hexagons.png?width=8&height=8&timestamp=true")
            #expect(mark.pixels.contains { $0.alpha > 200 })
            let bare = try await world.picture("/maps/hexagons.png?width=8&height=8&bbox=-20,-20,-10,-10")
            #expect(bare.pixels.allSatisfy { $0.alpha == 0 })
        }
    }

    @Test("animations, sheets and profiles of any size are pictures or requests that name what is wrong")
    func animations() async throws {
        try await withWorld(simulated: true) { world in
            try await world.insert([try observation(try cell(10, 50))])
            for side in [1, 2, 3, 7, 16, 33, 50, 54, 64, 80] {
                for (width, height) in [(side, side), (side, 1), (1, side), (side, 80), (80, side)] {
                    for form in ["animation", "sheet"] {
                        for extras in ["", "&timestamp=false", "&legend=false", "&legend=true&timestamp=true&scale=2"] {
                            let uri =
                                "/animations/hexagons.png?bbox=0,40,20,60&width=\(width)&height=\(height)&intervals=2"
                                + "&form=\(form)\(extras)"
                            let answer = try await world.get(uri)
                            #expect(answer.status == .ok || answer.status == .badRequest, "\(uri): \(answer.status)")
                        }
                    }
                    let uri = "/profiles.png?route=KJFK%20EGLL&width-pixels=\(width)&height-pixels=\(height)"
                    let answer = try await world.get(uri)
                    #expect(answer.status == .ok || answer.status == .badRequest, "\(uri): \(answer.status)")
                }
            }
        }
    }
}
