import AsyncHTTPClient
import BillowSnapshot
import BillowStore
import Foundation
import Geometry
import Logging
import SkyPath
import Synchronization
import TestSupport
import Testing
import Turbulence
import UpstreamSimulator

@testable import BillowSync

/// A clock that a test turns.
final class ManualClock: Sendable {
    private let seconds: Mutex<Int>

    init(_ seconds: Int = 1_795_214_400) { self.seconds = Mutex(seconds) }

    var seconds1970: Int { seconds.withLock { $0 } }
    var now: Instant { Instant(clamping: seconds1970) }
    func advance(_ by: Int) { seconds.withLock { $0 += by } }
}

struct Missing: Error {}

extension Optional {
    /// The value, or a test failure instead of a trap.
    func orMissing() throws -> Wrapped {
        guard let self else { throw Missing() }
        return self
    }
}

func skypath() throws -> SourceID { try SourceID("skypath").orMissing() }

/// A box as a ring; east may be beyond 180.
func box(_ west: Double, _ south: Double, _ east: Double, _ north: Double) throws -> AreaRing {
    let corners = [(west, south), (east, south), (east, north), (west, north), (west, south)]
    return try AreaRing(corners.map { try LonLat(longitude: $0.0, latitude: $0.1).orMissing() })
}

/// The North Atlantic and what is around it, where most of a small world flies.
func atlantic() throws -> AreaRing { try box(-80, 25, 40, 70) }

/// The three calls, as a source is set up for each.
enum Mode: String, CaseIterable, Sendable {
    case v4
    case corridor
    case bulk

    var api: SkyPathUpstream.API { self == .v4 ? .v4 : .v5 }

    func query(history: History = .twoHours, severities: SeveritySet = .all) throws -> DataQuery {
        DataQuery(
            severities: severities, history: history, polygon: self == .corridor ? try atlantic() : nil)
    }
}

/// A simulator over loopback, a store, and what is needed to bring the one into the other.
struct Rig: Sendable {
    let simulator: UpstreamSimulator
    let baseURL: String
    let http: HTTPClient
    let clock: ManualClock
    let store: SQLiteStore
    let areaLimitKm2: Double?
    let timeout: Duration

    /// The source `skypath`, by default configured as what it is: simulated.
    func upstream(
        _ api: SkyPathUpstream.API, _ query: DataQuery, store: (any Store)? = nil, simulated: Bool? = true,
        baseURL: String? = nil, batchSize: Int = 10_000, retentionSeconds: Int = 86_400,
        configure: (inout SkyPathConfiguration) -> Void = { _ in }
    ) throws -> SkyPathUpstream {
        var configuration = SkyPathConfiguration(
            environment: .custom(baseURL ?? self.baseURL), apiKey: try Secret("demo").orMissing(),
            timeout: timeout)
        configuration.limits.corridorAreaKm2 = areaLimitKm2
        configure(&configuration)
        let clock = clock
        let client = try SkyPathClient(configuration: configuration, httpClient: http, now: { clock.seconds1970 })
        var upstream = SkyPathUpstream(
            id: try skypath(), client: client, api: api, query: query, simulated: simulated, store: store ?? self.store,
            retentionSeconds: retentionSeconds)
        upstream.batchSize = batchSize
        upstream.uptime = { .seconds(clock.seconds1970) }
        return upstream
    }

    func upstream(_ mode: Mode, history: History = .twoHours, store: (any Store)? = nil) throws -> SkyPathUpstream {
        try upstream(mode.api, mode.query(history: history), store: store)
    }

    @discardableResult
    func round(_ upstream: SkyPathUpstream) async throws -> SyncOutcome {
        try await upstream.synchronise(now: clock.now)
    }

    func loop(
        _ upstream: any Upstream, interval: Duration = .seconds(60), random: Double = 0.5
    ) -> (loop: SourceLoop, states: SourceStates) {
        let clock = clock
        let states = SourceStates()
        let loop = SourceLoop(
            upstream: upstream, update: .every(interval), states: states, now: { clock.now },
            uptime: { .seconds(clock.seconds1970) }, random: { random },
            logger: Logger(label: "sync", factory: { _ in SwiftLogNoOpLogHandler() }))
        return (loop, states)
    }

