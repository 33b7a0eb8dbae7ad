import EngineTestSupport
import BillowExchange
import BillowStore
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

@Suite("POST /observations takes reports, durably and once")
struct IngestTests {
    /// A report an hour before noon over the Alps, its text by its number.
    private func report(_ number: Int, severity: Int = 3, _ more: String = "", at: Int = -3_600) throws -> String {
        let h3 = String(try cell(10 + Double(number % 50) * 0.5, 46).h3, radix: 16)
        return """
            {"id":"efb-\(number)","h3":"\(h3)","altitude":38000,"severity":\(severity),\
            "observedAt":"\(noon.advanced(by: at))"\(more)}
            """
    }

    private func post(_ world: World, _ body: String, key: KeyText) async throws -> TestResponse {
        try await world.send(.post, "/observations", body, key: key.text)
    }

    private func counts(_ response: TestResponse) throws -> [Int] {
        let json = try response.json
        return [
            Int(json["accepted"]?.double ?? -1), Int(json["duplicate"]?.double ?? -1),
            json["refused"]?.items.count ?? -1,
        ]
    }

    @Test("a report is in the picture once it is acknowledged; sent again it is a duplicate; corrected it counts anew")
    func once() async throws {
        try await withWorld(configured: ["skypath"]) { world in
            let key = try await world.key(.ingest)
            let first = try await post(world, try report(1), key: key)
            #expect(first.status == .ok, "\(first.text)")
            #expect(try counts(first) == [1, 0, 0])
            #expect(try first.json["version"]?.double == 1)
            #expect(first.headers[.cacheControl]?.contains("no-store") == true)
            try await world.refresh()
            let shown = try await world.json("/collections/observations/items").features
            #expect(shown.count == 1 && shown[0].property("source")?.string == "ingest")
            #expect(shown[0]["id"]?.string == "efb-1" && shown[0].property("kind")?.string == "in-situ")

            #expect(try counts(try await post(world, try report(1), key: key)) == [0, 1, 0])
            #expect(try counts(try await post(world, "[\(try report(1)),\(try report(1))]", key: key)) == [0, 2, 0])
            #expect(try counts(try await post(world, try report(1, severity: 0), key: key)) == [1, 0, 0])
            try await world.refresh()
            let corrected = try await world.json("/collections/observations/items").features
            #expect(corrected.map { $0.property("severity")?.double } == [0])
        }
    }

