import BillowStore
import Datasets
import EngineTestSupport
import Foundation
import FoundationXML
import Geometry
import HTTPTypes
import HummingbirdTesting
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP

@Suite("Pages of the OGC routes")
struct PageTests {
    private static let browser: HTTPFields = [
        .accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
    ]

    @Test(
        "browsers and f=html get a page, programs JSON",
        arguments: [
            "/ogc", "/conformance", "/ogc/conformance", "/collections", "/collections/hexagons",
            "/collections/hexagons/items", "/collections/observations/items/a",
        ])
    func negotiation(_ path: String) async throws {
        try await withWorld { world in
            try await world.insert([try observation(id: "a", try cell(10, 50), at: -60)])
            for answer in [
                try await world.get(path, Self.browser),
                try await world.get("\(path)?f=html", [.accept: "application/json"]),
            ] {
                #expect(answer.status == .ok && answer.headers[.contentType] == "text/html; charset=utf-8")
                #expect(answer.headers[.contentSecurityPolicy]?.contains("script-src 'self'") == true)
                #expect(answer.headers[.vary]?.contains("Accept") == true)
                // The policy allows neither scripts nor styles within the page.
                #expect(!answer.text.contains("style=") && !answer.text.contains("<style"))
                #expect(answer.text.matches(of: /<script(?! src=)/).isEmpty)
            }
            for headers in [[:], [.accept: "*/*"], [.accept: "application/geo+json, text/html;q=0.5"]] as [HTTPFields] {
                #expect(try await world.get(path, headers).headers[.contentType]?.contains("json") == true)
            }
            #expect(try await world.get("\(path)?f=json", Self.browser).headers[.contentType]?.contains("json") == true)
            #expect(try await world.get("\(path)?f=pdf", Self.browser).status == .badRequest)
        }
    }

