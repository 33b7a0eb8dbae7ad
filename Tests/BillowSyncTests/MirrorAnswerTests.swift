import AsyncHTTPClient
import BillowStore
import Datasets
import Foundation
import Geometry
import TestSupport
import Testing
import Turbulence
import UpstreamKit

@testable import BillowSync

/// A whole answer with some features, and with changes to its members.
private func body(_ features: [String] = [], _ changes: [String: String?] = [:]) -> String {
    var members: [String: String?] = [
        "type": #""FeatureCollection""#, "mirror": #"{"logs":["abc"],"computed":["skypath"]}"#, "since": "null",
        "cursor": #""r.1""#, "full": "true", "removed": "[]", "version": "7", "time": #""2026-11-21T12:00:00Z""#,
        "dataTime": #""2026-11-21T11:59:00Z""#, "stale": "false", "incomplete": "false", "completeSince": "null",
        "features": "[\(features.joined(separator: ","))]",
    ]
    members.merge(changes) { $1 }
    return "{" + members.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }.joined(separator: ",") + "}"
}

private func observation(_ id: String = "o0001", _ changes: [String: String?] = [:]) -> String {
    var properties: [String: String?] = [
        "h3": #""852a1073fffffff""#, "altitude": "36000", "altitudeMin": "36000", "altitudeMax": "37000",
        "severity": "3", "severityName": #""moderate""#, "severityBasis": #""reported""#, "edr": "0.31",
        "observedAt": #""2026-11-21T11:50:00Z""#, "source": #""skypath""#, "kind": #""in-situ""#,
        "category": #""C60""#,
    ]
    properties.merge(changes) { $1 }
    let text = properties.compactMap { name, value in value.map { "\"\(name)\":\($0)" } }.joined(separator: ",")
    return #"{"type":"Feature","id":"\#(id)","geometry":null,"properties":{\#(text)}}"#
}

private func area(_ id: String, geometry: String, to: String = "2026-11-21T14:00:00Z") -> String {
    #"{"type":"Feature","id":"\#(id)","geometry":\#(geometry),"properties":{"kind":"sigmet","hazard":"TURB","#
        + #""validFrom":"2026-11-21T11:00:00Z","validTo":"\#(to)","source":"awc"}}"#
}

private func answer(_ text: String, of dataset: Dataset = .observations) throws -> MirrorAnswer {
    try MirrorAnswer(Array(text.utf8), of: dataset)
}

@Suite("Answers of a mirrored server")
struct MirrorAnswerTests {
    @Test("an observation is read with everything that the log stores of it")
    func whole() throws {
        let answer = try answer(body([observation()]))
        #expect(answer.isFull && answer.cursor == "r.1" && answer.logs == ["abc"] && !answer.isStale)
        #expect(answer.features.computed == ["skypath"] && answer.features.problems.isEmpty)
        let found = try #require(answer.features.observations.first)
        #expect(found.id == "o0001" && found.cell.h3String == "852a1073fffffff" && found.category == .default)
        #expect(found.altitude.lowest.feet == 36_000 && found.altitude.highest.feet == 37_000)
        #expect(found.intensity == .reported(.moderate, edr: EDR(0.31)) && found.kind == .inSitu)
        let derived = try self.derived()
        #expect(derived.intensity == .measured(try #require(EDR(0.31))))
    }

