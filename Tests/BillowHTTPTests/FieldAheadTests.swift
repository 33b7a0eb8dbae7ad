import BillowFields
import BillowStore
import Datasets
import EngineTestSupport
import Geometry
import HummingbirdTesting
import JSONKit
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP

@Suite("The turbulence field along corridors and ahead of aircraft")
struct FieldAheadTests {
    private static let route = "route=35N100W+35N085W"

    /// Now 0.20, in an hour 0.40, then that again; from the tenth column on nothing, and little in the last ones.
    private func insertAir(_ world: World) async throws {
        for (hours, value) in [(0, 20), (1, 40), (2, 40), (3, 40)] {
            try await world.insertAir(valid: hours * 3_600) { column, _, feet in
                if column == 9 { return FieldPlane.missing }
                return column > 12 ? 2 : UInt8(value) - (feet == 34_000 ? 10 : 0)
            }
        }
    }

    @Test("cells of a corridor come in the order of the flight, with the value at the time of the flight there")
    func corridor() async throws {
        try await withWorld { world in
            try await insertAir(world)
            let query = "\(Self.route)&width=60&speed=360&level=32000"
            let answer = try await world.json("/collections/gtg/corridor?\(query)")
            let features = answer["features"]?.items ?? []
            let along = features.compactMap { $0["properties"]?["distanceAlong"]?.double }
            #expect(along.count == features.count && along == along.sorted())
            var checked = 0
            for feature in features {
                guard let edr = feature["properties"]?["edr"]?.double,
                    let miles = feature["properties"]?["distanceAlong"]?.double
                else { continue }
                // 360 NM are an hour.
                #expect(abs(edr - min(0.2 + 0.2 * miles / 360, 0.4)) < 0.001)
                #expect(feature["properties"]?["altitude"]?.double == 32_000)
                #expect(feature["properties"]?["product"]?.string == "gtg")
                checked += 1
            }
            #expect(checked == 12, "smooth air is left out: \(checked)")
            let second = try #require(features.dropFirst().first?["properties"])
            #expect(second["validTime"]?.string == noon.description && second["lead"]?.double == 3_600)
            #expect(second["nextValidTime"]?.string == "2026-11-21T13:00:00Z")
            #expect(second["eta"]?.string?.hasPrefix("2026-11-21T12:0") == true)
            let unknown = features.compactMap { $0["properties"]?["unknown"]?.string }
            #expect(unknown == ["missing"])
            // In pages it is the same.
            let first = try await world.json("/collections/gtg/corridor?\(query)&limit=5")
            let next = (first["links"]?.items ?? []).first { $0["rel"]?.string == "next" }
            let rest = try await world.json(
                try #require(
                    next?["href"]?.string?.split(separator: "/collections").last.map {
                        "/collections\($0)"
                    }))
            let ids = ((first["features"]?.items ?? []) + (rest["features"]?.items ?? [])).map { $0["id"]?.string }
            #expect(Array(features.map { $0["id"]?.string }.prefix(ids.count)) == ids && ids.count == 10)
            // In a body the flight is the same.
            let posted = try await world.post(
                "/collections/gtg/corridor",
                #"{"route": "35N100W 35N085W", "width": 60, "speed": 360, "level": 32000}"#)
            #expect(posted["features"]?.items.count == features.count)
        }
    }

    @Test("an alert has computed turbulence beside the reports, at the time at which it is met")
    func alert() async throws {
        try await withWorld { world in
            let body = """
                {"position": [-99.6, 35], "altitude": 32000, "track": 90, "speed": 360, "distance": 300, "angle": 20}
                """
            #expect(try await world.post("/alerts", body)["field"] == nil, "no field is stored")
            try await insertAir(world)
            try await world.insert([try observation(cell(-97, 35), altitude: 32, severity: .light, at: -60)])
            let answer = try await world.post("/alerts", body)
            #expect(answer["items"]?.items.count == 1, "reports stay reports")
            let field = try #require(answer["field"])
            let items = field["items"]?.items ?? []
            let axis = items.filter { abs(($0["latitude"]?.double ?? 0) - 35) < 0.3 }
            #expect(axis.count >= 5)
            for item in items {
                let hours = try #require(item["timeTo"]?.double) / 3_600
                #expect(abs((item["edr"]?.double ?? 0) - (0.2 + 0.2 * hours)) < 0.001)
                #expect(item["nextValidTime"]?.string == "2026-11-21T13:00:00Z")
            }
            #expect(field["fields"]?.items.count == 2)
            #expect(field["validTo"]?.string == "2026-11-21T13:00:00Z")
            let text = try #require(field["clusters"]?[0]?["text"]?.string)
            #expect(text.contains(" computed in ") && text.contains(" min") && text.hasSuffix(", worst at FL300"))
            #expect(field["cells"]?.double == Double(items.count) + (field["unknown"]?.double ?? -1))
            // Only the requested levels.
            let severe = try await world.post(
                "/alerts", body.replacing("\"angle\"", with: "\"minSeverity\": 4, \"angle\""))
            #expect(severe["field"]?["items"]?.items.isEmpty == true)
        }
    }

