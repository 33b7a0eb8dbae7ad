import Geometry
import TestSupport
import Testing
import Turbulence

@testable import BillowSnapshot

/// Rows made by hand, around one cell.
struct RowMaker {
    static let start = Instant(clamping: 1_790_000_000)
    static let sources: [SourceRecord] = [
        SourceRecord(number: SourceNumber(rawValue: 0), id: SourceID("skypath")!, merge: .replace),
        SourceRecord(number: SourceNumber(rawValue: 1), id: SourceID("pilots")!, merge: .keep),
        SourceRecord(number: SourceNumber(rawValue: 2), id: SourceID("other")!, merge: .replace),
    ]
    static let cell = H3.cell(at: LonLat(longitude: 10, latitude: 50)!)

    static func row(
        _ severity: Severity?, minute: Int, source: UInt8 = 0, altitude: Int = 35, top: Int? = nil, cell: Cell = cell,
        category: String? = nil, edr: Double? = nil, kind: ObservationKind = .inSitu, tag: UInt32 = 0
    ) -> ObservationRow {
        let observedAt = start.advanced(by: minute * 60)
        return ObservationRow(
            key: ObservationKey(
                observedAt: observedAt,
                tag: tag &* 7_919 &+ UInt32(source) << 20 &+ UInt32(altitude) << 8 &+ UInt32(severity?.rawValue ?? 9)),
            cell: cell,
            altitude: AltitudeBand(
                lowest: AltitudeBlock(thousands: altitude)!, highest: AltitudeBlock(thousands: top ?? altitude)!)!,
            intensity: Intensity(severity: severity, edr: edr.flatMap { EDR($0) })!, observedAt: observedAt,
            category: category.flatMap { AircraftCategory($0) }, source: SourceNumber(rawValue: source), kind: kind,
            since: Version(rawValue: 1))
    }

    static func frame(_ rows: [ObservationRow], minute: Int, _ filter: Filter = Filter()) -> Frame {
        Frame(
            window: Window(rows: rows, sources: sources), at: start.advanced(by: minute * 60), filter: filter,
            table: SeverityTable())
    }

    static func severity(_ rows: [ObservationRow], minute: Int, _ filter: Filter = Filter()) -> Severity? {
        let frame = frame(rows, minute: minute, filter)
        let hexagon = frame.hexagons().first { $0.record.row.cell == cell }?.record.severity
        // Pixels and features come from the same rows.
        #expect(frame.plane().severity(resolution: 5, dense: Int(cell.dense)) == hexagon)
        return hexagon
    }
}

@Suite("The standing observation")
struct CurrentObservationTests {
    @Test("4 → 0 at one cell and level from a source of computed values shows 0, and 4 in the picture in between")
    func computedValuesReplace() {
        let rows = [RowMaker.row(.moderateSevere, minute: 0), RowMaker.row(.smooth, minute: 20)]
        #expect(RowMaker.severity(rows, minute: 30) == .smooth)
        #expect(RowMaker.severity(rows, minute: 20) == .smooth)
        #expect(RowMaker.severity(rows, minute: 19) == .moderateSevere)
        #expect(RowMaker.severity(rows, minute: 0) == .moderateSevere)
        #expect(RowMaker.severity(rows, minute: -1) == nil)
    }

    @Test("4 → 0 from independent reports stays 4 until the history is over")
    func independentReportsStay() {
        let rows = [
            RowMaker.row(.moderateSevere, minute: 0, source: 1), RowMaker.row(.smooth, minute: 20, source: 1),
        ]
        #expect(RowMaker.severity(rows, minute: 30) == .moderateSevere)
        #expect(RowMaker.severity(rows, minute: 119) == .moderateSevere)
        #expect(RowMaker.severity(rows, minute: 120) == .smooth)
        #expect(RowMaker.severity(rows, minute: 140) == nil)
    }

