package import BillowAreas
package import BillowSnapshot
package import BillowStore
import BillowTiles
package import Foundation
import Geometry
package import Logging
import ServiceLifecycle
package import Turbulence

/// An event for the listeners of a monitored flight.
package enum FlightEvent: Sendable {
    /// The set of items ahead differs from that of the last event.
    case alert(AlertResponse)
    case positionLost(FlightSilence)
}

/// A flight that sent no position for some time.
package struct FlightSilence: Encodable, Sendable {
    package var flight: String
    var lastPositionAt: String
}

/// The destination of events of monitored flights.
package protocol FlightEvents: Sendable {
    /// Sends an event to the listeners of one flight.
    func send(_ event: FlightEvent, flight: String)
}

/// Parses registrations of flights, both from requests and from the store.
package protocol FlightReader: Sendable {
    associatedtype Failure: Error

    func read(_ body: Data) throws(Failure) -> FlightRegistration
}

/// The registration of a flight.
package struct FlightRegistration: Sendable {
    /// The body of the request, which is stored.
    let body: String
    let request: AlertRequest
    let positionSource: FlightMonitor.PositionSource

    package init(body: Data, request: AlertRequest, positionSource: FlightMonitor.PositionSource) {
        self.body = String(decoding: body, as: UTF8.self)
        self.request = request
        self.positionSource = positionSource
    }
}