    @Test("every link of a page leads somewhere, also below /ogc")
    func links() async throws {
        try await withWorld { world in
            try await world.insert([try observation(id: "a", try cell(10, 50), at: -60)])
            var pages = ["/ogc", "/collections", "/ogc/collections"]
            pages += Catalogue.all.flatMap { ["/collections/\($0.id)", "/ogc/collections/\($0.id)/items"] }
            var seen: Set<String> = []
            for page in pages {
                let text = try await world.get(page, Self.browser).text
                let base = try #require(URL(string: "http://127.0.0.1\(page)"))
                for match in text.matches(of: /(?:href|src)="([^"]+)"/) {
                    let address = String(match.1).replacing("&amp;", with: "&")
                    let target = try #require(URL(string: address, relativeTo: base)?.absoluteURL)
                    let path =
                        (target.path.isEmpty ? "/" : target.path)
                        + (address.split(separator: "#")[0].hasSuffix("/") && !target.path.hasSuffix("/") ? "/" : "")
                        + (target.query(percentEncoded: true).map { "?\($0)" } ?? "")
                    // Queries that need a place say so, and exports are tested elsewhere.
                    guard !path.contains("/vendor/"), !path.hasPrefix("/export/"), seen.insert(path).inserted else {
                        continue
                    }
                    let isQuery = ["position", "radius", "area", "cube", "trajectory", "corridor"].contains {
                        path.hasSuffix("/\($0)")
                    }
                    let status = try await world.get(path).status.code
                    #expect(status == (isQuery ? 400 : 200), "\(page): \(address) \(path)")
                }
            }
            #expect(seen.count > 60)
        }
    }

    @Test("the table has the features of the JSON, with their values, and no markup of others")
    func items() async throws {
        try await withWorld { world in
            var evil = try observation(
                id: "<script>alert(1)</script>", try cell(10, 50), severity: .moderate, at: -1_000)
            evil.aircraft = "\"><img src=x onerror=alert(1)>"
            try await world.insert(
                [evil]
                    + (0..<150).map { try observation(id: "o\($0)", try cell(20, 50), severity: .light, at: -100 - $0) }
            )
            let page = try await world.get("/collections/observations/items?f=html").text
            #expect(!page.contains("<script>alert") && !page.contains("<img src=x"))
            #expect(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"))
            #expect(page.matches(of: /<tr data-id=/).count == 100)
            #expect(page.contains("fill=\"#FF7100\""))
            let next = try #require(page.firstMatch(of: /href="(\?[^"]*after=[^"]*)"/)).1.replacing("&amp;", with: "&")
            let second = try await world.get("/collections/observations/items\(next)").text
            #expect(second.matches(of: /<tr data-id=/).count == 51)
            let some = try await world.get("/collections/observations/items?f=html&limit=3&severity=3").text
            #expect(some.matches(of: /<tr data-id=/).count == 1 && some.contains("limit=3&amp;severity=3"))
            let none = try await world.get("/collections/pireps/items?f=html").text
            #expect(none.contains("no such feature"))
        }
    }

    @Test("the page of a feature has its properties with their meaning, and no markup of others")
    func feature() async throws {
        try await withWorld { world in
            var evil = try observation(id: "a/<b>", try cell(10, 50), severity: .moderate, at: -60)
            evil.aircraft = "\"><img src=x onerror=alert(1)>"
            try await world.insert([evil])
            let page = try await world.get("/collections/observations/items/a%2F%3Cb%3E?f=html").text
            #expect(!page.contains("<img src=x") && !page.contains("<b>"))
            #expect(page.contains("<h1>a/&lt;b&gt;</h1>") && page.contains("The reporting aircraft or its type"))
            #expect(page.contains("data-features=\"../../../collections/observations/items/a%2F%3Cb%3E?f=geojson\""))
            #expect(try await world.get("/collections/observations/items/x?f=html").status == .notFound)
        }
    }

    @Test("simulated, stale and incomplete data are marked")
    func marks() async throws {
        try await withWorld(configured: ["skypath"], simulated: true) { world in
            try await world.insert([try observation(id: "a", try cell(10, 50), at: -60)])
            let page = try await world.get("/collections/hexagons/items?f=html")
            #expect(page.text.contains("Simulated") && page.text.contains("Incomplete"))
            #expect(page.header("X-Simulated") == "true")
        }
    }

    // MARK: - KML

    /// What an XML parser finds.
    private final class Placemarks: NSObject, XMLParserDelegate {
        /// The names of folders, and how many placemarks each has.
        var folders: [String] = []
        var counts: [String: Int] = [:]
        var elements: [String: Int] = [:]
        var errors = 0
        private var path: [String] = []
        private var text = ""

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            path.append(name)
            text = ""
            elements[name, default: 0] += 1
            if name == "Placemark" { counts[folders.last ?? "", default: 0] += 1 }
        }

        func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }

        func parser(
            _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
        ) {
            path.removeLast()
            if name == "name", path.last == "Folder" { folders.append(text) }
        }

        func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) { errors += 1 }
    }

    private func placemarks(_ text: String) -> Placemarks {
        let found = Placemarks()
        let parser = XMLParser(data: Data(text.utf8))
        parser.delegate = found
        #expect(parser.parse(), "\(text.prefix(500))")
        return found
    }

    @Test("KML has a folder for each severity, the worst last, and each feature once with its time")
    func folders() async throws {
        try await withWorld { world in
            try await world.insert(
                try H3.disk(around: try cell(10, 50), distance: 10).enumerated().map {
                    try observation($1, severity: Severity(rawValue: UInt8($0 % 4 + 1)), at: -60 - $0)
                })
            for collection in ["hexagons", "observations", "polygons"] {
                let answer = try await world.get("/export/\(collection).kml")
                #expect(answer.headers[.contentType] == "application/vnd.google-earth.kml+xml")
                #expect(answer.headers[.contentDisposition]?.hasSuffix(".kml\"") == true)
                let found = placemarks(answer.text)
                let features = try await world.json("/export/\(collection).geojson").features
                #expect(
                    found.folders == ["Light", "Light-Moderate", "Moderate", "Moderate-Occasionally Severe"])
                for severity in 1...4 {
                    let count = features.count { $0.property("severity")?.double == Double(severity) }
                    #expect(found.counts[found.folders[severity - 1]] == count, "\(collection) \(severity)")
                }
                #expect((found.elements["TimeStamp"] ?? 0) + (found.elements["TimeSpan"] ?? 0) == features.count)
                #expect(answer.text.contains("<PolyStyle><color>cc0071ff</color>"), "alpha, blue, green, red")
                let some = placemarks(try await world.get("/export/\(collection).kml?severity=3").text)
                #expect(some.folders == ["Moderate"])
            }
        }
    }

    @Test("KML of every collection can be parsed, also without features and with any text", arguments: Catalogue.all)
    func everyCollection(_ dataset: Dataset) async throws {
        try await withWorld { world in
            var strange = try observation(id: "a<&>\"'\u{1}", try cell(10, 50), at: -60)
            strange.aircraft = "<B738> & \u{7}"
            try await world.insert([strange])
            let found = placemarks(try await world.get("/export/\(dataset.id).kml").text)
            let features = try await world.json("/export/\(dataset.id).geojson").features
            #expect(found.errors == 0 && found.elements["Placemark"] ?? 0 == features.count)
        }
    }
}
