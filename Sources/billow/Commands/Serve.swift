import ArgumentParser
import AviationWeather
import BillowRaster
import BillowEngine
import BillowHTTP
import BillowPostgreSQL
import BillowStore
import BillowSync
import CoreMetrics
import Foundation
import Logging
import NIOCore
import NOAAGuidance
import OpenSky
import ServiceLifecycle
import SkyPath
import SpanKit
import TraceExport
import Turbulence
import UnixSignals
import UpstreamSimulator

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Sync the configured sources and serve the stored data.")

    @OptionGroup var common: CommonOptions

    @Option(help: "The address to listen on (default: 127.0.0.1).")
    var host: String?

    @Option(help: "The port to listen on (default: 8080).")
    var port: String?

    @Flag(help: "Serve a simulated world, through a simulated upstream, from a database of its own.")
    var demo = false

    func run() async throws {
        Allocator.prepareForServing()
        // Log rotation sends this signal, which would end the process.
        for ignored in [SIGUSR1, SIGUSR2] { signal(ignored, SIG_IGN) }
        try await Failure.reported {
            let settings = try readSettings(needs: .server)
            let logger = Logs.start(settings)
            let registry = MetricRegistry()
            MetricsSystem.bootstrap(registry)
            let spans = settings.tracing.map { ServerSpans($0, logger: logger) }
            let simulator = demo ? UpstreamSimulator(.demo, logger: logger) : nil
            let styles = try StyleLibrary(folder: settings.server.stylesFolder)
            let serve = {
                // Without a source, the server serves the stored data, whether simulated or real.
                let store = try await settings.openDatabase(simulated: settings.isSimulated)
                if let file = store as? SQLiteStore, file.missingBytes > 0 {
                    logger.error(
                        "the database file is truncated; billow salvage copies the rest",
                        metadata: ["database": "\(file.path)", "missingBytes": "\(file.missingBytes)"])
                }
                do {
                    try await Server(
                        settings: settings, store: store, styles: styles, registry: registry, spans: spans,
                        logger: logger,
                        // The database is open, and a look at its file would end SQLite's locks on it.
                        reader: SettingsFile(path: common.config) { () throws(SettingsError) in
                            try readSettings(needs: [.styles])
                        }
                    )
                    .run(simulator: simulator)
                } catch {
                    // Reports the error that ended the server.
                    try? store.close()
                    throw error
                }
                try store.close()
            }
            var status = stat()
            if stat(settings.database, &status) == 0, status.st_size == 0 {
                logger.warning(
                    "the database file is empty (0 bytes); a new database is created in it",
                    metadata: ["database": "\(settings.database)"])
            }
            do { try await serve() } catch StoreError.corrupt(let path, let reason)
                where settings.databaseAddress == nil
            {
                try await Self.replace(path, reason, logger)
                try await serve()
            }
        }
    }

    private func readSettings(needs: SettingsNeeds) throws(SettingsError) -> Settings {
        try common.settings(host: host, port: port, demo: demo, needs: needs)
    }

    /// Renames a database that can't be opened, and replaces it by a copy of everything readable: keys, overrides and
    /// rows. If nothing is readable, a new database is created later.
    private static func replace(_ path: String, _ reason: String, _ logger: Logger) async throws {
        let replacement = try await SQLiteStore.replaceDamaged(path: path, reason: reason, at: SystemClock.now())
        logger.error(
            "the database can't be opened; it was renamed",
            metadata: ["database": "\(path)", "kept": "\(replacement.name)", "reason": "\(reason)"])
        switch replacement.salvaged {
        case .success(let salvaged):
            logger.notice(
                "its readable data was copied into a new database",
                metadata: [
                    "tables": .array(salvaged.lines.map { "\($0)" }),
                    "completeSince": "\(salvaged.completeSince.map(\.description) ?? "as before")",
                ])
        case .failure(let error):
            logger.error(
                "the damaged database has no readable data; make new keys", metadata: ["reason": "\(error)"])
        }
    }
}

/// The spans of a server: their recorder and their export.
private struct ServerSpans {
    let recorder: SpanRecorder
    let exporter: SpanExporter

    /// - Precondition: called once, after the metrics' registry is known.
    init(_ settings: TracingSettings, logger: Logger) {
        let queue = SpanQueue()
        recorder = SpanRecorder(queue, share: settings.share)
        let redaction = LogRedaction(Logs.secrets)
        exporter = SpanExporter(
            queue, to: SpanDestination(settings.destination), version: BuildVersion.text, instance: UUID().uuidString,
            redact: { redaction.redacted($0) }, logger: logger)
        Spans.bootstrap(recorder)
    }
}

/// A server with its sync loops, while it runs.
private struct Server {
    var settings: Settings
    let store: any SQLStore
    let styles: StyleLibrary
    let registry: MetricRegistry
    /// nil where no spans are recorded.
    let spans: ServerSpans?
    let logger: Logger
    /// Reads the settings again.
    let reader: SettingsFile

