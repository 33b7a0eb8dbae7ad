import EngineTestSupport
import BillowExchange
import BillowSnapshot
import BillowStore
import Datasets
import Foundation
import Geometry
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import JSONKit
import NIOCore
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

@Suite("Features over HTTP")
struct FeatureTests {
    @Test("a page has every member and header of the interface")
    func members() async throws {
        try await withWorld(at: noon.advanced(by: 15), configured: ["skypath"]) { world in
            try await world.fetched("skypath", secondsAgo: 30, completeSince: noon.advanced(by: -7_200))
            let cell = try cell(10, 50)
            try await world.insert([
                try observation(
                    id: "a1", cell, altitude: 37, top: 38, severity: .moderate, edr: 0.25, category: "C60",
                    aircraft: "B738"),
                try observation(cell, altitude: 20, severity: nil, edr: 0.12, at: -90),
            ])
            let response = try await world.get("/collections/hexagons/items")
            #expect(response.headers[.contentType] == "application/geo+json")
            #expect(response.headers[.cacheControl] == "public, max-age=45, stale-while-revalidate=5")
            #expect(response.header("X-Frame-Time") == "2026-11-21T12:00:15Z")
            #expect(response.header("X-Data-Time") == "2026-11-21T11:59:45Z")
            #expect(response.headers[.lastModified] == "Sat, 21 Nov 2026 12:00:15 GMT")
            let json = try response.json
            #expect(json["type"] == .text("FeatureCollection"))
            #expect(json["version"] == .number(1))
            #expect(json["time"] == .text("2026-11-21T12:00:15Z"))
            #expect(json["history"] == .number(2))
            #expect(json["dataTime"] == .text("2026-11-21T11:59:45Z"))
            #expect(json["stale"] == .bool(false))
            #expect(json["simulated"] == .bool(false))
            #expect(json["completeSince"] == .text("2026-11-21T10:00:00Z"))
            #expect(json["numberReturned"] == .number(1))
            #expect(json.link("self") == "http://localhost/collections/hexagons/items")
            #expect(json.link("next") == nil)

            let feature = try json["features"]?[0].orMissing("feature") ?? .null
            #expect(feature["id"] == .text(cell.h3String))
            let expected: [String: JSON] = [
                "h3": .text(cell.h3String), "altitude": .number(37_000), "altitudeMin": .number(37_000),
                "altitudeMax": .number(38_000), "severity": .number(3), "severityName": .text("moderate"),
                "severityBasis": .text("reported"), "edr": .number(0.25), "observedAt": .text("2026-11-21T11:59:00Z"),
                "source": .text("skypath"), "kind": .text("in-situ"), "category": .text("C60"),
                "aircraft": .text("B738"), "reports": .number(2),
            ]
            for (name, value) in expected { #expect(feature.property(name) == value, "\(name)") }

            let observations = try await world.json("/collections/observations/items")
            let derived = try observations.features.first { $0.property("altitude") == .number(20_000) }.orMissing()
            #expect(derived.property("severityBasis") == .text("edr"))
            #expect(derived.property("severity") == .number(1))
        }
    }

    @Test(
        "paging by next covers every feature once, and the last page has no next",
        arguments: ["hexagons", "hexagons?aggregate=false", "observations", "pireps"], [1, 3, 4, 12, 13])
    func paging(route: String, limit: Int) async throws {
        try await withWorld { world in
            var observations: [Observation] = []
            var reports: [PilotReport] = []
            for index in 0..<12 {
                let cell = try cell(Double(index) * 20 - 110, Double(index % 5) * 15 - 30)
                observations.append(try observation(cell, severity: .light, at: -60 - index % 3))
                reports.append(try report("r\(index)", at: -60 - index % 3))
            }
            try await world.insert(observations, reports: reports)
            let parts = route.split(separator: "?")
            let query = (parts.dropFirst() + ["limit=\(limit)"]).joined(separator: "&")
            var next: String? = "/collections/\(parts[0])/items?\(query)"
            var ids: [String] = []
            var pages = 0
            while let uri = next {
                let page = try await world.json(uri)
                #expect(page.features.count <= limit)
                #expect(page["numberReturned"] == .number(Double(page.features.count)))
                #expect(pages == 0 || !page.features.isEmpty)
                ids += page.features.compactMap { $0["id"]?.string }
                pages += 1
                next = page.link("next")?.replacing("http://localhost", with: "")
                try #require(pages < 20)
                // The picture holds still while it is paged through.
                world.clock.advance(by: 61)
                try await world.refresh()
            }
            #expect(ids.count == 12)
            #expect(Set(ids).count == 12)
            #expect(pages == (12 + limit - 1) / limit)
        }
    }

    @Test("one report from two sources is not split between pages")
    func twinReports() async throws {
        try await withWorld { world in
            try await world.insert(
                [],
                reports: [
                    try report("a", at: -60), try report("same", at: -50),
                    try report("same", at: -50, source: "import"),
                    try report("z", at: -40),
                ])
            var next: String? = "/collections/pireps/items?limit=2"
            var found: [String] = []
            while let uri = next {
                let page = try await world.json(uri)
                found += page.features.map { "\($0["id"]?.string ?? "") \($0.property("source")?.string ?? "")" }
                next = page.link("next")?.replacing("http://localhost", with: "")
            }
            #expect(found.sorted() == ["a awc", "same awc", "same import", "z awc"])
        }
    }

    @Test("filters thin out a page without losing the way to the next")
    func sparsePaging() async throws {
        try await withWorld { world in
            var observations: [Observation] = []
            for index in 0..<400 {
                observations.append(
                    try observation(
                        try cell(Double(index % 300) - 150, 40), severity: index % 40 == 7 ? .moderateSevere : .smooth,
                        at: -400 + index))
            }
            try await world.insert(observations)
            var next: String? = "/collections/observations/items?limit=3&severity=4"
            var count = 0
            var pages = 0
            while let uri = next {
                let page = try await world.json(uri)
                #expect(page.features.allSatisfy { $0.property("severity") == .number(4) })
                count += page.features.count
                pages += 1
                next = page.link("next")?.replacing("http://localhost", with: "")
            }
            #expect(count == 10)
            #expect(pages == 4)
        }
    }

    @Test("bbox takes what shares a point with it, across the antimeridian too")
    func boxes() async throws {
        try await withWorld { world in
            let places = [(10.0, 50.0), (179.5, -17), (-179.5, -17), (-100, 40), (0, 0)]
            try await world.insert(try places.map { try observation(try cell($0.0, $0.1)) })
            let expected: [(String, Int)] = [
                ("-180,-90,180,90", 5), ("5,45,15,55", 1), ("179,-20,-179,-15", 2), ("-179,-20,179,-15", 0),
                ("170,-20,180,-10", 1), ("170,-20,190,-10", 2), ("-190,-20,-170,-10", 2), ("10,50,10,50", 1),
                ("0,45,0,55", 0), ("5,45,1000,15,55,2000", 1), ("-101,39,11,51", 2), ("1e1,50,1.0e1,5e1", 1),
            ]
            let place = ["10,50,10,50", "1e1,50,1.0e1,5e1"]
            for (box, count) in expected {
                for collection in ["hexagons", "observations"] {
                    // An observation is a point, which a box of one point misses.
                    let isMissed = collection == "observations" && place.contains(box)
                    let json = try await world.json("/collections/\(collection)/items?bbox=\(box)")
                    #expect(json.features.count == (isMissed ? 0 : count), "\(collection) \(box)")
                }
            }
            let all = try await world.json("/collections/hexagons/items?aggregate=false&bbox=179,-20,-179,-15")
            #expect(all.features.count == 2)
        }
    }

    @Test(
        "observations of a box are those of the world that lie in it, live and archived",
        arguments: 0..<2 as Range<UInt64>)
    func observationsOfBoxes(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let observations = try (0..<400).map { _ in
            try observation(
                try cell(Double.random(in: -180...180, using: &random), Double.random(in: -80...80, using: &random)),
                severity: Severity(rawValue: UInt8.random(in: 0...4, using: &random)),
                at: -Int.random(in: 0...40_000, using: &random))
        }
        let boxes = (0..<6).map { _ in
            let (a, b) = (Double.random(in: -90...80, using: &random), Double.random(in: -90...80, using: &random))
            let west = Double.random(in: -180...180, using: &random)
            let east = west + Double.random(in: 1...170, using: &random)
            return [west, min(a, b), east > 180 ? east - 360 : east, max(a, b) + 5]
        }
        try await withWorld { world in
            try await world.insert(observations)
            for interval in ["2026-11-21T10:00:00Z/..", "2026-11-20T10:00:00Z/.."] {
                let address = "/collections/observations/items?datetime=\(interval)&minSeverity=2"
                let all = try await world.json("\(address)&limit=10000").features
                #expect(all.count > 10)
                for box in boxes {
                    let expected = try all.filter { feature in
                        let place = try feature["geometry"]?["coordinates"].orMissing().items.compactMap(\.double) ?? []
                        let isEast =
                            box[0] <= box[2]
                            ? (box[0]...box[2]).contains(place[0]) : place[0] >= box[0] || place[0] <= box[2]
                        return isEast && (box[1]...box[3]).contains(place[1])
                    }
                    var found: [JSONValue] = []
                    var next: String? = "\(address)&limit=5&bbox=\(box.map { "\($0)" }.joined(separator: ","))"
                    while let page = next {
                        let answer = try await world.json(page)
                        #expect(answer.features.count <= 5)
                        found += answer.features
                        next = answer["links"]?.items.first { $0["rel"] == .text("next") }?["href"]?.string.map {
                            String($0.drop { $0 != ":" }.dropFirst(3).drop { $0 != "/" })
                        }
                    }
                    #expect(found == expected, "\(interval) \(box)")
                }
            }
        }
    }

    @Test("datetime and time: an instant is a picture of hexagons, an interval looks back over it")
    func datetime() async throws {
        try await withWorld { world in
            let cells = try [cell(10, 50), cell(20, 50), cell(30, 50)]
            try await world.insert([
                try observation(cells[0], at: -600), try observation(cells[1], at: -5_400),
                try observation(cells[2], at: -18_000),
            ])
            let hexagons: [(String, Int)] = [
                ("", 2), ("hours=6", 3), ("hours=0.5", 1), ("datetime=2026-11-21T12:00:00Z", 2),
                ("time=2026-11-21T11:00:00Z", 1), ("datetime=2026-11-21T11:00:00Z&hours=6", 2),
                ("datetime=2026-11-21T11:50:00Z/2026-11-21T12:00:00Z", 0),
                ("datetime=2026-11-21T11:49:59Z/2026-11-21T12:00:00Z", 1),
                ("datetime=2026-11-21T07:00:00Z/2026-11-21T11:00:00Z", 1),
                ("datetime=2026-11-21T06:59:59Z/2026-11-21T11:00:00Z", 2),
                ("datetime=2026-11-21T11:00:00Z/..", 1),
            ]
            for (query, count) in hexagons {
                let json = try await world.json("/collections/hexagons/items?\(query)")
                #expect(json.features.count == count, "\(query)")
            }
            let interval = try await world.json(
                "/collections/hexagons/items?datetime=2026-11-21T11:49:59Z/2026-11-21T12:00:00Z")
            #expect(interval["history"] == .null)
            let observations: [(String, Int)] = [
                ("", 3), ("hours=2", 2), ("datetime=2026-11-21T11:50:00Z", 1), ("datetime=2026-11-21T11:50:01Z", 0),
                ("datetime=2026-11-21T07:00:00Z/2026-11-21T10:30:00Z", 2), ("datetime=2026-11-21T10:30:01Z/..", 1),
                ("datetime=../2026-11-21T07:00:00Z", 1), ("datetime=/2026-11-21T07:00:00Z", 1), ("datetime=../..", 3),
                ("time=2026-11-21T11:00:00Z", 1), ("time=2026-11-21T11:00:00Z&hours=6", 2),
            ]
            for (query, count) in observations {
                let json = try await world.json("/collections/observations/items?\(query)")
                #expect(json.features.count == count, "\(query)")
            }
        }
    }

    @Test("one feature by its id, whatever the id is made of; another is 404")
    func items() async throws {
        try await withWorld { world in
            let cell = try cell(10, 50)
            let odd = "a/b c%25é?#&"
            try await world.insert(
                [
                    try observation(id: odd, cell, severity: .moderate),
                    try observation(cell, altitude: 20, severity: .light, at: -120, source: "import"),
                ], reports: [try report("p 1/2", at: -60)])
            let hexagon = try await world.get("/collections/hexagons/items/\(cell.h3String)")
            #expect(hexagon.status == .ok)
            #expect(hexagon.headers[.contentType] == "application/geo+json")
            #expect(try hexagon.json["type"] == .text("Feature"))
            #expect(try hexagon.json.property("reports") == .number(2))
            let tag = try hexagon.headers[.eTag].orMissing("ETag")
            #expect(
                try await world.get("/collections/hexagons/items/\(cell.h3String)", [.ifNoneMatch: tag]).status
                    == .notModified)

            for (collection, count) in [("observations", 2), ("pireps", 1)] {
                let page = try await world.json("/collections/\(collection)/items")
                #expect(page.features.count == count)
                for feature in page.features {
                    let id = try feature["id"]?.string.orMissing("id") ?? ""
                    let path = id.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
                    let one = try await world.json("/collections/\(collection)/items/\(path)")
                    let added: Set = ["links", "time", "dataTime", "stale", "simulated", "incomplete"]
                    #expect(one.members.filter { !added.contains($0.key) } == feature.members, "\(id)")
                    #expect(added.isSubset(of: one.members.keys))
                    #expect(one["simulated"] == page["simulated"] && one["stale"] == page["stale"])
                }
            }
            for uri in [
                "hexagons/items/85283473fffffff", "hexagons/items/nothing", "hexagons/items/ffffffffffffffffffffff",
                "observations/items/o0000000000000000", "observations/items/%00", "pireps/items/x",
                "hexagons/items/\(cell.h3String)?severity=0",
            ] {
                let problem = try await world.json(
                    "/collections/\(uri)", status: uri.contains("%00") ? .badRequest : .notFound)
                #expect(problem["code"]?.string == (uri.contains("%00") ? "invalid-path" : "unknown-feature"))
            }
        }
    }

