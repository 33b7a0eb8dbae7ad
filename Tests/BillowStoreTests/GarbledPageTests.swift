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
        let queue = try DatabaseQueue(path: path)
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
}
