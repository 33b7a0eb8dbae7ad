import Foundation
import Geometry
import Testing

import UpstreamKit
import JSONKit

@testable import SkyPath

@Suite("Answers of SkyPath")
struct ReplyTests {
    private let reader = SkyPathReplyReader(wire: SkyPathWire(), limits: SkyPathLimits())

    /// The documented shape of a corridor's reply, with invented values.
    @Test("the documented corridor answer is read")
    func theDocumentedCorridorAnswerIsRead() throws {
        let text = """
            { "data": { "lastUpdatedAt": 1767225660, "hexagons": [
                { "id": "852a1073fffffff", "alt": 36, "sev": 3, "edr": 0.2315, "observedAt": 1767225584 },
                { "id": "852a1077fffffff", "alt": 37, "sev": 0, "edr": 0.0102, "observedAt": 1767224311 } ] },
              "meta": {}, "links": {}, "warnings": {} }
            """
        let reply = try reader.corridor(Array(text.utf8))
        #expect(
            reply.lastUpdatedAt == 1_767_225_660 && reply.counts.read == 2 && reply.counts.accepted == 2)
        #expect(
            reply.records.first
                == SkyPathRecord(
                    cell: try unwrap(Cell(h3String: "852a1073fffffff")), altitudeThousands: 36, severity: 3,
                    edr: 0.2315, observedAt: 1_767_225_584))
    }

    /// The shape of a tick's reply, with invented values.
    @Test("the map answer is read")
    func theMapAnswerIsRead() throws {
        let text =
            (#"{"skypath_tick":29453761,"turbulence":[{"hex_id":"852a1073fffffff","skypath_alt":36,"#
                + #""sev":3,"ts":1767225584,"tick":29453760}]}"#)
        let reply = try reader.map(Array(text.utf8))
        #expect(reply.tick == 29_453_761 && reply.records.count == 1 && reply.records.first?.edr == nil)
    }

    /// The shape of a bulk reply, with invented values; numbers for positions are taken too.
    @Test("the bulk answer is read")
    func theBulkAnswerIsRead() throws {
        let parent = H3.index(dense: 20, resolution: 0)
        let text =
            (#"{"data":{"hexId":["904",905,"1377"],"alt":[33,34,34],"sev":[2,1,3],"#
                + #""observationTime":[1767225001,1767225001,1767224760]},"meta":{},"links":{},"#
                + #""warnings":{}}"#)
        let reply = try reader.hexagons(Array(text.utf8), parent: parent)
        #expect(
            reply.records.map(\.cell) == [904, 905, 1_377].compactMap { Cell(dense: 20 * 16_807 + $0) })
        #expect(reply.records.map(\.severity) == [2, 1, 3])
    }

    @Test("unequal arrays give nothing")
    func unequalArraysGiveNothing() {
        let text =
            #"{"data":{"hexId":["904","905"],"alt":[33],"sev":[2,1],"observationTime":[1767225001,1767225001]}}"#
        #expect(throws: UpstreamError.unreadable(.unequalArrays([2, 1, 2, 2]))) {
            try reader.hexagons(Array(text.utf8), parent: H3.index(dense: 20, resolution: 0))
        }
    }

    @Test("a position that the parent lacks is skipped")
    func aPositionThatTheParentLacksIsSkipped() throws {
        let text =
            (#"{"data":{"hexId":["16807","-1","x",null,"7"],"alt":[33,33,33,33,33],"sev":[2,2,2,2,2],"#
                + #""observationTime":[1767225001,1767225001,1767225001,1767225001,1767225001]}}"#)
        let reply = try reader.hexagons(Array(text.utf8), parent: H3.index(dense: 20, resolution: 0))
        #expect(reply.counts.skipped == [.invalidCell: 4] && reply.records.count == 1)
    }

    static let notAnswers: [(String, UnreadableResponse)] = [
        ("", .empty), ("  \n", .empty), ("<html>", .html), ("{}", .missing("data.hexagons")),
        ("[]", .missing("data.hexagons")), ("null", .missing("data.hexagons")),
        (#"{"data":{"hexagons":null}}"#, .missing("data.hexagons")),
        (#"{"data":{"hexagons":{}}}"#, .missing("data.hexagons")),
        (#"{"data":[],"hexagons":[]}"#, .missing("data.hexagons")),
        (#"{"data":{"hexagons":[]}"#, .notJSON(atByte: 23)),
        (#"{"data":{"hexagons":[]}} x"#, .notJSON(atByte: 25)),
        (#"{"data":{"hexagons":[,]}}"#, .notJSON(atByte: 21)),
        (#"{"data":{"hexagons":[01]}}"#, .notJSON(atByte: 21)),
        (#"{"data":{"hexagons":[NaN]}}"#, .notJSON(atByte: 21)),
        (#"{"data":{"hexagons":["\#u{1}"]}}"#, .notJSON(atByte: 22)),
        (String(repeating: "[", count: 100_000), .notJSON(atByte: 64)),
    ]

    @Test("an invalid response is not an empty result", arguments: notAnswers)
    func whatIsNoAnswerIsNoEmptyPicture(text: String, expected: UnreadableResponse) {
        #expect(throws: UpstreamError.unreadable(expected)) { try reader.corridor(Array(text.utf8)) }
    }

    @Test(
        "severities are read strictly",
        arguments: [
            (#""sev":5"#, 4, nil), (#""sev":3.0"#, 3, nil), (#""sev":3.5"#, nil, .severity),
            (#""sev":6"#, nil, .severity),
            (#""sev":-1"#, nil, .severity), (#""sev":null"#, nil, .severity),
            (#""sev":"3""#, nil, .severity),
            (#""sev":true"#, nil, .severity), (#""sev":1e999"#, nil, .severity),
            (#""sev":[3]"#, nil, .severity),
            (#""x":3"#, nil, .severity), (#""s\u0065v":2"#, 2, nil),
            (#""sev":99999999999999999999999"#, nil, .severity),
        ] as [(String, Int?, SkyPathSkipReason?)])
    func severitiesAreReadStrictly(member: String, severity: Int?, reason: SkyPathSkipReason?) throws {
        let text =
            #"{"data":{"hexagons":[{"id":"852a1073fffffff","alt":36,\#(member),"observedAt":1767225584}]}}"#
        let reply = try reader.corridor(Array(text.utf8))
        #expect(reply.records.first.map { Int($0.severity) } == severity)
        #expect(reply.counts.skipped == (reason.map { [$0: 1] } ?? [:]))
        #expect(reply.counts.clampedSeverity == (member == #""sev":5"# ? 1 : 0))
        #expect(reply.lastUpdatedAt == nil)
    }

    @Test(
        "a bad EDR costs only itself",
        arguments: [
            ("0", 0.0, 0), ("1", 1, 0), ("0.1121", 0.1121, 0), ("1.0001", nil, 1), ("-0.1", nil, 1),
            ("null", nil, 0),
            (#""0.1""#, nil, 1), ("1e-2", 0.01, 0), ("1e999", nil, 1), ("{}", nil, 1),
        ] as [(String, Double?, Int)])
    func aBadEDRCostsOnlyItself(value: String, edr: Double?, dropped: Int) throws {
        let text =
            (#"{"data":{"hexagons":[{"id":"852A1073FFFFFFF","alt":36,"sev":2,"edr":\#(value),"#
                + #""observedAt":1767225584}]}}"#)
        let reply = try reader.corridor(Array(text.utf8))
        #expect(
            reply.records.count == 1 && reply.records.first?.edr == edr
                && reply.counts.droppedEDR == dropped)
    }

    @Test("the scanner agrees with Foundation")
    func theScannerAgreesWithFoundation() throws {
        let texts = [
            "0", "-0", "-1", "12", "1.5", "-1.25e2", "1E+2", "1e", "1.", ".5", "+1", "-", "00",
            "123456789012345678901",
            "0.1234567890123456789", "true", "false", "null", "tru", "nul", "\"\"", "\"a\\n\"",
            "\"\\u00e9\"", "\"\\x\"",
            "\"\\u12\"", "\"", "[]", "[1]", "[1,]", "[1 2]", "[,1]", "[[]]", "{}", "{\"a\":1}",
            "{\"a\":1,}", "{a:1}",
            "{\"a\"}", "{\"a\":}", "{\"a\":1 \"b\":2}", "[1]]", " [ 1 , { \"a\" : [ ] } ] ", "]", "",
            "1 1",
        ]
        let trailingCommas = ["[1,]", "{\"a\":1,}"]
        for text in texts {
            let foundation =
                (try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed))
                != nil
            var scanner = JSONScanner(Array(text.utf8))
            let ours =
                (try? {
                    let value = try scanner.value()
                    try scanner.expectEnd()
                    return value
                }()) != nil
            // Foundation lets a comma stand at the end, which RFC 8259 does not.
            #expect(ours == (foundation && !trailingCommas.contains(text)), "\(text)")
        }
        for text in [
            "0.1", "0.1121", "123.456", "0.000001", "9007199254740993.5", "1e22", "-2.5e-3",
            "0.30000000000000004",
        ] {
            var scanner = JSONScanner(Array(text.utf8))
            #expect(try scanner.value().double == Double(text))
        }
    }

    @Test("every prefix and every flipped byte is survived")
    func everyPrefixAndEveryFlippedByteIsSurvived() throws {
        let text = Array(
            (#"{"data":{"lastUpdatedAt":1767225660,"hexagons":[{"id":"852a1073fffffff","alt":36,"#
                + #""sev":3,"edr":0.2315,"observedAt":1767225584},null]},"warnings":{"\u00e9":[true,"#
                + #"-1.5e3]}}"#)
                .utf8)
        #expect(try reader.corridor(text).records.count == 1)
        for length in 0..<text.count {
            #expect(throws: UpstreamError.self) { try reader.corridor(Array(text.prefix(length))) }
        }
        for at in text.indices {
            for byte in stride(from: UInt8(0), to: 255, by: 5) {
                var changed = text
                changed[at] = byte
                // Whether it can be read matters less than that nothing traps and nothing invalid comes out.
                if let reply = try? reader.corridor(changed) {
                    #expect(reply.records.allSatisfy { (0...60).contains($0.altitudeThousands) })
                }
            }
        }
    }

    @Test("an error body is read however it comes")
    func anErrorBodyIsReadHoweverItComes() {
        func problem(_ text: String) -> UpstreamProblem {
            UpstreamProblem(status: 400, body: Array(text.utf8), redacting: [Secret("hunter2")].compactMap { $0 })
        }
        let envelope =
            (#"{"data":{"statusCode":400,"code":"FST_ERR_VALIDATION","error":"Bad Request","#
                + #""message":"body must have required property 'corridor'"},"meta":{},"links":{},"#
                + #""warnings":{}}"#)
        let expected = UpstreamProblem(
            status: 400, code: "FST_ERR_VALIDATION",
            message: "body must have required property 'corridor'")
        #expect(problem(envelope) == expected)
        #expect(
            problem(#"{"code":"X","message":"the \"key\" hunter2 is wrong\u0021"}"#)
                == UpstreamProblem(status: 400, code: "X", message: #"the "key" [secret] is wrong!"#))
        #expect(
            problem("<html>") == UpstreamProblem(status: 400) && problem("") == UpstreamProblem(status: 400)
        )
        #expect(problem(#"{"data":{"code":7,"message":null}}"#) == UpstreamProblem(status: 400))
    }
}
