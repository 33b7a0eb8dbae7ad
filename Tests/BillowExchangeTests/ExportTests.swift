import BillowExchange
import Datasets
import Foundation
import Geometry
import Testing
import Turbulence

/// A ring of a cell as the geometry module's own code will give it, near enough for a file.
private func ring(_ cell: Cell) -> FeatureGeometry {
    let vertices = H3.boundary(h3: cell.h3)
    return .polygon([vertices + vertices.prefix(1)])
}

/// Observations with every sort of value, seeded.
private func samples(_ count: Int) throws -> [Observation] {
    var state: UInt64 = 20_261_121
    func next(_ bound: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int(state >> 33) % bound
    }
    let texts = ["B738", "a,b", "say \"hi\"", "two\nlines", " blank ", "É🚀\u{2028}", "back\\slash", "\u{1}\t"]
    return try (0..<count).map { index in
        let lowest = next(61)
        let place = LonLat(longitude: Double(next(360_000)) / 1_000 - 180, latitude: Double(next(180_000)) / 1_000 - 90)
        let severity = try #require(Severity(rawValue: UInt8(next(5))))
        let edr = try #require(EDR(tenThousandths: next(10_001)))
        let bottom = try #require(AltitudeBlock(thousands: lowest))
        let top = try #require(AltitudeBlock(thousands: min(60, lowest + next(4))))
        return Observation(
            id: next(2) == 0 ? nil : "id-\(index)-\(texts[next(texts.count)])", cell: H3.cell(at: try #require(place)),
            altitude: try #require(AltitudeBand(lowest: bottom, highest: top)),
            intensity: [.measured(edr), .reported(severity, edr: edr), .reported(severity, edr: nil)][next(3)],
            observedAt: Instant(clamping: testNow.seconds - next(1_000_000)),
            category: next(2) == 0 ? nil : AircraftCategory(number: 10 * (1 + next(11))),
            source: try #require(SourceID(["skypath", "import", "a.b-c_d"][next(3)])),
            kind: next(2) == 0 ? .inSitu : .pilotReport, aircraft: next(2) == 0 ? nil : texts[next(texts.count)])
    }
}

private let members = CollectionMembers(
    version: Version(rawValue: 12), time: testNow, history: .halfHour, dataTime: nil, stale: false, simulated: true,
    completeSince: Instant(clamping: 0), incomplete: true)

private func write(_ observations: [Observation], as format: ExportFormat) -> [UInt8] {
    var writer = FeatureWriter(.observations, as: format, members: members)
    var bytes: [UInt8] = []
    writer.begin()
    for (index, observation) in observations.enumerated() {
        let severity =
            observation.intensity.severity ?? observation.intensity.edr.map(SeverityThresholds.medium.severity(of:))
            ?? .smooth
        writer.write(
            ObservationFeature(
                observation,
                id: observation.id ?? ObservationKey(observedAt: observation.observedAt, tag: UInt32(index)).id,
                severity: severity, basis: observation.intensity.severity == nil ? .edr : .reported),
            geometry: index % 2 == 0 ? ring(observation.cell) : FeatureWriter.encoded(ring(observation.cell)))
        if index % 7 == 0 { bytes += writer.drain() }
    }
    writer.end()
    return bytes + writer.drain()
}

@Suite("Exports")
struct ExportTests {
    @Test("an export can be imported unchanged", arguments: ExportFormat.imported)
    func whatWasExportedIsImportedAs(format: ExportFormat) throws {
        let observations = try samples(300)
        let (items, summary) = importing(write(observations, as: format))
        #expect(items.refusals.isEmpty)
        #expect(items.observations == observations)
        #expect(summary.read == 300)
    }

    @Test("an export of hexagons is refused with a reason", arguments: ExportFormat.imported)
    func anExportOfHexagonsIsRefused(format: ExportFormat)
        throws
    {
        var writer = FeatureWriter(.hexagons, as: format, members: members)
        writer.begin()
        for observation in try samples(20) {
            writer.write(
                ObservationFeature(
                    observation, id: observation.cell.h3String, severity: .light, basis: .reported, reports: 1),
                geometry: ring(observation.cell))
        }
        writer.end()
        let (items, summary) = importing(writer.drain())
        #expect(items.observations.isEmpty)
        #expect(summary.refusals.keys.sorted() == ["aggregated hexagon"])
        #expect(items.refusals.first?.reason.description.contains("aggregated") == true)
    }

    @Test("exported pilot reports are imported as they were", arguments: ExportFormat.imported)
    func exportedPilotReportsAreImportedAs(
        format: ExportFormat
    ) throws {
        let items = try importing(Fixture.florida.data()).items + importing(Fixture.northEast.data()).items
        var writer = FeatureWriter(.pireps, as: format, members: members)
        writer.begin()
        for report in items.pilotReports { writer.write(report) }
        writer.end()
        #expect(writer.features == 73)
        let again = importing(writer.drain()).items
        #expect(again.refusals.isEmpty)
        #expect(again.pilotReports == items.pilotReports)
        #expect(again.placed == items.placed)
    }

    @Test("a FeatureCollection has the members and properties of the contract, in order")
    func aFeatureCollectionHasTheMembersAnd() throws {
        let cell = try #require(Cell(h3String: "85283473fffffff"))
        let observation = Observation(
            id: "a\"b", cell: cell, altitude: AltitudeBand(try #require(AltitudeBlock(thousands: 38))),
            intensity: .reported(.moderateSevere, edr: EDR(0.5)), observedAt: testNow, category: .default,
            source: .import, aircraft: "B738")
        var writer = FeatureWriter(.hexagons, as: .geojson, members: members)
        writer.begin()
        let place = try #require(LonLat(longitude: -0.123_456_789, latitude: 10))
        writer.write(
            ObservationFeature(
                observation, id: observation.cell.h3String, severity: .moderateSevere, basis: .reported, reports: 3,
                trend: .worse),
            geometry: .multiPolygon([[[place, place]], [[place]]]))
        writer.end {
            $0.name("numberReturned")
            $0.value(1)
        }
        #expect(
            String(decoding: writer.bytes, as: UTF8.self) == """
                {"type":"FeatureCollection","version":12,"time":"2026-11-21T02:30:00Z","history":0.5,"dataTime":null,\
                "stale":false,"simulated":true,"completeSince":"1970-01-01T00:00:00Z","incomplete":true,"features":[
                {"type":"Feature","id":"85283473fffffff","geometry":{"type":"MultiPolygon","coordinates":\
                [[[[-0.1234568,10],[-0.1234568,10]]],[[[-0.1234568,10]]]]},"properties":{"h3":"85283473fffffff",\
                "altitude":38000,"altitudeMin":38000,"altitudeMax":38000,"severity":4,"severityName":"moderate-severe",\
                "severityBasis":"reported","edr":0.5,"observedAt":"2026-11-21T02:30:00Z","source":"import",\
                "kind":"in-situ","category":"C60","aircraft":"B738","reports":3,"trend":"worse"}}
                ],"numberReturned":1}

                """)
    }

    @Test("an empty FeatureCollection is one, and Foundation reads what was written")
    func anEmptyFeatureCollectionIsOneAnd() throws {
        let empty = try JSONSerialization.jsonObject(with: Data(write([], as: .geojson)))
        #expect(((empty as? [String: Any])?["features"] as? [Any])?.count == 0)
        let observations = try samples(100)
        let read = try JSONSerialization.jsonObject(with: Data(write(observations, as: .geojson)))
        let features = try #require((read as? [String: Any])?["features"] as? [[String: Any]])
        #expect(features.count == 100)
        let aircraft = features.map { ($0["properties"] as? [String: Any])?["aircraft"] as? String }
        #expect(aircraft == observations.map(\.aircraft))
    }

    @Test("a text sequence has a separator before and a newline behind each feature")
    func aTextSequenceHasASeparator() throws {
        let bytes = write(try samples(3), as: .geojsons)
        #expect(bytes.count { $0 == 0x1E } == 3)
        #expect(bytes.count { $0 == 0x0A } == 3)
        #expect(bytes.first == 0x1E)
        let lines = write(try samples(3), as: .geojsonl)
        #expect(lines.count { $0 == 0x0A } == 3)
        #expect(!lines.contains(0x1E))
    }

    /// value, decimals, text
    static let numbers: [(Double, Int, String)] = [
        (0, 7, "0"), (-0.0, 7, "0"), (1, 7, "1"), (-180, 7, "-180"), (0.1, 7, "0.1"), (-0.000_000_04, 7, "0"),
        (-0.000_000_06, 7, "-0.0000001"), (179.999_999_99, 7, "180"), (12.345_678_9, 7, "12.3456789"),
        (-122.050_000_1, 7, "-122.0500001"), (0.15, 4, "0.15"), (1e9, 0, "1000000000"), (1e10, 7, "null"),
        (.nan, 7, "null"), (.infinity, 7, "null"), (2.5, 0, "3"), (1e9, 9, "1000000000"),
    ]

    @Test("numbers are as short as can be", arguments: numbers)
    func numbersAreAsShortAsCan(value: Double, decimals: Int, text: String) {
        var json = JSONWriter()
        json.value(value, decimals: decimals)
        #expect(String(decoding: json.bytes, as: UTF8.self) == text)
    }

    @Test("a geometry written once is the same as one written each time")
    func aGeometryWrittenOnceIsThe() throws {
        let observation = try #require(samples(1).first)
        for geometry in [ring(observation.cell), .point(H3.center(of: observation.cell)), .multiPolygon([])] {
            func bytes(_ geometry: FeatureGeometry) -> [UInt8] {
                var writer = FeatureWriter(.observations, as: .geojsonl)
                writer.write(
                    ObservationFeature(observation, id: "x", severity: .light, basis: .reported), geometry: geometry)
                return writer.drain()
            }
            #expect(bytes(geometry) == bytes(FeatureWriter.encoded(geometry)))
        }
    }

    @Test("instants are written as they describe themselves")
    func instantsAreWrittenAsTheyDescribe() {
        var json = JSONWriter()
        json.openArray()
        let instants = [0, 86_399, 86_400, 1_709_164_800, 951_782_399, Instant.range.upperBound].map(
            Instant.init(clamping:))
        for instant in instants { json.value(instant) }
        json.closeArray()
        #expect(
            String(decoding: json.bytes, as: UTF8.self)
                == "[" + instants.map { "\"\($0)\"" }.joined(separator: ",") + "]")
    }

    @Test("integers of any size are written")
    func integersOfAnySizeAreWritten() {
        for value in [Int64.min, -1, 0, 9, 10, 1_000_000, .max] {
            var json = JSONWriter()
            json.value(value)
            #expect(String(decoding: json.bytes, as: UTF8.self) == String(value))
        }
    }
}
