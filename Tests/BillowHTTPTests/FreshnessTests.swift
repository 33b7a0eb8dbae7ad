import EngineTestSupport
import BillowExchange
import BillowSnapshot
import BillowStore
import BillowTiles
import Datasets
import Foundation
import Geometry
import JSONKit
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

/// How old a picture is said to be goes by the sources of what it shows, wherever it is said.
@Suite("Freshness")
struct AgeTests {
    private static let feeds: [String: Set<FeedKind>] = [
        "skypath": [.observations], "awc": [.reports, .observations, .hazards], "opensky": [.positions], "inbox": [],
    ]

    /// A minute ago, and an hour ago.
    private static let (fresh, silent) = (60, 3_600)

    /// The layers that are stale while some sources are silent; every other one is fresh.
    struct Case: Sendable, CustomTestStringConvertible {
        var silent: Set<String>
        var stale: Set<Dataset>
        var testDescription: String { "\(silent.sorted()) silent" }
    }

    static let cases = [
        Case(silent: [], stale: []),
        Case(silent: ["inbox"], stale: []),
        Case(silent: ["skypath"], stale: []),
        Case(silent: ["awc"], stale: [.pireps, .hazards]),
        Case(silent: ["opensky"], stale: [.traffic, .tracks]),
        Case(silent: ["skypath", "awc"], stale: [.turbulence, .hexagons, .polygons, .pireps, .hazards]),
        Case(silent: ["awc", "opensky", "inbox"], stale: [.pireps, .hazards, .traffic, .tracks]),
        Case(
            silent: ["skypath", "awc", "opensky"],
            stale: [.turbulence, .hexagons, .polygons, .pireps, .hazards, .traffic, .tracks]),
    ]

    /// An area of a source that holds no more.
    private func formerArea(_ collection: IssuedArea.DatasetNumber, source name: String) throws -> IssuedArea {
        IssuedArea(
            collection: collection, id: "former", source: try source(name), kind: "former",
            validFrom: noon.advanced(by: -7_200), validTo: noon.advanced(by: -3_600),
            geometry: try MultiPolygon(outline: [try place(0, 0), try place(1, 0), try place(0, 1)]).orMissing())
    }

    private func withSources(
        silent: Set<String>, _ test: @escaping @Sendable (World) async throws -> Void
    ) async throws {
        try await withWorld(feeds: Self.feeds) { world in
            for name in ["opensky", "inbox"] {
                _ = try await world.store.register(try source(name), merge: .keep, simulated: false)
            }
            // Nothing fetches these.
            _ = try await world.store.commit(
                Batch(
                    source: nil,
                    areas: try [Dataset.forecast, .advisories].map {
                        try formerArea($0.areas.orMissing(), source: "inbox")
                    }))
            _ = try await world.store.commit(
                Batch(source: try source("inbox"), fields: [try TestField.draft(run: noon, on: TestField.grid())]))
            for name in Self.feeds.keys {
                try await world.fetched(name, secondsAgo: silent.contains(name) ? Self.silent : Self.fresh)
            }
            try await world.insert([])
            try await test(world)
        }
    }

    @Test("a layer is stale when all the sources that feed it are silent, and only then", arguments: cases)
    func staleLayers(_ example: Case) async throws {
        try await withSources(silent: example.silent) { world in
            let ready = try await world.json("/readyz")["layers"]
            let status = try await world.json("/status")["layers"]
            let manifest = try await world.json("/timeline.json")["layers"]?.items ?? []
            #expect(manifest.count == Catalogue.layers.count)
            for layer in Catalogue.layers {
                let name = layer.id
                let part = manifest.first { $0["id"]?.string == name }
                let said: [String: JSON?] = [
                    "readyz": ready?[name]?["stale"], "status": status?[name]?["stale"], "manifest": part?["stale"],
                    "TileJSON": try await world.json("/tiles/\(name).json")["billow"]?["stale"],
                    "features": try await world.json("/collections/\(name)/items")["stale"],
                    "legend": .bool(
                        try await world.json("/legend.json?layer=\(name)")["notes"]?[0]?.string?.hasPrefix("Stale")
                            ?? false),
                ]
                for (place, stale) in said {
                    #expect(stale == .bool(example.stale.contains(layer)), "\(name) in \(place)")
                }
            }
            let whole = try await world.json("/readyz")
            #expect(whole["stale"] == .bool(!example.stale.isEmpty))
        }
    }