    @Test("JSON and GeoJSON, one or many, with severity or EDR, smooth as well as rough")
    func forms() async throws {
        let time = noon.advanced(by: -60)
        let feature = { (id: Int, properties: String) in
            """
            {"type":"Feature","id":"f\(id)","geometry":{"type":"Point","coordinates":[\(8 + id),47]},\
            "properties":{"altitude":33000,"observedAt":"\(time)",\(properties)}}
            """
        }
        let bodies = [
            try report(1, severity: 0), "[\(try report(2)),\(try report(3, severity: 4))]",
            feature(4, "\"edr\":0.31"),
            "{\"type\":\"FeatureCollection\",\"features\":[\(feature(5, "\"severity\":0")),"
                + "\(feature(6, "\"severityName\":\"moderate\""))]}",
            "{\"h3\":\"\(String(try cell(0, 0).h3, radix: 16))\",\"altitude\":1000,\"severity\":1,"
                + "\"observedAt\":\(time.seconds),\"source\":\"efb\"}",
        ]
        try await withWorld { world in
            let key = try await world.key(.ingest)
            var accepted = 0
            for body in bodies {
                let answer = try await post(world, body, key: key)
                #expect(answer.status == .ok, "\(answer.text)")
                accepted += try counts(answer)[0]
                #expect(try counts(answer)[2] == 0)
            }
            #expect(accepted == 7)
            try await world.refresh()
            let features = try await world.json("/collections/observations/items").features
            #expect(features.count == 7)
            #expect(Set(features.compactMap { $0.property("source")?.string }) == ["ingest", "efb"])
            #expect(features.count { $0.property("severity")?.double == 0 } == 2)
        }
    }

    @Test("what can't be used is named by its place and reason, the rest is accepted; nothing usable is 422")
    func refusals() async throws {
        try await withWorld(configured: ["skypath"]) { world in
            let key = try await world.key(.ingest)
            let cases: [(body: String, code: RefusalCode, field: String?)] = [
                (try report(1).replacing("\"severity\":3,", with: ""), .missingField, "severity"),
                (try report(2, at: 301), .inTheFuture, "observedAt"),
                (try report(3, at: -8 * 86_400), .olderThanRetention, "observedAt"),
                (try report(4, severity: 9), .invalidField, "severity"),
                (try report(11, severity: 5), .invalidField, "severity"),
                (try report(5).replacing("38000", with: "\"high\""), .invalidField, "altitude"),
                (try report(6, ",\"source\":\"skypath\""), .foreignSource, "source"),
                (try report(7, ",\"source\":\"other\""), .foreignSource, "source"), ("7", .syntaxError, nil),
                (try report(8, ",\"edr\":1e999"), .invalidField, "edr"), ("{}", .missingField, "h3"),
            ]
            let bad = cases.map(\.body).joined(separator: ",")
            let mixed = try await post(world, "[\(bad),\(try report(9)),\(try report(10, at: 299))]", key: key)
            #expect(mixed.status == .ok)
            #expect(try counts(mixed) == [2, 0, cases.count])
            for (index, refused) in try mixed.json["refused"].orMissing().items.enumerated() {
                #expect(refused["index"]?.double == Double(index))
                let expected = cases[index]
                #expect(refused["code"]?.string == expected.code.rawValue, "\(expected.body): \(refused)")
                #expect(refused["field"]?.string == expected.field, "\(expected.body): \(refused)")
                #expect(refused["reason"]?.string?.isEmpty == false)
                // An unusable value is quoted, with those that are possible.
                let isOfValue = ![.missingField, .syntaxError].contains(expected.code)
                #expect((refused["value"]?.string != nil) == isOfValue, "\(expected.body): \(refused)")
                #expect((refused["allowed"]?.string != nil) == isOfValue, "\(expected.body): \(refused)")
            }
            #expect(try await post(world, "[\(bad)]", key: key).status == .unprocessableContent)
            for body in ["[]", "", "{", "nonsense", "h3,altitude\n", "null", "[[[["] {
                #expect(try await post(world, body, key: key).status == .unprocessableContent, "\(body)")
            }
            // One of them was read, and nothing in it was usable: a problem document tells why.
            for body in ["[]", "{}", "[\(bad)]"] {
                let answer = try await post(world, body, key: key)
                #expect(answer.headers[.contentType] == "application/problem+json", "\(body)")
                let problem = try answer.json
                #expect(problem["code"]?.string == "unusable-body" && problem["status"]?.double == 422, "\(body)")
                #expect(problem["title"] != nil && problem["detail"]?.string?.isEmpty == false, "\(body)")
                #expect(problem["accepted"]?.double == 0 && problem["refused"] != nil, "\(body)")
            }
            #expect(try await world.store.sources().first { $0.id.name == "skypath" }?.merge == .replace)
        }
    }

    @Test("more than 10,000 observations or 8 MiB is 413, and none of it is accepted")
    func tooLarge() async throws {
        try await withWorld { world in
            let key = try await world.key(.ingest)
            let many = "[" + (0...10_000).map { _ in "{}" }.joined(separator: ",") + "]"
            #expect(try await post(world, many, key: key).status == .contentTooLarge)
            let long = try report(1) + String(repeating: " ", count: 8 << 20)
            #expect(try await post(world, long, key: key).status == .contentTooLarge)
            #expect(try await world.store.head().version == .zero)
            let most = "[" + (try (0..<10_000).map { try report($0) }).joined(separator: ",") + "]"
            let answer = try await post(world, most, key: key)
            #expect(try counts(answer) == [10_000, 0, 0])
            // One transaction, or a few where the machine is slow.
            #expect(try await (1...99).contains(world.store.head().version.rawValue))
            #expect(try counts(try await post(world, most, key: key)) == [0, 10_000, 0])
        }
    }

    @Test("it needs a key with scope ingest, anonymous reading or not")
    func scope() async throws {
        try await withWorld { world in
            let body = try report(1)
            #expect(try await world.send(.post, "/observations", body).status == .unauthorized)
            let reader = try await world.key([.read, .admin])
            #expect(try await post(world, body, key: reader).status == .forbidden)
            #expect(try await world.store.head().version == .zero)
            let zipped = try await world.send(
                .post, "/observations", body, key: try await world.key(.ingest).text, [.contentEncoding: "gzip"])
            #expect(zipped.status == .unsupportedMediaType)
        }
    }

    @Test("data marked as simulated is rejected among real data")
    func saysSimulated() async throws {
        try await withWorld(configured: ["skypath"]) { world in
            let key = try await world.key(.ingest)
            let refused = try await post(
                world, #"{"type":"FeatureCollection","simulated":true,"features":[]}"#, key: key)
            #expect(refused.status == .unprocessableContent)
            #expect(try refused.json["code"]?.string == "simulated-data")
            #expect(
                try await post(world, try report(1, #","simulated":true"#), key: key).status == .unprocessableContent)
            #expect(try await post(world, try report(1), key: key).status == .ok)
        }
    }

    @Test("observations sent to a simulated server are simulated")
    func simulated() async throws {
        try await withWorld(simulated: true) { world in
            let answer = try await post(world, try report(1), key: try await world.key(.ingest))
            #expect(answer.status == .ok)
            #expect(try await world.store.sources().allSatisfy { $0.simulated == true })
            try await world.refresh()
            for address in [
                "/collections/observations/items", "/export/observations.csv", "/tiles/hexagons/latest/0/0/0.png",
            ] {
                #expect(try await world.get(address).headers[.simulated] == "true", "\(address)")
            }
            #expect(try await world.json("/collections/observations/items")["simulated"]?.bool == true)
            let lines = try await world.get("/export/observations.geojsonl").text.split(separator: "\n")
            #expect(lines.count == 1 && lines.allSatisfy { $0.contains(#""simulated":true"#) })
        }
    }

    @Test(
        "data that is sent before the first fetch is simulated or real as the fetch then says, without a setting",
        arguments: [true, false])
    func beforeTheFirstFetch(simulated: Bool) async throws {
        try await withWorld(configured: ["skypath"], simulated: nil, known: [:]) { world in
            #expect(try await post(world, try report(1), key: try await world.key(.ingest)).status == .ok)
            try await world.refresh()
            let uri = "/collections/observations/items"
            #expect(try await world.get(uri).headers[.simulated] == nil)
            _ = try await world.store.register(try source("skypath"), merge: .replace, simulated: simulated)
            try await world.refresh()
            #expect(try await world.get(uri).headers[.simulated] == (simulated ? "true" : nil))
            #expect(try await post(world, try report(2), key: try await world.key(.ingest)).status == .ok)
            #expect(try await world.store.sources().map(\.simulated) == [simulated, simulated])
        }
    }

    @Test("what is sent to a new database is what the settings say, and real where nothing is fetched")
    func natureOfNewDatabase() async throws {
        let cases: [(configured: [String], said: Bool?, expected: Bool)] = [
            (["skypath"], true, true), (["skypath"], false, false), ([], nil, false),
        ]
        for (configured, said, expected) in cases {
            try await withWorld(configured: configured, simulated: said, known: [:]) { world in
                let answer = try await post(world, try report(1), key: try await world.key(.ingest))
                let sources = try await world.store.sources()
                #expect(answer.status == .ok && sources.map(\.simulated) == [expected])
            }
        }
    }

    // MARK: What one key can do to others

    @Test("8 MB of numbers are refused at the 10,001st, not after four million of them")
    func numbers() async throws {
        try await withWorld { world in
            let key = try await world.key(.ingest)
            let body = "[" + String(repeating: "1,", count: (4 << 20) - 2) + "1]"
            let answer = try await post(world, body, key: key)
            #expect(answer.status == .contentTooLarge)
            #expect(try answer.json["code"]?.string == "body-too-large")
            // At the limit each is refused by its place.
            let most = try await post(world, "[" + String(repeating: "1,", count: 9_999) + "1]", key: key)
            #expect(most.status == .unprocessableContent)
            #expect(try counts(most) == [0, 0, 10_000])
        }
    }

    @Test("hazards and pilot reports are refused by their place, between observations")
    func others() async throws {
        try await withWorld { world in
            let key = try await world.key(.ingest)
            let sigmet = #"{"airSigmetType":"SIGMET","hazard":"TURB","coords":[{"lat":1,"lon":1}]}"#
            let report = #"{"rawOb":"UA /OV MIA","obsTime":1,"lat":1,"lon":1}"#
            let answer = try await post(
                world, "[\(sigmet),\(try self.report(1)),\(report),\(try self.report(2))]", key: key)
            #expect(try counts(answer) == [2, 0, 2])
            let refused = try answer.json["refused"].orMissing().items
            #expect(refused.map { $0["index"]?.double } == [0, 2])
        }
    }

    @Test("a key names a few sources; a body that names more is 422 with a code, and nothing of it is stored")
    func sources() async throws {
        try await withWorld(configured: ["skypath"]) { world in
            let key = try await world.key(.ingest)
            let before = try await world.store.sources()
            let many =
                "[" + (try (0..<300).map { try report($0, ",\"source\":\"name\($0)\"") }).joined(separator: ",") + "]"
            let answer = try await post(world, many, key: key)
            #expect(answer.status == .unprocessableContent)
            #expect(try answer.json["code"]?.string == "too-many-sources")
            #expect(try await world.store.sources() == before)
            let four =
                "[" + (try (0..<4).map { try report($0, ",\"source\":\"name\($0)\"") }).joined(separator: ",") + "]"
            #expect(try counts(try await post(world, four, key: key)) == [4, 0, 0])
            #expect(try counts(try await post(world, four, key: key)) == [0, 4, 0])
            let fifth = try await post(world, try report(9, ",\"source\":\"name9\""), key: key)
            #expect(fifth.status == .unprocessableContent)
            // An observation that names no source is taken from every key.
            #expect(try await post(world, try report(10), key: key).status == .ok)
            #expect(try counts(try await post(world, four, key: key)) == [0, 4, 0])
            #expect(try await post(world, try report(9), key: try await world.key(.ingest)).status == .ok)
        }
    }

    @Test("another key neither corrects nor hides an observation by its id")
    func ownership() async throws {
        try await withWorld(configured: ["skypath"]) { world in
            let (first, second) = (try await world.key(.ingest), try await world.key(.ingest))
            _ = try await post(world, try report(1, severity: 4), key: first)
            #expect(try counts(try await post(world, try report(1, severity: 0), key: second)) == [1, 0, 0])
            try await world.refresh()
            let shown = try await world.json("/collections/observations/items").features
            let severities = Dictionary(
                shown.map { ($0["id"]?.string ?? "", $0.property("severity")?.double) },
                uniquingKeysWith: { first, _ in first })
            #expect(severities.count == 2 && severities["efb-1"] == 4)
            let item = try await world.json("/collections/observations/items/efb-1")
            #expect(item.property("severity")?.double == 4)
            // By the id that an observation without one is shown with, neither.
            let other = try #require(severities.keys.first { $0 != "efb-1" })
            let thief = try report(1, severity: 1).replacing("efb-1", with: other)
            #expect(try counts(try await post(world, thief, key: first)) == [1, 0, 0])
            try await world.refresh()
            #expect(try await world.json("/collections/observations/items/\(other)").property("severity")?.double == 0)
        }
    }

    @Test(
        "whatever the content, the answer is no server error",
        arguments: [
            "[]", "[[]]", "{}", "\u{FEFF}{}", "[{}]", "[null,true]", "{\"features\":[{}]}", "\u{1E}{}\n\u{1E}{}",
            "{\"h3\":18446744073709551616}", "{\"id\":\"\"}", "[{\"observedAt\":-1}]", "[\u{0}]",
            "{\"a\":{\"a\":{\"a\":1}}}",
        ])
    func noServerError(body: String) async throws {
        try await withWorld { world in
            let answer = try await post(world, body, key: try await world.key(.ingest))
            #expect((400...499).contains(answer.status.code), "\(answer.status) \(answer.text)")
        }
    }

    @Test("every field's extremes are accepted or refused, never an error")
    func extremes() async throws {
        try await withWorld { world in
            let key = try await world.key(.ingest)
            let h3 = String(try cell(10, 46).h3, radix: 16)
            let times = ["0", "1", "\"\(noon)\"", "-1", "1e18", "\"1970-01-01T00:00:00Z\"", "\"9999-12-31T23:59:59Z\""]
            let ids = [
                "\"\"", "\"\\u0000\"", "\"o0000000000000000\"", "\"o7fffffffffffffff\"", "7",
                "\"\(String(repeating: "é", count: 128))\"",
            ]
            let altitudes = ["0", "60999", "61000", "-1"]
            for time in times {
                for id in ids {
                    for altitude in altitudes {
                        let body = """
                            {"id":\(id),"h3":"\(h3)","altitude":\(altitude),"severity":4,"edr":1,"aircraft":\(id),\
                            "category":"C110","observedAt":\(time)}
                            """
                        let answer = try await post(world, body, key: key)
                        #expect(answer.status.code < 500, "\(body): \(answer.text)")
                    }
                }
            }
        }
    }
}