    /// The interval of the demo's requests to its simulator, whose world changes every minute.
    private static let demoInterval = Duration.seconds(10)

    /// The executor of all heavy work, for answers and upstreams.
    let work = WorkExecutor()

    func run(simulator: UpstreamSimulator?) async throws {
        let clients = UpstreamClients(work: work, recorder: spans?.recorder)
        do {
            try await run(simulator: simulator, clients: clients)
        } catch {
            try await clients.shutdown()
            guard let error = error as? IOError else { throw error }
            throw ListenError(host: settings.server.host, port: settings.server.port, cause: error)
        }
        try await clients.shutdown()
    }

    private func run(simulator: UpstreamSimulator?, clients: UpstreamClients) async throws {
        let states = SourceStates()
        let loops = SourceLoops()
        // The simulator's port is unknown before it runs, and does not matter here.
        let demo = try simulator.map { _ in
            try SourceID.demo.map { try Settings.Source.demo($0, port: 0, update: .every(Self.demoInterval)) }
        }
        var configuration = BillowApplication.Configuration(
            host: settings.server.host, port: settings.server.port, publicURL: settings.server.publicURL,
            publicFolder: settings.server.publicFolder, retentionSeconds: settings.retentionSeconds,
            freshness: settings.freshness(besides: demo ?? []),
            severityTable: settings.severityTable,
            anonymousRead: settings.server.anonymousRead,
            timeline: settings.timeline, trafficDropSeconds: settings.trafficDropSeconds)
        configuration.allowedHosts = settings.server.allowedHosts
        configuration.work = work
        configuration.polygonHistories = settings.polygons
        configuration.areaLimitKm2 = settings.areaLimitKm2
        configuration.cacheBytes = settings.cacheMegabytes << 20
        configuration.connections = settings.server.connections(
            descriptorLimit: FileDescriptors.raiseLimit(), used: FileDescriptors.used())
        configuration.exportJobs = settings.server.exportJobs
        configuration.trafficRetentionSeconds = settings.trafficRetentionSeconds
        configuration.fieldRetentionSeconds = settings.fieldRetentionSeconds
        configuration.ingestSourcesPerKey = settings.server.ingestSourcesPerKey
        configuration.baseMap = settings.server.baseMap
        configuration.registry = registry
        configuration.build = BuildVersion.text
        configuration.hasAccessLog = settings.hasAccessLog
        configuration.keyRateLimit = settings.server.rateLimit.ofKey
        configuration.certificates = try settings.server.tls.map {
            try TLSCertificates($0, now: SystemClock.now, logger: logger)
        }
        let backups = settings.backups.map { (settings: $0, status: BackupStatus($0)) }
        configuration.backups = backups?.status
        let shared = store as? PostgreSQLStore
        let leadership = shared.map { Leadership($0, logger: logger) }
        configuration.fleet = leadership?.role
        let application = try BillowApplication(
            configuration, store: store, control: store, styles: styles, states: states, loops: loops,
            now: SystemClock.now,
            logger: logger)
        // Stored data is served at once, before any upstream responds.
        try await application.publisher.refresh()

        // It stops last, after the spans of all others.
        var services: [any Service] = spans.map { [application.inBackground($0.exporter)] } ?? []
        let syncStore: any SQLStore = leadership?.fencedStore ?? store
        if let shared, let leadership {
            // It stops after the sync, so that the lease lasts as long.
            services += [leadership, HeadWatch(address: shared.address) { application.publisher.wake() }]
        }
        if let simulator {
            services.append(simulator)
            for id in SourceID.demo {
                let sync = application.onIntakeThreads(
                    DemoSync(simulator: simulator) { port in
                        let source = try Settings.Source.demo(id, port: port, update: .every(Self.demoInterval))
                        return try loop(for: source, syncStore, clients, states, loops)
                    })
                services.append(leadership.map { LeaderOnly(leadership: $0) { sync } } ?? sync)
            }
        }
        let sources = SourceRunner(
            states: states, loops: loops, leadership: leadership,
            makeUpstream: { [settings] in
                try $0.upstream(store: syncStore, clients: clients, retentionSeconds: settings.retentionSeconds)
            },
            makeLoop: { loop($0, $1, states, loops) },
            wrap: { application.onIntakeThreads($0) })
        services.append(
            try SettingsReload(
                settings: settings, file: reader, sources: sources, demo: demo ?? [], freshness: application.freshness,
                styleStore: application.styles, store: store, logger: logger))
        let address = settings.server.host
        let scheme = settings.server.tls == nil ? "http" : "https"
        let portFile = settings.server.portFile
        // An old file would contain another server's port.
        defer { if let portFile { unlink(portFile) } }
        services += application.services { port in
            if let portFile, !FileManager.default.createFile(atPath: portFile, contents: Data("\(port)\n".utf8)) {
                logger.warning("the port file can't be written", metadata: ["portFile": "\(portFile)"])
            }
            logger.notice("Billow is at \(scheme)://\(address.contains(":") ? "[\(address)]" : address):\(port)/")
        }
        if let backups, let file = store as? SQLiteStore {
            services.append(
                application.inBackground(
                    BackupSchedule(
                        store: file, settings: backups.settings, status: backups.status, now: SystemClock.now,
                        logger: logger)))
        }
        var group = ServiceGroupConfiguration(
            services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        group.maximumGracefulShutdownDuration = .seconds(10)
        try await ServiceGroup(configuration: group).run()
        logger.notice("stopped")
    }

    private func loop(
        for source: Settings.Source, _ store: any SQLStore, _ clients: UpstreamClients, _ states: SourceStates,
        _ loops: SourceLoops
    ) throws -> SourceLoop {
        let upstream = try source.upstream(
            store: store, clients: clients, retentionSeconds: settings.retentionSeconds)
        return loop(source, upstream, states, loops)
    }

    private func loop(
        _ source: Settings.Source, _ upstream: any Upstream, _ states: SourceStates, _ loops: SourceLoops
    ) -> SourceLoop {
        let loop = SourceLoop(
            upstream: upstream, update: source.update, lengths: settings.updateLengths, states: states, control: store,
            now: SystemClock.now, executor: work.executor(of: .intake), logger: logger)
        loops.add(loop)
        return loop
    }
}

/// The sync loop of the demo, which starts when the simulator has its port.
private struct DemoSync: Service {
    let simulator: UpstreamSimulator
    let makeLoop: @Sendable (Int) throws -> SourceLoop

