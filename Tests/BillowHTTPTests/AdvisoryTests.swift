import BillowStore
import Datasets
import EngineTestSupport
import Foundation
import Geometry
import HTTPTypes
import HummingbirdTesting
import JSONKit
import NIOCore
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP

/// A dataset that is nothing but an entry of the catalogue is served like any other.
@Suite("Advisories over HTTP") struct AdvisoryTests {
    private static func advisory(_ hazard: String?) throws -> IssuedArea {
        let ring = try [(-98.0, 30.0), (-94, 30), (-94, 34), (-98, 34)].map { try place($0.0, $0.1) }
        return IssuedArea(
            collection: .advisories, id: "cwa-zfw-201", source: try source("awc"), kind: "cwa", hazard: hazard,
            altitudeMinFeet: 24_000, altitudeMaxFeet: 38_000, validFrom: noon.advanced(by: -600),
            validTo: noon.advanced(by: 3_000), text: "ZFW CWA 201",
            geometry: try MultiPolygon(outline: ring).orMissing())
    }

    private func withAdvisory(_ test: @escaping @Sendable (World) async throws -> Void) async throws {
        try await withWorld(configured: ["awc"]) { world in
            try await world.fetched("awc")
            _ = try await world.store.commit(
                Batch(source: try source("awc"), observations: [], areas: [try Self.advisory("TURB")]))
            try await world.refresh()
            try await test(world)
        }
    }

    @Test("features, with every property of the schema, by kind, and not after their end")
    func features() async throws {
        try await withAdvisory { world in
            let features = try await world.json("/collections/advisories/items").features
            #expect(features.map { $0["id"]?.string } == ["cwa-zfw-201"])
            #expect(features.first?.property("hazard")?.string == "TURB")
            #expect(features.first?.property("altitudeMax")?.double == 38_000)
            #expect(try await world.json("/collections/advisories/items?kind=cwa").features.count == 1)
            #expect(try await world.json("/collections/advisories/items?kind=gairmet").features.isEmpty)
            #expect(try await world.json("/collections/hazards/items").features.isEmpty)
            #expect(try await world.get("/export/advisories.csv").text.contains("cwa-zfw-201,cwa,TURB"))
            world.clock.advance(by: 3_600)
            try await world.refresh()
            #expect(try await world.json("/collections/advisories/items").features.isEmpty)
        }
    }

    @Test("alerts ahead and profiles name it beside SIGMETs, because its dataset says that it is a warning")
    func warnings() async throws {
        try await withAdvisory { world in
            let profile = try await world.json("/profiles.json?route=32N100W%2032N090W")
            #expect(profile["hazards"]?.items.map { $0["id"]?.string } == ["cwa-zfw-201"])
            let above = try await world.json("/profiles.json?route=32N100W%2032N090W&minAltitude=40000")
            #expect(above["hazards"]?.items.isEmpty == true)
            let alerts = try await world.send(
                .post, "/alerts", #"{"position": [-99, 32], "altitude": 35000, "track": 90, "distance": 300}"#)
            #expect(try alerts.json["hazards"]?.items.map { $0["id"]?.string } == ["cwa-zfw-201"])
        }
    }

    @Test("pictures, vector tiles, TileJSON, legend, timeline and the viewer's list")
    func layers() async throws {
        try await withAdvisory { world in
            let cell = PixelPlace(try place(-96, 32), zoom: 5)
            let path = cell.path().replacing("hexagons", with: "advisories")
            let picture = try await world.get(path)
            #expect(picture.status == .ok)
            #expect(picture.body != (try await world.get(path.replacing("advisories", with: "forecast"))).body)
            let vectors = try await world.get(path.replacing(".png", with: ".mvt"))
            let tile = try DecodedVectorTile(Array(buffer: vectors.body))
            #expect(tile.layers.map(\.name) == ["advisories"])
            let document = try await world.json("/tiles/advisories.json")
            let fields = document["vector_layers"]?.items.first?["fields"]
            #expect(fields?["altitudeMax"]?.string == "Number" && fields?["hazard"]?.string == "String")
            let legend = try await world.json("/legend.json?layer=advisories")
            #expect(
                legend["entries"]?.items.map { $0["label"]?.string }.contains("Center advisory, turbulence") == true)
            let timeline = try await world.json("/timeline.json?layers=advisories&end=30m")
            #expect(timeline["layers"]?.items.first?["timeProperty"]?.string == "validFrom")
            let module = try await world.get("/js/datasets.js")
            #expect(
                module.text.contains(#""id":"advisories""#)
                    && module.text.contains(#"["cwa","Center Weather Advisory"]"#))
        }
    }
}
