import BillowExchange
import BillowSnapshot
import BillowStore
import BillowTiles
import Foundation
import Testing
import Turbulence

@testable import BillowServer

/// How old a picture is said to be goes by the sources of what it shows, wherever it is said.
@Suite("Honest age")
struct AgeTests {
    private static let feeds: [String: Set<DataKind>] = [
        "skypath": [.observations], "awc": [.reports, .observations, .hazards], "opensky": [.positions], "inbox": [],
    ]

    /// A minute ago, and an hour ago.
    private static let (fresh, silent) = (60, 3_600)

    /// The layers that are stale while some sources are silent; every other one is fresh.
    struct Case: Sendable, CustomTestStringConvertible {
        var silent: Set<String>
        var stale: Set<Layer>
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

    private func withSources(
        silent: Set<String>, _ test: @escaping @Sendable (World) async throws -> Void
    ) async throws {
        try await withWorld(feeds: Self.feeds) { world in
            for name in ["opensky", "inbox"] {
                _ = try await world.store.register(try source(name), merge: .keep, simulated: false)
            }
            for name in Self.feeds.keys {
                try await world.fetched(name, secondsAgo: silent.contains(name) ? Self.silent : Self.fresh)
            }
            try await world.take([])
            try await test(world)
        }
    }

    @Test("a layer is stale when all the sources that feed it are silent, and only then", arguments: cases)
    func staleLayers(_ example: Case) async throws {
        try await withSources(silent: example.silent) { world in
            let ready = try await world.json("/readyz")["layers"]
            let status = try await world.json("/status")["layers"]
            let manifest = try await world.json("/timeline.json")["layers"]?.items ?? []
            #expect(manifest.count == Layer.allCases.count)
            for layer in Layer.allCases {
                let name = layer.rawValue
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