/// Monitors flights for turbulence ahead. Each flight is evaluated at every new position and at every publication. It
/// belongs to the access key that registered it.
///
/// Flights survive a restart. A registration is stored before the response is sent. Positions and sent events are
/// stored at most `saveEverySeconds` later. So a crash may repeat the events of these seconds, but loses none.
///
/// Each evaluation is a job of the work executor; a publication evaluates one flight at a time. The actor's own steps
/// always run on work threads.
package actor FlightMonitor {
    /// The source of a flight's positions.
    package enum PositionSource: Sendable, Hashable {
        /// Positions that the registering client posts.
        case posted
        /// Positions from traffic data.
        case aircraft(ICAO24)
        case callsign(String)
    }

    private struct Flight {
        var key: String
        /// The registration as it was sent, which is parsed again after a restart.
        var body: String
        var request: AlertRequest
        var positionSource: PositionSource
        var state: FlightState?
        /// The time of the last position, or of the registration.
        var heardAt: Instant
        var clusters = AlertClusters()
        /// A hash of the last event's items; nil before the first event.
        var sentItems: String?
        /// The notified severity of computed turbulence.
        var fieldNotice = FieldNotification()
        var isLost = false
        /// The seconds of silence, counted only while this process runs.
        var silentSeconds = 0
    }

    private var flights: [String: Flight] = [:]
    private var isRestored = false
    /// Flights that changed since they were stored, and flights to remove.
    private var unsaved: Set<String> = []
    private var ended: Set<String> = []
    private var savedAt = Instant.distantPast
    private var lastTick: Instant?
    /// Whether the last attempt to store failed.
    private var isUnstored = false

    private let alerts: AlertSource
    private let events: any FlightEvents
    private let store: any ControlStore
    private let reader: any FlightReader
    private let work: WorkExecutor
    private let lane: WorkLane
    private let logger: Logger

    package nonisolated var unownedExecutor: UnownedSerialExecutor { lane.asUnownedSerialExecutor() }

    /// The most flights of all keys, and of one key. Evaluating all of them takes less than a second.
    package static let most = 2_000
    static let maximumPerKey = 500
    /// The seconds without a position after which a flight is lost, and after which it ends.
    static let lostAfter = 300
    static let endsAfter = 86_400
    /// The longest time between two ticks that counts, in seconds. A longer one is due to a clock change or a pause of
    /// the machine.
    static let longestStep = 60
    /// The seconds between two transactions that store positions and sent events.
    static let saveEverySeconds = 2

    package init(
        alerts: AlertSource, events: any FlightEvents, store: any ControlStore, reader: any FlightReader,
        work: WorkExecutor, logger: Logger
    ) {
        self.work = work
        lane = work.lane(.query)
        self.alerts = alerts
        self.events = events
        self.store = store
        self.reader = reader
        self.logger = logger
    }

    // MARK: - Requests

    /// Registers a flight for monitoring. It is stored when this returns.
    /// - Returns: its id, which can't be guessed.
    package func register(_ registration: FlightRegistration, key: String, at now: Instant) async throws(EngineError)
        -> String
    {
        try await restore()
        guard flights.count < Self.most, flights.values.count(where: { $0.key == key }) < Self.maximumPerKey else {
            throw .tooManyFlights
        }
        let id = UUID().uuidString.lowercased()
        let flight = Flight(
            key: key, body: registration.body, request: registration.request,
            positionSource: registration.positionSource, heardAt: now)
        // The flight is counted before the store call suspends, so that concurrent registrations can't exceed the
        // limit.
        flights[id] = flight
        do throws(EngineError) {
            let stored = try stored(flight, id)
            do { try await store.add(stored) } catch { throw .flightNotStored(.registration) }
        } catch {
            flights[id] = nil
            throw error
        }
        return id
    }

    /// Whether a key registered a flight.
    package func owns(_ id: String, key: String) async throws(EngineError) -> Bool {
        try await restore()
        return flights[id]?.key == key
    }

    /// Ends a flight; returns false if the key has no flight with that id.
    package func end(_ id: String, key: String) async throws(EngineError) -> Bool {
        guard try await owns(id, key: key), let flight = flights[id] else { return false }
        flights[id] = nil
        do throws(StoreError) { try await store.removeMonitoredFlights([id]) } catch {
            flights[id] = flight
            throw .flightNotStored(.end)
        }
        return true
    }

    /// Sets the position of a flight and evaluates it.
    /// - Returns: the turbulence ahead; nil if the key has no such flight.
    package func position(_ state: FlightState, of id: String, key: String, at now: Instant, in snapshot: Snapshot)
        async throws(EngineError)
        -> AlertResponse?
    {
        guard try await owns(id, key: key) else { return nil }
        flights[id]?.state = state
        flights[id]?.heardAt = now
        flights[id]?.isLost = false
        unsaved.insert(id)
        return try await evaluate(id, in: snapshot, as: .query)
    }

    // MARK: - Publications and timers

    /// Evaluates every flight from its last position. A failure does not stop the others.
    /// - Throws: the first failure, after all flights were evaluated.
    func published(_ snapshot: Snapshot) async throws(EngineError) {
        try await restore()
        try await updatePositions(from: snapshot)
        tick(snapshot.publication.asOf)
        var failure: EngineError?
        for id in evaluationOrder() {
            try WorkExecutor.checkCancellation()
            do { _ = try await evaluate(id, in: snapshot, as: .background) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }

    /// The order of evaluation: the first flight of each key, then the second of each, and so on. So a key with many
    /// flights hardly delays the others.
    private func evaluationOrder() -> [String] {
        var turnOfKey: [String: Int] = [:]
        var turns: [(turn: Int, id: String)] = []
        for id in flights.keys.sorted() {
            let turn = turnOfKey[flights[id]?.key ?? "", default: 0]
            turnOfKey[flights[id]?.key ?? "", default: 0] += 1
            turns.append((turn, id))
        }
        return turns.sorted { ($0.turn, $0.id) < ($1.turn, $1.id) }.map(\.id)
    }

    /// Updates the flights whose positions come from traffic data.
    private func updatePositions(from snapshot: Snapshot) async throws(EngineError) {
        guard flights.values.contains(where: { $0.positionSource != .posted }) else { return }
        let positions = try await alerts.frames.positions(
            at: snapshot.publication.asOf, droppedAfterSeconds: Self.lostAfter, in: snapshot)
        var byAddress: [ICAO24: AircraftPosition] = [:]
        var byCallsign: [String: AircraftPosition] = [:]
        for position in positions {
            byAddress[position.icao24] = position
            guard let callsign = position.callsign else { continue }
            // If two aircraft have the same callsign, the one seen last counts.
            if byCallsign[callsign].map({ $0.observedAt <= position.observedAt }) ?? true {
                byCallsign[callsign] = position
            }
        }
        for (id, flight) in flights {
            let found: AircraftPosition? =
                switch flight.positionSource {
                case .posted: nil
                case .aircraft(let icao24): byAddress[icao24]
                case .callsign(let callsign): byCallsign[callsign]
                }
            guard let found, found.observedAt > flight.heardAt || flight.state == nil,
                let altitude = found.altitudeFeet ?? found.geometricAltitudeFeet
            else { continue }
            flights[id]?.state = FlightState(
                place: found.place, altitudeFeet: Double(altitude), track: found.headingDegrees,
                groundSpeed: found.groundSpeedKnots)
            flights[id]?.heardAt = max(found.observedAt, flight.heardAt)
            flights[id]?.isLost = false
            unsaved.insert(id)
        }
    }

    /// Evaluates a flight, and sends an event with the whole set of items if it differs from the last event's set. An
    /// empty set after a non-empty one is an event too.
    private func evaluate(_ id: String, in snapshot: Snapshot, as workClass: WorkClass) async throws(EngineError)
        -> AlertResponse?
    {
        guard let flight = flights[id], let state = flight.state, !flight.isLost else { return nil }
        let request = flight.request
        let report = try await work.run(workClass) { [alerts] () async throws(EngineError) in
            try await alerts.report(request, of: state, in: snapshot)
        }
        // The flight may have ended or moved during the search; the later evaluation then takes precedence.
        guard var flight = flights[id] else { return nil }
        guard flight.state == state else { return AlertResponse(report, clusters: [], flight: id) }
        let clusters: [AlertCluster]
        do { clusters = try flight.clusters.update(report.items) } catch { throw .cancelled }
        var answer = AlertResponse(report, clusters: clusters, flight: id)
        if isUnstored { answer.stored = false }
        let set = Self.name(of: report.items)
        let isFieldNews = flight.fieldNotice.note(report.field?.severity, at: report.time)
        let isNews = isFieldNews || (flight.sentItems.map { $0 != set } ?? !report.items.isEmpty)
        flight.sentItems = set
        flights[id] = flight
        if isNews {
            unsaved.insert(id)
            events.send(.alert(answer), flight: id)
        }
        return answer
    }

    /// Marks flights without a position as lost, and ends those that are silent for long. It counts elapsed time in
    /// small steps, so that a clock change ends no flight.
    func tick(_ now: Instant) {
        let step = lastTick.map { min(max(now.seconds - $0.seconds, 0), Self.longestStep) } ?? 0
        lastTick = now
        for (id, flight) in flights {
            let silent = now.seconds - flight.heardAt.seconds
            let counted = min(flight.silentSeconds + step, max(silent, 0))
            flights[id]?.silentSeconds = counted
            if counted >= Self.endsAfter {
                flights[id] = nil
                ended.insert(id)
            } else if silent >= Self.lostAfter, !flight.isLost {
                flights[id]?.isLost = true
                unsaved.insert(id)
                events.send(
                    .positionLost(FlightSilence(flight: id, lastPositionAt: flight.heardAt.description)), flight: id)
            }
        }
    }

    // MARK: - Stored flights

    /// The stored state of a flight besides its registration.
    private struct Record: Codable {
        struct AlertState: Codable {
            var longitude: Double
            var latitude: Double
            var altitudeFeet: Double
            var track: Double?
            var groundSpeed: Double?
        }

        var body: String
        var heardAt: Int
        var state: AlertState?
        var clusters: AlertClusters
        var sentItems: String?
        /// Absent from flights that an earlier release stored.
        var fieldNotice: FieldNotification?
        var isLost: Bool

        private enum CodingKeys: String, CodingKey {
            case body, heardAt, state, clusters, fieldNotice, isLost
            case sentItems = "told"
        }
    }

    /// Loads the stored flights, once.
    private func restore() async throws(EngineError) {
        guard !isRestored else { return }
        let stored: [MonitoredFlight]
        let keys: Set<String>
        do throws(StoreError) {
            stored = try await store.monitoredFlights()
            keys = stored.isEmpty ? [] : Set(try await store.accessKeys().filter { $0.revokedAt == nil }.map(\.id))
        } catch { throw .flightNotStored(.restoration) }
        guard !isRestored else { return }
        isRestored = true
        for item in stored {
            guard keys.contains(item.accessKey), flights.count < Self.most, let flight = flight(item) else {
                // The key was revoked, or no longer has permission for the request.
                ended.insert(item.id)
                continue
            }
            flights[item.id] = flight
        }
        if !stored.isEmpty {
            logger.info("monitored flights were restored", metadata: ["count": "\(flights.count)"])
        }
    }

    private func flight(_ stored: MonitoredFlight) -> Flight? {
        do {
            let record = try JSONDecoder().decode(Record.self, from: Data(stored.value.utf8))
            let registration = try reader.read(Data(record.body.utf8))
            let state = record.state.flatMap { state in
                LonLat(longitude: state.longitude, latitude: state.latitude).map {
                    FlightState(
                        place: $0, altitudeFeet: state.altitudeFeet, track: state.track, groundSpeed: state.groundSpeed)
                }
            }
            return Flight(
                key: stored.accessKey, body: record.body, request: registration.request,
                positionSource: registration.positionSource, state: state, heardAt: Instant(clamping: record.heardAt),
                clusters: record.clusters, sentItems: record.sentItems,
                fieldNotice: record.fieldNotice ?? FieldNotification(), isLost: record.isLost)
        } catch {
            logger.notice(
                "a monitored flight can't be restored", metadata: ["flight": "\(stored.id)", "error": "\(error)"])
            return nil
        }
    }

    private func stored(_ flight: Flight, _ id: String) throws(EngineError) -> MonitoredFlight {
        let state = flight.state.map {
            Record.AlertState(
                longitude: $0.place.longitude, latitude: $0.place.latitude, altitudeFeet: $0.altitudeFeet,
                track: $0.track, groundSpeed: $0.groundSpeed)
        }
        let record = Record(
            body: flight.body, heardAt: flight.heardAt.seconds, state: state, clusters: flight.clusters,
            sentItems: flight.sentItems, fieldNotice: flight.fieldNotice, isLost: flight.isLost)
        let bytes: Data
        do { bytes = try JSONEncoder().encode(record) } catch { throw .encoding("\(error)") }
        return MonitoredFlight(id: id, accessKey: flight.key, value: String(decoding: bytes, as: UTF8.self))
    }

    /// Stores changes, at most every `saveEverySeconds`. A failed attempt is retried at the next call.
    func save(at now: Instant) async {
        guard !unsaved.isEmpty || !ended.isEmpty,
            abs(now.seconds - savedAt.seconds) >= Self.saveEverySeconds
        else { return }
        savedAt = now
        await save()
    }

    /// Stores changes.
    func save() async {
        let (changed, removed) = (unsaved, ended)
        guard !changed.isEmpty || !removed.isEmpty else { return }
        unsaved = []
        ended = []
        do {
            let records = try changed.sorted().compactMap { id in try flights[id].map { try stored($0, id) } }
            if !records.isEmpty { try await store.update(records) }
            if !removed.isEmpty { try await store.removeMonitoredFlights(removed.sorted()) }
            isUnstored = false
        } catch {
            unsaved.formUnion(changed)
            ended.formUnion(removed)
            if !isUnstored { logger.error("monitored flights can't be stored", metadata: ["error": "\(error)"]) }
            isUnstored = true
        }
    }

    /// A hash of a set of items, equal in every process.
    private static func name(of items: [AlertItem]) -> String {
        var fingerprint = Fingerprint()
        for item in items.map(\.identity).sorted(by: { $0.cell < $1.cell }) {
            fingerprint.mix(UInt64(item.cell.dense) << 8 | UInt64(item.severity.rawValue))
            fingerprint.mix(
                UInt64(clamping: item.altitude.lowest.feet) << 32 | UInt64(clamping: item.altitude.highest.feet))
        }
        return fingerprint.text
    }
}

/// Evaluates the monitored flights at every publication, and detects silent ones.
package struct FlightMonitorService: Service {
    package let publisher: SnapshotPublisher
    let monitor: FlightMonitor
    package let logger: Logger

    package init(publisher: SnapshotPublisher, monitor: FlightMonitor, logger: Logger) {
        self.publisher = publisher
        self.monitor = monitor
        self.logger = logger
    }

    /// The interval between two checks for silent flights: well below the seconds that count.
    private static let checkInterval = Duration.milliseconds(500)

    package func run() async {
        await withTaskGroup { group in
            // A flight under evaluation does not delay shutdown.
            group.addTask { await cancelWhenGracefulShutdown { await followPublications() } }
            group.addTask { await followTime() }
        }
        await monitor.save()
    }

    private func followPublications() async {
        for await snapshot in publisher.publications {
            // The publisher reports store failures; the next publication retries.
            do { try await monitor.published(snapshot) } catch {
                logger.debug("flights weren't evaluated", metadata: ["error": "\(error)"])
            }
        }
    }

    private func followTime() async {
        repeat {
            await monitor.tick(publisher.now())
            await monitor.save(at: publisher.now())
        } while await ServicePause.rest(Self.checkInterval)
    }
}
