import BillowExchange
import Datasets
import EngineTestSupport
import Foundation
import Geometry
import HTTPTypes
import HummingbirdTesting
import JSONKit
import NIOCore
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

@Suite("Formats of pages of features")
struct ItemFormatTests {
    private static let path = "/collections/observations/items"

    private func withObservations(_ count: Int = 5, test: @Sendable (World) async throws -> Void) async throws {
        try await withWorld { world in
            try await world.insert(
                try (0..<count).map { try observation(id: "o\($0)", try cell(10, 50), edr: 0.25, at: -60 - $0) })
            try await test(world)
        }
    }

    /// The addresses of a header `Link`, by relation and type.
    private func links(_ answer: TestResponse) -> [String: String] {
        var links: [String: String] = [:]
        for part in (answer.headers[.link] ?? "").components(separatedBy: ", <") {
            let words = part.components(separatedBy: "; ")
            let address = words[0].trimmingCharacters(in: CharacterSet(charactersIn: "<>"))
            links[words.dropFirst().joined(separator: " ").replacing("\"", with: "")] = address
        }
        return links
    }

    @Test(
        "an export without an ending has the format of f or Accept",
        arguments: [
            ("?f=csv", nil, "csv"), ("?f=json", "text/csv", "geojson"), ("", "text/csv", "csv"), ("", nil, "geojson"),
            ("", "application/geopackage+sqlite3", "gpkg"), ("?f=gpkg", nil, "gpkg"), ("?f=kmz", nil, "kmz"),
            ("", "text/html,*/*;q=0.8", "geojson"),
        ] as [(String, String?, String)])
    func exports(_ query: String, _ accept: String?, _ ending: String) async throws {
        try await withObservations { world in
            let name = "observations"
            let answer = try await world.get("/export/\(name)\(query)", accept.map { [.accept: $0] } ?? [:])
            #expect(answer.status == .ok)
            #expect(answer.headers[.contentDisposition]?.contains(".\(ending)") == true)
            #expect(answer.headers[.vary]?.contains("Accept") == true)
            guard ["geojson", "csv"].contains(ending) else { return }
            let named = try await world.get("/export/\(name).\(ending)")
            #expect(named.headers[.contentType] == answer.headers[.contentType] && named.body == answer.body)
        }
    }

