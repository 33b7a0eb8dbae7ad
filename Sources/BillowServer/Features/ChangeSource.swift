import BillowExchange
import BillowSnapshot
import Geometry
import Turbulence

/// Knows what a query answered before, as far as it takes to tell what changed: of its last state every feature's id and a hash
/// of its content, and of each state before that what became different behind it.
///
/// One version can be answered at several instants, because pictures age. So a client that names a version is told what became
/// different since the first state of that version: more than it needs at most, and never less.
actor ChangeSource {
    /// What changed.
    struct Delta: Sendable {
        var snapshot: Snapshot
        var query: FeatureQuery
        /// Whether `features` are all there are, because the version asked for isn't remembered.
        var isFull: Bool
        /// One JSON feature each; of a delta in no order that means anything.
        var features: [ArraySlice<UInt8>]
        /// As JSON writes them inside quotes.
        var removed: [String]
    }

    private struct State: Sendable {
        var version: Version
        /// Ids of what became different from the state before.
        var touched: Set<String>
    }

    private struct Log: Sendable {
        var current: [String: UInt64] = [:]
        var states: [State] = []
        var lastUsed: UInt64 = 0

        var size: Int { current.count + states.reduce(0) { $0 + $1.touched.count } }
    }

    private let frames: FrameSource
    private let features: FeatureSource
    private var logs: [String: Log] = [:]
    /// The last that works on each query: one after the other, so that states follow each other in time.
    private var tails: [String: Task<Delta, any Error>] = [:]
    private var clock: UInt64 = 0

    /// States of one query, and ids remembered in all, some 50 bytes each.
    private static let mostStates = 240
    private static let mostIDs = 2_000_000
    private static let page = 5_000

    init(frames: FrameSource, features: FeatureSource) {
        self.frames = frames
        self.features = features
    }

    /// - Parameters:
    ///   - name: what tells the query from others.
    ///   - since: the version that the client has; nil for all.
    ///   - make: the query at a snapshot.
    func changes(
        of name: String, since: Version?, hasGeometry: Bool,
        make: @escaping @Sendable (Snapshot) throws -> FeatureQuery
    ) async throws -> Delta {
        let previous = tails[name]
        let task = WorkExecutor.flight {
            _ = await previous?.result
            return try await self.next(of: name, since: since, hasGeometry: hasGeometry, make: make)
        }
        tails[name] = task
        defer { if tails[name] == task { tails[name] = nil } }
        return try await task.value
    }

    private func next(
        of name: String, since: Version?, hasGeometry: Bool, make: @Sendable (Snapshot) throws -> FeatureQuery
    ) async throws -> Delta {
        let snapshot = try frames.snapshot()
        let query = try make(snapshot)
        var log = logs[name] ?? Log()
        let first = since.flatMap { since in log.states.firstIndex { $0.version == since } }
        var wanted =
            first.map { log.states[($0 + 1)...].reduce(into: Set<String>()) { $0.formUnion($1.touched) } } ?? []
        var current: [String: UInt64] = [:]
        current.reserveCapacity(log.current.count)
        var touched = Set<String>()
        var found: [ArraySlice<UInt8>] = []
        var cursor: FeatureSource.Cursor?
        repeat {
            var writer = FeatureWriter(query.collection, as: .geojsonl, hasGeometry: hasGeometry)
            cursor = try await features.write(query, in: snapshot, after: cursor, limit: Self.page, to: &writer)
            for line in writer.drain().split(separator: UInt8(ascii: "\n")) {
                let id = Self.id(of: line)
                let hash = EntityTags.hash(line)
                current[id] = hash
                if log.current[id] != hash { touched.insert(id) }
                if first == nil || touched.contains(id) || wanted.contains(id) { found.append(line) }
            }
        } while cursor != nil
        for id in log.current.keys where current[id] == nil { touched.insert(id) }
        wanted.formUnion(touched)
        log.current = current
        log.states.append(State(version: snapshot.publication.version, touched: touched))
        if log.states.count > Self.mostStates { log.states.removeFirst(log.states.count - Self.mostStates) }
        clock += 1
        log.lastUsed = clock
        logs[name] = log
        trim()
        // What ends alike, by its time, severity and source, stands together: an eighth less to send when compressed.
        if first != nil { found.sort { $0.reversed().lexicographicallyPrecedes($1.reversed()) } }
        return Delta(
            snapshot: snapshot, query: query, isFull: first == nil, features: found,
            removed: first == nil ? [] : wanted.filter { current[$0] == nil }.sorted())
    }

    /// Forgets the queries that were asked longest ago.
    private func trim() {
        var size = logs.values.reduce(0) { $0 + $1.size }
        for (name, log) in logs.sorted(by: { $0.value.lastUsed < $1.value.lastUsed }) where size > Self.mostIDs {
            guard logs.count > 1 else { return }
            logs[name] = nil
            size -= log.size
        }
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