    /// What a store that knows nothing gets of the upstream now.
    func fresh(_ api: SkyPathUpstream.API, _ query: DataQuery) async throws -> Set<StandingObservation> {
        let other = try await SQLiteStore.temporary()
        try await round(upstream(api, query, store: other))
        return try await other.picture(at: clock.now, query.history)
    }
}

func withRig(
    seed: UInt64 = 7, flights: Int = 30, areaLimitKm2: Double? = nil, dripInterval: Duration = .seconds(5),
    timeout: Duration = .seconds(120), replay: Replay? = nil, clock: ManualClock = ManualClock(),
    disabledProducts: Set<SkyPathProduct> = [], needsSession: Bool = false,
    _ body: @Sendable (Rig) async throws -> Void
) async throws {
    var configuration = UpstreamSimulator.Configuration(
        seed: seed, flights: flights, areaLimitKm2: areaLimitKm2, dripInterval: dripInterval, replay: replay,
        clock: { clock.seconds1970 })
    configuration.disabledProducts = disabledProducts
    configuration.needsSession = needsSession
    try await UpstreamSimulator.withRunning(configuration) { simulator, baseURL in
        let http = HTTPClient(configuration: SkyPathClient.recommendedHTTPConfiguration)
        do {
            let rig = Rig(
                simulator: simulator, baseURL: baseURL, http: http, clock: clock, store: try await .temporary(),
                areaLimitKm2: areaLimitKm2, timeout: timeout)
            try await body(rig)
        } catch {
            try await http.shutdown()
            throw error
        }
        try await http.shutdown()
    }
}

// MARK: - What is in a store

/// A standing observation as a frame shows it.
struct StandingObservation: Hashable {
    var cell: Cell
    var altitude: AltitudeBand
    var intensity: Intensity
    var observedAt: Instant
}

extension Store {
    func allRows() async throws -> [ObservationRow] {
        try await rows(from: .distantPast, to: .distantFuture).rows
    }

    /// The standing records, by the snapshot's own rules.
    func picture(
        at instant: Instant, _ history: History = .twoHours, severities: SeveritySet = .all,
        category: AircraftCategory = .default
    ) async throws -> Set<StandingObservation> {
        let all = try await rows(from: .distantPast, to: .distantFuture)
        let window = Window(
            rows: all.rows, sources: all.sources)
        let filter = Filter(history: history, severities: severities, category: category)
        let frame = Frame(window: window, at: instant, filter: filter, table: SeverityTable())
        let records = frame.currentObservations().map(\.row)
        return Set(
            records.map {
                StandingObservation(
                    cell: $0.cell, altitude: $0.altitude, intensity: $0.intensity, observedAt: $0.observedAt)
            })
    }

    func source() async throws -> SourceRecord { try await sources().first.orMissing() }

    /// The cursors of the pieces.
    func pieces() async throws -> [String: SkyPathCursor] {
        var pieces: [String: SkyPathCursor] = [:]
        for (name, value) in try await cursors(of: skypath()) {
            pieces[name] = try SkyPathCursor(text: value).orMissing()
        }
        return pieces
    }
}

/// No row counts twice for one place and second.
func hasDuplicates(_ rows: [ObservationRow]) -> Bool {
    struct About: Hashable {
        var cell: Cell
        var altitude: AltitudeBand
        var observedAt: Instant
        var category: AircraftCategory?
    }
    let about = rows.map {
        About(cell: $0.cell, altitude: $0.altitude, observedAt: $0.observedAt, category: $0.category)
    }
    return Set(about).count != rows.count
}

/// A real store that a test can look over the shoulder of: before and after each commit, counted from 1.
final class WatchedStore: WrappedStore {
    typealias Watch = @Sendable (_ number: Int, Batch) async throws(StoreError) -> Void

    let store: SQLiteStore
    private let before: Watch
    private let after: Watch
    private let count = Mutex(0)

    init(_ store: SQLiteStore, before: @escaping Watch = { _, _ in }, after: @escaping Watch = { _, _ in }) {
        self.store = store
        self.before = before
        self.after = after
    }

    func commit(_ batch: Batch) async throws(StoreError) -> BatchResult {
        let number = count.withLock { count in
            count += 1
            return count
        }
        try await before(number, batch)
        let result = try await store.commit(batch)
        try await after(number, batch)
        return result
    }
}
