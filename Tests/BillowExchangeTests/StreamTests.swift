import Datasets
import Foundation
import Geometry
import Testing
import Turbulence

@testable import BillowExchange

private let good =
    #"{"type":"Feature","properties":{"h3":"85283473fffffff","altitude":38000,"severity":3,"observedAt":1700000000}}"#

private func collection(_ features: [String], separator: String = ",\n") -> String {
    #"{"type":"FeatureCollection","name":"x","features":[\#(features.joined(separator: separator))],"crs":{"a":[1]}}"#
}

@Suite("Imports as streams")
struct ImportStreamTests {
    /// Documents, the number of observations in them, and the lines and codes of what is refused.
    static let documents: [(String, Int, [String])] = [
        (good, 1, []),
        (good + "\n", 1, []),
        ("\(good)\n\(good)\r\n\n\(good)", 3, []),
        ("\u{1E}\(good)\n\u{1E}\(good)\n", 2, []),
        ("\u{1E}\(good)\n\u{1E}{\"type\":\n\u{1E}\(good)\n", 2, ["2 cut off"]),
        ("[\(good),\(good)]", 2, []),
        (collection([good, good]), 2, []),
        (collection([good, good], separator: ","), 2, []),
        (collection([]), 0, []),
        (collection(["\n\(good)\n"]), 1, []),
        (collection(["\n\(good)", "\(good)\n"]), 2, []),
        (#"{"features":[\#(good)],"type":"FeatureCollection"}"#, 1, []),
        (#"{"type":"FeatureCollection","x":{"features":[\#(good)]},"features":[\#(good)]}"#, 1, []),
        (good.replacing(",", with: ",\n").replacing("{", with: "{\n  "), 1, []),
        (collection([good]) + "\n" + collection([good]), 2, []),
        // Damage.
        ("\(good)\ngarbage\n\(good)", 2, ["2 syntax error"]),
        ("garbage\n\(good)\n\(good)", 2, ["1 syntax error"]),
        ("\(good.dropLast(8))\n\(good)\n\(good)", 2, ["1 syntax error"]),
        ("\(good)\n\(good.dropLast(1))\n\(good)\n\(good.dropLast(30))", 2, ["2 syntax error", "4 syntax error"]),
        (
            "\(good)\n[1,2]\n\"x\"\nnull\n\(good)", 2,
            ["2 not an observation", "3 not an observation", "4 not an observation"]
        ),
        (String(collection([good, good]).dropLast(40)), 1, ["2 cut off"]),
        (String(collection([good, good]).prefix(200)), 1, ["2 cut off"]),
        (collection([good, "{\"type\":oops}", good]), 2, ["2 syntax error"]),
        (collection([good, "17,\"x\"", good]), 2, ["2 syntax error", "2 syntax error"]),
        (collection([good, String(good.dropLast(2)), good]), 2, ["2 syntax error"]),
        (collection([good, "{]", good, good]), 3, ["2 syntax error"]),
        (collection([good, "{\"a\":\"cut", good]), 2, ["2 syntax error"]),
        (
            collection([good, "{\"a\":NaN}", "{\"a\":1,}", "{\"a\":01}", good]), 2,
            ["2 syntax error", "3 syntax error", "4 syntax error"]
        ),
        (
            collection([good, "{}", "{\"type\":\"Feature\"}", "{\"properties\":null}", good]), 2,
            ["2 missing h3", "3 not an observation", "4 missing h3"]
        ),
        ("{", 0, ["1 cut off"]),
        ("[", 0, ["1 cut off"]),
        ("{\"type\":\"FeatureCollection\",\"features\":", 0, ["1 cut off"]),
        ("", 0, ["1 unknown format"]),
        (" \n\t ", 0, ["1 unknown format"]),
        ("{\"status\":\"error\",\"error\":\"area required\"}", 0, ["1 missing h3"]),
    ]

    @Test("a document yields its observations and reports unreadable ones", arguments: documents.indices)
    func aDocumentGivesItsObservationsAnd(
        index: Int
    ) {
        let (text, count, refusals) = Self.documents[index]
        let items = importing(text).items
        #expect(items.observations.count == count, "\(text)")
        #expect(items.refusals.map { "\($0.line) \($0.reason.title)" } == refusals, "\(text)")
    }

    @Test("pieces of any size give the same as the whole", arguments: documents.indices, [1, 2, 7, 64])
    func piecesOfAnySizeGiveThe(
        index: Int, pieces: Int
    ) {
        let text = Self.documents[index].0
        let whole = importing(text)
        let pieced = importing(text, pieces: pieces)
        #expect(whole.items == pieced.items, "\(text)")
        #expect(whole.summary == pieced.summary)
    }

    @Test("real files give the same in pieces", arguments: Fixture.allCases, [1, 100])
    func realFilesGiveTheSameIn(
        fixture: Fixture, pieces: Int
    ) throws {
        let data = try fixture.data()
        #expect(importing(data).items == importing(data, pieces: pieces).items)
    }

    @Test("every cut of a file gives a prefix of its observations, and never fails")
    func everyCutOfAFileGives() {
        let text = collection([good, good.replacing("38000", with: "39000"), good])
        let all = importing(text).items.observations
        for length in 0..<text.utf8.count {
            let cut = importing(text.utf8.prefix(length))
            #expect(cut.items.observations == Array(all.prefix(cut.items.observations.count)))
            #expect(!cut.items.refusals.isEmpty)
        }
    }

    @Test("any byte in any place may be wrong")
    func anyByteInAnyPlaceMay() {
        let csv = "h3,altitude,severity,observedAt,aircraft\n85283473fffffff,38000,3,1700000000,\"a\"\n"
        for text in [good + "\n" + good + "\n", collection([good, good]), csv] {
            let bytes = Array(text.utf8)
            for place in bytes.indices {
                for wrong in [0x00, 0x0A, 0x1E, 0x22, 0x2C, 0x30, 0x5B, 0x5D, 0x7B, 0x7D, 0xFF] as [UInt8] {
                    var bytes = bytes
                    bytes[place] = wrong
                    let (items, summary) = importing(bytes)
                    #expect(items.observations.count == summary.observationCount)
                    #expect(items.refusals.count == summary.refusedCount)
                }
            }
        }
    }

    @Test("nesting of any depth is refused without exhausting the stack", arguments: ["[", "{\"a\":", "[[{\"a\":"])
    func nestingOfAnyDepthIsRefused(
        opening: String
    ) {
        let deep = String(repeating: opening, count: 100_000)
        #expect(importing(deep).items.observations.isEmpty)
        #expect(importing(good + "\n" + deep + "\n" + good).items.observations.count == 2)
        let closed = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        let inside = importing(collection([good, "{\"type\":\"Feature\",\"x\":\(closed)}", good]))
        #expect(inside.items.observations.count == 2)
        #expect(inside.items.refusals.map(\.reason) == [.tooDeep])
    }

    @Test("compressed and UTF-16 input is recognised in the error")
    func whatIsCompressedOrUTF16() {
        #expect(importing([0x1F, 0x8B, 8, 0]).items.refusals.first?.reason.description.contains("gzip") == true)
        #expect(importing([0xFF, 0xFE, 0x7B, 0]).items.refusals.first?.reason.description.contains("UTF-16") == true)
    }

    @Test("invalid UTF-8 refuses its record")
    func invalidUTF8RefusesItsRecord() {
        let bytes = Array(good.utf8)
        let bad = Array(good.replacing("\"type\":\"Feature\"", with: "\"id\":\"?\"").utf8).map {
            $0 == 0x3F ? 0xFF : $0
        }
        let items = importing(bytes + [0x0A] + bad + [0x0A] + bytes).items
        #expect(items.observations.count == 2)
        #expect(items.refusals.map(\.reason) == [.notUTF8])
    }

    @Test("memory stays that of a record, and progress counts every byte")
    func memoryStaysThatOfARecord() {
        var reader = ImportReader(now: testNow)
        var taken = reader.read(Array(#"{"type":"FeatureCollection","features":["#.utf8)).count
        let piece = Array(String(repeating: good + ",", count: 100).utf8)
        for index in 0..<50 {
            taken += reader.read(piece).count
            // Until the format is recognised, up to a window is buffered; then at most a record.
            #expect(
                reader.bufferedBytes
                    < (index * piece.count < ImportFormat.window ? ImportFormat.window : good.utf8.count))
        }
        taken += reader.read(Array("]}".utf8)).count
        taken += reader.finish().count
        #expect(taken == 5_000)
        #expect(reader.bytesRead == 42 + 50 * piece.count)
        #expect(reader.format == .json)
    }

    @Test(
        "a record without an end is given up, not collected",
        arguments: [
            "{\"type\":\"Feature\",\"x\":\"", "\"", "h3,altitude,severity,observedAt\n\"", good + "\n{\"x\":\"",
        ])
    func aRecordWithoutAnEndIs(start: String) {
        var reader = ImportReader(now: testNow)
        _ = reader.read(start.utf8)
        let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
        for _ in 0..<18 {
            _ = reader.read(piece)
            #expect(reader.bufferedBytes <= (17 << 20))
        }
        _ = reader.finish()
        #expect(reader.summary.refusedCount >= 1)
        #expect(reader.summary.observationCount <= 1)
    }

    @Test("names given twice must say the same, in a Feature or a plain object")
    func namesGivenTwiceMustSayThe() {
        let plain = #"{"h3":"85283473fffffff","altitude":38000,"severity":3,"observedAt":1700000000}"#
        #expect(importing("[\(plain)]").items.observations == importing(good).items.observations)
        let twice = plain.replacing("\"severity\":3", with: "\"severity\":3,\"severity\":4")
        #expect(importing("[\(twice)]").items.refusals.map(\.reason.title) == ["contradiction"])
        let feature = good.replacing("\"severity\":3", with: "\"severity\":3,\"Severity\":4")
        #expect(importing(feature).items.refusals.map(\.reason.title) == ["contradiction"])
        // Members of the Feature itself are somebody else's.
        let foreign = good.replacing(
            "{\"type\":\"Feature\",", with: "{\"severity\":0,\"severity\":1,\"type\":\"Feature\",")
        #expect(importing(foreign).items.observations == importing(good).items.observations)
    }

    @Test("a summary states what was imported and why the rest was rejected")
    func aSummaryTellsPeopleWhatWas() throws {
        let summary = try importing(Fixture.florida.data()).summary
        #expect(
            summary.description == """
                57 records read, 0 refused
                33 observations: 22 smooth, 8 light, 2 moderate, 1 moderate-severe
                57 pilot reports: 22 smooth, 8 light, 2 moderate, 1 moderate-severe, 24 that don't mention turbulence
                """)
        let refused = importing("\(good)\nx\n").summary.description
        #expect(refused.contains("refused, syntax error: 1\n  line 2, record 2: can't be read"))
    }

    @Test(
        "a file says before its features that they are simulated",
        arguments: [
            (#"{"type":"FeatureCollection","simulated":true,"features":[]}"#, true),
            (#"{"type":"FeatureCollection","simulated" : true, "features":[]}"#, true),
            (#"{"type":"FeatureCollection","simulated":false,"features":[]}"#, false),
            (#"{"simulated":"true","features":[]}"#, false), (#"{"x":{"simulated":true},"features":[]}"#, false),
            (#"{"simulated":1,"t":true,"features":[]}"#, false),
            (#"{"features":[{"properties":{"simulated":true}}]}"#, false),
        ])
    func aFileSaysBeforeItsFeatures(text: String, isSimulated: Bool) {
        var reader = ImportReader(now: testNow)
        // In the smallest pieces.
        for byte in text.utf8 { _ = reader.read([byte]) }
        _ = reader.finish()
        #expect(reader.saysSimulated == isSimulated)
    }

    @Test(
        "a record that says that it is simulated says it of the file",
        arguments: [
            (#"{"type":"Feature","simulated":true,"properties":{}}"#, true), (#"{"simulated":true}"#, true),
            (#"{"type":"Feature","simulated":false,"properties":{}}"#, false),
            (#"{"type":"Feature","properties":{"simulated":true}}"#, false),
            ("h3,altitude,severity,observedAt,simulated\na,1,2,3,true", true),
            ("h3,altitude,severity,observedAt,simulated\na,1,2,3,false", false),
        ])
    func aRecordThatSaysThatIt(text: String, isSimulated: Bool) {
        var reader = ImportReader(now: testNow)
        _ = reader.read(Array("\(text)\n".utf8)) + reader.finish()
        #expect(reader.saysSimulated == isSimulated)
    }

    @Test(
        "every export of simulated data says so to an import", arguments: ExportFormat.imported,
        [Dataset.observations, .pireps, .hazards, .traffic])
    func everyExportOfSimulatedDataSays(format: ExportFormat, collection: Dataset)
        throws
    {
        for isSimulated in [true, false] {
            let members = CollectionMembers(
                version: .zero, time: testNow, history: nil, dataTime: nil, stale: false, simulated: isSimulated,
                completeSince: nil, incomplete: false)
            var writer = FeatureWriter(collection, as: format, members: members)
            writer.begin()
            let observation = try #require(importing(good).items.observations.first)
            let place = try #require(LonLat(longitude: 8, latitude: 50))
            switch collection {
            case .observations:
                writer.write(
                    ObservationFeature(observation, id: "a", severity: .moderate, basis: .reported),
                    geometry: .point(place))
            case .pireps:
                writer.write(
                    PilotReport(
                        id: "a", place: place, observedAt: testNow, type: "PIREP", aircraft: nil,
                        altitudeFeet: nil, turbulence: [], text: "UA", source: observation.source))
            default:
                writer.write(Feature(id: "a", geometry: .point(place), properties: []))
            }
            writer.end()
            let text = String(decoding: writer.drain(), as: UTF8.self)
            #expect(text.contains("simulated") == (isSimulated || format == .geojson), "\(text)")
            guard collection == .observations || collection == .pireps else { continue }
            var reader = ImportReader(now: testNow)
            _ = reader.read(Array(text.utf8)) + reader.finish()
            #expect(reader.saysSimulated == isSimulated, "\(text)")
        }
    }

    @Test("text quoted in a refusal can't control a terminal")
    func whatARefusalQuotesCantSteer() {
        let line = good.replacing("38000", with: #""\u001b[31mred\u0007\u202e""#)
        let summary = importing(line).summary
        #expect(summary.description.contains(#"altitude is '\u{1B}[31mred\u{7}\u{202E}'"#), "\(summary)")
    }

    @Test("refusals are counted by reason with the first few lines")
    func refusalsAreCountedByReasonWith() {
        let lines = [good] + Array(repeating: good.replacing("38000", with: "-1"), count: 20) + ["x"]
        let summary = importing(lines.joined(separator: "\n")).summary
        #expect(summary.refusedCount == 21)
        #expect(summary.refusals["invalid altitude"]?.count == 20)
        #expect(summary.refusals["invalid altitude"]?.examples.map(\.line) == [2, 3, 4, 5, 6])
        #expect(
            summary.refusals["invalid altitude"]?.examples.first?.description
                == "line 2, record 2: altitude is '-1'; it must be feet from 0 to 60999")
        #expect(summary.refusals["invalid altitude"]?.otherLines == [7...21])
        #expect(summary.description.contains("\n  and lines 7–21"))
        let scattered = (0..<20).map { $0 % 2 == 0 ? good.replacing("38000", with: "-1") : good }
        #expect(
            importing(scattered.joined(separator: "\n")).summary.description.contains(
                "\n  and lines 11, 13, 15, 17, 19"))
        var twice = summary
        twice.add(summary)
        #expect(twice.refusals["invalid altitude"]?.count == 40)
        #expect(twice.refusals["invalid altitude"]?.examples.count == 5)
        #expect(twice.read == 44)
    }

    @Test("a file is read in pieces, and one that can't be read is named")
    func aFileIsReadInPieces() throws {
        let path = Bundle.module.bundleURL.appending(path: "Fixtures/\(Fixture.florida.rawValue)").path
        var file = try ImportFile(path: path)
        var reader = ImportReader(now: testNow)
        while let piece = try file.next() { _ = reader.read(piece) }
        _ = reader.finish()
        #expect(reader.summary.pilotReportCount == 57)
        #expect(file.progress.fraction == 1)
        #expect(file.progress.bytesRead == reader.bytesRead)
        #expect(throws: ImportFileError(path: "/nowhere/at/all", reason: "no such file")) {
            _ = try ImportFile(path: "/nowhere/at/all")
        }
        #expect(throws: ImportFileError(path: "/", reason: "it is a folder")) { _ = try ImportFile(path: "/") }
    }
}
