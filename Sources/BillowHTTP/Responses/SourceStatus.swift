import BillowEngine
import BillowSnapshot
import BillowSync
import Datasets
import Turbulence
import JSONKit

/// The state of every source, for `/status` and `/admin/sources`.
struct SourceStatus: Sendable {
    let publisher: SnapshotPublisher
    let states: SourceStates
    let policy: FreshnessPolicy
    let now: @Sendable () -> Instant

    struct Source: Encodable {
        struct Failure: Encodable {
            var code: String
            var message: String
            var at: String
        }

        /// The state of one area's rounds.
        struct Area: Encodable {
            var lastSuccess: String?
            var lastAttempt: String?
            var nextAttempt: String?
            var consecutiveFailures: Int
            var lastError: Failure?
        }

        /// Counts since the start of the process.
        struct Counts: Encodable {
            var accepted = 0
            var duplicates = 0
            var retracted = 0
            /// Skipped records, by reason.
            var skipped: [String: Int] = [:]
            /// Records that were adjusted before use, by adjustment.
            var adjusted: [String: Int] = [:]
            /// Rounds that an event of the upstream caused; absent for a source that doesn't listen for events.
            var eventRounds: Int?
        }

        var id: String
        var kind: String
        /// The ids of the layers whose data it fetches; absent for a folder, and for a source that isn't configured.
        var layers: [String]?
        /// A `SourceState.Activity`; `stored` for a source that isn't configured.
        var state: String
        var simulated: Bool
        var reachable: Bool?
        var fetching = false
        /// Whether the upstream's events arrive; absent for a source that doesn't listen for events.
        var listening: Bool?
        /// Whether the upstream accepted the access key in its last response; absent before that. With false, no
        /// request is sent until the source is started again.
        var session: Bool?
        var stale: Bool
        var lastSuccess: String?
        var lastAttempt: String?
        var nextAttempt: String?
        /// The seconds since the last success.
        var ageSeconds: Int?
        /// The age in seconds of the newest live observation, report or position; absent without one.
        var lagSeconds: Int?
        var completeSince: String?
        var consecutiveFailures = 0
        var lastError: Failure?
        var counts = Counts()
        var update: String?
        /// The current query; absent for a source without one.
        var query: [String: JSONValue]?
        /// The states of separately fetched areas; absent if there is only one.
        var areas: [String: Area]?
        /// Types of data that the account has no access to, with the upstream's message; absent if there are none.
        var disabled: [String: String]?
    }

    func all() -> [Source] { all(publisher.snapshot, at: now()) }

    subscript(_ id: SourceID) -> Source? { all().first { $0.id == id.name } }

    /// The sources without confidential details.
    func redacted(_ snapshot: Snapshot?, at now: Instant) -> [Source] {
        let known = Dictionary(states.all.map { ($0.id.name, $0) }, uniquingKeysWith: { first, _ in first })
        return all(snapshot, at: now).map { $0.redacted(known[$0.id]) }
    }

    /// The configured sources, then those that only the store knows.
    func all(_ snapshot: Snapshot?, at now: Instant) -> [Source] {
        let stored = Dictionary(
            (snapshot?.sources ?? []).map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        let running = states.all
        let configured = running.map { state in
            let record = stored[state.id]
            let fetchedAt = record?.fetchedAt ?? state.lastSuccess
            let settings = SourceSettings(query: state.query, update: state.update)
            return Source(
                id: state.id.name, kind: state.kind,
                layers: state.feeds.isEmpty
                    ? nil : Catalogue.layers.filter { !state.feeds.isDisjoint(with: $0.kinds) }.map(\.id),
                state: state.activity.rawValue,
                simulated: record?.simulated ?? state.simulated ?? false,
                reachable: state.isReachable, fetching: state.isFetching, listening: state.isListening,
                session: state.session,
                stale: policy.isStale(state.id, fetchedAt: fetchedAt, at: now), lastSuccess: fetchedAt?.description,
                lastAttempt: state.lastAttempt?.description, nextAttempt: state.nextAttempt?.description,
                ageSeconds: fetchedAt.map { now.seconds - $0.seconds },
                lagSeconds: record.flatMap { snapshot?.newest(of: $0) }.map { now.seconds - $0.seconds },
                completeSince: record?.completeSince?.description, consecutiveFailures: state.consecutiveFailures,
                lastError: state.lastError.map(Source.Failure.init),
                counts: Source.Counts(
                    accepted: state.accepted, duplicates: state.duplicates, retracted: state.retracted,
                    skipped: state.skipped, adjusted: state.adjusted,
                    eventRounds: state.isListening.map { _ in state.eventRounds }), update: settings.update.text,
                query: settings.query == nil ? nil : settings.queryJSON,
                areas: state.areas.count < 2
                    ? nil
                    : Dictionary(
                        uniqueKeysWithValues: state.areas.map { ($0.key.rawValue, Source.Area($0.value)) }),
                disabled: state.disabled.isEmpty
                    ? nil : Dictionary(uniqueKeysWithValues: state.disabled.map { ($0.key.name, $0.value) }))
        }
        let known = Set(running.map(\.id))
        let others = (snapshot?.sources ?? []).filter { !known.contains($0.id) }.map { source in
            Source(
                id: source.id.name, kind: "stored", state: "stored", simulated: source.simulated ?? false,
                stale: source.fetchedAt != nil && policy.isStale(source.id, fetchedAt: source.fetchedAt, at: now),
                lastSuccess: source.fetchedAt?.description,
                ageSeconds: source.fetchedAt.map { now.seconds - $0.seconds },
                lagSeconds: snapshot?.newest(of: source).map { now.seconds - $0.seconds },
                completeSince: source.completeSince?.description)
        }
        return configured + others
    }
}

extension SourceStatus.Source {
    /// The public part: without the query's areas and without paths on this machine.
    func redacted(_ state: SourceState?) -> Self {
        var source = self
        source.query?["polygon"] = nil
        source.query?["viewport"] = nil
        if let failure = state?.lastError { source.lastError?.message = failure.publicMessage }
        for (area, part) in state?.areas ?? [:] {
            guard let failure = part.lastError else { continue }
            source.areas?[area.rawValue]?.lastError?.message = failure.publicMessage
        }
        return source
    }
}

extension SourceState.Failure {
    /// Its message without local paths and URLs, which only administrators and the log get.
    var publicMessage: String {
        switch code {
        case .store: "the database can't be read or written"
        case .inbox: "the inbox can't be read or written"
        case .simulatedData: "simulated and real data may not be mixed"
        default: message
        }
    }
}

extension SourceStatus.Source.Failure {
    fileprivate init(_ failure: SourceState.Failure) {
        self.init(code: failure.code.rawValue, message: failure.message, at: failure.at.description)
    }
}

extension SourceStatus.Source.Area {
    fileprivate init(_ state: SourceState.AreaState) {
        self.init(
            lastSuccess: state.lastSuccess?.description, lastAttempt: state.lastAttempt?.description,
            nextAttempt: state.nextAttempt?.description, consecutiveFailures: state.consecutiveFailures,
            lastError: state.lastError.map(SourceStatus.Source.Failure.init))
    }
}
