import Geometry
import TestSupport
import Testing
import Turbulence

@testable import BillowSnapshot

@Suite("Packed parts")
struct WindowPartTests {
    private static let part = ArchivePart(RowMaker.start)

    /// Rows of one part at random: some of a second, some at one place, pentagons and the last cells among them.
    private static func rows(
        _ count: Int, seed: UInt64, sources: ClosedRange<UInt8> = 0...2, hasEDRs: Bool = true
    ) -> [ObservationRow] {
        var random = SeededGenerator(seed: seed)
        var keys = Set<Int64>()
        // Base cells 4 and 117 have pentagons.
        let bases = [0, 4, 5, 60, 117, 121].map { $0 * Cell.slotsPerBaseCell }
        while keys.count < count {
            let second = part.start.advanced(by: Int.random(in: 0..<ArchivePart.seconds, using: &random))
            let tag = UInt32.random(in: 0..<1 << 30, using: &random)
            keys.insert(ObservationKey(observedAt: second, tag: tag).rawValue)
        }
        return keys.sorted().compactMap { key in
            guard let base = bases.randomElement(using: &random),
                let cell = Cell(dense: base + Int.random(in: 0..<Cell.slotsPerBaseCell, using: &random))
            else { return nil }
            let lowest = Int.random(in: 0...60, using: &random)
            let isGiven = !hasEDRs || Bool.random(using: &random)
            let isMeasured = hasEDRs && (!isGiven || Bool.random(using: &random))
            guard let low = AltitudeBlock(thousands: lowest),
                let high = AltitudeBlock(thousands: Int.random(in: lowest...60, using: &random)),
                let altitude = AltitudeBand(lowest: low, highest: high),
                let intensity = Intensity(
                    severity: isGiven ? Severity(rawValue: UInt8.random(in: 0...4, using: &random)) : nil,
                    edr: isMeasured ? EDR(tenThousandths: Int.random(in: 0...10_000, using: &random)) : nil)
            else { return nil }
            return ObservationRow(
                key: ObservationKey(rawValue: key), cell: cell, altitude: altitude, intensity: intensity,
                observedAt: ObservationKey(rawValue: key).observedAt,
                category: (AircraftCategory.all + [nil]).randomElement(using: &random) ?? nil,
                source: SourceNumber(rawValue: UInt8.random(in: sources, using: &random)),
                kind: Bool.random(using: &random) ? .inSitu : .pilotReport, since: .zero)
        }
    }

    /// The rows of a part, by key.
    private static func rows(of part: WindowPart) -> [ObservationRow] {
        (0..<part.count).compactMap { part.segment.row($0) }.sorted { $0.key < $1.key }
    }

    @Test(
        "what is packed and read again is the same rows, and the same bytes once more",
        arguments: 0..<20 as Range<UInt64>)
    func roundTrip(seed: UInt64) throws {
        let rows = Self.rows(Int(seed * seed * 2), seed: seed, hasEDRs: seed % 3 != 0)
        let packed = WindowPart(Self.part, rows: rows.shuffled()).packed()
        let read = try WindowPart(Self.part, packed: packed)
        #expect(Self.rows(of: read) == rows)
        #expect(read.packed() == packed)
        #expect(read.segment.chunkStarts == WindowPart(Self.part, rows: rows).segment.chunkStarts)
    }

    @Test("so are rows of more kinds of place than a byte, and than two, can number")
    func manyKinds() throws {
        #expect(WindowPart(Self.part, rows: Self.rows(200, seed: 1, hasEDRs: false)).packed().count < 200 * 16)
        for count in [2_000, 90_000] {
            let rows = Self.rows(count, seed: 2, sources: 0...255)
            let packed = WindowPart(Self.part, rows: rows).packed()
            let kinds = Set(rows.map { RowKey(of: $0).bits & UInt64(RowKey.kindMask) }).count
            #expect(kinds > (count < 10_000 ? 256 : 65_536))
            #expect(try Self.rows(of: WindowPart(Self.part, packed: packed)) == rows)
        }
    }

    @Test("a part without rows is a header, and a window of it is empty")
    func empty() throws {
        let packed = WindowPart(Self.part, rows: []).packed()
        #expect(packed.count == PackedHeader.length)
        let window = Window(joining: [try WindowPart(Self.part, packed: packed)], sources: RowMaker.sources)
        #expect(window.count == 0 && window.newest == nil)
    }

