import BillowSnapshot
import BillowSync
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization
import Turbulence

/// `/healthz`, `/readyz` and `/status`.
struct OperationRoutes: Sendable {
    let publisher: SnapshotPublisher
    let tiles: TileService
    let states: SourceStates
    let ageRule: AgeRule
    let readiness: Readiness
    let started: Instant
    let now: @Sendable () -> Instant

    /// Whether it lives and is ready is open to everybody; where it stands is for those who may read.
    func add(to router: some RouterMethods<some RequestContext>, reading: some RouterMethods<some RequestContext>) {
        router.get("/healthz") { request, _ in
            try JSONAnswer.make(["status": "ok"], headers: [.cacheControl: "no-store"], request: request)
        }
        router.get("/readyz") { request, _ in try ready(request) }
        reading.get("/status") { request, _ in
            try JSONAnswer.make(status(), headers: [.cacheControl: "no-store"], request: request)
        }
    }

    private struct Ready: Encodable {
        var status: String
        var stale: Bool?
        var dataTime: String?
    }

    private func ready(_ request: Request) throws -> Response {
        let headers: HTTPFields = [.cacheControl: "no-store"]
        if readiness.isDraining {
            return try JSONAnswer.make(
                Ready(status: "draining"), headers: headers, status: .serviceUnavailable, request: request)
        }
        guard let snapshot = publisher.snapshot else {
            return try JSONAnswer.make(
                Ready(status: "loading"), headers: headers, status: .serviceUnavailable, request: request)
        }
        let age = ageRule.age(of: snapshot, filter: Filter(), at: now())
        return try JSONAnswer.make(
            Ready(status: "ready", stale: age.isStale, dataTime: age.dataTime?.description), headers: headers,
            request: request)
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
        var tileCache: Cache
        var sources: [Source]
    }

    private struct Cache: Encodable {
        var entries: Int
        var bytes: Int
        var hits: Int
        var misses: Int
    }

    private struct Source: Encodable {
        struct Failure: Encodable {
            var code: String
            var message: String
            var at: String
        }

        struct Counts: Encodable {
            var accepted = 0
            var duplicates = 0
            var retracted = 0
            var skipped: [String: Int] = [:]
            var adjusted: [String: Int] = [:]
        }

        var id: String
        var kind: String
        var simulated: Bool
        var reachable: Bool?
        var fetching = false
        /// false: the upstream refused our key, and nothing is tried until the source is started again.
        var session: Bool?
        var stale: Bool
        var lastSuccess: String?
        var lastAttempt: String?
        var nextAttempt: String?
        var ageSeconds: Int?
        var completeSince: String?
        var consecutiveFailures = 0
        var lastError: Failure?
        var counts = Counts()
    }

    private func status() -> Status {
        let snapshot = publisher.snapshot
        let now = now()
        let age = snapshot.map { ageRule.age(of: $0, filter: Filter(), at: now) }
        let cache = tiles.statistics
        return Status(
            version: snapshot?.publication.version.rawValue, asOf: snapshot?.publication.asOf.description,
            now: now.description, started: started.description, ready: snapshot != nil && !readiness.isDraining,
            draining: readiness.isDraining, simulated: age?.isSimulated ?? false, stale: age?.isStale ?? false,
            dataTime: age?.dataTime?.description, liveFrom: snapshot?.liveFrom.description,
            liveObservations: snapshot?.window.count ?? 0,
            oldestObservation: publisher.observed?.lowerBound.description,
            newestObservation: publisher.observed?.upperBound.description, storeFailure: publisher.storeFailure,
            tileCache: Cache(entries: cache.entries, bytes: cache.cost, hits: cache.hits, misses: cache.misses),
            sources: sources(snapshot, now))
    }

    /// The configured sources, then those that only the store knows.
    private func sources(_ snapshot: Snapshot?, _ now: Instant) -> [Source] {
        let stored = Dictionary(
            (snapshot?.sources ?? []).map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let running = states.all
        let configured = running.map { state in
            let fetchedAt = stored[state.id]?.fetchedAt ?? state.lastSuccess
            return Source(
                id: state.id.name, kind: state.kind, simulated: state.simulated, reachable: state.isReachable,
                fetching: state.isFetching, session: state.hasSession,
                stale: isStale(fetchedAt, now), lastSuccess: fetchedAt?.description,
                lastAttempt: state.lastAttempt?.description, nextAttempt: state.nextAttempt?.description,
                ageSeconds: fetchedAt.map { now.seconds - $0.seconds },
                completeSince: stored[state.id]?.completeSince?.description,
                consecutiveFailures: state.consecutiveFailures,
                lastError: state.lastError.map {
                    Source.Failure(code: $0.code, message: $0.message, at: $0.at.description)
                },
                counts: Source.Counts(
                    accepted: state.accepted, duplicates: state.duplicates, retracted: state.retracted,
                    skipped: state.skipped, adjusted: state.adjusted))
        }
        let known = Set(running.map(\.id))
        let others = (snapshot?.sources ?? []).filter { !known.contains($0.id) }.map { source in
            Source(
                id: source.id.name, kind: "stored", simulated: source.simulated,
                stale: source.fetchedAt != nil && isStale(source.fetchedAt, now),
                lastSuccess: source.fetchedAt?.description,
                ageSeconds: source.fetchedAt.map { now.seconds - $0.seconds },
                completeSince: source.completeSince?.description)
        }
        return configured + others
    }

    private func isStale(_ fetchedAt: Instant?, _ now: Instant) -> Bool {
        (fetchedAt ?? .distantPast) < now.advanced(by: -ageRule.staleAfterSeconds)
    }
}

/// Whether the server is on its way out, and how much it still has to answer.
public final class Readiness: Sendable {
    private let draining = Atomic(false)
    private let answering = Atomic(0)

    public init() {}

    public var isDraining: Bool { draining.load(ordering: .relaxed) }
    func drain() { draining.store(true, ordering: .relaxed) }

    /// Requests whose last byte is not yet handed over.
    var inFlight: Int { answering.load(ordering: .relaxed) }
    func began() { answering.add(1, ordering: .relaxed) }
    func ended() { answering.subtract(1, ordering: .relaxed) }
}