    @Test("a 0 at another level, from another source or for another category erases nothing")
    func otherPlacesStay() {
        let four = RowMaker.row(.moderateSevere, minute: 0)
        #expect(
            RowMaker.severity([four, RowMaker.row(.smooth, minute: 20, altitude: 36)], minute: 30) == .moderateSevere)
        #expect(RowMaker.severity([four, RowMaker.row(.smooth, minute: 20, source: 2)], minute: 30) == .moderateSevere)
        #expect(
            RowMaker.severity([four, RowMaker.row(.smooth, minute: 20, category: "C60")], minute: 30) == .moderateSevere
        )
    }

    @Test("a replaced record does not come back through a severity filter")
    func filterAfterReplacement() {
        let rows = [RowMaker.row(.moderateSevere, minute: 0), RowMaker.row(.smooth, minute: 20)]
        #expect(RowMaker.severity(rows, minute: 30, Filter(severities: .atLeast(.light))) == nil)
    }

    @Test("records across hours and in any order of arrival replace each other")
    func arrivalOrder() {
        let rows = (0..<5).map { RowMaker.row(Severity(rawValue: UInt8($0)), minute: $0 * 50) }
        for seed in 0..<6 {
            var random = SeededGenerator(seed: UInt64(seed))
            var window = Window()
            for row in rows.shuffled(using: &random) {
                window.update(opened: [row], closed: [], sources: RowMaker.sources)
            }
            for minute in stride(from: 0, through: 240, by: 30) {
                let frame = Frame(
                    window: window, at: RowMaker.start.advanced(by: minute * 60), filter: Filter(history: .sixHours),
                    table: SeverityTable())
                #expect(frame.hexagons().map(\.record.severity.rawValue) == [UInt8(minute / 50)])
                #expect(frame.currentObservations().count == 1)
            }
        }
    }

    @Test("closing a row brings back what it had replaced")
    func closing() {
        let old = RowMaker.row(.moderate, minute: 0)
        let new = RowMaker.row(.smooth, minute: 10)
        var window = Window(rows: [old, new], sources: RowMaker.sources)
        window.update(opened: [], closed: [new], sources: RowMaker.sources)
        let frame = Frame(
            window: window, at: RowMaker.start.advanced(by: 1_200), filter: Filter(), table: SeverityTable())
        #expect(frame.hexagons().map(\.record.severity) == [.moderate])
    }

    @Test("the window (T − h, T] holds its end and not its start", arguments: History.allCases)
    func windowEdges(history: History) {
        let rows = [RowMaker.row(.light, minute: 0, source: 1)]
        let minutes = history.seconds / 60
        #expect(RowMaker.severity(rows, minute: 0, Filter(history: history)) == .light)
        #expect(RowMaker.severity(rows, minute: minutes - 1, Filter(history: history)) == .light)
        #expect(RowMaker.severity(rows, minute: minutes, Filter(history: history)) == nil)
    }

    @Test(
        "altitude bands overlap [minimum, maximum)",
        arguments: [
            (nil, nil, true), (35_000, 36_000, true), (36_000, 37_000, true), (37_000, nil, true), (38_000, nil, false),
            (nil, 35_000, false), (nil, 36_000, true), (30_000, 60_000, true),
        ] as [(Int?, Int?, Bool)])
    func altitudes(minimum: Int?, maximum: Int?, expected: Bool) throws {
        let rows = [RowMaker.row(.light, minute: 0, altitude: 35, top: 37)]
        let range = try AltitudeRange(minimumFeet: minimum, maximumFeet: maximum)
        #expect((RowMaker.severity(rows, minute: 0, Filter(altitudes: range)) == .light) == expected)
    }

    @Test("a severity counts for its category, EDR is classed by the category requested")
    func categories() throws {
        let table = SeverityTable([
            AircraftCategory("C10")!: SeverityThresholds(
                light: EDR(0.05)!, lightModerate: EDR(0.08)!, moderate: EDR(0.12)!, moderateSevere: EDR(0.3)!)!
        ])
        func found(_ row: ObservationRow, _ category: String) -> CurrentObservation? {
            Frame(
                window: Window(rows: [row], sources: RowMaker.sources), at: RowMaker.start,
                filter: Filter(category: AircraftCategory(category)!), table: table
            ).currentObservations().first
        }
        let measured = RowMaker.row(nil, minute: 0, edr: 0.13)
        #expect(found(measured, "C60")?.severity == .light)
        #expect(found(measured, "C10")?.severity == .moderate)
        #expect(found(measured, "C10")?.basis == .edr)
        let given = RowMaker.row(.lightModerate, minute: 0, category: "C60")
        #expect(found(given, "C60")?.severity == .lightModerate)
        #expect(found(given, "C10") == nil)
        let both = RowMaker.row(.lightModerate, minute: 0, category: "C60", edr: 0.13)
        #expect(found(both, "C60")?.basis == .reported)
        #expect(found(both, "C10")?.severity == .moderate)
        let forAll = RowMaker.row(.lightModerate, minute: 0)
        #expect(found(forAll, "C10")?.severity == .lightModerate)
    }

    @Test("the most severe wins, then the newest; reports counts them all")
    func aggregation() {
        let rows = [
            RowMaker.row(.moderate, minute: 0, source: 1), RowMaker.row(.moderate, minute: 5, source: 1, altitude: 30),
            RowMaker.row(.light, minute: 9, source: 1), RowMaker.row(.smooth, minute: 9, source: 0),
        ]
        let hexagon = RowMaker.frame(rows, minute: 10).hexagons().first
        #expect(hexagon?.record.severity == .moderate)
        #expect(hexagon?.record.row.altitude.lowest.thousands == 30)
        #expect(hexagon?.reports == 4)
    }

    @Test("sources and kinds filter")
    func sourcesAndKinds() {
        let rows = [
            RowMaker.row(.moderate, minute: 0, source: 1, kind: .pilotReport), RowMaker.row(.light, minute: 0),
        ]
        #expect(RowMaker.severity(rows, minute: 0, Filter(sources: [SourceID("skypath")!])) == .light)
        #expect(RowMaker.severity(rows, minute: 0, Filter(sources: [SourceID("nobody")!])) == nil)
        #expect(RowMaker.severity(rows, minute: 0, Filter(kinds: [.pilotReport])) == .moderate)
    }
}

