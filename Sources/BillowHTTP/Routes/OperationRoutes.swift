import BillowEngine
import BillowParameters
import BillowSnapshot
import BillowStore
import BillowSync
import BillowTiles
import Datasets
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization
import Turbulence

/// `/healthz`, `/readyz` and `/status`.
struct OperationRoutes: Sendable {
    let publisher: SnapshotPublisher
    let microcache: ResponseMicrocache
    let tiles: TileService
    let vectors: VectorTileSource
    let maps: MapRenderer
    let sources: SourceStatus
    let policy: FreshnessPolicy
    let readiness: Readiness
    let authorizer: Authorizer
    let fleet: FleetRole?
    let backups: BackupStatus?
    let started: Instant
    let now: @Sendable () -> Instant

    /// The paths of the probes, whose answers have no links.
    static let probes = ["/healthz", "/readyz"]

    /// Adds the routes. Liveness and readiness are public. The status requires read access, and all its details
    /// administrator access.
    func add(to router: some RouterMethods<some RequestContext>) {
        router.get("/healthz") { request, _ in
            try JSONResponse.make(["status": "ok"], headers: [.cacheControl: "no-store"], request: request)
        }
        router.get("/readyz") { request, _ in try ready(request) }
        router.get("/status") { request, _ in try await answerStatus(request) }
    }

    private func answerStatus(_ request: Request) async throws -> Response {
        // The page for people is status.html of the public files. It requests the JSON, with a key if one is needed.
        guard try !Self.isPage(request) else { throw HTTPError(.notFound) }
        let status = status(isRedacted: try await !authorizer.isAdministrator(request))
        let headers: HTTPFields = [.cacheControl: "no-store", .vary: "Accept, X-API-Key"]
        return try JSONResponse.make(status, headers: headers, request: request)
    }

    /// Whether a request is for HTML. A client that accepts anything is a program.
    private static func isPage(_ request: Request) throws(ParameterProblem) -> Bool {
        try ViewerAddressParameters(request).selectsDocument != true
            && request.headers[.accept]?.contains("text/html") == true
    }

    private struct ReadinessBody: Encodable {
        var status: String
        var stale: Bool?
        var dataTime: String?
        /// The error code of the store.
        var storeFailure: String?
        var layers: [String: LayerState]?
    }

    /// The current freshness and completeness of a layer, with the default filter.
    private struct LayerState: Encodable {
        var stale: Bool
        var dataTime: String?
        var incomplete: Bool
        var completeSince: String?
    }

    private static let everyKind = Set(Catalogue.kinds)

    private func layerStates(_ snapshot: Snapshot, at now: Instant) -> [String: LayerState] {
        let states = Catalogue.layers.map { layer in
            let freshness = policy.freshness(of: [layer], at: now, in: snapshot, filter: Filter(), now: now)
            return (
                layer.id,
                LayerState(
                    stale: freshness.isStale, dataTime: freshness.dataTime?.description,
                    incomplete: freshness.isIncomplete(
                        at: now, lookBack: policy.lookBack(of: [layer], at: now, filter: Filter(), in: snapshot)),
                    completeSince: freshness.completeSince?.description)
            )
        }
        return Dictionary(uniqueKeysWithValues: states)
    }

    private func ready(_ request: Request) throws -> Response {
        let headers: HTTPFields = [.cacheControl: "no-store"]
        if readiness.isDraining {
            return try JSONResponse.make(
                ReadinessBody(status: "draining"), headers: headers, status: .serviceUnavailable, request: request)
        }
        guard let snapshot = publisher.snapshot else {
            return try JSONResponse.make(
                ReadinessBody(status: "loading"), headers: headers, status: .serviceUnavailable, request: request)
        }
        let now = now()
        let freshness = policy.freshness(of: Self.everyKind, in: snapshot, filter: Filter(), at: now)
        let failure = publisher.storeFailure.map(ProblemCode.init)
        // The server still serves the snapshot in memory, but only a restart can reopen the store.
        let isLost = failure == .storeReplaced
        return try JSONResponse.make(
            ReadinessBody(
                status: isLost ? "store-lost" : "ready", stale: freshness.isStale,
                dataTime: freshness.dataTime?.description, storeFailure: failure?.rawValue,
                layers: layerStates(snapshot, at: now)),
            headers: headers, status: isLost ? .serviceUnavailable : .ok, request: request)
    }