    @Test("the time of the data is that of the quietest source of what is shown")
    func dataTimes() async throws {
        try await withSources(silent: ["awc"]) { world in
            let fresh = noon.advanced(by: -Self.fresh).description
            let silent = noon.advanced(by: -Self.silent).description
            let expected = [
                ("hexagons", silent), ("pireps", silent), ("hazards", silent), ("traffic", fresh),
                ("tracks,traffic", fresh), ("traffic,hazards", silent),
            ]
            for (layers, time) in expected {
                for address in ["/tiles/\(layers)/latest/2/1/1.png", "/maps/\(layers).png?width=64"] {
                    let said = try await world.get(address).header("X-Data-Time")
                    #expect(said == time, "\(address)")
                }
            }
            // Nothing fetches forecasts.
            let none = try await world.get("/tiles/forecast/latest/2/1/1.png").header("X-Data-Time")
            #expect(none == nil)
            let forecast = try await world.json("/tiles/forecast.json")
            #expect(forecast["billow"]?["stale"] == .bool(false))
        }
    }

    /// A source of observations and positions with an interval between requests.
    private func settings(_ stale: Int?, every seconds: Int?, own: Int? = nil) throws -> FreshnessSettings {
        let feed = FreshnessSettings.FetchedSource(
            kinds: [.observations, .positions], intervalSeconds: seconds, staleAfterSeconds: own)
        return FreshnessSettings(staleAfterSeconds: stale, feeds: [try source("skypath"): feed])
    }

    @Test(
        "without a setting a source may be silent for twice as long as between two fetches; a setting counts as it is",
        arguments: [
            (nil, 60, nil, 300), (nil, 300, nil, 600), (nil, 864, nil, 1_728), (300, 864, nil, 300),
            (300, 60, 7_200, 7_200),
        ] as [(Int?, Int, Int?, Int)])
    func patience(setting: Int?, interval: Int, own: Int?, seconds: Int) async throws {
        try await withWorld(freshness: settings(setting, every: interval, own: own)) { world in
            for (silent, isStale) in [(seconds, false), (seconds + 1, true)] {
                try await world.fetched("skypath", secondsAgo: silent)
                try await world.insert([])
                #expect(try await world.json("/collections/hexagons/items")["stale"] == .bool(isStale))
                #expect(try await world.json("/status")["sources"]?[0]?["stale"] == .bool(isStale))
            }
        }
    }

    @Test("one kind of a source's data may be old while another is new")
    func kinds() async throws {
        try await withWorld(freshness: settings(300, every: 60)) { world in
            let (old, new) = (noon.advanced(by: -Self.silent), noon.advanced(by: -Self.fresh))
            _ = try await world.store.commit(
                Batch(source: source("skypath"), fetchedAt: new, fetchedKinds: [.observations: old, .positions: new]))
            try await world.insert([])
            for (layer, isStale, time) in [("hexagons", true, old), ("traffic", false, new)] {
                let said = try await world.json("/collections/\(layer)/items")
                #expect(said["stale"] == .bool(isStale) && said["dataTime"]?.string == time.description)
            }
            #expect(try await world.json("/status")["sources"]?[0]?["stale"] == .bool(false))
        }
    }

    @Test("a kind that is requested more seldom may be silent for twice that time, whatever the setting")
    func slow() async throws {
        for setting in [nil, 60, 7_200] {
            var feed = FreshnessSettings.FetchedSource(kinds: [.observations, .forecasts], intervalSeconds: 60)
            feed.slowKinds = [.forecasts: 900]
            let id = try source("skypath")
            try await withWorld(freshness: FreshnessSettings(staleAfterSeconds: setting, feeds: [id: feed])) { world in
                let policy = world.application.policy
                func patience(_ kind: FeedKind?) -> Int? {
                    (0...8_000).first { policy.isStale(id, kind, fetchedAt: noon, at: noon.advanced(by: $0)) }
                        .map { $0 - 1 }
                }
                #expect(patience(.observations) == setting ?? 300 && patience(nil) == setting ?? 300)
                #expect(patience(.forecasts) == max(setting ?? 300, 1_800))
            }
        }
    }