@Suite("A window against a slow oracle")
struct WindowOracleTests {
    /// Every rule again, in the plainest way.
    static func expected(_ rows: [ObservationRow], at instant: Instant, history: Int) -> [Cell: (Severity, Int)] {
        var found: [Cell: (Severity, Int)] = [:]
        for row in rows {
            guard row.observedAt <= instant, row.observedAt > instant.advanced(by: -history) else { continue }
            let replaces = RowMaker.sources[Int(row.source.rawValue)].merge == .replace
            let isReplaced =
                replaces
                && rows.contains {
                    $0.source == row.source && $0.cell == row.cell && $0.altitude == row.altitude
                        && $0.category == row.category && $0.observedAt > row.observedAt && $0.observedAt <= instant
                }
            guard !isReplaced, let severity = row.intensity.severity else { continue }
            let old = found[row.cell]
            found[row.cell] = (max(old?.0 ?? .smooth, severity), (old?.1 ?? 0) + 1)
        }
        return found
    }

    @Test("random histories of arrivals and retractions give the oracle's picture", arguments: 0..<8)
    func randomHistories(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        let cells = H3.disk(around: RowMaker.cell, distance: 2)
        var open: [ObservationRow] = []
        var window = Window()
        for step in 0..<25 {
            var opened: [ObservationRow] = []
            for index in 0..<Int.random(in: 0...12, using: &random) {
                let row = RowMaker.row(
                    Severity.allCases.randomElement(using: &random), minute: .random(in: -200...200, using: &random),
                    source: .random(in: 0...2, using: &random), altitude: .random(in: 34...36, using: &random),
                    cell: cells.randomElement(using: &random) ?? RowMaker.cell, tag: UInt32(step * 100 + index))
                if !open.contains(where: { $0.key == row.key }), !opened.contains(where: { $0.key == row.key }) {
                    opened.append(row)
                }
            }
            let closed = open.filter { _ in .random(in: 0..<10, using: &random) == 0 }
            open.removeAll { closed.contains($0) }
            open += opened
            window.update(opened: opened, closed: closed, sources: RowMaker.sources)
            #expect(window.count == open.count)
        }
        for minute in stride(from: -200, through: 260, by: 47) {
            let instant = RowMaker.start.advanced(by: minute * 60)
            for history in [History.halfHour, .twoHours, .sixHours] {
                let expected = Self.expected(open, at: instant, history: history.seconds)
                let frame = Frame(
                    window: window, at: instant, filter: Filter(history: history), table: SeverityTable())
                let found = frame.hexagons()
                #expect(found.count == expected.count)
                for hexagon in found {
                    #expect(expected[hexagon.record.row.cell]?.0 == hexagon.record.severity)
                    #expect(expected[hexagon.record.row.cell]?.1 == hexagon.reports)
                }
                #expect(frame.currentObservations().count == expected.values.reduce(0) { $0 + $1.1 })
                #expect(frame.plane().count == expected.count)
                // Pages join up.
                var pages: [Hexagon] = []
                while true {
                    let page = frame.hexagons(after: pages.last?.record.row.cell, limit: 3)
                    pages += page
                    if page.count < 3 { break }
                }
                #expect(pages == found)
            }
        }
    }
}

@Suite("Parents at low zoom")
struct ParentTests {
    @Test("a parent is as bad as its worst child; smooth only if half of its cells are observed")
    func parents() {
        let cell = RowMaker.cell
        let siblings = (0..<7).compactMap { Cell(dense: Int(cell.dense) / 7 * 7 + $0) }
        func parent(_ severities: [Severity?]) -> Severity? {
            let rows = zip(siblings, severities).compactMap { cell, severity in
                severity.map { RowMaker.row($0, minute: 0, cell: cell) }
            }
            return RowMaker.frame(rows, minute: 0).plane().severity(resolution: 4, dense: Int(cell.dense) / 7)
        }
        #expect(parent([.smooth, .smooth, .smooth]) == nil)
        #expect(parent([.smooth, .smooth, .smooth, .smooth]) == .smooth)
        #expect(parent([nil, nil, nil, nil, nil, nil, .moderate]) == .moderate)
        #expect(parent([.smooth, .light, .moderateSevere]) == .moderateSevere)
        #expect(parent([]) == nil)
    }

    @Test("one smooth report paints nothing at any coarser resolution, one rough report paints all of them")
    func allResolutions() {
        for (severity, resolutions) in [(Severity.smooth, 5...5), (.light, 0...5)] {
            let plane = RowMaker.frame([RowMaker.row(severity, minute: 0)], minute: 0).plane()
            for resolution in 0...5 {
                var dense = Int(RowMaker.cell.dense)
                for _ in resolution..<5 { dense /= 7 }
                #expect(
                    plane.severity(resolution: resolution, dense: dense)
                        == (resolutions.contains(resolution) ? severity : nil))
            }
        }
    }
}
