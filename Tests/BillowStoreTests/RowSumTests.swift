import Foundation
import GRDB
import Testing

@testable import BillowStore

@Suite("Sums of rows")
struct RowSumTests {
    private func sums(_ lists: [String]) throws -> [Int64] {
        var configuration = Configuration()
        configuration.prepareDatabase(RowSum.register)
        return try DatabaseQueue(configuration: configuration).read { db in
            try lists.map { try Int64.fetchOne(db, sql: "SELECT row_sum(\($0))").orMissing() }
        }
    }

    /// The expected values were computed by an independent implementation (Python) of the description of `RowSum`.
    @Test("are what the description says, because they are part of the format")
    func format() throws {
        let lists = ["", "0", "NULL", "1, NULL, 2.5, 'a', x'0001', -1, '0123456789abcdef', 1152921504606846976"]
        #expect(try sums(lists) == [0, 0, -1_646_578, 5_539_005])
    }

    @Test("are the same by SQL and by the values that are bound and read")
    func bothWays() throws {
        var sum = RowSum()
        sum.add(7 as Int64, at: 0)
        sum.add(nil as Int64?, at: 1)
        sum.add(-0.0, at: 2)
        sum.add("turbulence é", at: 3)
        sum.add(nil as String?, at: 4)
        sum.add("", at: 5)
        #expect(try sums(["7, NULL, 0.0, 'turbulence é', NULL, ''"]) == [sum.value])
        #expect(try sums(["7, NULL, -0.0, 'turbulence é', NULL, ''"]) == [sum.value])
        #expect((-1 << 23..<1 << 23).contains(sum.value))
    }

    @Test("change with every single bit of every number, and tell which bit of a time it was")
    func everyBit() throws {
        let row: [Int64] = [1_927_741_095_798_677_207, 599_655_059_613_024_255, 35_000, 35_000, 3, 1, 0, 17]
        func sum(_ values: [Int64]) -> RowSum {
            var sum = RowSum()
            for (column, value) in values.enumerated() { sum.add(value, at: Int32(column)) }
            return sum
        }
        let stored = sum(row).value
        for column in row.indices {
            for bit in 0..<64 {
                var changed = row
                changed[column] ^= 1 << bit
                #expect(sum(changed).value != stored)
                #expect(
                    sum(changed).original(of: changed[column], at: Int32(column), sum: stored) == row[column])
            }
        }
        var other = row
        other[2] += 1
        #expect(sum(other).original(of: other[0], at: 0, sum: stored) == nil)
    }

    @Test("are over all columns of their table, in its order")
    func columns() async throws {
        let store = try await SQLiteStore.temporary()
        func check<Column: StoredColumn>(_ table: Column.Type) async throws {
            let names = try await store.pool.read { try $0.columns(in: Column.table.rawValue).map(\.name) }
            #expect(names == Column.allCases.map(\.name))
        }
        try await check(HeadColumn.self)
        try await check(SourceColumn.self)
        try await check(FetchedColumn.self)
        try await check(StoredKindColumn.self)
        try await check(CoveredAreaColumn.self)
        try await check(CursorColumn.self)
        try await check(SourceValueColumn.self)
        try await check(ObservationColumn.self)
        try await check(PilotReportColumn.self)
        try await check(AreaColumn.self)
        try await check(PositionColumn.self)
        try await check(DeletionColumn.self)
        try await check(PackedPartColumn.self)
        try await check(AccessKeyColumn.self)
        try await check(PersistedOverrideColumn.self)
        try await check(MonitoredFlightColumn.self)
    }
}
