package import BillowEngine
import BillowParameters
package import BillowRaster
package import BillowStore
package import BillowSync
import BillowExchange
import BillowSnapshot
import Geometry
import HTTPTypes
package import Hummingbird
import HummingbirdCore
package import Logging
package import ServiceLifecycle
package import Turbulence

/// The composition of the HTTP side: routes, services, and the publisher whose snapshots they answer from.
package struct BillowApplication: Sendable {
    package struct Configuration: Sendable {
        package var host: String
        package var port: Int
        package var publicURL: String?
        /// The hosts that requests may name.
        package var allowedHosts = AllowedHosts()
        package var publicFolder: String
        package var retentionSeconds: Int
        package var freshness: FreshnessSettings
        package var severityTable: SeverityTable
        /// The histories for which turbulence polygons are made.
        package var polygonHistories = PolygonHistories()
        /// The largest area of a request in km².
        ///
        /// Source: docs/upstreams/skypath.md, "Areas" (the continental US has 8 million km²), rounded up
        package var areaLimitKm2 = 10_000_000.0
        /// The memory budget of all caches.
        package var cacheBytes = CacheBudget.defaultBytes
        /// The executor of all heavy work.
        package var work = WorkExecutor()
        package var timeline: TimelineSettings
        /// The time after its last position for which an aircraft is shown.
        package var trafficDropSeconds: Int
        /// Whether routes that show data are open without a key.
        package var anonymousRead: Bool
        /// The retention of positions; nil uses the general retention.
        package var trafficRetentionSeconds: Int?
        /// The retention of fields, at most the general one.
        package var fieldRetentionSeconds = DataLifetimes.defaultFieldSeconds
        package var connections = ConnectionSettings()
        package var exportJobs = ExportJobSettings()
        /// The most requests of one key; nil for no limit.
        package var keyRateLimit: RateLimit?
        /// The certificate for TLS; nil serves without TLS.
        package var certificates: TLSCertificates?
        /// The most sources that one key may name in ingested data.
        package var ingestSourcesPerKey = 4
        /// The viewer's base map of another server; nil for none.
        package var baseMap: OnlineBaseMap?
        /// The registry of the metrics, also of libraries that use swift-metrics.
        package var registry = MetricRegistry()
        /// The release and the commit, for the metrics.
        package var build = ""
        /// Whether each request is logged.
        package var hasAccessLog = false
        /// The state of the scheduled backups; nil without a schedule.
        package var backups: BackupStatus?
        /// The role among the servers on the database; nil where no other server could use it.
        package var fleet: FleetRole?

        /// How long data is stored and shown.
        var lifetimes: DataLifetimes {
            DataLifetimes(
                retentionSeconds: retentionSeconds, traffic: trafficRetentionSeconds, fields: fieldRetentionSeconds,
                trafficDropSeconds: trafficDropSeconds)
        }

        package init(
            host: String, port: Int, publicURL: String?, publicFolder: String, retentionSeconds: Int,
            freshness: FreshnessSettings,
            severityTable: SeverityTable, anonymousRead: Bool = true, isSimulated: Bool? = nil,
            timeline: TimelineSettings = TimelineSettings(), trafficDropSeconds: Int = 180
        ) {
            self.host = host
            self.port = port
            self.publicURL = publicURL
            self.publicFolder = publicFolder
            self.retentionSeconds = retentionSeconds
            self.freshness = freshness
            self.severityTable = severityTable
            self.timeline = timeline
            self.trafficDropSeconds = trafficDropSeconds
            self.anonymousRead = anonymousRead
            self.freshness.isSimulated = isSimulated ?? freshness.isSimulated
        }
    }

    package let publisher: SnapshotPublisher
    package let frames: FrameSource
    package let features: FeatureSource
    /// The hub of events and their listeners.
    package let events: EventHub
    private let configuration: Configuration
    private let work: WorkExecutor
    /// The memory of the responses that clients are reading.
    let answers = ResponseBudget()
    /// The configuration of the sources, which a reload of the settings replaces.
    package let freshness: FreshnessRegister
    /// The rule for the freshness of every answer.
    let policy: FreshnessPolicy
    private let store: any Store
    private let authorizer: Authorizer
    package let styles: StyleStore
    private let states: SourceStates
    private let loops: SourceLoops
    let feed: EventFeed
    let tiles: TileService
    private let vectors: VectorTileSource
    private let pictures: PictureSource
    let latestTiles = LatestTileRequests()
    /// The renderer of maps and animations.
    package let maps: MapRenderer
    package let animations: AnimationRenderer
    let changes: ChangeSource
    let alerts: AlertSource
    let flights: FlightMonitor
    let readiness = Readiness()
    let connections: ConnectionTable
    /// The cache of answers ahead of the router.
    let microcache: ResponseMicrocache
    private let registry: MetricRegistry
    let journal: RequestJournal
    private let sizes: StoreSizes
    /// The cache of compressed texts.
    let compressed = CompressedBodies()
    /// The exports that clients read in parts.
    let exportFiles: ExportFiles
    /// The exports that are made in the background.
    let exportJobs: ExportJobs
    private let now: @Sendable () -> Instant
    private let logger: Logger

    package init(
        _ configuration: Configuration, store: any Store, control: any ControlStore, styles: StyleLibrary,
        states: SourceStates, loops: SourceLoops = SourceLoops(), now: @escaping @Sendable () -> Instant, logger: Logger
    ) throws(PNGError) {
        self.configuration = configuration
        work = configuration.work
        exportFiles = ExportFiles(work: work, now: now)
        exportJobs = ExportJobs(configuration.exportJobs, work: work, logger: logger, now: now)
        registry = configuration.registry
        journal = RequestJournal(
            metrics: RequestMetrics(registry),
            accessLog: configuration.hasAccessLog ? AccessLog(Logger(label: "billow.access")) : nil,
            proxies: TrustedProxies(configuration.connections.trustedProxies))
        sizes = StoreSizes(store: store)
        self.store = store
        authorizer = Authorizer(
            store: control, anonymousRead: configuration.anonymousRead, limit: configuration.keyRateLimit,
            refused: registry.counter(.rateLimited, ["key"]), now: now, logger: logger)
        let styleStore = StyleStore(styles)
        self.styles = styleStore
        self.states = states
        self.loops = loops
        connections = ConnectionTable(configuration.connections, logger: logger)
        events = EventHub(maximumListeners: configuration.connections.maximumListeners, logger: logger)
        self.now = now
        self.logger = logger
        publisher = SnapshotPublisher(
            store: store, lifetimes: configuration.lifetimes, severityTable: configuration.severityTable, now: now,
            logger: logger)
        feed = EventFeed(hub: events, publisher: publisher, states: states)
        let freshness = FreshnessRegister(configuration.freshness)
        self.freshness = freshness
        microcache = ResponseMicrocache(hosts: configuration.allowedHosts) { [publisher] in
            ResponseMicrocache.CacheContext(
                second: now().seconds, snapshot: publisher.generation, sources: states.generation,
                styles: styleStore.generation, freshness: freshness.generation)
        }
        frames = FrameSource(
            publisher: publisher, store: store, polygonHistories: configuration.polygonHistories,
            caches: CacheBudget(bytes: configuration.cacheBytes - Self.changeBytes(configuration)),
            logger: logger)
        policy = FreshnessPolicy(freshness, frames: frames, requests: states.requests)
        features = FeatureSource(frames: frames, store: store)
        changes = ChangeSource(
            frames: frames, features: features, smallLogs: CacheBudget(bytes: Self.changeBytes(configuration)))
        alerts = AlertSource(frames: frames, store: store, policy: policy)
        flights = FlightMonitor(
            alerts: alerts, events: events, store: control,
            reader: FlightBodyReader(airports: .large, areaLimitKm2: configuration.areaLimitKm2), work: work,
            logger: logger)
        pictures = PictureSource(frames: frames, store: store)
        let rendering = RenderMetrics(registry)
        tiles = try TileService(pictures: pictures, work: work, metrics: rendering)
        vectors = VectorTileSource(
            frames: frames, pictures: pictures, polygons: features.polygons, store: store, work: work,
            metrics: rendering)
        let baseMaps = BaseMapSource(publicFolder: configuration.publicFolder, caches: frames.caches)
        maps = try MapRenderer(pictures: pictures, baseMaps: baseMaps, tiles: tiles)
        animations = AnimationRenderer(maps: maps, frames: frames, policy: policy)
    }

    /// The share of the cache budget for the states of clients with small queries: some two hundred with the default.
    private static func changeBytes(_ configuration: Configuration) -> Int { configuration.cacheBytes / 8 }

    /// All routes, which tests can reach without a socket.
    package func router() -> Router<BasicRequestContext> {
        let router = Router(context: BasicRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.add(middleware: ResponseBudgetMiddleware(answers: answers))
        router.add(middleware: RequestJournalMiddleware(journal: journal))
        let table = RouteTable()
        let files = PublicFiles(
            folder: configuration.publicFolder,
            generated: [DatasetsModule.path: DatasetsModule.text(configuration.baseMap)])
        router.add(
            middleware: ProblemMiddleware(
                routes: table, files: files, basePath: BaseURL.path(configuration.publicURL),
                allowedHosts: configuration.allowedHosts))
        router.add(middleware: RateLimitMiddleware())
        router.add(middleware: ContentCodingMiddleware(work: work, compressed: compressed))
        router.add(
            middleware: PublicFilesMiddleware(
                files: files, pages: PageRules(publicURL: configuration.publicURL, baseMap: configuration.baseMap)))
        let reading = router.requiring(.read, authorizer)
        let queries = reading.working(.query, work)
        let tileRoutes = TileRoutes(
            frames: frames, tiles: tiles, styleStore: styles, policy: policy,
            publicURL: configuration.publicURL, latestTiles: latestTiles,
            vectors: vectors)
        tileRoutes.add(to: reading)
        let catalogue = OGCCatalogue(
            frames: frames, policy: policy, styleStore: styles, legends: LegendPainter(frames.caches))
        let info = FeatureInfoSource(
            frames: frames, pictures: pictures, features: features, policy: policy, work: work)
        WMSRoutes(
            catalogue: catalogue, tiles: tiles, maps: maps, info: info, publicURL: configuration.publicURL, work: work
        ).add(to: reading)
        WMTSRoutes(
            catalogue: catalogue, tiles: tileRoutes, info: info, publicURL: configuration.publicURL, work: work
        ).add(to: reading)
        let ogcTiles = OGCTileRoutes(
            frames: frames, tiles: tileRoutes, maps: maps, policy: policy, styleStore: styles,
            publicURL: configuration.publicURL, work: work)
        ogcTiles.add(to: reading)
        MapRoutes(frames: frames, maps: maps, styleStore: styles, policy: policy)
            .add(to: reading.working(.map, work))
        TimelineRoutes(frames: frames, service: timelines, styleStore: styles, publicURL: configuration.publicURL)
            .add(to: queries)
        AnimationRoutes(frames: frames, timelines: timelines, renderer: animations, styleStore: styles)
            .add(to: reading.working(.animation, work))
        let collections = CollectionRoutes(
            frames: frames, features: features, policy: policy, publicURL: configuration.publicURL,
            airports: .large, areaLimitKm2: configuration.areaLimitKm2, work: work, styleStore: styles)
        collections.add(to: queries)
        LandingRoutes(routes: table, publicURL: configuration.publicURL, work: work).add(to: router)
        // Clients that use the landing page's address as a folder find the other routes there.
        let folder = RouterPath(LandingRoutes.path)
        collections.add(to: queries.group(folder))
        ogcTiles.add(to: reading.group(folder))
        LandingRoutes(routes: table, publicURL: configuration.publicURL, work: work).addDocuments(
            to: router.group(folder))
        AlertRoutes(
            frames: frames, alerts: alerts, monitor: flights, authorizer: authorizer, airports: .large,
            areaLimitKm2: configuration.areaLimitKm2, now: now
        ).add(to: queries)
        ChangeRoutes(
            frames: frames, changes: changes, policy: policy, features: features, work: work, airports: .large,
            areaLimitKm2: configuration.areaLimitKm2
        ).add(to: queries)
        CorridorAndProfileRoutes(frames: frames, policy: policy, styleStore: styles, airports: .large).add(to: queries)
        let exports = ExportRoutes(
            frames: frames, features: features, policy: policy, work: work, files: exportFiles,
            packs: packs, timelines: timelines, styleStore: styles, publicURL: configuration.publicURL)
        exports.add(to: reading)
        ExportJobRoutes(exports: exports, jobs: exportJobs, publicURL: configuration.publicURL, work: work)
            .add(to: reading)
        StyleRoutes(styleStore: styles, publicURL: configuration.publicURL).add(to: reading)
        LegendRoutes(frames: frames, styleStore: styles, policy: policy).add(to: reading.working(.map, work))
        IngestRoutes(
            store: store, sources: freshness,
            retentionSeconds: configuration.retentionSeconds, sourcesPerKey: configuration.ingestSourcesPerKey,
            work: work, now: now
        ).add(to: router.requiring(.ingest, authorizer))
        EventRoutes(
            hub: events, publisher: publisher, authorizer: authorizer, flights: flights, airports: .large,
            areaLimitKm2: configuration.areaLimitKm2, work: work
        ).add(to: reading)
        let sources = SourceStatus(publisher: publisher, states: states, policy: policy, now: now)
        AdminRoutes(loops: loops, status: sources, feed: feed, fleet: configuration.fleet, logger: logger).add(
            to: router.requiring(.admin, authorizer))
        OperationRoutes(
            publisher: publisher, microcache: microcache, tiles: tiles, vectors: vectors, maps: maps, sources: sources,
            policy: policy, readiness: readiness, authorizer: authorizer, fleet: configuration.fleet,
            backups: configuration.backups, started: now(), now: now
        ).add(to: router)
        MetricsRoutes(source: metrics(sources)).add(
            to: router.group().add(middleware: BearerKeyMiddleware()).requiring(.admin, authorizer))
        table.fill(from: router)
        journal.metrics.fill(from: table)
        return router
    }

    private func metrics(_ sources: SourceStatus) -> MetricsSource {
        MetricsSource(
            registry: registry, build: configuration.build, started: now(), now: now, readiness: readiness,
            connections: connections, events: events, work: work, budget: frames.caches,
            responses: answers, spriteBytes: { [tiles] in tiles.spriteBytes },
            caches: { [microcache, tiles, vectors, maps] in
                [
                    ("answers", microcache.statistics), ("tiles", tiles.statistics),
                    ("vector-tiles", vectors.statistics), ("maps", maps.statistics),
                ]
            },
            publisher: publisher, policy: policy, sources: sources, loops: loops, sizes: sizes, jobs: exportJobs,
            backups: configuration.backups, certificates: configuration.certificates, fleet: configuration.fleet)
    }

    var timelines: TimelineService {
        TimelineService(frames: frames, settings: configuration.timeline, policy: policy)
    }

    var packs: PackSource { PackSource(frames: frames, tiles: tiles, vectors: vectors, policy: policy) }

    var prerenderer: Prerenderer { Prerenderer(publisher: publisher, tiles: tiles, latestTiles: latestTiles) }

    var retention: Retention {
        Retention(store: store, lifetimes: configuration.lifetimes, now: now, logger: logger)
    }

    var packer: ArchivePacker {
        ArchivePacker(archive: frames.archive, publisher: publisher, frames: frames, logger: logger)
    }

    /// The server alone. It answers, but nothing publishes.
    ///
    /// - Parameter onListening: called with the port once connections are taken.
    func server(onListening: @escaping @Sendable (Int) -> Void) -> some ApplicationProtocol {
        Application(
            router: router(),
            server: HTTPServerBuilder { [microcache, journal, connections, readiness, configuration] responder in
                HTTPServerChannel(
                    responder: responder, microcache: microcache, journal: journal, connections: connections,
                    readiness: readiness, certificates: configuration.certificates,
                    refused: configuration.registry.counter(.rateLimited, ["address"]))
            },
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.host, port: configuration.port), serverName: "Billow"),
            onServerRunning: { [connections, logger] channel in
                let isWatched = channel.eventLoop.submit {
                    let listener = ListenerHandler(connections, logger: logger)
                    try channel.pipeline.syncOperations.addHandler(listener, position: .first)
                }
                do { try await isWatched.get() } catch {
                    logger.error("the number of connections is not limited", metadata: ["error": "\(error)"])
                }
                onListening(channel.localAddress?.port ?? 0)
            }, logger: logger.deferringMetadata)
    }

    /// Wraps a service that ingests data. It then runs on separate threads, so that it
    /// and requests don't delay each other.
    package func onIntakeThreads(_ service: any Service) -> any Service {
        WorkClassService(service: service, workClass: .intake, work: work)
    }

    /// Wraps a service that nobody waits for.
    package func inBackground(_ service: any Service) -> any Service {
        WorkClassService(service: service, workClass: .background, work: work)
    }

    /// The services in the order of starting. They stop in the reverse order.
    ///
    /// - Parameter onListening: called with the port once connections are taken.
    package func services(onListening: @escaping @Sendable (Int) -> Void) -> [any Service] {
        let application = server(onListening: onListening)
        let preparation = PolygonPreparation(publisher: publisher, polygons: features.polygons)
        let flightService = FlightMonitorService(publisher: publisher, monitor: flights, logger: logger)
        let reserved = { (workClass: WorkClass, service: any Service) in
            WorkClassService(service: service, workClass: workClass, work: work)
        }
        return [
            reserved(.publication, publisher), reserved(.publication, feed),
            reserved(.background, OutlineWarmer(publisher: publisher)), prerenderer,
            reserved(.background, preparation), flightService, reserved(.background, retention),
            reserved(.background, packer),
            reserved(.background, DamageSurvey(store: store, logger: logger)), application, Heartbeat(hub: events),
            ExportExpiry(files: exportFiles, jobs: exportJobs), ExportJobService(jobs: exportJobs),
        ] + (configuration.certificates.map { [$0] } ?? []) + [
            reserved(.background, HeapTrimmer()),
            Drain(readiness: readiness, events: events),
        ]
    }
}