    @Test("each damage is found for what it is")
    func damage() throws {
        let rows = Self.rows(300, seed: 5)
        let good = WindowPart(Self.part, rows: rows).packed()
        let header = try good.withUnsafeBytes { try PackedHeader($0) }
        func damage(at offset: Int, _ bytes: [UInt8], sealed: Bool = true) -> PackDamage? {
            var damaged = good
            damaged.replaceSubrange(offset..<offset + bytes.count, with: bytes)
            if sealed { PackedHeader.seal(&damaged) }
            do throws(PackDamage) { _ = try WindowPart(Self.part, packed: damaged) } catch { return error }
            return nil
        }
        #expect(damage(at: 30, [good[30] ^ 1], sealed: false) == .checksum)
        #expect(damage(at: 0, [2, 0, 0, 0]) == .format(2))
        #expect(damage(at: 8, [1, 0, 0, 0]) == .part(1))
        #expect(damage(at: 12, [255, 255, 255, 255]) == .length(good.count))
        #expect(damage(at: 16, [255, 255, 255, 255]) == .length(good.count))
        let values: [(at: Int, bytes: [UInt8], name: String)] = [
            (PackedHeader.length + 3, [1], "kind of place"),
            // 63,000 ft, then a bottom above its top, then category 150.
            (PackedHeader.length, [63], "kind of place"), (PackedHeader.length, [0, 8], "kind of place"),
            (PackedHeader.length + 1, [0xF0], "kind of place"),
            (header.kindsAt, [255, 255], "kind of place"), (header.secondsAt, [0xB0, 4], "second"),
            (header.tagsAt + 3, [0x40], "tag"), (header.severitiesAt, [5], "severity"),
            (header.severitiesAt, [0x3F], "kind of observation"), (header.edrsAt, [0x11, 0x27], "EDR"),
            (header.cellsAt, [255, 255, 255, 127], "cell"),
        ]
        for value in values {
            let found = damage(at: value.at, value.bytes)
            // One value out of its range may be found by another that depends on it.
            guard case .value = found else {
                Issue.record("\(value.name) at \(value.at): \(String(describing: found))")
                continue
            }
        }
        #expect(damage(at: header.secondsAt, [0xB0, 4]) == .value("second"))
        #expect(damage(at: header.tagsAt + 3, [0x40]) == .value("tag"))
        #expect(damage(at: header.severitiesAt, [5]) == .value("severity"))
        #expect(damage(at: header.cellsAt, [255, 255, 255, 127]) == .value("cell"))
        #expect(damage(at: good.count - 1, [128]) == .length(good.count))
        for count in 0..<good.count {
            var short = Array(good.prefix(count))
            if count >= PackedHeader.length { PackedHeader.seal(&short) }
            #expect(throws: PackDamage.self) { try WindowPart(Self.part, packed: short).count }
        }
    }

    @Test("rows in another order, a row twice and a gap under a pentagon are refused")
    func order() throws {
        let row = RowMaker.row(.light, minute: 0, cell: try #require(Cell(dense: 4 * Cell.slotsPerBaseCell)))
        let later = RowMaker.row(.moderate, minute: 1, cell: row.cell)
        var packed = WindowPart(Self.part, rows: [row, later]).packed()
        let header = try packed.withUnsafeBytes { try PackedHeader($0) }
        // The second row a minute before the first.
        let seconds = packed[header.secondsAt..<header.secondsAt + 2]
        packed.replaceSubrange(header.secondsAt + 2..<header.secondsAt + 4, with: seconds)
        packed.replaceSubrange(header.tagsAt + 4..<header.tagsAt + 8, with: packed[header.tagsAt..<header.tagsAt + 4])
        PackedHeader.seal(&packed)
        #expect(throws: PackDamage.value("order of rows")) {
            try WindowPart(Self.part, packed: packed).count
        }
        var gap = WindowPart(Self.part, rows: [row]).packed()
        // One further than the pentagon.
        gap[try gap.withUnsafeBytes { try PackedHeader($0) }.cellsAt] += 1
        PackedHeader.seal(&gap)
        #expect(throws: PackDamage.value("cell")) { try WindowPart(Self.part, packed: gap).count }
    }
}
