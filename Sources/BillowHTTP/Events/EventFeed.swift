import BillowEngine
import BillowSnapshot
import BillowStore
import BillowSync
import Datasets
import Turbulence

/// The events that there are. The documentation's table is made of them.
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

    /// When it is sent, for the documentation: at most 20 words, without a stop.
    package var meaning: String {
        switch self {
        case .data: "what a collection shows has changed; request it again"
        case .fetching: "a fetch of what is due begins or ends"
        case .failed: "a fetch failed, or a changed polygon or viewport was refused"
        case .reachable: "the upstream is gone, or there again"
        case .session: "the upstream took the key for the first time, refuses it, or takes it again"
        case .alert: "turbulence ahead of a monitored flight has changed; beside `flight` the answer of `POST /alerts`"
        case .positionLost: "a monitored flight has had no position for 5 minutes"
        }
    }
}

/// Turns what the publisher and the sources do into events.
struct EventFeed: Sendable {
    let hub: EventHub
    let states: SourceStates

    /// `data`: a collection shows something else than before.
    struct DataChange: Encodable {
        var collection: String?
        var area: String
        var version: Int64
    }

    /// `fetching`, on a change only.
    private struct Fetching: Encodable {
        var on: Bool
        var area: String
        var collection: String
        var source: String
    }

    /// `failed`: a fetch, or a change of what to fetch.
    private struct Failed: Encodable {
        var source: String
        var area: String
        var collection: String
        var code: String
        var message: String
    }

    /// `reachable`, on a change only.
    private struct Reachable: Encodable {
        var source: String
        var on: Bool
    }

    /// `session`: what the upstream says of our key, at its first answer and on a change.
    private struct Session: Encodable {
        var source: String
        var active: Bool
        var reason: String?
    }

    func start(_ publisher: SnapshotPublisher) {
        publisher.observe { old, new, changes in published(old, new, changes) }
        states.observe { old, new in changed(old, new) }
    }

    // MARK: - Data

    /// What tells a listener to look at everything: that stored data is ready, or that nobody knows what it missed.
    static func everything(_ snapshot: Snapshot) -> (name: String, payload: DataChange) {
        (
            EventName.data.rawValue,
            DataChange(area: DataQuery.Area.all.rawValue, version: snapshot.publication.version.rawValue)
        )
    }

    private func published(_ old: Snapshot?, _ new: Snapshot, _ changes: Changes) {
        guard let old, old.log == new.log else {
            let ready = Self.everything(new)
            return hub.publish(ready.name, ready.payload)
        }
        let version = new.publication.version.rawValue
        func tell(_ dataset: Dataset, _ areas: Set<DataQuery.Area>) {
            for area in areas.sorted() {
                hub.publish(
                    EventName.data.rawValue, DataChange(collection: dataset.id, area: area.rawValue, version: version))
            }
        }
        let queries = Dictionary(
            states.all.compactMap { state in state.query.map { (state.id, $0) } }, uniquingKeysWith: { $1 })
        let numbered = Dictionary(
            new.sources.compactMap { source in queries[source.id].map { (source.number, $0) } },
            uniquingKeysWith: { $1 })
        let rows = changes.opened + changes.closed
        tell(Dataset.turbulence, Self.areas(of: rows, query: { numbered[$0.source] }) { $1.area(of: $0.cell) })
        let reports = changes.openedReports + changes.closedReports
        tell(Dataset.pireps, Self.areas(of: reports, query: { queries[$0.source] }) { $1.area(of: $0.place, .pireps) })
        for (dataset, areas) in Dictionary(
            grouping: changes.openedAreas + changes.closedAreas,
            by: { Catalogue.dataset(of: $0.collection) ?? .polygons }
        ).sorted(by: { $0.key.id < $1.key.id }) {
            // What was issued for a larger area than was asked for belongs to every part of the query.
            tell(
                dataset,
                Set(areas.flatMap { queries[$0.source]?.areas(ofCollection: dataset.id) ?? [.global] }))
        }
        let positions = Self.areas(of: changes.positions, query: { queries[$0.source] }) {
            $1.area(of: $0.place, .flights)
        }
        for dataset in Catalogue.all where dataset.kind == .positions { tell(dataset, positions) }
    }

    /// The parts of queries that items lie in.
    private static func areas<Item>(
        of items: [Item], query: (Item) -> DataQuery?, _ area: (Item, DataQuery) -> DataQuery.Area?
    ) -> Set<DataQuery.Area> {
        var areas = Set<DataQuery.Area>()
        for item in items {
            // What went from outside of all parts was in a viewport that is another one now.
            areas.insert(query(item).map { area(item, $0) ?? .viewport } ?? .global)
            if areas.count == 3 { break }
        }
        return areas
    }

    // MARK: - Sources

    private func changed(_ old: SourceState, _ new: SourceState) {
        let ended = old.fetching.subtracting(new.fetching)
        let begun = new.fetching.subtracting(old.fetching)
        for (parts, on) in [(ended, false), (begun, true)] {
            for part in parts.sorted() {
                hub.publish(
                    EventName.fetching.rawValue,
                    Fetching(on: on, area: part.area.rawValue, collection: part.collection, source: new.id.name))
            }
        }
        for (area, state) in new.areas.sorted(by: { $0.key < $1.key }) {
            // Counted, and not compared: the same failure again is another one.
            guard let error = state.lastError, state.failures > old.areas[area]?.failures ?? 0 else { continue }
            for part in state.failedParts.sorted() {
                failed(
                    new.id, area: part.area.rawValue, collection: part.collection, code: error.code.rawValue,
                    message: error.publicMessage)
            }
        }
        // Where nothing else is asked for, that is the round's failure.
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

    /// A part of the query that can't be asked for. The value isn't told: everybody hears it.
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
