import BillowStore
import EngineTestSupport
import Foundation
import Geometry
import HTTPTypes
import HummingbirdTesting
import JSONKit
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

@Suite("Signed documents hand on signed addresses")
struct SignedTemplateTests {
    private static let end = noon.advanced(by: 600)

    private func withKey(_ test: @Sendable (World, KeyText) async throws -> Void) async throws {
        try await withWorld(anonymousRead: false) { world in
            try await world.insert([try observation(try cell(10, 50))])
            try await test(world, try await world.key(.read))
        }
    }

    private func signed(_ address: String, _ key: KeyText) -> String {
        SignedAddress.sign(address, with: key, expires: Self.end)
    }

    /// A template's address of a tile, without the server's.
    private func tile(_ template: String, _ place: String, time: String = "latest") -> String {
        template.replacing("http://localhost", with: "").replacing("{z}/{x}/{y}", with: place)
            .replacing("{time}", with: time)
    }

    private func status(_ world: World, _ address: String) async throws -> Int {
        try await world.get(address).status.code
    }

    @Test("a signed TileJSON gives every tile of its template, and nothing else")
    func tileJSON() async throws {
        try await withKey { world, key in
            let json = try await world.json(signed("/tiles/hexagons.json?hours=1&style=night", key))
            let template = try #require(json["tiles"]?[0]?.string)
            #expect(template.contains("/latest/{z}/{x}/{y}.png?hours=1&style=night&key=\(key.id)"))
            #expect(template.contains("&expires=\(Self.end.seconds)&covers=tiles&sig="))
            for place in ["0/0/0", "4/8/5", "9/270/173"] {
                #expect(try await status(world, tile(template, place)) == 200, "\(place)")
            }
            let address = tile(template, "4/8/5")
            let altered = [
                address.replacing("hexagons", with: "turbulence"), address.replacing("latest", with: noon.compact),
                address.replacing("hours=1", with: "hours=2"), address.replacing("hours=1&", with: ""),
                address.replacing(".png", with: ".mvt"), address.replacing(".png", with: "@2x.png"),
                address.replacing("&key", with: "&v=1&key"), address + "&hours=1",
                address.replacing("expires=\(Self.end.seconds)", with: "expires=\(Self.end.seconds + 1)"),
                address.replacing("&covers=tiles", with: ""), address.replacing("covers=tiles", with: "covers=frames"),
                address.replacing("covers=tiles", with: "covers=all"), address.replacing("4/8/5", with: "{z}/{x}/{y}"),
                address.replacing("4/8/5", with: "+4/8/5"),
                address.replacing("/tiles/hexagons/latest/4/8/5.png", with: "/status"),
                address.replacing("/tiles/hexagons/latest/4/8/5.png", with: "/tiles/hexagons.json"),
                tile(template, "4/8/5.png?hours=1&x=/4/8/5"),
            ]
            for other in altered { #expect(try await status(world, other) == 401, "\(other)") }
            // There is nothing at these.
            for other in [address.replacing("4/8/5", with: "4/8/5/1"), address.replacing("/tiles/", with: "/maps/")] {
                #expect(try await status(world, other) == 404, "\(other)")
            }
            // Outside of the grid it is a tile that isn't there.
            #expect(try await status(world, tile(template, "1/2/0")) == 404)
            world.clock.advance(by: 600)
            let late = try await world.get(address)
            #expect(late.status == .unauthorized)
            #expect(try late.json["code"]?.string == "signature-expired")
        }
    }

    @Test("the template with a time gives any time; the legend is signed by itself")
    func times() async throws {
        try await withKey { world, key in
            let json = try await world.json(signed("/tiles/hexagons.json", key))
            let template = try #require(json["time"]?["template"]?.string)
            #expect(template.contains("covers=frames"))
            for time in ["latest", noon.compact, noon.advanced(by: -60).compact] {
                #expect(try await status(world, tile(template, "4/8/5", time: time)) == 200, "\(time)")
            }
            let other = tile(template, "4/8/5").replacing("hexagons", with: "polygons")
            #expect(try await status(world, other) == 401)
            let legend = try #require(json["legend"]?.string).replacing("http://localhost", with: "")
            #expect(try await status(world, legend) == 200)
            #expect(try await status(world, legend.replacing("style=skypath", with: "style=night")) == 401)
        }
    }

    @Test("a signed style leads to TileJSON and its tiles, a signed timeline to its frames")
    func documents() async throws {
        try await withKey { world, key in
            let style = try await world.json(signed("/styles/night.json?hours=1", key))
            let source = try #require(style["sources"]?["turbulence"]?["url"]?.string)
            let json = try await world.json(source.replacing("http://localhost", with: ""))
            let template = try #require(json["tiles"]?[0]?.string)
            #expect(try await status(world, tile(template, "4/8/5")) == 200)
            let legend = try #require(style["metadata"]?["billow:legend"]?.string)
            #expect(try await status(world, legend.replacing("http://localhost", with: "")) == 200)

            let timeline = try await world.json(
                signed("/timeline.json?layers=hexagons&start=-10m&end=now&size=512", key))
            let layer = try #require(timeline["layers"]?[0])
            let frames = try #require(layer["frames"]).items
            #expect(frames.count > 3)
            for frame in frames {
                let address = tile(try #require(frame["tiles"]?.string), "4/8/5")
                #expect(try await status(world, address) == 200, "\(address)")
                #expect(try await status(world, address.replacing("v=", with: "v=9")) == 401)
                #expect(try await status(world, address.replacing("size=512", with: "size=256")) == 401)
            }
            let any = try #require(layer["tiles"]?[0]?.string)
            #expect(try await status(world, tile(any, "4/8/5", time: noon.compact)) == 200)
        }
    }

    @Test("a document that came with the key itself, or without any, hands on no signature")
    func plain() async throws {
        try await withKey { world, key in
            for uri in ["/tiles/hexagons.json", "/styles/night.json", "/timeline.json?layers=hexagons"] {
                let answer = try await world.send(.get, uri, key: key.text)
                #expect(answer.status == .ok && !answer.text.contains("sig="), "\(uri)")
            }
        }
        try await withWorld { world in
            let key = try await world.key(.read)
            let answer = try await world.get(signed("/tiles/hexagons.json", key))
            #expect(answer.status == .ok && !answer.text.contains("sig="))
        }
    }

    @Test("a revoked key ends the signatures of its templates")
    func revoked() async throws {
        try await withKey { world, key in
            let json = try await world.json(signed("/tiles/hexagons.json", key))
            let address = tile(try #require(json["tiles"]?[0]?.string), "4/8/5")
            #expect(try await status(world, address) == 200)
            #expect(try await world.store.revokeAccessKey(id: key.id, at: world.clock.now))
            world.clock.advance(by: 1)
            #expect(try await status(world, address) == 401)
        }
    }

    @Test("a signed page of features leads to every further page, also where it is long, and to its other formats")
    func pages() async throws {
        try await withWorld(anonymousRead: false) { world in
            let cells = H3.disk(around: try cell(10, 50), distance: 20).sorted()
            try await world.insert(try cells.map { try observation($0) })
            let key = try await world.key(.read)
            for (path, limit) in [("/collections/hexagons/items", 500), ("/ogc/collections/observations/items", 700)] {
                var address = signed("\(path)?limit=\(limit)", key)
                var found = 0
                for _ in 0..<10 {
                    let page = try await world.json(address)
                    found += page.features.count
                    for link in page["links"]?.items ?? [] where link["rel"]?.string == "alternate" {
                        let other = try #require(link["href"]?.string).replacing("http://localhost", with: "")
                        #expect(try await status(world, other) == 200, "\(other)")
                    }
                    guard let next = page.link("next") else { break }
                    #expect(try await status(world, next.replacing(/&key=.*/, with: "")) == 401)
                    #expect(try await status(world, next.replacing("limit=\(limit)", with: "limit=9")) == 401)
                    address = next
                }
                #expect(found == cells.count, "\(path)")
                // The page for people: the table's links to single features, the map's data and the other formats.
                let html = try await world.get(signed("\(path)?f=html&severity=0,1,2,3,4&limit=3", key)).text
                let linked = html.matches(of: /(?:href|data-features)="(?:\.\.\/)*([^"]*sig=[^"]*)"/)
                    .map { "/" + $0.1.replacing("&amp;", with: "&") }
                #expect(linked.count { $0.contains("/items/") } == 3, "\(html)")
                for address in linked {
                    #expect(try await status(world, address) == 200, "\(address)")
                }
            }
        }
    }
}
