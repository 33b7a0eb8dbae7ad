import Geometry
import Testing
import Turbulence

@Suite("The words of the domain")
struct WordsTests {
    @Test("severities by number and by name")
    func severities() {
        for severity in Severity.allCases {
            #expect(Severity(severity.name) == severity)
            #expect(Severity(String(severity.rawValue)) == severity)
        }
        for text in ["", "5", "-1", "00", "01", "severe", "Smooth", "1.0"] { #expect(Severity(text) == nil) }
        #expect(SeveritySet.atLeast(.moderate) == SeveritySet([.moderate, .moderateSevere]))
        #expect(SeveritySet(rawValue: 0xFF) == .all)
    }

    @Test(
        "an altitude is floored to its block",
        arguments: [
            (0, 0), (999.9, 0), (38_000, 38), (38_999, 38), (60_999, 60), (61_000, nil), (-1, nil), (.nan, nil),
            (.infinity, nil), (1e300, nil),
        ] as [(Double, UInt8?)])
    func blocks(feet: Double, thousands: UInt8?) {
        #expect(AltitudeBlock(feet: feet)?.thousands == thousands)
    }

    @Test("a range of altitudes is whole thousands, minimum below maximum")
    func altitudeRange() throws {
        #expect(try AltitudeRange(minimumFeet: nil, maximumFeet: nil) == .all)
        for (minimum, maximum) in [
            (1_500, nil), (-1_000, nil), (61_000, nil), (5_000, 5_000), (6_000, 5_000), (nil, 0),
        ]
            as [(Int?, Int?)]
        {
            #expect(throws: ParameterError.self) {
                try AltitudeRange(minimumFeet: minimum, maximumFeet: maximum)
            }
        }
    }

    @Test(
        "EDR thresholds are lower bounds, included",
        arguments: [
            (0, .smooth), (0.0999, .smooth), (0.1, .light), (0.1499, .light), (0.15, .lightModerate),
            (0.1999, .lightModerate), (0.2, .moderate), (0.4499, .moderate), (0.45, .moderateSevere),
            (1, .moderateSevere),
        ] as [(Double, Severity)])
    func thresholds(edr: Double, severity: Severity) throws {
        let edr = try #require(EDR(edr))
        #expect(SeverityThresholds.medium.severity(of: edr) == severity)
    }

    @Test("EDR is 0 to 1", arguments: [-0.001, 1.001, .nan, .infinity, -.infinity])
    func edr(value: Double) {
        #expect(EDR(value) == nil)
    }

    @Test("a category without thresholds of its own has those of C60")
    func table() throws {
        let steps = [0.2, 0.3, 0.4, 0.5].compactMap { EDR($0) }
        let own = try #require(
            SeverityThresholds(light: steps[0], lightModerate: steps[1], moderate: steps[2], moderateSevere: steps[3]))
        let largest = try #require(AircraftCategory("C110"))
        #expect(SeverityTable([.default: own]).thresholds(for: largest) == own)
        #expect(
            SeverityThresholds(light: steps[0], lightModerate: steps[0], moderate: steps[2], moderateSevere: steps[3])
                == nil)
        #expect(SeverityTable().thresholds(for: .default) == .medium)
        #expect(AircraftCategory("C65") == nil)
        #expect(AircraftCategory(number: 120) == nil)
    }

    @Test("histories are five, and no other")
    func histories() {
        #expect(History.allCases.map(\.text) == ["0.5", "1", "2", "4", "6"])
        for text in ["", "3", "2.0", "02", "-1", "12"] { #expect(History(text) == nil) }
    }

    @Test("an id made of a key reads back, and nothing else does")
    func keys() {
        let key = ObservationKey(observedAt: Instant(clamping: 1_790_000_000), tag: 12_345)
        #expect(ObservationKey(id: key.id) == key)
        #expect(key.observedAt.seconds == 1_790_000_000)
        for text in ["", "o", "x1234567890123456", "o12345678901234567", "offffffffffffffff", "o-234567890123456"] {
            #expect(ObservationKey(id: text) == nil)
        }
    }

    @Test("source ids are short and plain")
    func sources() {
        #expect(SourceID("sky-path_2.0")?.name == "sky-path_2.0")
        for text in ["", "a b", "é", "a/b", String(repeating: "a", count: 65)] { #expect(SourceID(text) == nil) }
    }
}