    @Test("collections describe themselves, and their links resolve")
    func collections() async throws {
        try await withWorld { world in
            try await world.insert([try observation(try cell(10, 50))])
            let list = try await world.json("/collections")
            #expect(
                list["collections"]?.items.compactMap { $0["id"]?.string } == Catalogue.all.map(\.id))
            for collection in list["collections"]?.items ?? [] {
                let id = try collection["id"]?.string.orMissing() ?? ""
                #expect(try await world.json("/collections/\(id)") == collection)
                for link in collection["links"]?.items ?? [] {
                    let uri = (link["href"]?.string ?? "").replacing("http://localhost", with: "")
                    let response = try await world.get(uri)
                    #expect(response.status == .ok, "\(uri)")
                    let type = try link["type"]?.string.orMissing() ?? ""
                    #expect(response.headers[.contentType]?.hasPrefix(type) == true, "\(uri)")
                }
            }
        }
    }

    @Test("a drawn collection says how it is drawn, and in which order: areas below cells, signs above them")
    func layers() async throws {
        try await withWorld { world in
            let list = try await world.json("/collections")["collections"]?.items ?? []
            let orders = Dictionary(
                uniqueKeysWithValues: list.compactMap { collection -> (String, Double)? in
                    guard let id = collection["id"]?.string, case .number(let order)? = collection["layer"]?["order"]
                    else { return nil }
                    return (id, order)
                })
            #expect(Set(orders.keys) == Set(Catalogue.layers.map(\.id)))
            let menu = Catalogue.menu.map(\.id)
            #expect(
                menu == [
                    "gtg", "forecast", "advisories", "hazards", "polygons", "hexagons", "tracks", "traffic", "pireps",
                ])
            #expect(menu.compactMap { orders[$0] } == menu.compactMap { orders[$0] }.sorted())
            let turbulence = list.first { $0["id"]?.string == "turbulence" }?["layer"]
            #expect(turbulence?["parts"]?.items.map(\.string) == ["hexagons", "polygons"])
            #expect(turbulence?["shape"]?.string == "cells")
        }
    }

    // MARK: - Exports

    @Test(
        "an export holds the features of the items, in every format", arguments: ["hexagons", "observations", "pireps"])
    func exports(collection: String) async throws {
        try await withWorld(at: noon.advanced(by: 5)) { world in
            var observations: [Observation] = []
            for index in 0..<60 {
                observations.append(
                    try observation(
                        try cell(Double(index) * 5 - 150, Double(index % 7) * 20 - 60),
                        severity: Severity(rawValue: UInt8(index % 5)), at: -60 - index,
                        aircraft: index % 2 == 0 ? "B738 \"x\", é" : nil))
            }
            try await world.insert(observations, reports: [try report("a", at: -10), try report("b", at: -20)])
            let query = "bbox=-100,-90,100,90&minSeverity=1"
            let items = try await world.json("/collections/\(collection)/items?\(query)&limit=10000").features
            #expect(items.count > 1)

            let geojson = try await world.get("/export/\(collection).geojson?\(query)")
            #expect(geojson.headers[.contentType] == "application/geo+json")
            #expect(
                geojson.headers[.contentDisposition]
                    == "attachment; filename=\"\(collection)-20261121T120005Z.geojson\"")
            #expect(try geojson.json.features == items)
            #expect(try geojson.json["version"] == .number(1))

            let lines = try await world.get("/export/\(collection).geojsonl?\(query)")
            #expect(lines.headers[.contentType] == "application/x-ndjson")
            #expect(try features(lines.text.split(separator: "\n")) == items)

            let sequence = try await world.get("/export/\(collection).geojsons?\(query)")
            #expect(sequence.headers[.contentType] == "application/geo+json-seq")
            let records = sequence.text.split(separator: "\u{1E}")
            #expect(records.allSatisfy { $0.hasSuffix("\n") })
            #expect(try features(records) == items)

            let csv = try await world.get("/export/\(collection).csv?\(query)")
            #expect(csv.headers[.contentType]?.hasPrefix("text/csv") == true)
            #expect(csv.text.split(separator: "\r\n").count == items.count + 1)
            #expect(csv.text.hasPrefix("id,"))
        }
    }

    @Test("parts that are written side by side join to what one writer writes", arguments: ExportFormat.imported)
    func parts(format: ExportFormat) async throws {
        try await withWorld { world in
            let cells = H3.disk(around: try cell(10, 50), distance: 36)
            // The severe ones come last, so that the parts before them are empty if only these are requested.
            try await world.insert(
                try cells.enumerated().map { number, cell in
                    try observation(cell, severity: number < 40 ? .moderateSevere : .light, at: -60 - number)
                })
            let application = world.application
            let snapshot = try application.frames.snapshot()
            for asked in [[Severity.moderateSevere, .light], [.moderateSevere], [.light], [.smooth]] {
                let severities = SeveritySet(asked)
                var query = FeatureQuery(.observations, at: snapshot.publication.asOf)
                query.filter.severities = severities
                let (features, dataStatus) = (application.features, application.policy.dataStatus(query, in: snapshot))
                let export = FeatureExport(
                    features: features, query: query, format: format, snapshot: snapshot, dataStatus: dataStatus)
                var joined: [UInt8] = []
                var ahead = export.parts(isAhead: true)
                while let piece = try await ahead.next() { joined += piece }
                let count = ahead.features
                var writer = FeatureWriter(
                    query.collection, as: format,
                    members: CollectionMembers(query, snapshot: snapshot, dataStatus: dataStatus))
                writer.begin()
                var pieces = FeatureParts(features.reader(query, in: snapshot), writer)
                var expected: [UInt8] = []
                while let piece = try await pieces.next() { expected += piece }
                #expect(joined == expected, "\(severities)")
                // What a connection takes at its own pace is bounded by the budget of answers.
                var streamed: [UInt8] = []
                var stream = export.parts()
                while let piece = try await stream.next() {
                    #expect(piece.count <= ResponseBudget.stream / 2)
                    streamed += piece
                }
                #expect(streamed == expected, "\(severities)")
                #expect(count == pieces.features)
            }
            #expect(cells.count > 3_000)
        }
    }

    @Test("an export goes over many pages of the store", arguments: ["observations", "hexagons"])
    func longExport(collection: String) async throws {
        try await withWorld { world in
            let cells = H3.disk(around: try cell(10, 50), distance: 44)
            try await world.insert(try cells.map { try observation($0, severity: .light) })
            #expect(cells.count > 5_000)
            let text = try await world.get("/export/\(collection).geojsonl").text
            let ids = text.split(separator: "\n").compactMap { line in
                line.firstRange(of: "\"h3\":\"").map { line[$0.upperBound...].prefix(15) }
            }.map(String.init)
            #expect(ids.count == cells.count)
            #expect(Set(ids) == Set(cells.map(\.h3String)))
        }
    }

    private func features(_ texts: [Substring]) throws -> [JSON] {
        try texts.map { try JSONDecoder().decode(JSON.self, from: Data($0.utf8)) }
    }

    private func report(_ id: String, at seconds: Int, source name: String = "awc") throws -> PilotReport {
        PilotReport(
            id: id, place: try place(-80, 26), observedAt: noon.advanced(by: seconds), type: "PIREP", aircraft: "B738",
            altitudeFeet: 35_000,
            turbulence: [
                TurbulenceGroup(
                    severity: .moderate, intensity: "MOD", baseFeet: nil, topFeet: nil, type: nil, frequency: nil)
            ], text: "UA /OV MIA /TM 1200 /FL350 /TP B738 /TB MOD", source: try source(name))
    }
}
