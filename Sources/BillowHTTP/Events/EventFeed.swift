import BillowEngine
import BillowFields
import BillowSnapshot
import BillowStore
import BillowSync
import Datasets
import Geometry
import ServiceLifecycle
import Synchronization
import Turbulence

/// The kinds of events. The documentation's table is derived from them.
package enum EventName: String, CaseIterable, Sendable {
    case data, fetching, failed, reachable, session, alert, positionLost

    /// The members of the event's data.
    package var members: [String] {
        switch self {
        case .data: ["collection", "area", "version"]
        case .fetching: ["on", "area", "collection", "source"]
        case .failed: ["source", "area", "collection", "code", "message"]
        case .reachable: ["source", "on"]
        case .session: ["source", "active", "reason"]
        case .alert: ["flight"]
        case .positionLost: ["flight", "lastPositionAt"]
        }
    }

    /// The condition for the event, for the documentation: at most 20 words, without a full stop.
    package var meaning: String {
        switch self {
        case .data: "the features of a collection have changed; request them again"
        case .fetching: "a fetch of due data begins or ends"
        case .failed: "a fetch failed, or a changed polygon or viewport was refused"
        case .reachable: "the upstream became unreachable, or reachable again"
        case .session: "the upstream accepts the key for the first time, refuses it, or accepts it again"
        case .alert:
            "turbulence ahead of a monitored flight has changed; the data also has the response of `POST /alerts`"
        case .positionLost: "a monitored flight has had no position for 5 minutes"
        }
    }
}

/// Converts changes of snapshots and sources to events.
struct EventFeed: Service {
    private let hub: EventHub
    private let publisher: SnapshotPublisher
    private let states: SourceStates
    private let changedStates: AsyncStream<SourceState>
    private let progress = Progress()

    /// The number of states that have become events.
    private final class Progress: Sendable { let states = Atomic<UInt64>(0) }

    /// `data`: the content of a collection changed.
    struct DataChange: Encodable {
        var collection: String?
        var area: String
        var version: Int64
    }

    /// `fetching`, sent on changes.
    private struct Fetching: Encodable {
        var on: Bool
        var area: String
        var collection: String
        var source: String
    }

    /// `failed`: a fetch, or a change of the query.
    private struct Failed: Encodable {
        var source: String
        var area: String
        var collection: String
        var code: String
        var message: String
    }

    /// `reachable`, sent on changes.
    private struct Reachable: Encodable {
        var source: String
        var on: Bool
    }

    /// `session`: whether the upstream accepts the key, sent with its first response and on changes.
    private struct Session: Encodable {
        var source: String
        var active: Bool
        var reason: String?
    }