    @Test("a stopped source's data ages and becomes stale; a source that never fetched counts for no kind")
    func stopped() async throws {
        try await withWorld(freshness: settings(300, every: nil)) { world in
            #expect(try await world.json("/collections/hexagons/items")["stale"] == .bool(true), "nothing is known")
            try await world.insert([try observation(try cell(10, 50), source: "import")])
            #expect(try await world.json("/collections/hexagons/items")["stale"] == .bool(false))
            let old = noon.advanced(by: -Self.silent)
            _ = try await world.store.commit(
                Batch(source: source("skypath"), fetchedAt: old, fetchedKinds: [.observations: old]))
            try await world.insert([])
            #expect(try await world.json("/collections/hexagons/items")["stale"] == .bool(true))
            #expect(try await world.json("/collections/traffic/items")["stale"] == .bool(true), "nothing is known")
        }
    }

    private func expect(_ addresses: [String], stale: Bool, in world: World) async throws {
        for address in addresses {
            let answer = try await world.json(address)
            #expect((answer["stale"] ?? answer["billow"]?["stale"]) == .bool(stale), "\(address)")
        }
    }

    @Test("a layer without a source or data is reported stale; a fed layer beside it has its own data time")
    func unknown() async throws {
        let layer = ["/collections/forecast/items", "/tiles/forecast.json"]
        let others = ["/readyz", "/status", "/collections/hexagons/items", "/tiles/hexagons,forecast.json"]
        try await withWorld(known: [:]) { world in
            try await expect(layer + others, stale: true, in: world)
        }
        try await withWorld(feeds: ["skypath": [.observations]], known: ["skypath": .replace]) { world in
            try await world.fetched("skypath", secondsAgo: Self.fresh)
            try await world.insert([])
            try await expect(layer, stale: true, in: world)
            try await expect(others, stale: false, in: world)
            // What is sent in of one kind tells nothing of another.
            _ = try await world.store.register(try source("ingest"), merge: .keep, simulated: false)
            try await world.insert([try observation(try cell(10, 50), source: "ingest")])
            try await expect(layer, stale: true, in: world)
            _ = try await world.store.commit(Batch(source: nil, areas: [try formerArea(.forecast, source: "ingest")]))
            try await world.refresh()
            try await expect(layer + others, stale: false, in: world)
        }
    }

    @Test("what is observed isn't complete at an instant to come, and what is issued is up to its last area")
    func instantsToCome() async throws {
        let kinds: Set<FeedKind> = [.observations, .hazards]
        try await withWorld(feeds: ["skypath": kinds], known: ["skypath": .replace]) { world in
            try await world.fetched("skypath", secondsAgo: Self.fresh, completeSince: noon.advanced(by: -86_400))
            _ = try await world.store.commit(Batch(source: nil, areas: [try formerArea(.hazards, source: "skypath")]))
            try await world.insert([])
            let places = ["/items?", "/area?coords=POLYGON((0+40,1+40,1+41,0+41,0+40))&"]
            for (collection, hours) in [("hexagons", 3), ("turbulence", 3), ("hexagons", 20_000), ("hazards", 20_000)] {
                let time = noon.advanced(by: hours * 3_600)
                for place in places {
                    let items = try await world.json("/collections/\(collection)\(place)time=\(time)")
                    #expect(items["incomplete"] == .bool(true), "\(collection) \(place) \(time)")
                }
            }
            #expect(try await world.json("/collections/hexagons/items")["incomplete"] != .bool(true))
        }
    }

    @Test("a picture of several layers is stale when one of them is")
    func composed() async throws {
        try await withSources(silent: ["opensky"]) { world in
            for (layers, isStale) in [("hexagons,hazards", false), ("hexagons,traffic", true)] {
                let answer = try await world.json("/tiles/\(layers).json")
                #expect(answer["billow"]?["stale"] == .bool(isStale), "\(layers)")
            }
        }
    }
}
