import Datasets
import Geometry
import Testing
import Turbulence

@testable import BillowExchange

@Suite("Formulas in CSV")
struct CSVFormulaTests {
    @Test(
        "a text that a spreadsheet would compute is marked, and read back as it was",
        arguments: [
            "=cmd|' /C calc'!A0", "=HYPERLINK(\"http://x\",\"y\")", "@SUM(1,2)", "+1+1", "-1", "\t=1+1", "'=1", "''-",
            "'",
            "B738", "a=b", "", "'quoted'",
        ])
    func roundTrip(text: String) throws {
        let isFormula = text.drop { $0 == "'" }.first.map { "=+-@\t".contains($0) } ?? false
        #expect(CSVFormula.isOne(text) == isFormula)
        let cell = isFormula ? CSVFormula.mark + text : text
        #expect(CSVFormula.unmarked(cell) == text)
        #expect(!cell.hasPrefix("=") && !cell.hasPrefix("@") && !cell.hasPrefix("+") && !cell.hasPrefix("-"))
    }

    @Test("an export marks ids and aircraft, leaves numbers alone, and an import takes the marks away")
    func export() throws {
        let place = try #require(LonLat(longitude: -10, latitude: -20))
        let observation = Observation(
            id: "=1+1", cell: H3.cell(at: place),
            altitude: AltitudeBand(try #require(AltitudeBlock(thousands: 30))), intensity: .reported(.light, edr: nil),
            observedAt: testNow.advanced(by: -60), category: nil, source: try #require(SourceID("import")),
            kind: .inSitu, aircraft: "@SUM(1,2)")
        var writer = FeatureWriter(.observations, as: .csv)
        writer.begin()
        writer.write(
            ObservationFeature(observation, id: "=1+1", severity: .light, basis: .reported), geometry: .encoded([]))
        writer.end()
        let text = String(decoding: writer.drain(), as: UTF8.self)
        #expect(text.contains("\r\n'=1+1,"))
        #expect(text.contains("\"'@SUM(1,2)\""))
        #expect(text.contains(",-") && !text.contains("'-"))
        let read = try #require(importing(text).items.observations.first)
        #expect(read.id == "=1+1")
        #expect(read.aircraft == "@SUM(1,2)")
    }
}
