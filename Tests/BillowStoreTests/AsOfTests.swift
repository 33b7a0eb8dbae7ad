import Geometry
import Testing
import Turbulence

@testable import BillowStore

@Suite("The log as of a version")
struct AsOfTests {
    @Test("closed rows count until they were closed", arguments: StoreKind.all)
    func closedRowsCountUntilTheyWereClosed(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let first = try await store.commit(observation(id: "x", severity: 4))
        let second = try await store.commit(observation(id: "x", severity: 0))
        func severities(_ version: Version?) async throws -> [Severity] {
            let rows = try await store.rows(from: noon, to: noon.advanced(by: 1), asOf: version).rows
            return rows.compactMap(\.intensity.severity)
        }
        #expect(try await severities(.zero).isEmpty)
        #expect(try await severities(first.version) == [.moderateSevere])
        #expect(try await severities(second.version) == [.smooth])
        #expect(try await severities(nil) == [.smooth])
    }

    @Test("corrected reports count until they were corrected too", arguments: StoreKind.all)
    func correctedReportsToo(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let first = try await store.commit(Batch(source: nil, pilotReports: [pilotReport(text: "old")]))
        _ = try await store.commit(Batch(source: nil, pilotReports: [pilotReport(text: "new")]))
        func texts(_ version: Version?) async throws -> [String] {
            try await store.pilotReports(from: noon, to: noon.advanced(by: 1), asOf: version).map(\.text)
        }
        #expect(try await texts(first.version) == ["old"])
        #expect(try await texts(nil) == ["new"])
        let changes = try await store.changes(since: first.version)
        #expect(changes.openedReports.map(\.text) == ["new"] && changes.closedReports.map(\.text) == ["old"])
    }
}