    @Test("an alert of a later departure has the field and the warnings of the times at which they are passed")
    func departure() async throws {
        try await withWorld { world in
            try await insertAir(world)
            let departure = noon.advanced(by: 3_600)
            // The flight passes 98° to 96° W after 16 to 33 minutes, and 88° to 86° W after 98 to 115 minutes.
            let warnings = try [
                ("met", -98.0, 0, 3_600), ("over", -98, -3_660, 600), ("late", -98, 3_600, 9_000),
                ("far", -88, 5_400, 9_000), ("gone", -88, -3_660, 3_600), ("aside", -98, 0, 3_600),
            ].map { id, west, from, to in
                let south = id == "aside" ? 37.0 : 34
                let corners = try [(0, 0), (2, 0), (2, 2), (0, 2)].map { try place(west + $0.0, south + $0.1) }
                return IssuedArea(
                    collection: .hazards, id: id, source: try source("awc"), kind: "sigmet",
                    validFrom: departure.advanced(by: from), validTo: departure.advanced(by: to), issuedAt: noon,
                    geometry: try #require(MultiPolygon(outline: corners)))
            }
            _ = try await world.store.commit(Batch(source: nil, areas: warnings))
            try await world.refresh()
            func alert(_ more: String) async throws -> JSON {
                let members =
                    #""position": [-100, 35], "altitude": 32000, "route": "35N100W 35N085W", "distance": 1000"#
                return try await world.post("/alerts", "{\(members)\(more)}")
            }
            func hazards(_ answer: JSON) -> [String] { answer["hazards"]?.items.compactMap { $0["id"]?.string } ?? [] }
            let later = try await alert(#", "speed": 360, "departure": "\#(departure)""#)
            #expect(hazards(later) == ["far", "met"])
            #expect(later["query"]?["departure"]?.string == departure.description)
            #expect(later["field"]?["validFrom"]?.string == departure.description, "\(later)")
            let computed = later["field"]?["items"]?.items.compactMap { $0["edr"]?.double } ?? []
            #expect(computed.count >= 5 && computed.allSatisfy { abs($0 - 0.4) < 0.001 })
            // Without a departure these are the warnings and the field of now.
            let now = try await alert(#", "speed": 360"#)
            #expect(hazards(now) == ["gone", "over"])
            #expect(now["query"]?["departure"] == nil && now["field"]?["validFrom"]?.string == noon.description)
            // Without a speed nobody knows when the aircraft passes.
            #expect(hazards(try await alert(#", "departure": "\#(departure)""#)) == ["gone", "met", "over"])
            // At 60 kt the first warnings have ended when the aircraft comes, and the others have not.
            #expect(hazards(try await alert(#", "speed": 60, "departure": "\#(departure)""#)) == ["late"])
        }
    }

    @Test("an alert has reports, hazards and the field of the chosen sources alone, and names them")
    func alertSources() async throws {
        try await withWorld { world in
            try await insertAir(world)
            _ = try await world.store.register(try source("own"), merge: .keep, simulated: false)
            try await world.insert([
                try observation(cell(-97, 35), altitude: 32, severity: .light, at: -60),
                try observation(cell(-97.5, 35), altitude: 32, severity: .light, at: -60, source: "own"),
            ])
            let corners = try [place(-98, 34), place(-96, 34), place(-96, 36), place(-98, 36)]
            let hazard = IssuedArea(
                collection: .hazards, id: "sigmet", source: try source("awc"), kind: "sigmet",
                validFrom: noon.advanced(by: -60), validTo: noon.advanced(by: 3_600), issuedAt: noon,
                geometry: try #require(MultiPolygon(outline: corners)))
            _ = try await world.store.commit(Batch(source: nil, areas: [hazard]))
            try await world.refresh()
            for (sources, reports, hazards, hasField) in [
                (nil, ["own", "skypath"], 1, true), (["skypath"], ["skypath"], 0, false),
                (["own", "skypath"], ["own", "skypath"], 0, false), (["awc"], [], 1, true), (["none"], [], 0, false),
            ] as [([String]?, [String], Int, Bool)] {
                let chosen = sources.map { #""source": \#($0), "# } ?? ""
                let answer = try await world.post(
                    "/alerts",
                    #"{\#(chosen)"position": [-99.6, 35], "altitude": 32000, "track": 90, "distance": 300}"#)
                #expect(answer["items"]?.items.compactMap { $0["source"]?.string }.sorted() == reports, "\(chosen)")
                #expect(answer["hazards"]?.items.count == hazards, "\(chosen)")
                #expect((answer["field"] != nil) == hasField, "\(chosen)")
                #expect(answer["query"]?["source"]?.items.compactMap(\.string) == sources, "\(chosen)")
            }
        }
    }

    @Test("a notice comes when the worst severity rises to moderate or more, and not with each new run")
    func notices() {
        var notice = FieldNotification()
        // Minutes, the worst severity ahead, and whether there is an event.
        let steps: [(Int, Severity?, Bool)] = [
            (0, nil, false), (15, .lightModerate, false), (30, .moderate, true), (45, .moderate, false),
            (60, .light, false), (75, .moderate, false), (90, .moderateSevere, true), (105, .moderate, false),
            (120, nil, false), (149, .moderate, false), (150, .moderate, false), (165, .moderateSevere, true),
            (224, .light, false), (225, .light, false), (226, .moderate, true),
        ]
        for (minutes, severity, isNews) in steps {
            #expect(notice.note(severity, at: noon.advanced(by: minutes * 60)) == isNews, "after \(minutes) min")
        }
    }
}