    private func derived() throws -> Observation {
        try #require(
            answer(body([observation("a", ["severityBasis": #""edr""#])])).features.observations.first)
    }

    @Test(
        "a feature that can't be used is counted by its reason and costs no other",
        arguments: [
            (#"{"id":5}"#, MirroredFeatureProblem.withoutID), ("null", .withoutID), ("[[[]]]", .withoutID),
            (observation("b", ["h3": #""no""#]), .place), (observation("b", ["h3": nil]), .place),
            (observation("b", ["altitudeMin": "36500"]), .altitude),
            (observation("b", ["altitudeMin": "38000"]), .altitude),
            (observation("b", ["altitudeMax": "1e999"]), .altitude),
            (observation("b", ["severity": "5"]), .intensity), (observation("b", ["severity": "2.5"]), .intensity),
            (observation("b", ["edr": "1e999"]), .intensity), (observation("b", ["edr": #""NaN""#]), .intensity),
            (observation("b", ["observedAt": "5"]), .time), (observation("b", ["observedAt": #""today""#]), .time),
            (observation("b", ["source": #""a b""#]), .source), (observation("b", ["source": nil]), .source),
            (observation("b", ["kind": #""guess""#]), .unreadable),
            (observation("b", ["category": #""C61""#]), .unreadable),
            (observation("o0001", ["severity": "4"]), .repeated),
            (observation(String(repeating: "x", count: 300)), .withoutID),
        ])
    func unusable(_ feature: String, _ problem: MirroredFeatureProblem) throws {
        let answer = try answer(body([observation(), feature, observation("c")]))
        #expect(answer.features.observations.map(\.id) == ["o0001", "c"])
        #expect(answer.features.problems == [problem: 1])
    }

    @Test("two sources may have features with one id")
    func shared() throws {
        let answer = try answer(body([observation(), observation("o0001", ["source": #""other""#])]))
        #expect(answer.features.observations.count == 2 && answer.features.problems.isEmpty)
    }

    @Test(
        "an answer that isn't one of changes is refused whole",
        arguments: [
            "", "<html>", "[]", "5", "{}", "{\"features\":[]}", String(body([observation()]).dropLast(20)),
            body([], ["cursor": nil]), body([], ["cursor": "5"]), body([], ["cursor": #""a b""#]),
            body([], ["cursor": #""\#(String(repeating: "x", count: 200))""#]), body([], ["full": #""yes""#]),
            body([], ["time": "null"]), body([], ["time": #""noon""#]), body([], ["stale": nil]),
            body([], ["incomplete": "null"]), body([], ["removed": "null"]), body([], ["removed": "[5]"]),
            body([], ["features": "{}"]), body([], ["mirror": nil]), body([], ["mirror": "{}"]),
            body([], ["mirror": #"{"logs":[],"computed":[]}"#]),
            body([], ["mirror": #"{"logs":["a b"],"computed":[]}"#]),
            body([], ["dataTime": #""yesterday""#]), body([String(repeating: "[", count: 100)]),
        ])
    func refused(_ text: String) {
        #expect(throws: UnreadableResponse.self) { try answer(text) }
    }

    @Test(
        "an area needs closed rings within the earth, and the id of its own source and time",
        arguments: [
            (#"{"type":"Polygon","coordinates":[[[1,1],[2,1],[2,2],[1,1]]]}"#, "awc/s-1@1795258800", true),
            (#"{"type":"MultiPolygon","coordinates":[[[[1,1],[2,1],[2,2],[1,1]]]]}"#, "awc/s-1@1795258800", true),
            (#"{"type":"Polygon","coordinates":[[[1,1],[2,1],[2,2],[1,1.5]]]}"#, "awc/s-1@1795258800", false),
            (#"{"type":"Polygon","coordinates":[[[1,1],[2,1],[2,99],[1,1]]]}"#, "awc/s-1@1795258800", false),
            (#"{"type":"Polygon","coordinates":[[[1,1],[2,1],[1e400,2],[1,1]]]}"#, "awc/s-1@1795258800", false),
            (#"{"type":"Polygon","coordinates":[]}"#, "awc/s-1@1795258800", false),
            ("null", "awc/s-1@1795258800", false),
            (#"{"type":"Polygon","coordinates":[[[1,1],[2,1],[2,2],[1,1]]]}"#, "awc/s-1@1795258801", false),
            (#"{"type":"Polygon","coordinates":[[[1,1],[2,1],[2,2],[1,1]]]}"#, "sky/s-1@1795258800", false),
            (#"{"type":"Polygon","coordinates":[[[1,1],[2,1],[2,2],[1,1]]]}"#, "s-1", false),
        ])
    func areas(_ geometry: String, _ id: String, _ isUsable: Bool) throws {
        let answer = try answer(body([area(id, geometry: geometry)]), of: .hazards)
        #expect(answer.features.areas.map(\.id) == (isUsable ? ["s-1"] : []))
        #expect(answer.features.problems.values.reduce(0, +) == (isUsable ? 0 : 1))
    }

    @Test("a cursor is stored as text and read again; other text is none")
    func cursor() throws {
        for cursor in [
            MirrorCursor(
                token: "a.1", time: .distantPast, fetchedAt: Instant(clamping: 5), completeSince: nil, recheckAt: nil,
                query: "http://x/changes?a=b"),
            MirrorCursor(
                token: "a.1", time: Instant(clamping: 9), fetchedAt: Instant(clamping: 5),
                completeSince: Instant(clamping: 4), recheckAt: Instant(clamping: 3), query: "q"),
        ] {
            #expect(MirrorCursor(text: cursor.text) == cursor)
        }
        for text in ["", "a 1 2 3 4", "a x 2 - - q", "a 1 2 x - q", "a 1 2 - x q", "a -1 2 - - q"] {
            #expect(MirrorCursor(text: text) == nil)
        }
    }

    @Test("the requested box is wider than the mirrored one, by more than the radius of a cell")
    func margin() throws {
        func requested(_ west: Double, _ south: Double, _ east: Double, _ north: Double) throws -> BoundingBox {
            var configuration = BillowConfiguration(baseURL: "http://127.0.0.1:1")
            configuration.box = try BoundingBox(west: west, south: south, east: east, north: north).orMissing()
            #expect(configuration.problems == [])
            return try #require(configuration.requestedBox)
        }
        let box = try requested(-10, 40, 10, 60)
        #expect(box.south == 39.85 && box.north == 60.15 && box.west < -10.29 && box.east > 10.29)
        let crossing = try requested(179.9, -10, -179.9, 10)
        #expect(crossing.west > 179 && crossing.west < 179.8 && crossing.east < -179 && crossing.east > -179.8)
        let polar = try requested(-10, 60, 10, 89)
        #expect(polar.west == -180 && polar.east == 180 && polar.north == 89.15)
        #expect(try requested(-180, -60, 180, 60).west == -180)
    }
}

/// A server on loopback, and a mirror that reaches it over HTTP.
@Suite("A mirrored server on the wire", .timeLimit(.minutes(10)))
struct MirrorWireTests {
    private static func response(_ body: [UInt8], _ headers: String = "") -> [UInt8] {
        Array("HTTP/1.1 200 OK\r\n\(headers)Content-Length: \(body.count)\r\nConnection: close\r\n\r\n".utf8) + body
    }

    private func withUpstream(
        _ answer: ScriptedServer.Answer, limit: Int = 1 << 20,
        _ test: @Sendable (BillowUpstream, ScriptedServer, SQLiteStore) async throws -> Void
    ) async throws {
        try await ScriptedServer.withRunning(answer) { server, port in
            let http = HTTPClient(configuration: BillowClient.recommendedHTTPConfiguration)
            let store = try await SQLiteStore.temporary()
            do {
                var configuration = BillowConfiguration(
                    baseURL: "http://127.0.0.1:\(port)", apiKey: Secret("planted-key-4711"))
                configuration.maximumBodyBytes = limit
                configuration.timeout = .seconds(60)
                let upstream = BillowUpstream(
                    id: try SourceID("central").orMissing(),
                    server: try BillowClient(configuration: configuration, httpClient: http), datasets: [.observations],
                    simulated: nil, store: store, retentionSeconds: 7 * 86_400)
                try await test(upstream, server, store)
            } catch {
                try await http.shutdown()
                throw error
            }
            try await http.shutdown()
        }
    }

    private static let now = Instant(clamping: 1_795_262_400)

    private func code(_ upstream: BillowUpstream) async -> String? {
        do throws(SyncError) {
            _ = try await upstream.synchronise(now: Self.now)
            return nil
        } catch {
            #expect(!error.message.contains("4711"))
            return error.code.rawValue
        }
    }

    /// Gzip of `{"features":[`, then cut off.
    private static let cutGzip: [UInt8] = [
        0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xAB, 0x56, 0x4A, 0x4B, 0x4D, 0x2C, 0x29, 0x2D,
    ]

    /// What a server sends. It is named by its size and beginning, because one of them has megabytes.
    private struct BrokenAnswer: Sendable, CustomTestStringConvertible {
        var bytes: [UInt8]

        static func body(_ body: [UInt8], _ headers: String = "") -> Self { Self(bytes: response(body, headers)) }

        static func wire(_ text: String) -> Self { Self(bytes: Array(text.utf8)) }

        var testDescription: String {
            "\(bytes.count) bytes: \(String(decoding: bytes.prefix(80), as: UTF8.self).debugDescription)"
        }
    }

    @Test(
        "a broken answer is an error with its code, and leaves nothing behind",
        arguments: [
            (.body(Array("<html>".utf8)), "unreadable"), (.body([]), "unreadable"),
            (.body(Array(body().dropLast(5).utf8)), "unreadable"),
            (.body(cutGzip, "Content-Encoding: gzip\r\n"), "unreadable"),
            (.body(Array("no gzip".utf8), "Content-Encoding: gzip\r\n"), "unreadable"),
            (.body(Array((body() + String(repeating: " ", count: 2 << 20)).utf8)), "too-large"),
            (.body(Array(body([#"{"id":5}"#]).utf8)), "unreadable"),
            (.body(Array(body([], ["full": "false", "since": #""x""#]).utf8)), "unreadable"),
            (.wire("HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n"), "unauthorized"),
            (.wire("HTTP/1.1 400 planted-key-4711\r\nContent-Length: 0\r\n\r\n"), "query-refused"),
            (.wire("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"), "upstream-error"),
            (.wire("HTTP/1.1 302 No\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"), "unexpected-status"),
            (.wire("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{"), "unreadable"),
        ] as [(BrokenAnswer, String)])
    private func broken(_ answer: BrokenAnswer, _ expected: String) async throws {
        try await withUpstream(.bytes(answer.bytes)) { upstream, _, store in
            #expect(await code(upstream) == expected)
            #expect(try await store.allRows().isEmpty)
            for source in try await store.sources() { #expect(try await store.cursors(of: source.id).isEmpty) }
        }
    }

    @Test("an answer that never changes, also its cursor, is taken again and again without any new version")
    func unchanged() async throws {
        try await withUpstream(.bytes(Self.response(Array(body([observation()]).utf8)))) { upstream, server, store in
            #expect(await code(upstream) == nil)
            let head = try await store.head()
            for _ in 0..<3 { #expect(await code(upstream) == nil) }
            #expect(try await store.head() == head && server.requests == 4)
            #expect(try await store.allRows().count == 1)
        }
    }

    @Test("a copy that lacks a feature is incomplete until everything was fetched again")
    func lacking() async throws {
        let bad = body([observation(), observation("b", ["h3": #""no""#])])
        try await withUpstream(.bytes(Self.response(Array(bad.utf8)))) { upstream, server, store in
            let outcome = try await upstream.synchronise(now: Self.now)
            #expect(outcome.accepted == 1 && outcome.skipped == [.mirrored(.place): 1])
            func isComplete() async throws -> Bool {
                let record = try #require(try await store.sources().first { $0.id.name == "central" })
                return record.coveredAreas.contains { $0.until == nil }
            }
            #expect(try await !isComplete())
            let good = body([observation()])
            server.answers(.bytes(Self.response(Array(good.utf8))))
            _ = try await upstream.synchronise(now: Self.now.advanced(by: 60))
            #expect(try await isComplete())
        }
    }
}
