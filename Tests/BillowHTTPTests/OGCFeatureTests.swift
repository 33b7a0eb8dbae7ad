import BillowStore
import Datasets
import EngineTestSupport
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

@Suite("OGC API Features")
struct OGCFeatureTests {
    // MARK: - Landing page

    @Test(
        "a program gets the landing page at / and a browser the viewer",
        arguments: [
            (nil, false), ("*/*", false), ("text/html,application/xhtml+xml,*/*;q=0.8", false),
            ("application/json", true), ("application/json, text/html;q=0.5", true), ("application/*", true),
            ("text/html;q=0, */*", true), ("application/json;q=0", false), ("application/json;q=0.5, text/html", false),
        ] as [(String?, Bool)])
    func negotiation(accept: String?, isProgram: Bool) async throws {
        try await withWorld { world in
            let answer = try await world.get("/", accept.map { [.accept: $0] } ?? [:])
            #expect(answer.status == .ok)
            #expect(answer.headers[.contentType]?.hasPrefix(isProgram ? "application/json" : "text/html") == true)
            #expect(answer.headers[.vary]?.contains("Accept") == true)
            #expect(try await world.get("/?f=json").headers[.contentType] == "application/json")
            #expect(try await world.get("/?f=html", [.accept: "application/json"]).text.contains("<html"))
        }
    }

