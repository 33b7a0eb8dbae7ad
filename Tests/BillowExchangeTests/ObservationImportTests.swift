import BillowExchange
import Foundation
import Geometry
import Testing
import Turbulence

private let cell = "85283473fffffff"

/// A Feature with one of its properties replaced, or left out.
private func feature(_ changes: [String: String?] = [:], geometry: String = "null") -> String {
    var properties = [
        "h3": "\"\(cell)\"", "altitude": "38000", "severity": "3", "observedAt": "\"2026-11-21T02:00:00Z\"",
    ]
    for (name, value) in changes { properties[name] = value }
    let members = properties.sorted { $0.key < $1.key }.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",")
    return #"{"type":"Feature","geometry":\#(geometry),"properties":{\#(members)}}"#
}

@Suite("Imports of observations")
struct ObservationImportTests {
    @Test("a Feature is an observation, with the defaults of a plain file")
    func aFeatureIsAnObservationWith() throws {
        let (items, summary) = importing(feature())
        let expected = Observation(
            cell: try #require(Cell(h3String: cell)),
            altitude: AltitudeBand(try #require(AltitudeBlock(thousands: 38))),
            intensity: .reported(.moderate, edr: nil), observedAt: try #require(Instant("2026-11-21T02:00:00Z")),
            source: .import)
        #expect(items == [.observation(expected)])
        #expect(summary.observations == [.moderate: 1])
        #expect(summary.read == 1)
    }

    /// A property and what it is read as.
    static let goodValues: [(String, String, @Sendable (Observation) -> Bool)] = [
        ("altitude", "38999", { $0.altitude.lowest.feet == 38_000 }),
        ("altitude", "0", { $0.altitude.lowest.feet == 0 }),
        ("altitude", "60999.9", { $0.altitude.lowest.feet == 60_000 }),
        ("altitude", "\"38000\"", { $0.altitude.lowest.feet == 38_000 }),
        ("altitudeMax", "40000", { $0.altitude.lowest.feet == 38_000 && $0.altitude.highest.feet == 40_000 }),
        ("altitude_max", "40000", { $0.altitude.highest.feet == 40_000 }),
        ("severity", "0", { $0.intensity.severity == .smooth }),
        ("severity", "2.0", { $0.intensity.severity == .lightModerate }),
        ("severity", "\"light-moderate\"", { $0.intensity.severity == .lightModerate }),
        ("severity", "\"Moderate\"", { $0.intensity.severity == .moderate }),
        ("edr", "0.1234", { $0.intensity == .reported(.moderate, edr: EDR(0.1234)) }),
        ("edr", "\"1e-1\"", { $0.intensity.edr == EDR(0.1) }),
        ("observedAt", "\"2026-11-21T03:00:00.75+01:00\"", { $0.observedAt.description == "2026-11-21T02:00:00Z" }),
        ("observedAt", "1700000000", { $0.observedAt.seconds == 1_700_000_000 }),
        ("observedAt", "1700000000.9", { $0.observedAt.seconds == 1_700_000_000 }),
        ("observedAt", "\"1700000000\"", { $0.observedAt.seconds == 1_700_000_000 }),
        ("observedAt", "0", { $0.observedAt.seconds == 0 }),
        ("h3", "\"85283473FFFFFFF\"", { $0.cell.h3String == cell }),
        ("h3", "599686042433355775", { $0.cell.h3String == cell }),
        ("h3", "\"8a2834700007fff\"", { $0.cell.h3String == cell }),
        ("id", "\"abc\"", { $0.id == "abc" }),
        ("id", "12345678901234567890", { $0.id == "12345678901234567890" }),
        ("id", "\"\"", { $0.id == nil }),
        ("aircraft", "\"B738\"", { $0.aircraft == "B738" }),
        ("aircraft", "null", { $0.aircraft == nil }),
        ("aircraft", #""\u00c9\ud83d\ude80\n""#, { $0.aircraft == "É🚀\n" }),
        ("source", "\"acme.v1\"", { $0.source.name == "acme.v1" }),
        ("category", "\"C110\"", { $0.category?.number == 110 }),
        ("category", "10", { $0.category?.number == 10 }),
        ("kind", "\"pilot-report\"", { $0.kind == .pilotReport }),
        ("somethingElse", "{\"a\":[1,{}]}", { $0.intensity.severity == .moderate }),
    ]

    @Test("a property is read as documented", arguments: goodValues.indices)
    func aPropertyIsReadAsDocumented(index: Int) throws {
        let (name, value, holds) = Self.goodValues[index]
        let items = importing(feature([name: value])).items
        let observation = try #require(items.observations.first, "\(items)")
        #expect(holds(observation), "\(name): \(value) gave \(observation)")
    }

    /// Properties to change (nil: to leave out), and the code of the refusal.
    static let badValues: [([String: String?], String)] = [
        (["altitude": nil], "missing altitude"),
        (["altitude": "-1"], "invalid altitude"),
        (["altitude": "61000"], "invalid altitude"),
        (["altitude": "1e400"], "invalid altitude"),
        (["altitude": "\"FL350\""], "invalid altitude"),
        (["altitude": "\"nan\""], "invalid altitude"),
        (["altitude": "\"0x7000\""], "invalid altitude"),
        (["altitude": "true"], "invalid altitude"),
        (["altitude": "[38000]"], "invalid altitude"),
        (["altitude_ft": "37000"], "contradiction"),
        (["altitudeMin": "39000"], "contradiction"),
        (["altitudeMin": "39000", "altitudeMax": "38000"], "contradiction"),
        (["severity": nil], "missing severity"),
        (["severity": "6"], "invalid severity"),
        (["severity": "-1"], "invalid severity"),
        (["severity": "2.5"], "invalid severity"),
        (["severity": "1e400"], "invalid severity"),
        (["severity": "\"extreme\""], "invalid severity"),
        (["severity": nil, "severityName": "\"rough\""], "invalid severityName"),
        (["severityName": "\"light\""], "contradiction"),
        (["edr": "1.01"], "invalid edr"),
        (["edr": "-0.1"], "invalid edr"),
        (["edr": "1e999"], "invalid edr"),
        (["edr": "\"NaN\""], "invalid edr"),
        (["observedAt": nil], "missing observedAt"),
        (["observedAt": "\"2026-11-21T02:00:00\""], "invalid observedAt"),
        (["observedAt": "\"2026-11-21\""], "invalid observedAt"),
        (["observedAt": "\"20261121\""], "invalid observedAt"),
        (["observedAt": "\"yesterday\""], "invalid observedAt"),
        (["observedAt": "\"2026-02-30T00:00:00Z\""], "invalid observedAt"),
        (["observedAt": "1784666820000"], "invalid observedAt"),
        (["observedAt": "-5"], "invalid observedAt"),
        (["observedAt": "1e400"], "invalid observedAt"),
        (["observedAt": "\"1926-11-21T02:35:01Z\""], "invalid observedAt"),
        (["observedAt": "\"2026-11-21T02:35:01Z\""], "in the future"),
        (["observedAt": "\"2226-11-21T02:35:01Z\""], "in the future"),
        (["h3": nil], "missing h3"),
        (["h3": "\"84283473fffffff\""], "invalid h3"),
        (["h3": "\"8428347ffffffff\""], "coarser cell"),
        (["h3": "\"85f4000bfffffff\""], "invalid h3"),
        (["h3": "\"garbage\""], "invalid h3"),
        (["h3": "\"0\""], "invalid h3"),
        (["h3": "\"ffffffffffffffff\""], "invalid h3"),
        (["h3": "\"85283473fffffff0000\""], "invalid h3"),
        (["h3": "-1"], "invalid h3"),
        (["source": "\"two words\""], "invalid source"),
        (["category": "\"C65\""], "invalid category"),
        (["kind": "\"rumour\""], "invalid kind"),
        (["id": "{}"], "invalid id"),
        (["reports": "4"], "aggregated hexagon"),
    ]

    @Test("a value that can't be meant refuses its record and no other", arguments: badValues)
    func aValueThatCantBeMeant(
        changes: [String: String?], code: String
    ) throws {
        let (items, summary) = importing("\(feature())\n\(feature(changes))\n\(feature())\n")
        #expect(items.observations.count == 2)
        #expect(items.refusals.map(\.reason.title) == [code])
        #expect(items.refusals.map(\.line) == [2])
        #expect(summary.read == 3)
        #expect(summary.refusals[code]?.count == 1)
    }

    @Test("a deleted cell under a pentagon, and a cell of resolution 4 or 6, are told apart")
    func aDeletedCellUnderAPentagon() throws {
        // The pentagon of base cell 4, and the digit sequence that it hasn't got.
        let pentagon: UInt64 = 0x8508_0003_ffff_fff
        #expect(Cell(h3: pentagon) != nil)
        let deleted = pentagon | 1 << 30
        #expect(Cell(h3: deleted) == nil)
        #expect(
            importing(feature(["h3": "\"\(String(deleted, radix: 16))\""])).items.refusals.map(\.reason.title)
                == ["invalid h3"])
        let child = importing(feature(["h3": "\"862834707ffffff\""]))
        #expect(child.summary.finerCells == 1)
        #expect(child.items.observations.map(\.cell.h3String) == ["85283473fffffff"])
    }

    @Test(
        "a severity outside 0 to 4 is refused with its value and the range",
        arguments: ["5", "\"5\"", "6", "-1", "1.5", "255", "256", "1e9", "\"extreme\"", "\"4.0000001\""])
    func aSeverityOutOfRangeIsRefused(text: String) throws {
        let value = text.replacing("\"", with: "")
        let csv = "h3,altitude,severity,observedAt\n\(cell),38000,\(value),2026-11-21T02:30:00Z\n"
        for result in [importing(feature(["severity": text])), importing(csv)] {
            #expect(result.items.observations.isEmpty)
            let reason = try #require(result.items.refusals.first?.reason)
            #expect(reason.field == "severity" && reason.value == value && reason.code == .invalidField)
            #expect(reason.allowed?.hasPrefix("0 to 4 or one of smooth") == true)
            #expect(result.summary.refusals["invalid severity"]?.count == 1)
        }
    }

    @Test("a severity made from EDR is kept as EDR")
    func aSeverityMadeFromEDR() throws {
        let computed = importing(feature(["edr": "0.25", "severityBasis": "\"edr\""]))
        #expect(computed.items.observations.map(\.intensity) == [.measured(try #require(EDR(0.25)))])
        let alone = importing(feature(["edr": "0.25", "severity": nil]))
        #expect(alone.items.observations.map(\.intensity.severity) == [nil])
        #expect(alone.summary.observations == [.moderate: 1])
    }

    @Test("a Point says where; other shapes don't, and h3 goes before both")
    func aPointSaysWhereOtherShapes() throws {
        let point = #"{"type":"Point","coordinates":[-122.4,37.7,100]}"#
        let place = try #require(LonLat(longitude: -122.4, latitude: 37.7))
        #expect(importing(feature(["h3": nil], geometry: point)).items.observations.map(\.cell) == [H3.cell(at: place)])
        #expect(importing(feature(geometry: point)).items.observations.map(\.cell.h3String) == [cell])
        let polygon = #"{"coordinates":[[[0,0],[1,0],[1,1],[0,0]]],"type":"Polygon"}"#
        #expect(importing(feature(geometry: polygon)).items.observations.map(\.cell.h3String) == [cell])
        #expect(importing(feature(["h3": nil], geometry: polygon)).items.refusals.map(\.reason) == [.missing("h3")])
        let columns = importing(feature(["h3": nil, "lon": "237.6", "lat": "37.7"]))
        #expect(columns.items.observations.map(\.cell) == [H3.cell(at: place)])
        for (bad, code) in [
            ("[-122,91]", "invalid latitude"), ("[-722,9]", "invalid longitude"), ("[1e400,9]", "invalid longitude"),
            ("[1,\"9\"]", "invalid coordinates"), ("[1]", "missing coordinates"), ("[]", "missing coordinates"),
        ] {
            let geometry = #"{"type":"Point","coordinates":\#(bad)}"#
            #expect(importing(feature(["h3": nil], geometry: geometry)).items.refusals.map(\.reason.title) == [code])
        }
    }

    @Test("the feature's id counts where the properties have none, but not an id that Billow made itself")
    func theFeaturesIdCountsWhereThe() throws {
        func withID(_ id: String) -> String {
            feature().replacing(#"{"type":"Feature","#, with: #"{"type":"Feature","id":\#(id),"#)
        }
        #expect(importing(withID("\"abc\"")).items.observations.map(\.id) == ["abc"])
        #expect(importing(withID("17")).items.observations.map(\.id) == ["17"])
        let own = ObservationKey(observedAt: try #require(Instant("2026-11-21T02:00:00Z")), tag: 77).id
        #expect(importing(withID("\"\(own)\"")).items.observations.map(\.id) == [nil])
        let other = ObservationKey(observedAt: try #require(Instant("2026-11-21T01:00:00Z")), tag: 77).id
        #expect(importing(withID("\"\(other)\"")).items.observations.map(\.id) == [other])
    }
}

@Suite("Imports of CSV")
struct CSVImportTests {
    private let header = "h3,altitude_ft,severity,edr,observed_at,id,aircraft\n"
    private let row = "85283473fffffff,38000,3,,2026-11-21T02:00:00Z,a,B738\n"

    @Test("rows with quotes, a byte order mark and either line end are read")
    func rowsWithQuotesAByteOrder() throws {
        let text =
            "\u{FEFF}" + header.replacing("\n", with: "\r\n")
            + "\"85283473fffffff\", 38000 ,moderate,0.2,1700000000,\"x \"\"y\"\"\", B738 \r\n\r\n,,,,,,\r\n"
            + "85283473fffffff,38000,,0.3,2026-11-21T02:00:00Z,\"two\nlines\",\"a,b\""
        let (items, summary) = importing(text)
        #expect(items.refusals.isEmpty)
        #expect(items.observations.map(\.id) == ["x \"y\"", "two\nlines"])
        #expect(items.observations.map(\.aircraft) == ["B738", "a,b"])
        #expect(items.observations.map(\.intensity.edr?.value) == [0.2, 0.3])
        #expect(summary.read == 2)
    }

    @Test("other separators are accepted", arguments: [";", "\t"])
    func otherSeparatorsAreTaken(separator: String) {
        let text = (header + row).replacing(",", with: separator)
        #expect(importing(text).items.observations.count == 1)
    }

    @Test("an invalid row is reported with its line, and the import continues")
    func aBadRowIsNamedBy() {
        let text = header + row + "nonsense\n" + row + "\"never closed,1,2\n" + row + "a,b,c,d,e,f,g,h\n" + row
        let items = importing(text).items
        #expect(items.observations.count == 4)
        #expect(items.refusals.map(\.line) == [3, 5, 7])
        #expect(items.refusals.map(\.reason.title) == ["syntax error", "syntax error", "syntax error"])
    }

    @Test("lines are counted through quoted line ends")
    func linesAreCountedThroughQuotedLine() {
        let text = header + row.replacing("B738", with: "\"B\n\n738\"") + "nonsense\n"
        #expect(importing(text).items.refusals.map(\.line) == [5])
    }

    /// A header, and why nothing under it is taken.
    static let badHeaders: [(String, String)] = [
        ("altitude,severity,observedAt", "missing the column h3 (or longitude and latitude)"),
        ("lon,altitude,severity,observedAt", "missing the column h3 (or longitude and latitude)"),
        ("h3,severity,observedAt", "missing the column altitude"),
        ("h3,altitude,observedAt", "missing the column severity (or edr)"),
        ("h3,altitude,severity", "missing the column observedAt"),
        ("h3,altitude,severity,observedAt,altitude", "duplicate column"),
        ("h3,altitude,severity,observedAt,altitude_ft", "duplicate column"),
        ("h3,altitude,severity,observedAt,reports", "aggregated hexagon"),
        ("name,colour", "unknown format"),
        ("hello world", "unknown format"),
        ("h3,altitude,severity,observedAt,\"", "syntax error"),
    ]

    @Test("an unusable header refuses the file once", arguments: badHeaders)
    func anUnusableHeaderRefusesTheFile(header: String, code: String) {
        let (items, summary) = importing(header + "\n" + String(repeating: row, count: 20))
        #expect(items.observations.isEmpty)
        if code != "syntax error" { #expect(items.refusals.map(\.reason.title) == [code]) }
        #expect(items.refusals.first?.line == 1)
        #expect(summary.observationCount == 0)
    }

    @Test("a header alone is a file of nothing")
    func aHeaderAloneIsAFile() {
        #expect(importing(header).items.isEmpty)
        #expect(importing(String(header.dropLast())).items.isEmpty)
    }

    @Test("invalid UTF-8 refuses its row")
    func invalidUTF8RefusesItsRow() {
        var bytes = Array((header + row).utf8)
        bytes += Array("85283473fffffff,38000,3,,2026-11-21T02:00:00Z,".utf8) + [0xFF, 0xC0] + Array(",B738\n".utf8)
        bytes += Array(row.utf8)
        let items = importing(bytes).items
        #expect(items.observations.count == 2)
        #expect(items.refusals.map(\.reason) == [.notUTF8])
        #expect(items.refusals.map(\.line) == [3])
    }

    @Test("a quote that is never closed in a long file costs one line")
    func aQuoteThatIsNeverClosed() {
        let text = header + "\"" + row + String(repeating: row, count: 5_000)
        let items = importing(text).items
        #expect(items.refusals.map(\.line) == [2])
        #expect(items.observations.count == 5_000)
    }
}
