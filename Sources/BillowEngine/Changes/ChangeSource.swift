import BillowExchange
package import BillowSnapshot
import Synchronization
import Turbulence

/// Answers what changed in a query's features since a state that a client has.
///
/// Each query has a log of states. A state is a set of features, told apart by content, and has a cursor of its own. No
/// two states of any queries, runs or servers share one. A client that names a state that the log holds gets a delta,
/// every other client gets all features. So a delta always starts from exactly what the client has.
///
/// A log is an immutable value: an update makes the next one of it. Logs are cached within the server's budget, and who
/// asks for the same query at the same time shares one update. While nothing new is published, a client that has the
/// last state costs no read at all.
package final class ChangeSource: Sendable {
    /// What changed.
    package struct Delta: Sendable {
        package var snapshot: Snapshot
        package var query: FeatureQuery
        /// Names the state after the changes.
        package var cursor: String
        /// Whether `features` are all features, because the state that was asked for isn't held.
        package var isFull: Bool
        /// One JSON feature each; of a delta in no order that means anything.
        package var features: [ArraySlice<UInt8>]
        /// As JSON writes them inside quotes.
        package var removed: [String]
    }

    /// Names a state: the run of the process, which no other shares, and a number that rises with every state of the
    /// run.
    package struct Cursor: Sendable, Hashable {
        package var run: UInt64
        package var number: UInt64

        package var text: String { "\(String(run, radix: 36)).\(String(number, radix: 36))" }

        package init(run: UInt64, number: UInt64) {
            self.run = run
            self.number = number
        }

        /// nil for a text that no cursor has.
        package init?(_ text: String) {
            let parts = text.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 2, let run = UInt64(parts[0], radix: 36), let number = UInt64(parts[1], radix: 36)
            else { return nil }
            self.init(run: run, number: number)
            guard self.text == text else { return nil }
        }
    }

    /// The features of a query after an update, as far as those who wait for it may lack them.
    private struct Update: Sendable {
        /// Which update of this source it is.
        var number: UInt64
        var snapshot: Snapshot
        var query: FeatureQuery
        var log: ChangeLog
        /// `lines` has the features that changed after this state; nil where it has all.
        var floor: UInt64?
        var lines: [(id: String, line: ArraySlice<UInt8>)] = []

        /// Whether it has all that a client with a state lacks.
        func serves(_ state: UInt64?) -> Bool {
            guard let floor else { return true }
            return state.map { $0 >= floor && log.holds($0) } ?? false
        }
    }

    private let frames: FrameSource
    private let features: FeatureSource
    /// The run of the process.
    private let run = UInt64.random(in: 0...UInt64.max)
    private let states = Atomic<UInt64>(0)
    private let begun = Atomic<UInt64>(0)
    /// A log, and what was published when it was brought up to date.
    private struct KeptLog: Sendable {
        var log: ChangeLog
        var publication: Publication
    }

    /// By query.
    private let logs: SharedCache<String, KeptLog>
    /// Those of small queries, such as a client's own corridor. They have a budget of their own: a client over a thin
    /// link polls seldom, and would lose its state to whatever else was asked for in the meantime.
    private let smallLogs: SharedCache<String, KeptLog>
    /// Under way; none is kept.
    private let updates: SharedCache<String, Update>
    /// The states of the clients that wait for an update, by query; nil for a client without one.
    private let waiting = Mutex<[String: [UInt64?]]>([:])

    private static let page = 5_000
    /// Bytes of a small log: some 4,000 features.
    private static let smallBytes = 256 << 10

    /// - Parameter smallLogs: the budget of the logs of small queries.
    package init(frames: FrameSource, features: FeatureSource, smallLogs: CacheBudget) {
        self.frames = frames
        self.features = features
        logs = SharedCache(frames.caches, keyBytes: { $0.utf8.count }) { $0.log.bytes }
        self.smallLogs = SharedCache(smallLogs, keyBytes: { $0.utf8.count }) { $0.log.bytes }
        updates = SharedCache(frames.caches) { _ in 0 }
    }

    /// The logs that are held.
    package var statistics: CacheStatistics {
        let (large, small) = (logs.statistics, smallLogs.statistics)
        return CacheStatistics(
            entries: large.entries + small.entries, bytes: large.bytes + small.bytes, hits: large.hits + small.hits,
            misses: large.misses + small.misses)
    }

    private func kept(_ name: String) -> KeptLog? { smallLogs.kept(name) ?? logs.kept(name) }

    private func cache(_ log: KeptLog, for name: String) {
        let isSmall = log.log.bytes <= Self.smallBytes
        (isSmall ? smallLogs : logs).insert(log, for: name)
        (isSmall ? logs : smallLogs).remove(name)
    }

    /// How often the features of a query were read.
    var updatesBegun: UInt64 { begun.load(ordering: .relaxed) }

    /// - Parameters:
    ///   - name: what tells the query from others.
    ///   - since: the cursor of an earlier answer; anything else gives all features.
    ///   - make: the query at a snapshot.
    package func changes(
        of name: String, since: String?, hasGeometry: Bool,
        make: @escaping @Sendable (Snapshot) throws -> FeatureQuery
    ) async throws -> Delta {
        let state = since.flatMap(Cursor.init).flatMap { $0.run == run ? $0.number : nil }
        let snapshot = try frames.snapshot()
        let publication = snapshot.publication
        if let state, let kept = kept(name), kept.publication == publication, kept.log.state == state {
            return Delta(
                snapshot: snapshot, query: try make(snapshot), cursor: Cursor(run: run, number: state).text,
                isFull: false, features: [], removed: [])
        }
        let arrival = begun.load(ordering: .relaxed)
        waiting.withLock { $0[name, default: []].append(state) }
        defer { leave(name, state) }
        while true {
            let update = try await updates.value(for: name, isKept: false) { [self] in
                try await self.update(name, hasGeometry: hasGeometry, make)
            }
            // One that was under way before may be of older data, or lack features; the next one is not and does not.
            if update.number > arrival || update.snapshot.publication == publication, update.serves(state) {
                return delta(update, since: state)
            }
            try Task.checkCancellation()
        }
    }

    private func leave(_ name: String, _ state: UInt64?) {
        waiting.withLock { waiting in
            guard let index = waiting[name]?.firstIndex(of: state) else { return }
            waiting[name]?.remove(at: index)
            if waiting[name]?.isEmpty == true { waiting[name] = nil }
        }
    }

    private func update(
        _ name: String, hasGeometry: Bool, _ make: @Sendable (Snapshot) throws -> FeatureQuery
    ) async throws -> Update {
        let number = begun.add(1, ordering: .relaxed).newValue
        let old = kept(name)?.log ?? ChangeLog()
        let clients = waiting.withLock { $0[name] ?? [] }
        let held = clients.compactMap { $0 }.filter(old.holds)
        let floor = held.count == clients.count ? held.min() : nil
        let snapshot = try frames.snapshot()
        let query = try make(snapshot)
        var lines: [(id: String, line: ArraySlice<UInt8>)] = []
        var next = ChangeLog.Next(after: old, state: states.add(1, ordering: .relaxed).newValue)
        var cursor: FeatureSource.Cursor?
        repeat {
            try Task.checkCancellation()
            var writer = FeatureWriter(query.collection, as: .geojsonl, hasGeometry: hasGeometry)
            cursor = try await features.write(query, in: snapshot, after: cursor, limit: Self.page, to: &writer)
            for line in writer.drain().split(separator: UInt8(ascii: "\n")) {
                let id = Self.id(of: line)
                let changed = next.note(id, ContentHash.fnv1a(line))
                // Copied where lines are few, as each would hold its whole page.
                if let floor {
                    if changed > floor { lines.append((id, ArraySlice(Array(line)))) }
                } else {
                    lines.append((id, line))
                }
            }
        } while cursor != nil
        try Task.checkCancellation()
        let log = next.log
        cache(KeptLog(log: log, publication: snapshot.publication), for: name)
        return Update(number: number, snapshot: snapshot, query: query, log: log, floor: floor, lines: lines)
    }

    private func delta(_ update: Update, since state: UInt64?) -> Delta {
        var delta = Delta(
            snapshot: update.snapshot, query: update.query,
            cursor: Cursor(run: run, number: update.log.state).text, isFull: true,
            features: [], removed: [])
        guard let state, update.log.holds(state) else {
            delta.features = update.lines.map(\.line)
            return delta
        }
        delta.isFull = false
        delta.features = update.lines.filter { update.log.changed($0.id) > state }.map(\.line)
        // What ends alike, by its time, severity and source, stands together: an eighth less to send when compressed.
        delta.features.sort { $0.reversed().lexicographicallyPrecedes($1.reversed()) }
        delta.removed = update.log.removed(since: state)
        return delta
    }

    /// The id of a feature as it stands in its line, behind `{"type":"Feature","id":"`.
    private static func id(of line: ArraySlice<UInt8>) -> String {
        var end = line.startIndex + prefixLength
        while end < line.endIndex, line[end] != UInt8(ascii: "\"") {
            end += line[end] == UInt8(ascii: "\\") ? 2 : 1
        }
        return String(
            decoding: line[min(line.startIndex + prefixLength, line.endIndex)..<min(end, line.endIndex)], as: UTF8.self)
    }

    private static let prefixLength = #"{"type":"Feature","id":""#.utf8.count
}
