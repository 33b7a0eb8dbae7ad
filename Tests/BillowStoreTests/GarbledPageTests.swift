import Foundation
import GRDB
import TestSupport
import Testing
import Turbulence

@testable import BillowStore

@Suite("Pages that can be read and contradict each other")
struct GarbledPageTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A closed file with pilot reports and areas of one source.
    private func makeFile() async throws -> String {
        let path = folder.path("a.sqlite")
        let store = try await SQLiteStore.open(path: path)
        _ = try await store.register(source("awc"), merge: .keep, simulated: false)
        _ = try await store.commit(
            Batch(source: source("awc"), pilotReports: try (0..<1_000).map { try pilotReport(id: "r\($0)", at: $0) }))
        try store.close()
        return path
    }

    /// Gives the middle row of a table's middle leaf a far higher number, in its page.
    private func garble(_ path: String, _ table: String) throws {
        let leaves = try leaves(path, of: table)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let page = (leaves[leaves.count / 2] - 1) * 4_096
        let cells = Int(bytes[page + 3]) << 8 | Int(bytes[page + 4])
        // The cell pointers begin behind a leaf's header of eight bytes; a cell with its length, then its number.
        let pointer = page + 8 + cells / 2 * 2
        var place = page + (Int(bytes[pointer]) << 8 | Int(bytes[pointer + 1]))
        while bytes[place] & 0x80 != 0 { place += 1 }
        // A number of two bytes, the high one first.
        #expect(bytes[place + 1] & 0x80 != 0)
        bytes[place + 1] = 0xFF
        try bytes.write(to: URL(fileURLWithPath: path))
    }

    @Test("a garbled number hides no row without a mark, whichever way rows are read")
    func garbledNumber() async throws {
        let path = try await makeFile()
        try garble(path, "pilotReport")
        var store = try await SQLiteStore.open(path: path)
        let reports = try await store.pilotReports(from: .distantPast, to: .distantFuture, asOf: nil)
        #expect(reports.count == 1_000 || !store.damage.isEmpty)
        try await store.survey(rest: .zero)
        let damage = try #require(store.damage.first)
        #expect(damage.table == .pilotReport)
        let marked = try await store.sources()
        #expect(marked.first?.lost[.reports] == .distantPast ... .distantFuture)
        #expect(try await store.problems().contains { $0.contains("out of order") })
        try store.close()

        let salvaged = try await SQLiteStore.salvage(path, to: folder.path("b.sqlite"))
        #expect(!salvaged.isWhole)
        let since = try #require(salvaged.completeSince)
        #expect(since <= Instant(Date()).advanced(by: 400))
        store = try await SQLiteStore.open(path: folder.path("b.sqlite"))
        #expect(try await store.pilotReports(from: .distantPast, to: .distantFuture, asOf: nil).count >= 999)
        try store.close()
    }

    /// The tables in which a file contradicts itself.
    private func contradictions(_ path: String) throws -> [StoredTable] {
        var configuration = Configuration()
        configuration.prepareDatabase(RowSum.register)
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        // Without a transaction: none ends well in such a file.
        let tables = try queue.inDatabase { db in
            try StoredTable.allCases.filter { try db.contradiction(in: $0) != nil }
        }
        try queue.close()
        return tables
    }

    private func leaves(_ path: String, of table: String) throws -> [Int] {
        let queue = try DatabaseQueue(path: path)
        let pages = try queue.read { db in
            try Int.fetchAll(
                db, sql: "SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path",
                arguments: [table])
        }
        try queue.close()
        return pages
    }

    @Test("only pages that can be read contradict each other: not those of a sound database, and no page of noise")
    func nothingElse() async throws {
        let path = try await makeFile()
        #expect(try contradictions(path).isEmpty)
        let leaves = try leaves(path, of: "pilotReport")
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let page = (leaves[leaves.count / 2] - 1) * 4_096
        let other = (leaves[0] - 1) * 4_096
        let sound = bytes
        bytes.replaceSubrange(page..<page + 4_096, with: Data(repeating: 7, count: 4_096))
        try bytes.write(to: URL(fileURLWithPath: path))
        #expect(try contradictions(path).isEmpty)
        // A page in another's place: a write that went astray.
        bytes = sound
        bytes.replaceSubrange(page..<page + 4_096, with: sound[other..<other + 4_096])
        try bytes.write(to: URL(fileURLWithPath: path))
        #expect(try contradictions(path) == [.pilotReport])
    }

    /// A file with some thousand positions.
    private func makeTraffic() async throws -> String {
        let path = folder.path("traffic.sqlite")
        let store = try await SQLiteStore.open(path: path)
        _ = try await store.register(source("awc"), merge: .keep, simulated: false)
        _ = try await store.commit(
            Batch(
                source: source("awc"),
                positions: try (0..<4_000).map { try position(String(format: "%06x", $0 % 200 + 1), at: $0 / 200 * 60) }
            ))
        try store.close()
        return path
    }

    @Test(
        "a page of a table or an index in another's place is found, although SQLite reads on",
        arguments: [
            ("position", StoredTable.position), ("positionSince", .position), ("pilotReportTime", .pilotReport),
            ("pilotReportAny", .pilotReport), ("changedStep", .changedStep),
        ])
    func astray(name: String, table: StoredTable) async throws {
        let path = table == .pilotReport ? try await makeFile() : try await makeTraffic()
        #expect(try contradictions(path).isEmpty)
        let leaves = try leaves(path, of: name)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        if leaves.count > 2 {
            let (page, other) = ((leaves[leaves.count / 2] - 1) * 4_096, (leaves[0] - 1) * 4_096)
            let content = bytes[other..<other + 4_096]
            bytes.replaceSubrange(page..<page + 4_096, with: content)
        } else {
            // The two first cells of the only page, the one in the other's place.
            let page = (leaves[0] - 1) * 4_096
            let first = bytes[page + 8..<page + 10]
            bytes.replaceSubrange(page + 8..<page + 10, with: bytes[page + 10..<page + 12])
            bytes.replaceSubrange(page + 10..<page + 12, with: first)
        }
        try bytes.write(to: URL(fileURLWithPath: path))
        #expect(try contradictions(path) == [table])
        let store = try await SQLiteStore.open(path: path)
        try await store.survey(rest: .zero)
        #expect(store.damage.contains { $0.table == table && $0.gaps == 1 })
        let kind = table == .pilotReport ? FeedKind.reports : .positions
        #expect(try await store.sources().first?.lost[kind] == .distantPast ... .distantFuture)
    }

    @Test("a row with a flipped bit that its index names otherwise is one damaged row, and no more")
    func flippedInTheTable() async throws {
        let path = try await makeFile()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let page = (try leaves(path, of: "pilotReport")[0] - 1) * 4_096
        // The id of a report, in the table alone.
        let id = try bytes[page..<page + 4_096].range(of: Data("r3awc".utf8).prefix(2)).orMissing()
        bytes[id.lowerBound + 1] ^= 1
        try bytes.write(to: URL(fileURLWithPath: path))
        #expect(try contradictions(path).isEmpty)
        let store = try await SQLiteStore.open(path: path)
        try await store.survey(rest: .zero)
        #expect(store.damage.map(\.table) == [.pilotReport])
        #expect(store.damage.first?.rows == 1 && store.damage.first?.gaps == 0)
    }
}
