import Geometry
import TestSupport
import Testing
import Turbulence

@testable import BillowStore

/// The rules of the log written down as slowly and plainly as possible: every version is a full copy of what counts.
private struct NaiveLog {
    /// What counts after each version, by identity.
    private(set) var states: [[String: Observation]] = [[:]]
    var current: [String: Observation] { states[states.count - 1] }

    /// Sources of computed values, with one value for each place and second.
    let computed: Set<SourceID>

    private func identity(_ o: Observation) -> String {
        if let id = o.id { return "id \(o.source) \(id)" }
        let band = "\(o.altitude.lowest.thousands)-\(o.altitude.highest.thousands)"
        let about = "about \(o.source) \(o.cell.dense) \(band) \(o.observedAt) \(String(describing: o.category))"
        return computed.contains(o.source) ? about : about + " \(o.intensity)"
    }

    /// Whether nothing changes by an observation where another stands.
    private func isKnown(_ new: Observation, _ old: Observation?) -> Bool {
        guard let old else { return false }
        if new == old { return true }
        let losesItsEDR =
            old.intensity.edr != nil && new.intensity.edr == nil && old.intensity.severity == new.intensity.severity
        return new.id == nil && computed.contains(new.source) && losesItsEDR
    }

    mutating func commit(_ observations: [Observation], source: SourceID, retraction: Retraction?) -> Int {
        var state = current
        var changed = false
        for observation in observations where !isKnown(observation, state[identity(observation)]) {
            state[identity(observation)] = observation
            changed = true
        }
        if let retraction {
            let before = state.count
            state = state.filter { _, o in
                let place = Retraction.ValueKey(cell: o.cell.dense, altitude: o.altitude, category: o.category)
                let isStanding = retraction.standing[place].map { o.observedAt <= $0 } ?? false
                let isInside = o.observedAt >= retraction.from && o.observedAt <= retraction.to
                return o.source != source || !isInside || isStanding || o.cell.dense % 2 == 1
            }
            if state.count != before { changed = true }
        }
        // What came and went within one batch makes a version too.
        if changed { states.append(state) }
        return states.count - 1
    }
}

@Suite("The log against a naive one")
struct OracleTests {
    @Test(
        "changes between any two versions are the difference of their states", arguments: StoreKind.all,
        1...6 as ClosedRange<UInt64>)
    func changesBetweenAnyTwoVersionsAreTheDifferenceOfTheirStates(_ kind: StoreKind, seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let place = try await kind.place()
        // Few tags, so that chains are long.
        let tags = ContentTags(secret: SipHash.Key(first: seed, second: 0))
        let store = try await place.open(tags: ContentTags { tags($0) % 4 })
        let names = [try source("skypath"), try source("awc")]
        // Computed values by turns, independent reports.
        _ = try await store.register(names[0], merge: seed % 2 == 0 ? .replace : .keep, simulated: false)
        _ = try await store.register(names[1], merge: .keep, simulated: false)
        var naive = NaiveLog(computed: seed % 2 == 0 ? [names[0]] : [])

        for _ in 0..<60 {
            var observations: [Observation] = []
            for _ in 0..<Int.random(in: 0...8, using: &random) {
                observations.append(
                    try observation(
                        id: Int.random(in: 0...2, using: &random) == 0
                            ? "id\(Int.random(in: 0...5, using: &random))" : nil,
                        cell: 20_000 + Int.random(in: 0...3, using: &random),
                        severity: Int.random(in: 0...2, using: &random),
                        edr: Bool.random(using: &random) ? Int.random(in: 0...1, using: &random) : nil,
                        at: Int.random(in: 0...3, using: &random),
                        source: names[Int.random(in: 0...1, using: &random)].name))
            }
            let source = names[Int.random(in: 0...1, using: &random)]
            var retraction: Retraction?
            if Int.random(in: 0...4, using: &random) == 0 {
                let from = Int.random(in: 0...3, using: &random)
                let standing = observations.filter { $0.source == source }.map {
                    (Retraction.ValueKey(cell: $0.cell.dense, altitude: $0.altitude, category: nil), $0.observedAt)
                }
                retraction = Retraction(
                    from: noon.advanced(by: from), to: noon.advanced(by: from + 1),
                    covers: { $0.cell.dense % 2 == 0 }, standing: Dictionary(standing, uniquingKeysWith: max))
            }
            let version = naive.commit(observations, source: source, retraction: retraction)
            let result = try await store.commit(
                Batch(source: source, observations: observations, retraction: retraction))
            try #require(result.version.rawValue == Int64(version))
        }

        #expect(naive.states.count > 20)
        #expect(try await Set(store.contents()) == Set(naive.current.values))
        for (version, state) in naive.states.enumerated() {
            let changes = try await store.changes(since: Version(rawValue: Int64(version)))
            let opened = try await Set(observations(changes.opened, in: store))
            let closed = try await Set(observations(changes.closed, in: store))
            // Compared to one word: two whole states are no message.
            let before = Set(state.values)
            let now = Set(naive.current.values)
            let areRight =
                before.isSuperset(of: closed) && before.subtracting(closed).union(opened) == now
                // Content that went and came back is in both.
                && opened.subtracting(closed) == now.subtracting(before)
            #expect(areRight, "changes since \(version): \(opened.count) opened, \(closed.count) closed")
        }
        #expect(try await store.problems().isEmpty)
    }

    private func observations(_ rows: [ObservationRow], in store: any SQLStore) async throws -> [Observation] {
        let details = try await store.details(of: rows.map(\.key))
        let sources = try await store.sources()
        return try rows.map { row in
            Observation(
                id: try details[row.key].orMissing().id, cell: row.cell, altitude: row.altitude,
                intensity: row.intensity, observedAt: row.observedAt, category: row.category,
                source: sources[Int(row.source.rawValue)].id, kind: row.kind)
        }
    }
}