    // MARK: - Status

    private struct Status: Encodable {
        var version: Int64?
        var asOf: String?
        var now: String
        var started: String
        var ready: Bool
        var draining: Bool
        var simulated: Bool
        var stale: Bool
        var dataTime: String?
        var liveFrom: String?
        var liveObservations: Int
        var oldestObservation: String?
        var newestObservation: String?
        var storeFailure: String?
        var damage: [Damage]?
        var backups: Backups?
        var fleet: Fleet?
        var answerCache: Cache
        var tileCache: Cache
        var vectorTileCache: Cache
        var mapCache: Cache
        var layers: [String: LayerState]?
        var sources: [SourceStatus.Source]
    }

    /// The scheduled backups.
    private struct Backups: Encodable {
        var newest: String?
        /// Why the last backup failed.
        var failure: String?
        /// Why the last copy command failed.
        var copyFailure: String?

        init(_ report: BackupStatus.Report, isRedacted: Bool) {
            newest = report.newest?.description
            failure = report.failure.map { isRedacted ? "the log says why" : $0 }
            copyFailure = report.copyFailure.map { isRedacted ? "the log says why" : $0 }
        }
    }

    /// The server of all on one database that fetches from the sources.
    private struct Fleet: Encodable {
        /// Whether this server is that one.
        var syncs: Bool
        /// Its host and process.
        var leader: String?
    }

    /// The unreadable rows of a table.
    private struct Damage: Encodable {
        var table: String
        var rows: Int
        var gaps: Int
        var changedParts: Int
        var from: String?
        var to: String?

        init(_ damage: StoredDamage) {
            table = damage.table.rawValue
            rows = damage.rows
            gaps = damage.gaps
            changedParts = damage.changedParts
            from = damage.from?.description
            to = damage.to?.description
        }
    }

    private struct Cache: Encodable {
        var entries: Int
        var bytes: Int
        var hits: Int
        var misses: Int

        init(_ statistics: CacheStatistics) {
            entries = statistics.entries
            bytes = statistics.bytes
            hits = statistics.hits
            misses = statistics.misses
        }
    }

    private func status(isRedacted: Bool) -> Status {
        let snapshot = publisher.snapshot
        let now = now()
        let freshness = snapshot.map { policy.freshness(of: Self.everyKind, in: $0, filter: Filter(), at: now) }
        return Status(
            version: snapshot?.publication.version.rawValue, asOf: snapshot?.publication.asOf.description,
            now: now.description, started: started.description, ready: snapshot != nil && !readiness.isDraining,
            draining: readiness.isDraining, simulated: freshness?.isSimulated ?? false,
            stale: freshness?.isStale ?? false,
            dataTime: freshness?.dataTime?.description, liveFrom: snapshot?.liveFrom.description,
            liveObservations: snapshot?.window.count ?? 0,
            oldestObservation: snapshot?.logExtent.observed?.lowerBound.description,
            newestObservation: snapshot?.logExtent.observed?.upperBound.description,
            storeFailure: publisher.storeFailure.map { isRedacted ? "the log says why" : $0.description },
            damage: publisher.damage.isEmpty ? nil : publisher.damage.map(Damage.init),
            backups: backups.map { Backups($0.report, isRedacted: isRedacted) },
            fleet: fleet.map { Fleet(syncs: $0.isLeading(), leader: isRedacted ? nil : $0.leader()) },
            answerCache: Cache(microcache.statistics), tileCache: Cache(tiles.statistics),
            vectorTileCache: Cache(vectors.statistics),
            mapCache: Cache(maps.statistics),
            layers: snapshot.map { layerStates($0, at: now) },
            sources: isRedacted ? sources.redacted(snapshot, at: now) : sources.all(snapshot, at: now))
    }
}

/// Whether the server is shutting down, and the number of requests in flight.
package final class Readiness: Sendable {
    private let draining = Atomic(false)
    private let answering = Atomic(0)

    package init() {}

    package var isDraining: Bool { draining.load(ordering: .relaxed) }
    func drain() { draining.store(true, ordering: .relaxed) }

    /// The requests whose last byte is not yet handed to the connection.
    var inFlight: Int { answering.load(ordering: .relaxed) }

    func requestBegan() { answering.add(1, ordering: .relaxed) }

    func requestsEnded(_ count: Int) { answering.subtract(count, ordering: .relaxed) }
}