/// Delays a shutdown until running requests are answered. It stops first, so that the server still accepts connections
/// meanwhile, and `/readyz` reports that it is draining.
private struct Drain: Service {
    let readiness: Readiness
    let events: EventHub

    /// Less than the ten seconds after which a shutdown is no longer graceful.
    private static let longest = Duration.seconds(8)
    /// Lets responses in flight finish, and gives probes the time to see that the server is not ready.
    private static let grace = Duration.milliseconds(500)
    private static let step = Duration.milliseconds(50)

    func run() async throws {
        // Ends by the shutdown, or by a cancellation that allows no time for draining.
        do { try await gracefulShutdown() } catch { return }
        readiness.drain()
        events.close()
        let clock = ContinuousClock()
        let end = clock.now + Self.longest
        while readiness.inFlight > 0, clock.now < end { try await clock.sleep(for: Self.step) }
        try await clock.sleep(for: Self.grace)
    }
}

/// Sends regular comments on the streams of events.
private struct Heartbeat: Service {
    let hub: EventHub

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while true {
                // Ends only by the shutdown.
                do { try await Task.sleep(for: EventHub.heartbeatInterval) } catch { return }
                hub.sendHeartbeat()
            }
        }
    }
}

/// Limits the memory of a server's responses by its own budget.
private struct ResponseBudgetMiddleware<Context: RequestContext>: RouterMiddleware {
    let answers: ResponseBudget

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        try await ResponseBudget.$ofServer.withValue(answers) {
            #if DEBUG
                try await WorkExecutor.$isAnswering.withValue(true) { try await next(request, context) }
            #else
                try await next(request, context)
            #endif
        }
    }
}
