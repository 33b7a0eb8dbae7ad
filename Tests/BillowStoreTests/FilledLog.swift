import Datasets
import Geometry
import Testing
import Turbulence

@testable import BillowStore

/// Fills a store that has the sources of `makeStore()`: rows in every table, open and closed ones.
func fill(_ store: some SQLStore, rows: Int) async throws {
    let awc = try source("awc")
    let observations = try (0..<rows).map { number in
        try observation(
            id: number % 3 == 0 ? "é\u{0}\(number)" : nil, cell: 20_000 + number % 50, severity: number % 5,
            at: number, source: number % 2 == 0 ? "awc" : "skypath", aircraft: number % 4 == 0 ? "B77W" : nil)
    }
    _ = try await store.commit(
        Batch(
            source: awc, observations: observations, pilotReports: [pilotReport(), pilotReport(id: "r2", at: 9)],
            areas: [area("a"), area("b", text: "\u{E000}")],
            positions: try (0..<300).map { try position("0000\(10 + $0 % 20)", at: $0) }, cursors: ["all": "1"],
            values: ["session": "s"], fetchedAt: noon, fetchedKinds: [.hazards: noon]))
    _ = try await store.commit(
        Batch(source: awc, pilotReports: [pilotReport(text: "corrected")], areas: [area("a", text: "amended")]))
    _ = try await store.commit(
        Batch(
            source: awc,
            retraction: Retraction(
                from: noon, to: noon.advanced(by: rows / 2), covers: { $0.cell.dense % 2 == 0 }, standing: [:])))
    _ = try await store.commit(
        Batch(
            source: nil, observations: [try observation(id: "mine", source: "awc")], reporter: "key1"))
    let part = ArchivePart(noon)
    #expect(try await store.savePacked([1, 2, 3], of: store.rows(of: part)))
    try await store.add(
        AccessKey(
            id: "0123456789abcdef", name: "k", hash: String(repeating: "a", count: 64), scopes: .read,
            createdAt: noon))
    try await store.setPersistedOverride("{}", of: awc)
    try await store.add(MonitoredFlight(id: "f", accessKey: "k", value: "{}"))
    _ = try await store.prune(Pruning(before: noon.advanced(by: 3)))
}
