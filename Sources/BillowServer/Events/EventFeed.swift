import BillowSnapshot
import BillowStore
import BillowSync
import Turbulence

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

    /// `session`, on a change only.
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
        ("data", DataChange(area: DataQuery.Area.all.rawValue, version: snapshot.publication.version.rawValue))
    }

    private func published(_ old: Snapshot?, _ new: Snapshot, _ changes: Changes) {
        guard let old, old.log == new.log else {
            let ready = Self.everything(new)
            return hub.publish(ready.name, ready.payload)
        }
        let version = new.publication.version.rawValue
        func tell(_ collection: String, _ areas: Set<DataQuery.Area>) {
            for area in areas.sorted() {
                hub.publish("data", DataChange(collection: collection, area: area.rawValue, version: version))
            }
        }
        if !changes.opened.isEmpty || !changes.closed.isEmpty {
            tell("turbulence", areas(of: changes, in: new))
        }
        if !changes.openedReports.isEmpty || !changes.closedReports.isEmpty { tell("pireps", [.global]) }
        for collection in Set((changes.openedAreas + changes.closedAreas).map(\.collection.name)).sorted() {
            tell(collection, [.global])
        }
        if !changes.positions.isEmpty {
            tell("traffic", [.global])
            tell("tracks", [.global])
        }
    }

    /// The parts of the sources' queries in which rows came or went. What went from outside all of them was in a viewport that
    /// is another one now.
    private func areas(of changes: Changes, in snapshot: Snapshot) -> Set<DataQuery.Area> {
        var queries: [SourceNumber: DataQuery] = [:]
        for source in snapshot.sources {
            if let query = states[source.id]?.query { queries[source.number] = query }
        }
        let possible = Set(queries.values.flatMap(\.areas)).union([.global, .viewport])
        var areas = Set<DataQuery.Area>()
        for row in changes.opened + changes.closed {
            let query = queries[row.source]
            areas.insert(query?.area(of: row.cell) ?? (query == nil ? .global : .viewport))
            if areas.count == possible.count { break }
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
                    "fetching",
                    Fetching(on: on, area: part.area.rawValue, collection: part.collection, source: new.id.name))
            }
        }
        if let error = new.lastError, new.consecutiveFailures > old.consecutiveFailures {
            tell(new, error.type?.collections) { area, collection in
                failed(new.id, area: area, collection: collection, code: error.code, message: error.message)
            }
        }
        // Where nothing else is asked for, that is the round's failure.
        for (type, message) in new.disabled where old.disabled[type] == nil && new.lastError?.code != "disabled" {
            for collection in type.collections {
                failed(new.id, area: "all", collection: collection, code: "disabled", message: message)
            }
        }
        if let isReachable = new.isReachable, isReachable != (old.isReachable ?? true) {
            hub.publish("reachable", Reachable(source: new.id.name, on: isReachable))
        }
        if old.hasSession != new.hasSession {
            hub.publish(
                "session",
                Session(
                    source: new.id.name, active: new.hasSession,
                    reason: new.hasSession ? nil : new.lastError?.message ?? "refused before the restart"))
        }
    }

    /// A round that fails fails for all parts of the query.
    /// - Parameter collections: nil is all of the source's.
    private func tell(
        _ state: SourceState, _ collections: [String]? = nil, _ body: (_ area: String, _ collection: String) -> Void
    ) {
        let areas = state.query?.areas ?? [.global]
        for collection in collections ?? state.collections { for area in areas { body(area.rawValue, collection) } }
    }

    /// A part of the query that can't be asked for.
    func failed(_ source: SourceID, _ query: DataQuery?, _ area: DataQuery.Area, _ problem: Problem) {
        for type in (query?.types ?? []).sorted() {
            for collection in type.collections {
                failed(
                    source, area: area.rawValue, collection: collection, code: problem.code, message: problem.detail)
            }
        }
    }

    private func failed(_ source: SourceID, area: String, collection: String, code: String, message: String) {
        hub.publish(
            "failed",
            Failed(source: source.name, area: area, collection: collection, code: code, message: message))
    }
}

extension IssuedArea.Collection {
    /// The collection's name in the interface.
    fileprivate var name: String {
        switch self {
        case .hazards: "hazards"
        case .forecast: "forecast"
        case .polygons: "polygons"
        }
    }
}
