import BillowStore
import EngineTestSupport
import Foundation
import TestSupport
import Testing
import Turbulence

/// An operation on the files in a folder, and what the folder may hold after a loss of power in it.
struct PowerLossSeries<Step> {
    /// Records that a step was acknowledged.
    typealias Acknowledge = (Step) -> Void

    let name: String
    let seed: UInt64
    /// Whether a file can have two names; false as on FAT and exFAT.
    var hasLinks = true

    /// - Parameters:
    ///   - prepare: makes files, which are on the disk for sure.
    ///   - run: the operation.
    ///   - check: gets a copy of the folder after a loss of power, and the steps that were acknowledged before it.
    func run(
        prepare: @escaping (TemporaryFolder) async throws -> Void = { _ in },
        run: @escaping (TemporaryFolder, @escaping Acknowledge) async throws -> Void,
        check: @escaping (TemporaryFolder, [Step]) async throws -> Void
    ) async throws {
        var random = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        try await prepare(folder)
        var steps: [(step: Step, operations: Int)] = []
        let trace = try await DiskTrace.trace(folder.url, hasLinks: hasLinks) { trace in
            try await run(folder) { steps.append(($0, trace.count)) }
        }
        #expect(!steps.isEmpty && trace.count > steps.count, "the operations of \(name) are traced")
        try await trace.lose(PowerLosses.perHistory, using: &random) { cut, contents in
            let disk = try TemporaryFolder()
            try contents.write(into: disk.url)
            let acknowledged = steps.filter { $0.operations <= cut }.map(\.step)
            do { try await check(disk, acknowledged) } catch {
                Issue.record(
                    error, "\(name) \(seed), after \(cut) of \(trace.count) operations and \(acknowledged.count) steps")
            }
        }
        print("power loss: \(name) \(seed), \(PowerLosses.perHistory) losses in \(trace.count) operations")
    }
}

/// What a database has, for comparison.
struct StoredRows: Equatable {
    var observations: [Observation: Int]
    var reports: [String]
    var version: Version

    /// Each observation has its number of rows.
    init(_ store: some Store) async throws {
        let sources = Dictionary(uniqueKeysWithValues: try await store.sources().map { ($0.number, $0.id) })
        let page = try await store.page(after: nil, from: .distantPast, to: .distantFuture, limit: .max)
        observations = [:]
        for (row, details) in page {
            let observation = Observation(
                id: details.id, cell: row.cell, altitude: row.altitude, intensity: row.intensity,
                observedAt: row.observedAt, category: row.category, source: try #require(sources[row.source]),
                kind: row.kind, aircraft: details.aircraft)
            observations[observation, default: 0] += 1
        }
        reports = try await store.pilotReports(from: .distantPast, to: .distantFuture, asOf: nil).map(\.id).sorted()
        version = try await store.head().version
    }

    static func ids(_ observations: some Sequence<Observation>) -> Set<String> { Set(observations.compactMap(\.id)) }
    var ids: Set<String> { Self.ids(observations.keys) }
    var isEachOnce: Bool {
        observations.values.allSatisfy { $0 == 1 } && ids.count == observations.keys.count { $0.id != nil }
    }
}
