import AsyncHTTPClient
import Geometry
import NIOCore
import NIOHTTP1
import Testing
import UpstreamSimulator
import UpstreamKit
import JSONKit

@testable import SkyPath

struct Answer: Equatable {
    let status: UInt
    let text: String
}

/// What the simulator says to requests that no good client sends: the order of validation and Ajv's words.
@Suite("Requests to SkyPath")
struct RequestTests {
    static let ring = "[[0,0],[0.5,0],[0.5,0.5],[0,0]]"
    static func body(_ ring: String = ring, _ more: String = "") -> String {
        #"{"corridor":{"type":"Polygon","coordinates":[\#(ring)]}\#(more)}"#
    }

    static let refused: [(String, String)] = [
        ("", "Body cannot be empty when content-type is set to 'application/json'"),
        ("{", "Body is not valid JSON but content-type is set to 'application/json'"),
        ("[]", "body must be object"),
        ("{}", "body must have required property 'corridor'"),
        (#"{"corridor":7}"#, "body/corridor must be object"),
        (
            #"{"corridor":{"type":"Point","coordinates":[0,0]}}"#,
            "body/corridor/type must be equal to constant"
        ),
        // The order: the type comes before everything, closedness before the count, the area before the enums.
        (
            #"{"corridor":{"type":"Point"},"hoursAgo":9}"#, "body/corridor/type must be equal to constant"
        ),
        (
            #"{"corridor":{"type":"Polygon"}}"#, "body/corridor must have required property 'coordinates'"
        ),
        (body("[[0,0],[1,0]]"), "body/corridor/coordinates/0 must be a closed ring"),
        (body("[[0,0],[1,0],[0,0]]"), "body/corridor/coordinates/0 must NOT have fewer than 4 items"),
        (body("[[0,0],[1,null],[0,0]]"), "body/corridor/coordinates/0/1/1 must be number"),
        (body("[[0,0],[1,99],[0,0]]"), "body/corridor/coordinates/0/1/1 must be <= 90"),
        (
            body("[" + (0..<250).map { "[0.\($0 + 100),0]" }.joined(separator: ",") + ",[0.100,0]]"),
            "body/corridor/coordinates/0 must NOT have more than 250 items"
        ),
        (
            body("[[0,0],[10,0],[10,10],[0,0]]", #","hoursAgo":9"#),
            "body/corridor area of 615084 km2 exceeds the limit of 7500 km2"
        ),
        (body(ring, #","hoursAgo":3"#), "body/hoursAgo must be equal to one of the allowed values"),
        (body(ring, #","hoursAgo":"2""#), "body/hoursAgo must be number"),
        (
            body(ring, #","aircraftCategory":"C65""#),
            "body/aircraftCategory must be equal to one of the allowed values"
        ),
        (body(ring, #","minAlt":4"#), "body/minAlt must be >= 5"),
        (body(ring, #","maxAlt":53"#), "body/maxAlt must be <= 52"),
        (body(ring, #","minAlt":30.5"#), "body/minAlt must be integer"),
        (body(ring, #","minAlt":40,"maxAlt":30"#), "body/minAlt must be <= maxAlt"),
        (body(ring, #","updatedSince":"yesterday""#), "body/updatedSince must be integer"),
        (body(ring, #","updatedSince":1e300"#), "body/updatedSince must be integer"),
        (body(ring, #","updatedSince":-1"#), "body/updatedSince must be >= 0"),
    ]

    @Test("bad corridors are refused in order")
    func badCorridorsAreRefusedInOrder() async throws {
        try await withRig(flights: 1, areaLimitKm2: 7_500) { rig in
            let http = HTTPClient.shared
            for (body, message) in RequestTests.refused {
                var request = HTTPClientRequest(url: rig.baseURL + "/observations/v5/corridor")
                request.method = .POST
                request.headers.add(name: "x-api-key", value: "demo")
                request.headers.add(name: "content-type", value: "application/json")
                request.body = .bytes(ByteBuffer(string: body))
                let response = try await http.execute(request, timeout: .seconds(300))
                let text = String(buffer: try await response.body.collect(upTo: 100_000))
                #expect(response.status.code == 400, "\(body)")
                #expect(response.headers.first(name: "x-simulated") == "true")
                #expect(text.contains(#""message":"\#(message)""#), "\(body): \(text)")
                #expect(text.hasPrefix(#"{"data":{"statusCode":400,"code":""#))
                let problem = UpstreamProblem(status: 400, body: Array(text.utf8), redacting: [])
                #expect(problem.message == message && problem.code != nil)
            }
        }
    }

    @Test("text of an upstream can't control a terminal or a log")
    func whatAnUpstreamSaysCanNotSteerATerminalOrALog() {
        let body = #"{"data":{"code":"A\u001b[2J","message":"x\ny\u0085\u202ez ✈︎ é"}}"#
        let problem = UpstreamProblem(status: 400, body: Array(body.utf8), redacting: [])
        #expect(problem.code == #"A\u{1B}[2J"# && problem.message == #"x\u{A}y\u{85}\u{202E}z ✈︎ é"#)
    }

    @Test("health and control need no key")
    func healthAndControlNeedNoKey() async throws {
        try await withRig(flights: 1) { rig in
            func call(_ method: String, _ path: String) async throws -> Answer {
                var request = HTTPClientRequest(url: rig.baseURL + path)
                request.method = .init(rawValue: method)
                let response = try await HTTPClient.shared.execute(request, timeout: .seconds(300))
                #expect(response.headers.first(name: "x-simulated") == "true")
                return Answer(
                    status: response.status.code, text: String(buffer: try await response.body.collect(upTo: 100_000)))
            }
            let health = try await call("GET", "/health")
            #expect(health == Answer(status: 200, text: #"{"status":"ok"}"#))
            for fault in Fault.allCases {
                let answer = try await call("POST", "/_simulator/fault?name=\(fault.rawValue)")
                #expect(answer == Answer(status: 200, text: #"{"fault":"\#(fault.rawValue)"}"#))
            }
            let cleared = try await call("POST", "/_simulator/fault?name=none")
            #expect(cleared == Answer(status: 200, text: #"{"fault":"none"}"#))
            for (method, path, status) in [
                ("POST", "/_simulator/fault?name=nonsense", 400), ("POST", "/_simulator/fault?name=empty&count=0", 400),
                ("POST", "/_simulator/fault?name=empty&count=2", 200), ("POST", "/v4/map", 401),
                ("GET", "/nowhere", 404),
                ("POST", "/_simulator/report?cell=852a1073fffffff&alt=36&edr=0.5", 200),
                ("POST", "/_simulator/report?cell=82&alt=36&edr=0.5", 400),
            ] as [(String, String, UInt)] {
                let answer = try await call(method, path)
                #expect(answer.status == status, "\(path): \(answer.text)")
            }
            #expect(rig.simulator.fault == .empty)
        }
    }

    // MARK: What the client refuses to send

    private func writer() -> RequestWriter {
        RequestWriter(wire: SkyPathWire(), limits: SkyPathLimits())
    }

    @Test("a corridor is written as the profile says")
    func aCorridorIsWrittenAsTheProfileSays() throws {
        let ring = try box(west: -74, south: 40, east: -73.5, north: 40.5)
        let body = try writer().corridor(
            SkyPathCorridorQuery(
                ring: Array(ring.dropLast()), hours: 0.5, updatedSince: 1_767_225_660,
                aircraftCategory: "C30",
                altitudesThousands: 30...41))
        #expect(
            body
                == (#"{"corridor":{"type":"Polygon","coordinates":[[[-74.0,40.0],[-73.5,40.0],[-73.5,"#
                    + #"40.5],[-74.0,40.5],[-74.0,40.0]]]},"hoursAgo":0.5,"minAlt":30,"maxAlt":41,"#
                    + #""updatedSince":1767225600,"aircraftCategory":"C30"}"#)
        )
    }

    @Test("names on the wire are settings")
    func namesOnTheWireAreSettings() throws {
        var wire = SkyPathWire()
        wire.updatedSince = "since\"quoted"
        wire.hoursAgo = "h"
        let ring = try box(west: 0, south: 0, east: 0.5, north: 0.5)
        let body = try RequestWriter(wire: wire, limits: SkyPathLimits()).corridor(
            SkyPathCorridorQuery(ring: ring, updatedSince: 1_767_225_660))
        #expect(body.contains(#""since\"quoted":"#) && body.contains(#""h":2,"#))
    }

    @Test(
        "names on the wire that can't be are refused",
        arguments: [
            (["mapPath": "v4"], ["mapPath"]), (["mapPath": "/v4?x"], ["mapPath"]), (["mapPath": ""], ["mapPath"]),
            (["hexagonsPath": "/a b/"], ["hexagonsPath"]), (["apiKeyHeader": "x key"], ["apiKeyHeader"]),
            (["apiKeyHeader": "Content-Length"], ["apiKeyHeader"]), (["hoursAgo": ""], ["hoursAgo"]),
            (["minSeverity": "a=b"], ["minSeverity"]), (["tick": "a\nb"], ["tick"]), (["tick": "a=\"b"], []),
            (["minAltitude": "maxAlt"], ["minAltitude"]), (["maxAltitude": "minAlt"], ["maxAltitude"]),
            (["minAltitude": "maxAlt", "maxAltitude": "minAlt"], []),
            (["minAltitude": "x", "maxAltitude": "x"], ["maxAltitude"]), (["tick": "minSev"], []),
            (["fields": "hours"], ["fields"]), (["mapRecordEDR": "hex_id"], ["mapRecordEDR"]),
        ] as [([String: String], [String])])
    func namesOnTheWireThatCantBe(changes: [String: String], expected: [String]) {
        var wire = SkyPathWire()
        #expect(wire.problems.isEmpty)
        for setting in SkyPathWire.settings {
            if let text = changes[setting.name] { wire[keyPath: setting.value] = text }
        }
        #expect(wire.problems.map(\.setting) == expected, "\(wire.problems)")
    }

    @Test(
        "a text is reported without its secrets",
        arguments: [
            ("a", "a bad key: a", "a bad key: a"),
            ("demo", "the key demo is unknown, demo", "the key [secret] is unknown, [secret]"),
            ("demo", "no demonstration of demo2", "no demonstration of demo2"), ("demo", "demo", "[secret]"),
            ("demo", "key=demo&x", "key=[secret]&x"), ("demo", "demodemo", "demodemo"),
            ("0123456789", "id01234567890123456789x", "id[secret][secret]x"), ("0123456789", "", ""),
        ])
    func aTextWithoutItsSecrets(secret: String, text: String, expected: String) throws {
        #expect(Secret.redacting([try unwrap(Secret(secret))], in: text) == expected)
    }

    @Test("a ring over the antimeridian runs on or wraps")
    func aRingOverTheAntimeridianRunsOnOrWraps() throws {
        let ring = try box(west: 179.8, south: 0, east: 180.2, north: 0.4)
        let query = SkyPathCorridorQuery(ring: ring)
        #expect(try writer().corridor(query).contains("[[179.8,0.0],[180.2"))
        var wire = SkyPathWire()
        wire.unrollsAntimeridian = false
        let wrapped = try RequestWriter(wire: wire, limits: SkyPathLimits()).corridor(query)
        #expect(wrapped.contains("[[179.8,0.0],[-179.8"))
        #expect(SkyPathRing.areaKm2(ring) < 2_000)
    }

    @Test("an area is that of the sphere")
    func anAreaIsThatOfTheSphere() throws {
        // An octant: an eighth of 4πr².
        let octant = try [(0, 0), (90, 0), (90, 90), (0, 90)].map {
            try unwrap(LonLat(longitude: $0.0, latitude: $0.1))
        }
        let sphere = 4 * Double.pi * 6_371.008_8 * 6_371.008_8
        #expect(abs(SkyPathRing.areaKm2(octant) - sphere / 8) < sphere / 8 * 1e-9)
        #expect(SkyPathRing.areaKm2([]) == 0)
    }

    @Test("a query beyond the limits is not sent")
    func aQueryBeyondTheLimitsIsNotSent() throws {
        let small = try box(west: 0, south: 0, east: 0.5, north: 0.5)
        let many = try (0..<250).map { try unwrap(LonLat(longitude: Double($0) / 1_000, latitude: 0)) }
        let queries = [
            SkyPathCorridorQuery(ring: try box(west: 0, south: 0, east: 10, north: 10)),
            SkyPathCorridorQuery(ring: Array(small.prefix(2))),
            SkyPathCorridorQuery(ring: []),
            SkyPathCorridorQuery(ring: many),
            SkyPathCorridorQuery(ring: small, hours: 6),
            SkyPathCorridorQuery(ring: small, hours: .nan),
            SkyPathCorridorQuery(ring: small, updatedSince: .max),
            SkyPathCorridorQuery(ring: small, aircraftCategory: "C65"),
            SkyPathCorridorQuery(ring: small, altitudesThousands: 0...60),
        ]
        for query in queries {
            #expect(throws: UpstreamError.self, "\(query)") { try writer().corridor(query) }
        }
        let parents: [UInt64] = [0, .max, 0x8528_3473_FFFF_FFF, H3.index(dense: 3, resolution: 2)]
        for parent in parents {
            #expect(throws: UpstreamError.self) {
                try writer().hexagons(SkyPathHexagonsQuery(parent: parent))
            }
        }
        #expect(throws: UpstreamError.self) { try writer().map(SkyPathMapQuery(.since(tick: -1))) }
        #expect(throws: UpstreamError.self) { try writer().map(SkyPathMapQuery(.hours(3))) }
        #expect(throws: UpstreamError.self) {
            try writer().map(SkyPathMapQuery(.hours(2), severities: [5]))
        }
    }

    @Test("a configuration names all its problems")
    func aConfigurationNamesAllItsProblems() throws {
        let key = try unwrap(Secret("k"))
        func problems(_ url: String) -> Int {
            SkyPathConfiguration(environment: .custom(url), apiKey: key).problems.count
        }
        #expect(SkyPathConfiguration(environment: .production, apiKey: key).problems.isEmpty)
        #expect(problems("http://127.0.0.1:8080") == 0 && problems("http://[::1]:1/x/") == 0)
        #expect(problems("http://upstream.example") == 1)
        for bad in [
            "https://x:0", "https://x:65536", "https://x:a", "https://:1", "https://[::1", "https://[x]",
            "https://x\\y",
        ] {
            #expect(problems(bad) == 1, "\(bad)")
        }
        #expect(problems("https://x:65535/") == 0 && problems("https://[2001:db8::1]") == 0)
        #expect(problems("ftp://x") == 1)
        #expect(
            problems("https://") > 0 && problems("https://me:pw@x") == 1 && problems("https://x?q") == 1)
        #expect(SkyPathEnvironment("staging") == .staging && SkyPathEnvironment("elsewhere") == nil)
        #expect(SkyPathEnvironment.custom("https://x/y//").baseURL == "https://x/y")
        #expect(
            Secret("") == nil && Secret("a\nb") == nil && Secret("ключ") == nil)
        #expect("\(key)" == "[secret]" && String(reflecting: key) == "[secret]")
    }

    @Test(
        "retry after is read in both forms",
        arguments: [
            ("0", 0), ("60", 60), ("999999999999999999999", 86_400), ("-5", nil), ("soon", nil),
            ("", nil),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 37), ("Sun, 06 Nov 1994 08:48:00 GMT", 0),
            ("Sun, 06 Nov 1994", nil),
            ("Sun, 06 Nov 1994 08:49:37 CET", nil), ("Mon, 07 Nov 1994 08:49:00 GMT", 86_400),
        ] as [(String, Int?)])
    func retryAfterIsReadInBothForms(text: String, expected: Int?) {
        // 1994-11-06T08:49:00Z
        #expect(RetryAfter.seconds(text, now: 784_111_740) == expected)
    }

    @Test("dates are days since 1970")
    func datesAreDaysSince1970() {
        #expect(RetryAfter.date("Thu, 01 Jan 1970 00:00:00 GMT") == 0)
        #expect(RetryAfter.date("Thu, 29 Feb 2024 12:00:00 GMT") == 1_709_208_000)
        #expect(RetryAfter.date("Fri, 01 Mar 2024 00:00:00 GMT") == 1_709_251_200)
    }
}
