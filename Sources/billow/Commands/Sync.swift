import ArgumentParser
import BillowStore
import BillowSync
import Foundation
import Turbulence

struct Sync: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Bring the database up to date without serving.")

    @OptionGroup var common: CommonOptions

    @Flag(help: "Ask every source once, then end.")
    var once = false

    func validate() throws {
        guard once else { throw ValidationError("say --once; to go on syncing, run billow serve") }
    }

    func run() async throws {
        try await Failure.reported {
            let settings = try common.settings(needs: .database)
            _ = Logs.start(settings)
            guard !settings.sources.isEmpty else {
                throw Failure(.usage, "no source is configured; give --config FILE")
            }
            let store = try await SQLiteStore.open(path: settings.database, simulated: settings.isSimulated)
            let clients = UpstreamClients()
            let failed: Failure.Kind?
            do { failed = try await synchronise(settings, store, clients) } catch {
                // A client that isn't shut down stops the program; the error is what counts.
                try? await clients.shutdown()
                throw error
            }
            try await clients.shutdown()
            try store.close()
            if let failed { throw ExitCode(failed.rawValue) }
        }
    }

    /// - Returns: what failed, an upstream or our own database; nil where nothing did.
    private func synchronise(
        _ settings: Settings, _ store: SQLiteStore, _ clients: UpstreamClients
    ) async throws -> Failure.Kind? {
        var failed: Failure.Kind?
        for source in settings.sources {
            let upstream = try source.upstream(
                store: store, clients: clients, retentionSeconds: settings.retentionSeconds)
            do throws(SyncError) {
                var outcome = try await upstream.synchronise(now: SystemClock.now())
                if case .inbox = source.kind {
                    // A file is taken at the second look, if it is still the same. An early end of the pause is a
                    // cancellation, which the look tells.
                    try? await Task.sleep(for: .seconds(1))
                    outcome = try await upstream.synchronise(now: SystemClock.now())
                }
                Terminal.say(
                    "\(source.id): \(outcome.accepted) new, \(outcome.duplicates) known, \(outcome.retracted) retracted"
                        + outcome.skipped.map { ", \($0.value) skipped (\($0.key))" }.sorted().joined())
            } catch {
                failed = error.kind == .store ? .inputOutput : failed ?? .unavailable
                Terminal.say("\(source.id): \(error.message)")
            }
        }
        return failed
    }
}
