import Geometry
import TestSupport
import Testing
import Turbulence

@testable import BillowSnapshot

@Suite("Windows of hours")
struct WindowTests {
    /// Some hours of rows at few places, so that most are replaced, some within their second.
    private static func rows(_ count: Int) -> [ObservationRow] {
        var random = SeededGenerator(seed: 3)
        let siblings = (0..<7).compactMap { Cell(dense: Int(RowMaker.cell.dense) / 7 * 7 + $0) }
        let rows = (0..<count).compactMap { number -> ObservationRow? in
            guard let cell = siblings.randomElement(using: &random) else { return nil }
            return RowMaker.row(
                Severity(rawValue: UInt8.random(in: 0...4, using: &random)),
                minute: Int.random(in: 0..<240, using: &random), source: UInt8.random(in: 0...2, using: &random),
                altitude: Int.random(in: 30...45, using: &random), cell: cell, tag: UInt32(number))
        }
        return rows.sorted { $0.key < $1.key }
    }

    private static func records(_ window: Window, minute: Int) -> [CurrentObservation] {
        Frame(
            window: window, at: RowMaker.start.advanced(by: minute * 60), filter: Filter(),
            table: SeverityTable()
        ).currentObservations()
    }

    @Test("parts read one by one and joined, all rows at once, and rows that came bit by bit are the same picture")
    func joined() {
        // More in a part than are sorted by comparing.
        let rows = Self.rows(60_000)
        let sources = RowMaker.sources
        let atOnce = Window(rows: rows, sources: sources)
        let parts = Dictionary(grouping: rows) { ArchivePart($0.observedAt) }
        let joined = Window(joining: parts.map { WindowPart($0, rows: $1) }, sources: sources)
        // Two parts have rows of one hour, and in the other case of all hours.
        let halfHours = Dictionary(grouping: rows) { $0.observedAt.seconds / 1_800 }
        let anyRows = Dictionary(grouping: rows) { $0.key.rawValue % 3 }
        let inParts = Window(joining: halfHours.values.map { Window(partOf: $0) }, sources: sources)
        let inAnyParts = Window(joining: anyRows.values.map { Window(partOf: $0) }, sources: sources)
        var bitByBit = Window()
        for start in stride(from: 0, to: rows.count, by: 1_500) {
            // The newest first, too: what comes late is linked as well.
            let end = rows.count - start
            bitByBit.update(opened: Array(rows[max(end - 1_500, 0)..<end].reversed()), closed: [], sources: sources)
        }
        #expect(parts.count >= 12)
        #expect(parts.values.contains { $0.count > 4_096 })
        #expect(halfHours.count >= 8 && anyRows.count == 3)
        for window in [joined, inParts, inAnyParts] { #expect(window.count == rows.count) }
        for minute in [0, 59, 130, 200, 239] {
            let expected = Self.records(bitByBit, minute: minute)
            #expect(!expected.isEmpty)
            #expect(Self.records(atOnce, minute: minute) == expected)
            #expect(Self.records(joined, minute: minute) == expected)
            #expect(Self.records(inParts, minute: minute) == expected)
            #expect(Self.records(inAnyParts, minute: minute) == expected)
        }
    }
}