    @Test("every link of the landing page and of the collections leads to what it says")
    func links() async throws {
        try await withWorld { world in
            try await world.insert([try observation(id: "a", try cell(10, 50))])
            var pages = ["/ogc", "/?f=json", "/collections"]
            pages += Catalogue.all.map { "/collections/\($0.id)" }
            for page in pages {
                for link in try await world.json(page)["links"]?.items ?? [] {
                    let address = try #require(link["href"]?.string)
                    let path = try #require(address.split(separator: "127.0.0.1").last.map { String($0) })
                    let answer = try await world.get(path.isEmpty ? "/" : path)
                    #expect(answer.status == .ok, "\(page): \(address)")
                    let type = try #require(link["type"]?.string)
                    #expect(answer.headers[.contentType]?.hasPrefix(type.prefix { $0 != ";" }) == true, "\(address)")
                }
            }
            let conformance = try await world.json("/conformance")
            #expect(
                conformance["conformsTo"]?.items.contains {
                    $0.string == "http://www.opengis.net/spec/ogcapi-features-1/1.0/conf/core"
                } == true)
        }
    }

    @Test("the paths that clients expect below the landing page exist")
    func folder() async throws {
        try await withWorld { world in
            try await world.insert([try observation(id: "a", try cell(10, 50))])
            for path in ["/collections", "/conformance", "/openapi.json", "/collections/observations/items/a"] {
                #expect(try await world.get("/ogc\(path)").status == .ok, "\(path)")
            }
            let page = try await world.json("/ogc/collections/observations/items?limit=1")
            #expect(page.link("self")?.contains("/ogc/collections/observations/items?limit=1") == true)
        }
    }

    // MARK: - Features

    @Test("a feature by itself has links to itself and to its collection, and is else as on a page")
    func feature() async throws {
        try await withWorld { world in
            try await world.insert([try observation(id: "a", try cell(10, 50))])
            let feature = try await world.json("/collections/observations/items/a")
            #expect(feature.link("self")?.hasSuffix("/collections/observations/items/a") == true)
            #expect(feature.link("collection")?.hasSuffix("/collections/observations") == true)
            let onPage = try #require(try await world.json("/collections/observations/items").features.first)
            let added: Set = ["links", "time", "dataTime", "stale", "simulated", "incomplete"]
            #expect(feature.members.filter { !added.contains($0.key) } == onPage.members)
        }
    }

    @Test("numberMatched, where a page has it, is the number of features of all pages")
    func matched() async throws {
        try await withWorld { world in
            try await world.insert(
                try H3.disk(around: try cell(10, 50), distance: 4).enumerated().map {
                    try observation($1, severity: Severity(rawValue: UInt8($0 % 5)), at: -60 - $0)
                })
            for (path, isKnown) in [
                ("hexagons/items?limit=7", true), ("hexagons/items?limit=7&minSeverity=3", true),
                ("hexagons/items?limit=7&bbox=9.9,49.9,10.2,50.2", false),
                ("hexagons/items?bbox=9.9,49.9,10.2,50.2", true),
                ("hexagons/items?time=2100-01-01T00:00:00Z", true), ("polygons/items?limit=2", true),
                ("observations/items?limit=7", false), ("observations/items", true), ("pireps/items", true),
                ("hexagons/corridor?route=49N009E+51N011E&limit=3", true),
                ("hexagons/items?limit=7&aggregate=false", false),
            ] {
                var next: String? = "/collections/\(path)"
                var (features, told) = (0, Set<Int?>())
                while let uri = next {
                    let page = try await world.json(uri)
                    features += page.features.count
                    #expect(page["numberReturned"]?.integer == page.features.count)
                    told.insert(page["numberMatched"]?.integer)
                    next = page.link("next")?.replacing("http://localhost", with: "")
                }
                #expect(told == [isKnown ? features : nil], "\(path): \(told), \(features)")
            }
        }
    }

    @Test("a limit above the most is the most", arguments: ["10001", "1000000000", "99999999999999999999999"])
    func limit(_ limit: String) async throws {
        try await withWorld { world in
            try await world.insert(try (0..<3).map { try observation(id: "o\($0)", try cell(10, 50), at: -$0) })
            let page = try await world.json("/collections/observations/items?limit=\(limit)")
            #expect(page["numberReturned"]?.integer == 3)
            #expect(page["timeStamp"]?.string == noon.description)
        }
    }

    @Test(
        "every form of datetime is understood by every collection, and a time without data is a page without features",
        arguments: Catalogue.all)
    func datetime(_ dataset: Dataset) async throws {
        try await withWorld { world in
            try await world.insert([try observation(id: "a", try cell(10, 50), at: -60)])
            let now = noon.description
            let fraction = now.replacing("Z", with: ".250Z")
            for form in [now, fraction, "2018-02-12T23:20:50Z", "2100-01-01T00:00:00Z", "0001-01-01T00:00:00Z"] {
                let answer = try await world.get("/collections/\(dataset.id)/items?datetime=\(form)")
                #expect(answer.status == .ok, "\(form): \(answer.text.prefix(300))")
                if !form.hasPrefix("2026") { #expect(try answer.json.features.isEmpty, "\(form)") }
            }
            for form in [
                "../\(now)", "/\(now)", "\(now)/..", "\(now)/", "../..", "\(fraction)/..",
                "2018-01-01T00:00:00Z/\(now)",
                "2018-01-01T00:00:00Z/2018-02-01T00:00:00Z", "\(now)/2100-01-01T00:00:00Z", "\(now)/\(now)",
                "2099-01-01T00:00:00Z/2100-01-01T00:00:00Z",
            ] {
                let answer = try await world.get("/collections/\(dataset.id)/items?datetime=\(form)")
                #expect(answer.status == .ok, "\(form): \(answer.text.prefix(300))")
                if form.hasPrefix("2018"), form.contains("/2018") || form.hasPrefix("2099") {
                    #expect(try answer.json.features.isEmpty, "\(form)")
                }
            }
        }
    }

    @Test("every collection takes an interval, with open ends too", arguments: Catalogue.all)
    func openIntervals(_ dataset: Dataset) async throws {
        try await withWorld { world in
            try await world.insert([try observation(id: "a", try cell(10, 50), at: -60)])
            let (start, end) = (noon.advanced(by: -3_600), noon)
            for interval in ["\(start)/\(end)", "../\(end)", "/\(end)", "\(start)/..", "\(start)/", "../.."] {
                let answer = try await world.get("/collections/\(dataset.id)/items?datetime=\(interval)")
                #expect(answer.status == .ok, "\(interval): \(answer.text.prefix(200))")
            }
        }
    }

    @Test("an interval of a picture counts its last 6 hours, however long it is and whether its ends are open")
    func intervals() async throws {
        try await withWorld { world in
            try await world.insert([
                try observation(id: "now", try cell(10, 50), at: -60),
                try observation(id: "old", try cell(20, 50), at: -5 * 3_600),
                try observation(id: "gone", try cell(30, 50), at: -7 * 3_600),
            ])
            let now = noon.description
            for (form, count) in [
                ("../\(now)", 2), ("../..", 2), ("2026-11-20T00:00:00Z/\(now)", 2),
                ("2026-11-21T10:00:00Z/2027-01-01T00:00:00Z", 1), ("2026-11-22T10:00:00Z/..", 0), ("\(now)/\(now)", 1),
                ("../2026-11-21T06:00:00Z", 1), ("../2018-01-01T00:00:00Z", 0),
            ] {
                let page = try await world.json("/collections/hexagons/items?datetime=\(form)")
                #expect(page.features.count == count, "\(form)")
            }
        }
    }

    @Test("a time to come has no features yet; one before the log is still unknown by `time`")
    func times() async throws {
        try await withWorld { world in
            try await world.insert([try observation(id: "a", try cell(10, 50), at: -60)])
            for collection in ["hexagons", "polygons", "hazards", "traffic", "tracks", "gtg"] {
                let later = try await world.get("/collections/\(collection)/items?time=2026-11-21T18:00:00Z")
                #expect(later.status == .ok, "\(collection)")
                #expect(try later.json.features.isEmpty, "\(collection)")
                let past = try await world.get("/collections/\(collection)/items?time=2018-11-21T18:00:00Z")
                #expect(past.status == .notFound, "\(collection)")
            }
        }
    }

    // MARK: - Schemas

    @Test("the schema has every property that features have, and queryables are parameters", arguments: Catalogue.all)
    func schemas(_ dataset: Dataset) async throws {
        try await withWorld { world in
            let schema = try await world.json("/collections/\(dataset.id)/schema")
            let properties = schema["properties"]?.members ?? [:]
            let names = dataset.properties.filter { !$0.isOfTilesOnly }.map { "\($0.name)" }
            #expect(Set(properties.keys) == Set(names + ["geometry"]))
            // GDAL finds the fields of a layer here.
            let links = try await world.json("/collections/\(dataset.id)")["links"]?.items ?? []
            let link = links.first { $0["rel"]?.string == "describedBy" }
            #expect(link?["type"]?.string == "application/schema+json")
            let address = try #require(link?["href"]?.string).replacing("http://localhost", with: "")
            let members = try await world.json(address)["properties"]?["properties"]?["properties"]?.members ?? [:]
            #expect(Set(members.keys) == Set(names))
            let queryables = try await world.get("/collections/\(dataset.id)/queryables")
            #expect(queryables.headers[.contentType] == "application/schema+json")
            for name in try queryables.json["properties"]?.members.keys.sorted() ?? [] where name != "geometry" {
                #expect(FeatureParameters.names(dataset).contains(name))
            }
        }
    }

    // MARK: - OpenAPI

    @Test("the description has every route and every parameter that one reads, and each reference leads to something")
    func description() async throws {
        try await withWorld { world in
            let document = try await world.json("/openapi.json")
            #expect(document["openapi"]?.string == "3.1.1")
            let paths = document["paths"]?.members ?? [:]
            for route in world.application.router().routes where route.method != .head {
                let template = "\(route.path)"
                guard !template.hasPrefix("/ogc/") else { continue }
                let isOfField = template.hasSuffix("/position") && template.hasPrefix("/collections")
                let path =
                    template.hasPrefix("/collections/{id}")
                    ? template.replacing("{id}", with: isOfField ? "gtg" : "hexagons")
                    : template.replacing("/changes/{collection}", with: "/changes/hexagons")
                        .replacing("/export/{file}", with: "/export/hexagons.{format}")
                let operation = paths[path]?[route.method.rawValue.lowercased()]
                #expect(operation != nil, "\(route.method) \(path)")
            }
            let table = RouteTable()
            table.fill(from: world.application.router())
            for name in APIDescription(routes: table, base: "").names.sorted() {
                #expect(QueryParameter.named(name) != nil, "\(name) is not described")
            }
            var references: Set<String> = []
            Self.collect(document, &references)
            #expect(references.count > 20)
            for reference in references {
                var value: JSON? = document
                for part in reference.dropFirst(2).split(separator: "/") { value = value?[String(part)] }
                #expect(value != nil, "\(reference)")
            }
            let ids = paths.values.flatMap(\.members.values).compactMap { $0["operationId"]?.string }
            #expect(Set(ids).count == ids.count)
        }
    }

    private static func collect(_ value: JSON, _ references: inout Set<String>) {
        switch value {
        case .object(let members):
            if let reference = members["$ref"]?.string { references.insert(reference) }
            for member in members.values { collect(member, &references) }
        case .array(let items): for item in items { collect(item, &references) }
        default: break
        }
    }

    @Test(
        "a described parameter of a picture is read: a value that can't be used is refused by its name",
        arguments: [
            ("/maps/{layers}", "/maps/hexagons.png"), ("/animations/{layers}", "/animations/hexagons.png"),
            ("/legend.json", "/legend.json"), ("/legend.png", "/legend.png"), ("/legend.svg", "/legend.svg"),
            ("/timeline.json", "/timeline.json"), ("/tiles/{layers}", "/tiles/hexagons.json"),
            ("/tiles/{layers}/{time}/{z}/{x}/{y}", "/tiles/hexagons/\(noon.compact)/0/0/0.png"),
            ("/styles/{id}", "/styles/night.json"),
        ])
    func pictures(_ path: String, _ example: String) async throws {
        try await withWorld { world in
            try await world.insert([try observation(id: "a", try cell(10, 50), at: -60)])
            let document = try await world.json("/openapi.json")
            var names: [String] = []
            for parameter in document["paths"]?[path]?["get"]?["parameters"]?.items ?? [] {
                guard parameter["in"]?.string != "path" else { continue }
                let name = try #require(
                    parameter["name"]?.string ?? parameter["$ref"]?.string?.split(separator: "/").last.map(String.init))
                names.append(name)
                // The look of a frame is read with its version.
                let answer = try await world.get("\(example)?\(name == "s" ? "v=1&" : "")\(name)=;")
                #expect(answer.status.code >= 400, "\(example) \(name)")
                #expect(try answer.json["parameter"]?.string == name, "\(example) \(name)")
            }
            #expect(names.count >= QueryReader.filterNames.count + 3 && Set(names).count == names.count)
        }
    }

    @Test("width is of pixels on pictures and of nautical miles along routes; f names what each route gives")
    func widths() async throws {
        try await withWorld { world in
            let document = try await world.json("/openapi.json")
            func parameter(_ name: String, _ path: String) throws -> JSON {
                let all = document["paths"]?[path]?["get"]?["parameters"]?.items ?? []
                if let own = all.first(where: { $0["name"]?.string == name }) { return own }
                let reference = "#/components/parameters/\(name)"
                try #require(all.contains { $0["$ref"]?.string == reference }, "\(path) has no \(name)")
                return try #require(document["components"]?["parameters"]?[name])
            }
            for path in ["/maps/{layers}", "/animations/{layers}", "/collections/hexagons/map"] {
                #expect(try parameter("width", path)["schema"]?["maximum"]?.double == 4_096, "\(path)")
            }
            for path in [
                "/collections/hexagons/corridor", "/changes/hexagons", "/events", "/profiles.png",
                "/export/hexagons.zip",
            ] {
                #expect(try parameter("width", path)["schema"]?["maximum"]?.double == 250, "\(path)")
            }
            let formats = try parameter("f", "/export/hexagons")["schema"]?["enum"]?.items.compactMap(\.string)
            #expect(formats == ["json"] + DownloadFormat.ofFeatures.map(\.ending))
            // The path has the format.
            for path in ["/export/hexagons.{format}", "/export/hexagons.zip"] {
                let all = try #require(document["paths"]?[path]?["get"]?["parameters"]?.items)
                #expect(all.allSatisfy { $0["name"]?.string != "f" }, "\(path)")
            }
            let items = try parameter("f", "/collections/hexagons/items")["schema"]?["enum"]?.items.compactMap(\.string)
            #expect(items == ["GeoJSON", "geojson", "json", "geojsonl", "geojsons", "csv", "html"])
        }
    }

    @Test("operations have the parameters that they read, and no others")
    func ownParameters() async throws {
        try await withWorld { world in
            let paths = try await world.json("/openapi.json")["paths"]
            for path in ["/healthz", "/readyz", "/status", "/metrics", "/styles", "/jobs/{job}/results"] {
                let parameters = try #require(paths?[path]?["get"]?["parameters"]?.items, "\(path)")
                #expect(parameters.allSatisfy { $0["in"]?.string == "path" }, "\(path)")
            }
            let job = paths?["/export/observations.{format}"]?["post"]
            #expect(job?["requestBody"] == nil && job?["responses"]?["202"] != nil && job?["responses"]?["200"] == nil)
            #expect(paths?["/export/observations.zip"] == nil, "observations are not drawn")
        }
    }

    @Test("the description requires the parameters without which a query is refused", arguments: Catalogue.all)
    func requiredParameters(_ dataset: Dataset) async throws {
        try await withWorld { world in
            let paths = try await world.json("/openapi.json")["paths"]
            for query in EDRQuery.allCases where query.isOffered(by: dataset) {
                let path = "/collections/\(dataset.id)/\(query.rawValue)"
                let parameters = try #require(paths?[path]?["get"]?["parameters"]?.items)
                let required = parameters.filter { $0["required"]?.bool == true }.compactMap { $0["name"]?.string }
                #expect(Set(required) == query.requiredNames)
                let answer = try await world.get(path)
                if required.isEmpty { continue }
                let problem = try answer.json
                #expect(problem["code"]?.string == "missing-parameter", "\(path)")
                #expect(required.contains(problem["parameter"]?.string ?? ""), "\(path)")
            }
        }
    }

    @Test("every operation of WMS and WMTS succeeds with the described examples")
    func services() async throws {
        try await withWorld { world in
            try await world.insert([try observation(try cell(10, 50))])
            let paths = try await world.json("/openapi.json")["paths"]
            for (path, types) in [
                ("/wms", ["text/xml", "image/png", "application/json", "image/png"]),
                ("/wmts", ["application/xml", "image/png", "application/json"]),
            ] {
                let all = try #require(paths?[path]?["get"]?["parameters"]?.items)
                let names = all.compactMap { $0["name"]?.string }
                #expect(names.count == all.count && Set(names).isSuperset(of: KVPReader.tileNames))
                #expect(names.contains("legend") == (path == "/wms"))
                let examples = all.compactMap { parameter in
                    parameter["schema"]?["example"]?.string.map { "\(parameter["name"]?.string ?? "")=\($0)" }
                }
                let request = try #require(all.first { $0["name"]?.string == "REQUEST" })
                let operations = request["schema"]?["enum"]?.items.compactMap(\.string) ?? []
                #expect(operations.count == types.count)
                for (operation, type) in zip(operations, types) {
                    let query = (["REQUEST=\(operation)"] + examples).joined(separator: "&")
                    let answer = try await world.get("\(path)?\(query)")
                    #expect(answer.status == .ok && answer.headers[.contentType]?.hasPrefix(type) == true, "\(query)")
                }
            }
        }
    }

    @Test("OGC clients learn the largest page, which is no bound for others")
    func largestPage() async throws {
        try await withWorld { world in
            func limit(_ form: String) async throws -> JSON? {
                try await world.json("/openapi.json?f=\(form)")["components"]?["parameters"]?["limit"]?["schema"]
            }
            let (ofOGC, ofOthers) = (try await limit("oas30"), try await limit("json"))
            #expect(ofOGC?["maximum"]?.double == 10_000)
            #expect(ofOthers?["type"]?.string == "integer" && ofOthers?["maximum"] == nil)
            #expect(try await world.get("/collections/observations/items?limit=10001").status == .ok)
        }
    }

    @Test("clients of OpenAPI 3.0 get that, by parameter and by Accept")
    func forms() async throws {
        try await withWorld { world in
            let type = "application/vnd.oai.openapi+json;version=3.0"
            for (path, headers) in [("/openapi.json?f=oas30", [:]), ("/openapi.json", [.accept: type])]
                as [(String, HTTPFields)]
            {
                let answer = try await world.get(path, headers)
                #expect(answer.headers[.contentType] == type)
                #expect(try answer.json["openapi"]?.string == "3.0.4")
            }
            #expect(try await world.get("/openapi.json?f=yaml").status == .badRequest)
        }
    }

    @Test("a parameter of the description is what the route takes", arguments: ["hexagons", "pireps", "hazards"])
    func parameters(_ collection: String) async throws {
        try await withWorld { world in
            try await world.insert([try observation(id: "a", try cell(10, 50), at: -60)])
            let document = try await world.json("/openapi.json")
            let operation = document["paths"]?["/collections/\(collection)/items"]?["get"]
            for reference in operation?["parameters"]?.items ?? [] {
                let name = try #require(
                    reference["name"]?.string ?? reference["$ref"]?.string?.split(separator: "/").last.map(String.init))
                let answer = try await world.get("/collections/\(collection)/items?\(name)=%00")
                // Refused for its value or taken, and never as unknown.
                #expect(try answer.json["code"]?.string != "unknown-parameter", "\(name)")
            }
        }
    }
}
