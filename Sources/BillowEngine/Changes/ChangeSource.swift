import BillowExchange
package import BillowSnapshot
import Datasets
import Geometry
import Synchronization
import Turbulence

/// Finds the changes of a query's features since the last state of a client.
///
/// Each query has a log of states. A state is a set of features and their content, and has a unique cursor: no two
/// states of any queries, runs or servers share one. A client gets a delta if the log has its state, otherwise it gets
/// all features. So a delta always starts from exactly what the client has.
///
/// A log is an immutable value, and an update creates the next one. Logs are cached within the server's budget, and
/// concurrent requests for a query share one update. Until the next publication, a client with the last state causes no
/// read.
package final class ChangeSource: Sendable {
    /// The changes since a state.
    package struct Delta: Sendable {
        package var snapshot: Snapshot
        package var query: FeatureQuery
        /// The cursor of the state after the changes.
        package var cursor: String
        /// Whether `features` are all features, because the log does not have the requested state.
        package var isFull: Bool
        /// The features as JSON. In a delta their order has no meaning.
        package var features: [ArraySlice<UInt8>]
        /// The removed ids, escaped for JSON strings.
        package var removed: [String]
    }

    /// The name of a state: the run of the process, which is unique, and a number that increases with every state of
    /// the run.
    package struct Cursor: Sendable, Hashable {
        package var run: UInt64
        package var number: UInt64

        package var text: String { "\(String(run, radix: 36)).\(String(number, radix: 36))" }

        package init(run: UInt64, number: UInt64) {
            self.run = run
            self.number = number
        }

        /// nil if the text is no cursor.
        package init?(_ text: String) {
            let parts = text.split(separator: ".", omittingEmptySubsequences: false)
            guard parts.count == 2, let run = UInt64(parts[0], radix: 36), let number = UInt64(parts[1], radix: 36)
            else { return nil }
            self.init(run: run, number: number)
            guard self.text == text else { return nil }
        }
    }

    /// The features of a query after an update that the waiting clients may lack.
    private struct Update: Sendable {
        /// The number of the update of this source.
        var number: UInt64
        var snapshot: Snapshot
        var query: FeatureQuery
        var log: ChangeLog
        /// `lines` has the features that changed after this state; nil if it has all features.
        var floor: UInt64?
        var lines: [ArraySlice<UInt8>] = []

        /// Whether it contains all features that a client with a state lacks.
        func serves(_ state: UInt64?) -> Bool {
            guard let floor else { return true }
            return state.map { $0 >= floor && log.holds($0) } ?? false
        }
    }

    private let frames: FrameSource
    private let features: FeatureSource
    /// The name of the process's run.
    private let run = UInt64.random(in: 0...UInt64.max)
    private let states = Atomic<UInt64>(0)
    private let begun = Atomic<UInt64>(0)
    /// A log, and the publication at which it was updated.
    private struct CachedLog: Sendable {
        var log: ChangeLog
        var publication: Publication
    }

    /// The logs by query.
    private let logs: SharedCache<String, CachedLog, Never>
    /// The logs of small queries, such as a client's own corridor. They have a separate budget. A client on a slow link
    /// polls rarely, and other queries would evict its state meanwhile.
    private let smallLogs: SharedCache<String, CachedLog, Never>
    /// Running updates, which are not cached.
    private let updates: SharedCache<String, Update, EngineError>
    /// The states of the clients that wait for an update, by query; nil for a client without one.
    private let waiting = Mutex<[String: [UInt64?]]>([:])

    private static let page = 5_000
    /// The most bytes of a small log: some 4,000 features.
    private static let smallBytes = 256 << 10

    /// - Parameter smallLogs: the budget of the logs of small queries.
    package init(frames: FrameSource, features: FeatureSource, smallLogs: CacheBudget) {
        self.frames = frames
        self.features = features
        logs = SharedCache(frames.caches, keyBytes: { $0.utf8.count }) { $0.log.bytes }
        self.smallLogs = SharedCache(smallLogs, keyBytes: { $0.utf8.count }) { $0.log.bytes }
        updates = SharedCache(frames.caches) { _ in 0 }
    }

    /// The cached logs.
    package var statistics: CacheStatistics {
        let (large, small) = (logs.statistics, smallLogs.statistics)
        return CacheStatistics(
            entries: large.entries + small.entries, bytes: large.bytes + small.bytes, hits: large.hits + small.hits,
            misses: large.misses + small.misses)
    }

    private func cachedLog(of name: String) -> CachedLog? {
        smallLogs.cachedValue(for: name) ?? logs.cachedValue(for: name)
    }

    private func cache(_ log: CachedLog, for name: String) {
        let isSmall = log.log.bytes <= Self.smallBytes
        (isSmall ? smallLogs : logs).insert(log, for: name)
        (isSmall ? logs : smallLogs).remove(name)
    }

    /// The number of reads of a query's features.
    var updatesBegun: UInt64 { begun.load(ordering: .relaxed) }

    /// - Parameters:
    ///   - name: the identity of the query.
    ///   - since: the cursor of an earlier answer. Any other value gives all features.
    ///   - make: makes the query at a snapshot.
    package func changes(
        of name: String, since: String?, hasGeometry: Bool,
        make: @escaping @Sendable (Snapshot) throws(EngineError) -> FeatureQuery
    ) async throws(EngineError) -> Delta {
        let state = since.flatMap(Cursor.init).flatMap { $0.run == run ? $0.number : nil }
        let snapshot = try frames.snapshot()
        let publication = snapshot.publication
        if let state, let cached = cachedLog(of: name), cached.publication == publication, cached.log.state == state {
            return Delta(
                snapshot: snapshot, query: try make(snapshot), cursor: Cursor(run: run, number: state).text,
                isFull: false, features: [], removed: [])
        }
        let arrival = begun.load(ordering: .relaxed)
        waiting.withLock { $0[name, default: []].append(state) }
        defer { leave(name, state) }
        while true {
            let update = try await updates.value(for: name, isCached: false) { [self] () async throws(EngineError) in
                try await self.update(name, hasGeometry: hasGeometry, make)
            }
            // An update that was already running may have older data or lack features. The next one does not.
            if update.number > arrival || update.snapshot.publication == publication, update.serves(state) {
                return delta(update, since: state)
            }
            try WorkExecutor.checkCancellation()
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
        _ name: String, hasGeometry: Bool, _ make: @Sendable (Snapshot) throws(EngineError) -> FeatureQuery
    ) async throws(EngineError) -> Update {
        let number = begun.add(1, ordering: .relaxed).newValue
        let old = cachedLog(of: name)?.log ?? ChangeLog()
        let clients = waiting.withLock { $0[name] ?? [] }
        let held = clients.compactMap { $0 }.filter(old.holds)
        let floor = held.count == clients.count ? held.min() : nil
        let snapshot = try frames.snapshot()
        let query = try make(snapshot)
        var lines: [ArraySlice<UInt8>] = []
        var next = ChangeLog.Builder(after: old, state: states.add(1, ordering: .relaxed).newValue)
        /// Notes a feature. Returns whether a waiting client may lack it.
        func note(_ id: ArraySlice<UInt8>, _ hash: UInt64) -> Bool {
            let changed = next.note(id, hash)
            return floor.map { changed > $0 } ?? true
        }
        let isOfHexagons =
            query.collection.isHexagons && query.aggregate && query.route == nil && !query.hasNothing
        var cursor: FeatureSource.Cursor?
        repeat {
            try WorkExecutor.checkCancellation()
            var writer = FeatureWriter(query.collection, as: .geojsonl, hasGeometry: hasGeometry)
            if isOfHexagons {
                // Most hexagons have not changed, and are neither read nor encoded.
                cursor = try await features.hexagons(query, in: snapshot, after: cursor, limit: Self.page, to: &writer)
                {
                    note(ArraySlice($0.record.row.cell.h3String.utf8), $0.contentHash)
                }
            } else {
                cursor = try await features.write(query, in: snapshot, after: cursor, limit: Self.page, to: &writer)
            }
            for line in writer.drain().split(separator: UInt8(ascii: "\n"))
            where isOfHexagons || note(Self.id(of: line), ContentHash.fnv1a(line)) {
                // Short lists are copied, because each line would retain its whole page.
                lines.append(floor == nil ? line : ArraySlice(Array(line)))
            }
        } while cursor != nil
        try WorkExecutor.checkCancellation()
        let log = next.finish()
        cache(CachedLog(log: log, publication: snapshot.publication), for: name)
        return Update(number: number, snapshot: snapshot, query: query, log: log, floor: floor, lines: lines)
    }

    private func delta(_ update: Update, since state: UInt64?) -> Delta {
        var delta = Delta(
            snapshot: update.snapshot, query: update.query,
            cursor: Cursor(run: run, number: update.log.state).text, isFull: true,
            features: [], removed: [])
        guard let state, update.log.holds(state) else {
            delta.features = update.lines
            return delta
        }
        delta.isFull = false
        delta.features = update.lines.filter { update.log.changed(Self.id(of: $0)) > state }
        // Features with equal times, severities and sources are adjacent, which saves an eighth when compressed.
        delta.features.sort { $0.reversed().lexicographicallyPrecedes($1.reversed()) }
        delta.removed = update.log.removed(since: state)
        return delta
    }

    /// The id of a feature within its line, after `{"type":"Feature","id":"`.
    private static func id(of line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var end = line.startIndex + prefixLength
        while end < line.endIndex, line[end] != UInt8(ascii: "\"") {
            end += line[end] == UInt8(ascii: "\\") ? 2 : 1
        }
        return line[min(line.startIndex + prefixLength, line.endIndex)..<min(end, line.endIndex)]
    }

    private static let prefixLength = #"{"type":"Feature","id":""#.utf8.count
}

extension Hexagon {
    /// A hash of all that its feature has. The observation's row decides most of it, and rows never change.
    fileprivate var contentHash: UInt64 {
        let trend: UInt64 =
            switch Trend(from: severityBefore, to: record.severity) {
            case nil: 0
            case .worse: 1
            case .better: 2
            }
        let states = UInt64(record.severity.rawValue) << 16 | trend << 8
        return ContentHash.of(
            UInt64(bitPattern: record.row.key.rawValue), UInt64(bitPattern: record.row.since.rawValue), UInt64(reports),
            states | (record.basis == .reported ? 1 : 0))
    }
}
