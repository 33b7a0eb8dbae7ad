import BillowEngine
import BillowRaster
import BillowStore
import BillowSync
import Logging
import ServiceLifecycle
import Turbulence
import UnixSignals

/// The file of settings, as a command reads it.
struct SettingsFile: Sendable {
    /// nil without a file.
    let path: String?
    let read: @Sendable () throws(SettingsError) -> Settings
}

/// Runs the configured sources. At each SIGHUP it reads styles and settings again, and adds, removes and changes
/// sources. Settings that cannot be used change nothing.
struct SettingsReload: Service {
    private let settings: Settings
    private let file: SettingsFile
    private let sources: SourceRunner
    private let demo: [Settings.Source]
    private let freshness: FreshnessRegister
    private let styleStore: StyleStore
    private let store: any Store
    private let logger: Logger
    /// The upstreams of the sources that run first. Those that can't be made end the start.
    private let first: [(source: Settings.Source, upstream: any Upstream)]
    private let texts: [String: String]

    /// - Parameters:
    ///   - demo: the sources of the demo, which the file doesn't have.
    ///   - freshness: gets the configuration of the sources that run.
    init(
        settings: Settings, file: SettingsFile, sources: SourceRunner, demo: [Settings.Source],
        freshness: FreshnessRegister, styleStore: StyleStore, store: any Store, logger: Logger
    ) throws {
        self.settings = settings
        self.file = file
        self.sources = sources
        self.demo = demo
        self.freshness = freshness
        self.styleStore = styleStore
        self.store = store
        self.logger = logger
        first = try settings.sources.map { ($0, try sources.makeUpstream($0)) }
        texts = Settings.texts(file: file.path)
    }

    private typealias Running = (source: Settings.Source, loop: SourceRunner.RunningLoop)

    func run() async throws {
        let signals = await UnixSignalsSequence(trapping: .sighup)
        try await withThrowingDiscardingTaskGroup { group in
            var running: [Running] = []
            for (source, upstream) in first {
                running.append((source, sources.start(source, upstream, in: &group)))
            }
            for await _ in signals.cancelOnGracefulShutdown() {
                reloadStyles()
                await reload(&running, &group)
            }
        }
    }

    private func reloadStyles() {
        do {
            styleStore.replace(by: try StyleLibrary(folder: settings.server.stylesFolder))
            logger.notice("styles read again", metadata: ["styles": Self.list(styleStore.current.styles.map(\.id))])
        } catch { logger.error("the styles are unchanged: \(error)") }
    }

    private func reload(_ running: inout [Running], _ group: inout ThrowingDiscardingTaskGroup<any Error>) async {
        let new: Settings
        var upstreams: [SourceID: any Upstream] = [:]
        let texts = Settings.texts(file: file.path)
        do {
            new = try file.read()
            Logs.secrets.add(new.secrets)
            try await checkNature(new)
            for source in new.sources where !running.contains(where: { $0.source == source }) {
                upstreams[source.id] = try sources.makeUpstream(source)
            }
        } catch { return logger.error("the sources are unchanged: \(error)") }

        let before = Set(running.map(\.source.id))
        // Answers that are computed from now on follow the new configuration. The states that change below number it.
        var applied = settings
        applied.sources = new.sources
        applied.isSimulated = new.isSimulated
        freshness.replace(by: applied.freshness(besides: demo))
        for (source, loop) in running where !new.sources.contains(source) { await loop.stop() }
        running = new.sources.compactMap { source in
            if let same = running.first(where: { $0.source == source }) { return same }
            guard let upstream = upstreams[source.id] else { return nil }
            return (source, sources.start(source, upstream, in: &group))
        }
        let after = Set(running.map(\.source.id))
        logger.notice(
            "settings read again",
            metadata: [
                "added": Self.list(after.subtracting(before).sorted()),
                "removed": Self.list(before.subtracting(after).sorted()),
                "changed": Self.list(after.intersection(before).intersection(upstreams.keys).sorted()),
            ])
        let other = Set(texts.merging(self.texts) { $1 }.keys).filter { texts[$0] != self.texts[$0] }
        if !other.isEmpty {
            logger.warning(
                "these settings have changed since the start and need a restart",
                metadata: ["settings": Self.list(other.sorted())])
        }
    }

    /// Simulated and real data must not share a database.
    private func checkNature(_ new: Settings) async throws {
        guard let simulated = new.isSimulated else { return }
        guard let other = try await store.sources().first(where: { $0.simulated == !simulated }) else { return }
        throw StoreError.mixed(new.sources.first?.id ?? other.id, simulated: simulated, with: other.id)
    }

    private static func list(_ names: [some CustomStringConvertible]) -> Logger.MetadataValue {
        .array(names.map { .string($0.description) })
    }
}
