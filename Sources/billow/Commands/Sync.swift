import ArgumentParser
import BillowStore
import BillowSync
import Foundation
import Turbulence

struct Sync: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Bring the database up to date without serving.")

    @OptionGroup var common: CommonOptions

    @Flag(help: "Fetch from every source once, then exit.")
    var once = false

    func validate() throws {
        guard once else { throw ValidationError("give --once; to sync continuously, run billow serve") }
    }

    func run() async throws {
        try await Failure.reported {
            let settings = try common.settings(needs: .database)
            _ = Logs.start(settings)
            guard !settings.sources.isEmpty else {
                throw Failure(.usage, "no source is configured; give --config FILE")
            }
            let store = try await settings.openDatabase(simulated: settings.isSimulated)
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

    /// - Returns: whether an upstream or our own database failed; nil if neither did.
    private func synchronise(
        _ settings: Settings, _ store: any SQLStore, _ clients: UpstreamClients
    ) async throws -> Failure.Kind? {
        var failed: Failure.Kind?
        for source in settings.sources {
            let upstream = try source.upstream(
                store: store, clients: clients, retentionSeconds: settings.retentionSeconds)
            do throws(SyncError) {
                var outcome = try await upstream.synchronise(now: SystemClock.now())
                if case .inbox = source.kind {
                    // The second round accepts a file if it is unchanged since the first. Only a cancellation ends the
                    // pause early, and the second round detects it.
                    try? await Task.sleep(for: .seconds(1))
                    outcome = try await upstream.synchronise(now: SystemClock.now())
                }
                Terminal.write(
                    "\(source.id): \(outcome.accepted) new, \(outcome.duplicates) known, \(outcome.retracted) retracted"
                        + outcome.skipped.map { ", \($0.value) skipped (\($0.key))" }.sorted().joined())
            } catch {
                // A failure of our own database counts more than one of an upstream.
                failed = error.kind == .store ? Failure.Kind(of: error) : failed ?? Failure.Kind(of: error)
                Terminal.write("\(source.id): \(error.message)")
            }
        }
        return failed
    }
}
