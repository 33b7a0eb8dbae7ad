public import Turbulence

/// All rows of some consecutive hours at one version, immutable, by which any picture whose history lies inside them can
/// be made. The live hours of a snapshot are one, and so is what is loaded from the store for an instant long past.
public struct Window: Sendable {
    /// Hours since 1970, with rows.
    private(set) var segments: [Int: Segment]
    /// The sources that the rows name.
    public private(set) var sources: [SourceNumber: SourceID]
    private var replacing: Set<SourceNumber>

    /// An empty window.
    public init() {
        segments = [:]
        sources = [:]
        replacing = []
    }

    /// Rows that count, of any hours.
    public init(rows: [ObservationRow], sources: [SourceRecord]) {
        self.init()
        update(opened: rows, closed: [], sources: sources)
    }

    /// How many rows it holds.
    public var count: Int { segments.values.reduce(0) { $0 + $1.count } }

    /// The newest observation; nil when empty.
    public var newest: Instant? {
        segments.keys.max().flatMap { segments[$0]?.observedAt.max() }.map { Instant(clamping: Int($0)) }
    }

    /// The newest observation of a source; nil where it has none.
    /// - Complexity: O(rows of the newest hour that it has any in, and of those after)
    public func newest(of source: SourceNumber) -> Instant? {
        for hour in segments.keys.sorted(by: >) {
            guard let segment = segments[hour] else { continue }
            var newest: UInt32 = 0
            for index in segment.places.indices where Place(bits: segment.places[index]).source == source {
                newest = max(newest, segment.observedAt[index])
            }
            if newest > 0 { return Instant(clamping: Int(newest)) }
        }
        return nil
    }

    /// The chunks of the cell table in which some row lies, in rising order.
    public var occupiedChunks: [Int] {
        (0..<Segment.chunks).filter { chunk in segments.values.contains { !$0.rows(inChunk: chunk).isEmpty } }
    }

    /// The oldest hour with rows, as its first instant.
    public var oldestHour: Instant? { segments.keys.min().map { Instant(clamping: $0 * Segment.seconds) } }

    /// Takes in what came and went.
    /// - Complexity: O(rows of the hours touched + changes × hours held)
    public mutating func update(opened: [ObservationRow], closed: [ObservationRow], sources: [SourceRecord]) {
        self.sources = Dictionary(sources.map { ($0.number, $0.id) }) { _, last in last }
        let rules = Set(sources.lazy.filter { $0.merge == .replace }.map(\.number))
        let ruleChanged = rules != replacing
        replacing = rules

        var added: [Int: [ObservationRow]] = [:]
        var removed: [Int: Set<Int64>] = [:]
        for row in opened { added[row.observedAt.seconds / Segment.seconds, default: []].append(row) }
        for row in closed { removed[row.observedAt.seconds / Segment.seconds, default: []].insert(row.key.rawValue) }
        for hour in Set(added.keys).union(removed.keys) {
            let merged = (segments[hour] ?? Segment()).merging(added[hour] ?? [], removing: removed[hour] ?? [])
            segments[hour] = merged.count == 0 ? nil : merged
        }
        if ruleChanged || opened.count > count / 4 { linkAll() } else { link(placesOf: opened, closed) }
    }

    /// Lets go of the hours that end before an instant.
    public mutating func drop(before instant: Instant) {
        for hour in segments.keys where (hour + 1) * Segment.seconds <= instant.seconds { segments[hour] = nil }
    }

    // MARK: - Which record replaces which

    /// Links the records of every place anew.
    private mutating func linkAll() {
        var rows: [(place: UInt64, observedAt: UInt32, hour: Int32, row: UInt32)] = []
        rows.reserveCapacity(count)
        for (hour, segment) in segments {
            for row in 0..<segment.count where replacing.contains(Place(bits: segment.places[row]).source) {
                rows.append((segment.places[row], segment.observedAt[row], Int32(hour), UInt32(row)))
            }
        }
        rows.sort { ($0.place, $0.observedAt) < ($1.place, $1.observedAt) }
        var next: (place: UInt64, observedAt: UInt32, replacedAt: UInt32)?
        for entry in rows.reversed() {
            let replacedAt: UInt32
            if let next, next.place == entry.place {
                // Records of one second stand beside each other.
                replacedAt = next.observedAt == entry.observedAt ? next.replacedAt : next.observedAt
            } else {
                replacedAt = .max
            }
            segments[Int(entry.hour)]?.setReplacedAt(replacedAt, row: Int(entry.row))
            next = (entry.place, entry.observedAt, replacedAt)
        }
    }

    /// Links the records of the places of some rows anew.
    private mutating func link(placesOf opened: [ObservationRow], _ closed: [ObservationRow]) {
        var places = Set<UInt64>()
        for row in opened where replacing.contains(row.source) { places.insert(Place(of: row).bits) }
        for row in closed where replacing.contains(row.source) { places.insert(Place(of: row).bits) }
        let hours = segments.keys.sorted(by: >)
        for place in places {
            var observedLater = UInt32.max
            var replacedLater = UInt32.max
            for hour in hours {
                guard let rows = segments[hour]?.rows(at: place), !rows.isEmpty else { continue }
                for row in rows.reversed() {
                    guard let observedAt = segments[hour]?.observedAt[row] else { continue }
                    let replacedAt = observedAt == observedLater ? replacedLater : observedLater
                    if segments[hour]?.replacedAt[row] != replacedAt {
                        segments[hour]?.setReplacedAt(replacedAt, row: row)
                    }
                    observedLater = observedAt
                    replacedLater = replacedAt
                }
            }
        }
    }

    /// The segments that a picture at an instant looks at, newest hour first.
    func segments(for filter: Filter, at instant: Instant) -> [Segment] {
        let last = instant.seconds / Segment.seconds
        let first = max(instant.seconds - filter.lookBackSeconds + 1, 0) / Segment.seconds
        return stride(from: last, through: first, by: -1).compactMap { segments[$0] }
    }
}