    @Test(
        "f and Accept select the format, and f comes first",
        arguments: [
            ("f=json", nil, "application/geo+json"), ("f=geojson", "text/html", "application/geo+json"),
            ("f=GeoJSON", "text/csv", "application/geo+json"), ("f=geojsonl", nil, "application/x-ndjson"),
            ("f=geojsons", "text/html", "application/geo+json-seq"), ("f=csv", "application/geo+json", "text/csv"),
            ("f=html", "text/csv", "text/html"), ("", nil, "application/geo+json"), ("", "*/*", "application/geo+json"),
            ("", "text/csv", "text/csv"), ("", "text/csv;q=0.5, application/json", "application/geo+json"),
            ("", "application/geo+json-seq", "application/geo+json-seq"),
            ("", "application/x-ndjson, */*;q=0.1", "application/x-ndjson"),
            ("", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html"),
            ("", "text/csv;q=0, */*", "application/geo+json"), ("", "image/png", "application/geo+json"),
            ("", "text/csv;q=nonsense", "application/geo+json"),
        ] as [(String, String?, String)])
    func selection(_ query: String, _ accept: String?, _ type: String) async throws {
        try await withObservations { world in
            let answer = try await world.get("\(Self.path)?\(query)", accept.map { [.accept: $0] } ?? [:])
            #expect(answer.status == .ok)
            #expect(answer.headers[.contentType]?.prefix { $0 != ";" } == type[...])
            #expect(answer.headers[.vary]?.contains("Accept") == true)
        }
    }

    @Test("a format that pages don't have is refused by its name", arguments: ["kml", "gpkg", "xml", "CSV", ""])
    func refusal(_ format: String) async throws {
        try await withObservations { world in
            let answer = try await world.get("\(Self.path)?f=\(format)")
            #expect(answer.status == .badRequest)
            #expect(try answer.json["parameter"]?.string == "f")
            #expect(try answer.json["allowed"]?.string?.contains("geojsons, csv, html") == true)
        }
    }

    @Test("every text format has the same features on the same pages, and the header Link leads to the next")
    func pages() async throws {
        try await withObservations(7) { world in
            let ids = try await world.json(Self.path).features.compactMap { $0["id"]?.string }
            #expect(ids.count == 7)
            for format in ["geojsonl", "geojsons", "csv"] {
                var found: [String] = []
                var next: String? = "\(Self.path)?limit=3&f=\(format)"
                var pages = 0
                while let uri = next {
                    pages += 1
                    let answer = try await world.get(uri)
                    #expect(answer.status == .ok && answer.headers[.contentLength] != nil)
                    let lines = answer.text.split(whereSeparator: \.isNewline)
                    if format == "csv" {
                        #expect(lines.first?.hasPrefix("id,h3,") == true)
                        found += lines.dropFirst().map { String($0.prefix { $0 != "," }) }
                    } else {
                        #expect(lines.allSatisfy { $0.hasPrefix("\u{1E}") == (format == "geojsons") })
                        found += try lines.map { line in
                            let text = line.drop { $0 == "\u{1E}" }
                            let feature = try JSONDecoder().decode(JSON.self, from: Data(text.utf8))
                            return try #require(feature["id"]?.string)
                        }
                    }
                    let type = String(try #require(answer.headers[.contentType]).prefix { $0 != ";" })
                    let links = links(answer)
                    next = links["rel=next type=\(type)"]?.replacing("http://localhost", with: "")
                    #expect(links["rel=alternate type=application/geo+json"] != nil)
                    #expect(answer.header("Access-Control-Expose-Headers")?.contains("Link") == true)
                }
                #expect(found == ids, "\(format)")
                #expect(pages == 3)
            }
            // A format that `Accept` chose is in the link, which may be opened elsewhere.
            let chosen = try await world.get("\(Self.path)?limit=3", [.accept: "text/csv"])
            let next = try #require(links(chosen)["rel=next type=text/csv"])
            #expect(next.contains("f=csv"))
        }
    }

    @Test("a page links to itself in the other formats, and each link gives that format", arguments: Catalogue.all)
    func alternates(_ dataset: Dataset) async throws {
        try await withObservations { world in
            let path = "/collections/\(dataset.id)/items"
            let page = try await world.json("\(path)?limit=2")
            let alternates = page["links"]?.items.filter { $0["rel"]?.string == "alternate" } ?? []
            #expect(alternates.count == ItemFormat.allCases.count - 1)
            for link in alternates {
                let address = try #require(link["href"]?.string).replacing("http://localhost", with: "")
                let answer = try await world.get(address)
                #expect(answer.status == .ok, "\(address)")
                #expect(answer.headers[.contentType]?.prefix { $0 != ";" } == link["type"]?.string?[...])
            }
        }
    }

    @Test("a saved page has a name with its collection and time, and a browser shows GeoJSON")
    func names() async throws {
        try await withObservations { world in
            for (format, disposition) in [
                ("json", "inline"), ("geojsonl", "attachment"), ("geojsons", "attachment"), ("csv", "attachment"),
            ] {
                let ending = format == "json" ? "geojson" : format
                let answer = try await world.get("/collections/hexagons/items?f=\(format)")
                #expect(
                    answer.headers[.contentDisposition]
                        == "\(disposition); filename=\"hexagons-\(noon.compact).\(ending)\"")
            }
            #expect(try await world.get("/collections/hexagons/items?f=html").headers[.contentDisposition] == nil)
        }
    }

    @Test("CSV has columns for the selected properties alone", arguments: Catalogue.all)
    func columns(_ dataset: Dataset) async throws {
        try await withObservations { world in
            let all = dataset.properties.filter { !$0.isOfTilesOnly }.map { "\($0.name)" }
            let some = [try #require(all.last), try #require(all.first)]
            let path = "/collections/\(dataset.id)/items?f=csv&properties=\(some.joined(separator: ","))"
            let lines = try await world.get(path).text.components(separatedBy: "\r\n")
            let columns = lines[0].components(separatedBy: ",")
            #expect(Array(columns.dropFirst().prefix(2)) == Array(some.reversed()), "\(lines[0])")
            #expect(columns.count == (columns.last == "geometry" ? 4 : 5))
            let full = try await world.get("/collections/\(dataset.id)/items?f=csv").text
            let whole = full.components(separatedBy: "\r\n")
            #expect(whole[0].components(separatedBy: ",").dropFirst().prefix(all.count) == all[...])
            #expect(whole.count == lines.count)
        }
    }

    @Test("the description names every format of pages")
    func description() async throws {
        try await withWorld { world in
            let operation = try await world.json("/openapi.json")["paths"]?["/collections/pireps/items"]?["get"]
            let format = operation?["parameters"]?.items.first { $0["name"]?.string == "f" }
            let names = format?["schema"]?["enum"]?.items.compactMap(\.string)
            #expect(names == ["GeoJSON", "geojson", "json", "geojsonl", "geojsons", "csv", "html"])
            let content = operation?["responses"]?["200"]?["content"]?.members.keys.sorted()
            #expect(content == ItemFormat.allCases.map(\.mediaType).sorted())
        }
    }
}
