import BillowSnapshot
import BillowStore
import EngineTestSupport
import Foundation
import Logging
import Turbulence

@testable import BillowEngine

/// A publisher over a real store.
struct World: Sendable {
    let store: SQLiteStore
    let clock: TestClock
    let publisher: SnapshotPublisher

    static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static func quiet() -> Logger {
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return logger
    }

    func refresh() async throws { try await publisher.refresh() }

    /// Writes observations of registered sources and publishes them.
    func insert(_ observations: [Observation]) async throws {
        _ = try await store.commit(Batch(source: nil, observations: observations))
        try await refresh()
    }
}

/// Runs a test over a world with the sources `skypath` (replace), `other` (replace), `import` and `awc` (keep).
func withWorld(test: @Sendable (World) async throws -> Void) async throws {
    let store = try await SQLiteStore.temporary()
    let known: KeyValuePairs<String, MergeRule> = [
        "skypath": .replace, "other": .replace, "import": .keep, "awc": .keep,
    ]
    for (name, rule) in known { _ = try await store.register(try source(name), merge: rule, simulated: false) }
    let clock = TestClock(noon)
    let publisher = SnapshotPublisher(
        store: store, lifetimes: DataLifetimes(retentionSeconds: 7 * 86_400), severityTable: SeverityTable(),
        now: { clock.now }, logger: World.quiet())
    try await publisher.refresh()
    try await test(World(store: store, clock: clock, publisher: publisher))
}
