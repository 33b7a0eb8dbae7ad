import BillowStore
import Datasets
import Turbulence

/// The features of a response under the names that their sources have here.
struct MirroredCopy {
    /// By time, which suits the store best.
    private(set) var observations: [Observation] = []
    private(set) var reports: [PilotReport] = []
    private(set) var areas: [IssuedArea] = []
    /// The rule of each source.
    private(set) var rules: [SourceID: MergeRule] = [:]
    /// The numbers of features that the copy lacks, by reason.
    private(set) var unusable: [SkipReason: Int]
    /// The numbers of all skipped features, by reason.
    private(set) var skipped: [SkipReason: Int]
    private let dataset: Dataset
    private let source: SourceID
    private let isFull: Bool
    /// The ids of all features and, in a delta, of those that are gone.
    private let ids: Set<String>
    private let removed: [String]

    init(_ answer: MirrorAnswer, of dataset: Dataset, into source: SourceID) {
        self.dataset = dataset
        self.source = source
        isFull = answer.isFull
        ids = answer.isFull ? answer.features.ids : answer.features.ids.union(answer.removed)
        removed = answer.removed
        unusable = answer.features.problems.counted { .mirrored($0) }
        skipped = unusable
        var names: [String: SourceID] = [:]
        for name in answer.features.sources {
            guard let here = Self.name(name, in: source) else { continue }
            names[name] = here
            rules[here] = answer.features.computed.contains(name) ? .replace : .keep
        }
        func renamed<Record>(_ records: [Record], _ source: WritableKeyPath<Record, SourceID>) -> [Record] {
            records.compactMap { record in
                var record = record
                guard let name = names[record[keyPath: source].name] else {
                    skip(.mirrored(.source))
                    return nil
                }
                record[keyPath: source] = name
                return record
            }
        }
        observations = renamed(answer.features.observations, \.source).sorted { $0.observedAt < $1.observedAt }
        reports = renamed(answer.features.reports, \.source)
        areas = renamed(answer.features.areas, \.source)
    }

    /// The name of a source of a server; nil if it becomes too long. So no loop of mirrors grows without end.
    private static func name(_ name: String, in source: SourceID) -> SourceID? { SourceID("\(source.name).\(name)") }

    var count: Int { observations.count + reports.count + areas.count }

    private mutating func skip(_ reason: SkipReason) {
        unusable[reason, default: 0] += 1
        skipped[reason, default: 0] += 1
    }

    /// Leaves out observations and reports outside a time range.
    mutating func limit(from oldest: Instant, to latest: Instant) {
        var (early, late) = (0, 0)
        func isKept(_ instant: Instant) -> Bool {
            if instant < oldest { early += 1 }
            if instant > latest { late += 1 }
            return instant >= oldest && instant <= latest
        }
        observations = observations.filter { isKept($0.observedAt) }
        reports = reports.filter { isKept($0.observedAt) }
        if early > 0 { skipped[.olderThanRetention, default: 0] += early }
        for _ in 0..<late { skip(.inTheFuture) }
    }

    /// The observations in batches of a size, at least one batch. Two observations with one id, of two sources, are
    /// both in the last batch, because the one that a batch lacks is closed.
    func bySizeOfBatches(_ size: Int) -> [[Observation]] {
        var (seen, shared) = (Set<String>(), Set<String>())
        for id in observations.compactMap(\.id) where !seen.insert(id).inserted { shared.insert(id) }
        let single = observations.filter { !shared.contains($0.id ?? "") }
        var batches: [[Observation]] = []
        var start = 0
        while single.count - start > size {
            batches.append(Array(single[start..<start + size]))
            start += size
        }
        return batches + [Array(single[start...]) + observations.filter { shared.contains($0.id ?? "") }]
    }

    /// What a batch of observations before the last one says about existing data.
    func content(of observations: [Observation], at time: Instant) -> MirrorChange.Content {
        guard !isFull else { return .none }
        return .observations(ids: Set(observations.compactMap(\.id)), isWhole: false, from: start(at: time))
    }

    /// The start of the mirrored period.
    private func start(at time: Instant) -> Instant { time.advanced(by: 1 - BillowConfiguration.history.seconds) }

    /// What the last batch of the response says about existing data.
    /// - Parameter written: in a delta, the ids of earlier batches.
    func content(at time: Instant, except written: Set<String>) -> MirrorChange.Content {
        let from = start(at: time)
        switch dataset.content {
        case .areas(let collection):
            let listed = isFull ? Array(ids) : removed
            let identities = listed.compactMap(MirroredAreaID.init).compactMap { id in
                Self.name(id.source, in: source).map {
                    IssuedArea.Identity(collection: collection, source: $0, id: id.area, validFrom: id.validFrom)
                }
            }
            return .areas(collection, listed: Set(identities), isWhole: isFull, at: time)
        case .history(.reports): return .reports(ids: ids, isWhole: isFull, from: from)
        default: return .observations(ids: isFull ? ids : ids.subtracting(written), isWhole: isFull, from: from)
        }
    }
}