    func run() async throws { try await makeLoop(try await simulator.boundPort).run() }
}

extension UpstreamSimulator.Configuration {
    /// The demo's world, with the grids that its NOAA source requests.
    fileprivate static var demo: UpstreamSimulator.Configuration {
        var configuration = UpstreamSimulator.Configuration()
        #if DEBUG
            // Without optimisation, a level of NOAA's own grid takes seconds.
            let every = 8
        #else
            let every = 1
        #endif
        var guidance = GuidanceSimulation(seed: configuration.seed, .levels, every: every)
        // The demo's own simulator needs no request limits.
        guidance.requestsPerMinute = nil
        guidance.cachedFiles = 2
        configuration.guidance = guidance
        return configuration
    }
}

extension SourceID {
    /// The simulated SkyPath.
    static let simulator = SourceID.known(simulatorName)
    /// The simulated Aviation Weather Center.
    static let simulatedWeather = SourceID.known("\(simulatorName)-awc")
    /// The simulated OpenSky.
    static let simulatedTraffic = SourceID.known("\(simulatorName)-opensky")
    /// The simulated NOAA server.
    static let simulatedGuidance = SourceID.known("\(simulatorName)-noaa")
    /// The sources of the demo.
    static let demo = [simulator, simulatedWeather, simulatedTraffic, simulatedGuidance]

    private static func known(_ name: String) -> SourceID {
        guard let id = SourceID(name) else { preconditionFailure("\(name) is no source id") }
        return id
    }
}

extension Settings.Source {
    /// A source of the demo. SkyPath's covers the simulated world by v4 calls, with six hours of history. The others
    /// request everything.
    static func demo(_ id: SourceID, port: Int, update: UpdateFrequency) throws -> Settings.Source {
        let baseURL = "http://127.0.0.1:\(port)"
        let kind: Kind
        if id == .simulatedWeather {
            kind = .aviationWeather(
                AviationWeatherSettings(
                    configuration: AviationWeatherConfiguration(baseURL: baseURL),
                    products: AviationWeatherUpstream.Product.all, areas: AviationWeatherUpstream.defaultAreas,
                    // The demo's own simulator needs no request limits.
                    spacingSeconds: 0))
        } else if id == .simulatedGuidance {
            var configuration = GuidanceConfiguration(baseURL: baseURL)
            configuration.spacing = .zero
            // The simulator makes each file on request, which takes minutes on a busy machine.
            configuration.timeout = .seconds(600)
            // The simulation starts an hour in the past, so that the timeline has a history.
            kind = .noaa(NOAASettings(configuration: configuration, plan: GuidancePlan(historySeconds: 3_600)))
        } else if id == .simulatedTraffic {
            kind = .openSky(
                OpenSkySettings(configuration: OpenSkyConfiguration(baseURL: baseURL), boxes: []))
        } else {
            guard let key = Secret(UpstreamSimulator.Configuration().apiKey) else {
                throw Failure(.software, "the simulator's key can't be used")
            }
            kind = .skyPath(
                SkyPathSettings(
                    configuration: SkyPathConfiguration(environment: .custom(baseURL), apiKey: key), api: .v4,
                    query: DataQuery(types: [.turbulence, .nowcast], history: .sixHours)))
        }
        return Settings.Source(id: id, kind: kind, update: update, simulated: true)
    }
}