    /// Changes of sources become events from now on, once `run` is called.
    init(hub: EventHub, publisher: SnapshotPublisher, states: SourceStates) {
        self.hub = hub
        self.publisher = publisher
        self.states = states
        changedStates = states.changes()
    }

    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await publication in publisher.publications.withChanges { published(publication) }
            }
            group.addTask {
                await cancelWhenGracefulShutdown { await followSources() }
            }
        }
    }

    private func followSources() async {
        var last: [SourceID: SourceState] = [:]
        for await state in changedStates {
            if let old = last.updateValue(state, forKey: state.id) {
                changed(old, state)
                // Data of a round is published after its events, without waiting for the next poll of the store.
                if old.isFetching && !state.isFetching || old.accepted != state.accepted { publisher.wake() }
            }
            progress.states.add(1, ordering: .releasing)
        }
    }

    /// The number of states that have become events, of `SourceStates.generation`.
    var handledStates: UInt64 { progress.states.load(ordering: .acquiring) }

    // MARK: - Data

    /// The collections whose `data` events announce changes of some datasets. The event of observations with upstream
    /// data also stands for everything that is derived from them.
    static func announcing(_ datasets: [Dataset]) -> Set<String> {
        let observed = Catalogue.all.filter { $0.content == .history(.observations) && !$0.isDerived }
        return Set(
            datasets.flatMap { dataset in [dataset] + observed.filter { $0.kind == dataset.kind } }.map(\.id))
    }

    /// Tells a listener to request everything: stored data is ready, or the missed events are unknown.
    static func fullReload(_ snapshot: Snapshot) -> (name: String, payload: DataChange) {
        (
            EventName.data.rawValue,
            DataChange(area: DataQuery.Area.all.rawValue, version: snapshot.publication.version.rawValue)
        )
    }

    private func published(_ publication: ChangedPublication) {
        let new = publication.snapshot
        guard let old = publication.previous, let changes = publication.changes else {
            let ready = Self.fullReload(new)
            return hub.publish(ready.name, ready.payload, about: .data(collection: nil))
        }
        let queries = Dictionary(
            states.all.compactMap { state in state.query.map { (state.id, $0) } }, uniquingKeysWith: { $1 })
        let numbered = Dictionary(
            new.sources.compactMap { source in queries[source.id].map { (source.number, $0) } },
            uniquingKeysWith: { $1 })
        let isLocated = hub.hasPlacedListeners
        for dataset in Catalogue.all {
            let parts = Self.parts(of: dataset, in: changes, old, new, queries, numbered, isLocated: isLocated)
            for (area, squares) in parts.squares.sorted(by: { $0.key < $1.key }) {
                hub.publish(
                    EventName.data.rawValue,
                    DataChange(
                        collection: dataset.id, area: area.rawValue, version: new.publication.version.rawValue),
                    about: .data(collection: dataset.id), in: isLocated ? squares : nil)
            }
        }
    }

    /// The changed parts of the sources' queries, each with the squares of its changes.
    private struct ChangedParts {
        /// Whether any listener needs the squares.
        let isLocated: Bool
        private(set) var squares: [DataQuery.Area: DegreeSquares] = [:]

        /// Whether further changes add nothing, because all three parts have changed.
        var isComplete: Bool { !isLocated && squares.count == 3 }

        mutating func add(_ part: DataQuery.Area, _ insert: (inout DegreeSquares) -> Void) {
            guard isLocated else {
                squares[part] = DegreeSquares()
                return
            }
            insert(&squares[part, default: DegreeSquares()])
        }
    }

    /// The parts of the sources' queries in which the content of a dataset changed.
    ///
    /// - Parameters:
    ///   - queries: the query of each source.
    ///   - numbered: the queries by the sources' numbers.
    private static func parts(
        of dataset: Dataset, in changes: Changes, _ old: Snapshot, _ new: Snapshot, _ queries: [SourceID: DataQuery],
        _ numbered: [SourceNumber: DataQuery], isLocated: Bool
    ) -> ChangedParts {
        var parts = ChangedParts(isLocated: isLocated)
        // Data that was issued for a larger area than requested belongs to every part of the query.
        func add(issuedBy source: SourceID, _ insert: (inout DegreeSquares) -> Void) {
            for part in queries[source]?.areas(ofCollection: dataset.id) ?? [.global] { parts.add(part, insert) }
        }
        func add(_ collection: IssuedArea.DatasetNumber) {
            for area in changes.openedAreas + changes.closedAreas where area.collection == collection {
                add(issuedBy: area.source) { $0.insert(area.geometry) }
            }
        }
        func add<Item>(
            _ items: [Item], _ requested: (Item) -> DataQuery.RequestedAreas?,
            _ part: (Item, DataQuery.RequestedAreas) -> DataQuery.Area?,
            _ insert: (Item, inout DegreeSquares) -> Void
        ) {
            for item in items {
                // Removed data outside all parts was in a viewport that has moved since.
                parts.add(requested(item).map { part(item, $0) ?? .viewport } ?? .global) { insert(item, &$0) }
                if parts.isComplete { break }
            }
        }
        let requested = queries.mapValues { $0.requestedAreas(of: dataset) }
        switch dataset.content {
        case .history(.observations):
            let numbered = numbered.mapValues { $0.requestedAreas(of: dataset) }
            // The event of the dataset with upstream data also stands for the datasets that are derived from it.
            guard !dataset.isDerived else { break }
            add(changes.opened + changes.closed, { numbered[$0.source] }, { $1.area(of: $0.cell) }) {
                $1.insert(BoundingBox(of: $0.cell))
            }
        case .history(.reports):
            add(
                changes.openedReports + changes.closedReports, { requested[$0.source] }, { $1.area(of: $0.place) }
            ) { $1.insert($0.place) }
        case .history(.positions), .positions(trackSeconds: 0):
            // An aircraft that left a square is removed from it.
            let places = isLocated ? Self.places(of: changes.positions, in: old) : [:]
            add(changes.positions, { requested[$0.source] }, { $1.area(of: $0.place) }) {
                $1.insert($0.place)
                if let place = places[$0.icao24] { $1.insert(place) }
            }
        case .positions:
            // Each part of a track shows the whole track.
            add(changes.positions, { requested[$0.source] }, { $1.area(of: $0.place) }) { _, squares in
                squares = .everywhere
            }
        case .polygons: add(.polygons)
        case .areas(let collection): add(collection)
        case .field:
            let cover = new.fieldCoverage.box.map { DegreeSquares($0) } ?? .everywhere
            for field in changes.fields { add(issuedBy: field.source) { $0 = cover } }
        }
        return parts
    }

    /// The previous positions of aircraft with a new position.
    private static func places(of positions: [AircraftPosition], in snapshot: Snapshot) -> [ICAO24: LonLat] {
        let moved = Set(positions.map(\.icao24))
        let before =
            snapshot.positions(at: snapshot.publication.asOf, droppedAfterSeconds: Traffic.retentionSeconds) ?? []
        return Dictionary(
            before.filter { moved.contains($0.icao24) }.map { ($0.icao24, $0.place) }, uniquingKeysWith: { $1 })
    }

    // MARK: - Sources

    private func changed(_ old: SourceState, _ new: SourceState) {
        let ended = old.fetching.subtracting(new.fetching)
        let begun = new.fetching.subtracting(old.fetching)
        for (parts, on) in [(ended, false), (begun, true)] {
            for part in parts.sorted() {
                // A listener of a place may have a thin link, so the server sends it changes and no fetches.
                hub.publish(
                    EventName.fetching.rawValue,
                    Fetching(on: on, area: part.area.rawValue, collection: part.collection, source: new.id.name),
                    in: DegreeSquares())
            }
        }
        for (area, state) in new.areas.sorted(by: { $0.key < $1.key }) {
            // Failures are counted, not compared, because a repeated failure is a new event.
            guard let error = state.lastError, state.failures > old.areas[area]?.failures ?? 0 else { continue }
            for part in state.failedParts.sorted() {
                failed(
                    new.id, area: part.area.rawValue, collection: part.collection, code: error.code.rawValue,
                    message: error.publicMessage)
            }
        }
        // Without another requested type, this is the failure of the round.
        for (type, message) in new.disabled where old.disabled[type] == nil && new.lastError?.code != .disabled {
            for collection in type.collections {
                failed(
                    new.id, area: "all", collection: collection, code: SyncError.Code.disabled.rawValue,
                    message: message)
            }
        }
        if let isReachable = new.isReachable, isReachable != (old.isReachable ?? true) {
            hub.publish(EventName.reachable.rawValue, Reachable(source: new.id.name, on: isReachable))
        }
        if new.hasKey, let isActive = new.session, isActive != old.session {
            hub.publish(
                EventName.session.rawValue,
                Session(
                    source: new.id.name, active: isActive,
                    reason: isActive ? nil : new.refusal?.publicMessage ?? "refused before the restart"))
        }
    }

    /// An invalid part of a query. The event omits its value, because all listeners receive it.
    func failed(_ source: SourceID, _ query: DataQuery?, _ area: DataQuery.Area, _ problem: Problem) {
        let message = "\(area.rawValue) must be \(problem.allowed ?? "a ring that can be asked for")"
        for type in (query?.types ?? []).sorted() {
            for collection in type.collections {
                failed(
                    source, area: area.rawValue, collection: collection, code: problem.code.rawValue,
                    message: message)
            }
        }
    }

    private func failed(_ source: SourceID, area: String, collection: String, code: String, message: String) {
        hub.publish(
            EventName.failed.rawValue,
            Failed(source: source.name, area: area, collection: collection, code: code, message: message))
    }
}
