public import Turbulence

/// All rows of a time range at one version, immutable. Any frame whose history lies inside it can be made from it. It
/// holds the live hours of a snapshot, or rows loaded from the store for a past instant.
public struct Window: Sendable {
    /// By time range (seconds since 1970 ÷ `segmentSeconds`), only those with rows.
    private(set) var segments: [Int: Segment]
    /// The length of a segment's time range in seconds.
    private let segmentSeconds: Int
    /// The length for live windows: long enough for few segments, and short enough that a delta changes only one.
    private static let liveSegmentSeconds = 3_600
    /// The sources of the rows.
    public private(set) var sources: [SourceNumber: SourceID]
    private var replacing: Set<SourceNumber>

    /// Makes an empty window.
    public init() { self.init(segmentSeconds: Window.liveSegmentSeconds) }

    private init(segmentSeconds: Int) {
        self.segmentSeconds = segmentSeconds
        segments = [:]
        sources = [:]
        replacing = []
    }

    /// Makes a window of current rows, of any time.
    public init(rows: [ObservationRow], sources: [SourceRecord]) {
        self.init()
        update(opened: rows, closed: [], sources: sources)
    }

    /// Makes a part of a window of some rows, which only `init(joining:)` completes.
    package init(partOf rows: [ObservationRow]) {
        self.init()
        segments = bySegment(rows).mapValues(Segment.init)
    }

    /// Joins windows of different rows, without reading these again.
    /// - Complexity: O(rows × hours)
    package init(joining windows: [Window], sources: [SourceRecord]) {
        self.init()
        for window in windows { segments.merge(window.segments) { $0.merging($1) } }
        setSources(sources)
        linkAll()
    }

    /// Joins different parts of the archive, without reading their rows again.
    /// - Complexity: O(rows × parts)
    package init(joining parts: [WindowPart], sources: [SourceRecord]) {
        self.init(segmentSeconds: ArchivePart.seconds)
        for part in parts where part.count > 0 { segments[part.part.number] = part.segment }
        setSources(sources)
        linkAll()
    }

    /// The number of rows.
    public var count: Int { segments.values.reduce(0) { $0 + $1.count } }

    /// The time of the newest observation; nil for an empty window.
    public var newest: Instant? {
        segments.keys.max().flatMap { segments[$0]?.observedAt.max() }.map { Instant(clamping: Int($0)) }
    }

    /// The bytes that the rows take in memory.
    package var byteCount: Int { segments.values.reduce(0) { $0 + $1.byteCount } }

    /// The time of the newest observation of a source; nil if it has none.
    /// - Complexity: O(rows of the newest hour that it has any in, and of those after)
    package func newest(of source: SourceNumber) -> Instant? {
        for hour in segments.keys.sorted(by: >) {
            guard let segment = segments[hour] else { continue }
            var newest: UInt32 = 0
            for index in segment.places.indices where RowKey(bits: segment.places[index]).source == source {
                newest = max(newest, segment.observedAt[index])
            }
            if newest > 0 { return Instant(clamping: Int(newest)) }
        }
        return nil
    }

    /// The chunks of the cell table with any row, in ascending order.
    package var occupiedChunks: [Int] {
        (0..<Segment.chunks).filter { chunk in segments.values.contains { !$0.rows(inChunk: chunk).isEmpty } }
    }

    /// The first instant of the oldest hour with rows.
    package var oldestHour: Instant? { segments.keys.min().map { Instant(clamping: $0 * segmentSeconds) } }

    /// Applies opened and closed rows.
    /// - Complexity: O(rows of the hours touched + changes × hours held)
    public mutating func update(opened: [ObservationRow], closed: [ObservationRow], sources: [SourceRecord]) {
        let ruleChanged = setSources(sources)

        let added = bySegment(opened)
        let removed = bySegment(closed).mapValues { rows in Set(rows.lazy.map(\.key.rawValue)) }
        for hour in Set(added.keys).union(removed.keys) {
            let merged = (segments[hour] ?? Segment()).merging(
                Segment(added[hour] ?? []), removing: removed[hour] ?? [])
            segments[hour] = merged.count == 0 ? nil : merged
        }
        if ruleChanged || opened.count > count / 4 { linkAll() } else { link(placesOf: opened, closed) }
    }

    private func bySegment(_ rows: [ObservationRow]) -> [Int: [ObservationRow]] {
        guard let first = rows.first else { return [:] }
        let number = { [segmentSeconds] (row: ObservationRow) in row.observedAt.seconds / segmentSeconds }
        // Most changes are of one hour, and need no copy.
        if rows.allSatisfy({ number($0) == number(first) }) { return [number(first): rows] }
        return Dictionary(grouping: rows, by: number)
    }

    /// Returns whether a source's merge rule changed.
    @discardableResult
    private mutating func setSources(_ sources: [SourceRecord]) -> Bool {
        self.sources = Dictionary(sources.map { ($0.number, $0.id) }) { _, last in last }
        let rules = Set(sources.lazy.filter { $0.merge == .replace }.map(\.number))
        defer { replacing = rules }
        return rules != replacing
    }

    /// Removes hours that end before an instant.
    public mutating func drop(before instant: Instant) {
        for hour in segments.keys where (hour + 1) * segmentSeconds <= instant.seconds { segments[hour] = nil }
    }

    // MARK: - Rows of an area

    /// The keys of the rows of an area that were observed in a range, after a key, in rising order. They are all keys
    /// of whole hours, so that a caller that goes on after the last one compares no cell twice.
    ///
    /// - Parameter wanted: the number of keys after which no further hour is read. Fewer keys mean that none follows.
    /// - Complexity: O(chunks + m + n log n) for the m rows of the read hours in chunks near the area, n of them in it.
    package func keys(
        in area: CellArea, _ times: Range<Instant>, after: ObservationKey?, wanted: Int
    ) -> [ObservationKey] {
        var keys: [ObservationKey] = []
        guard !times.isEmpty else { return keys }
        let first = max(ObservationKey.first(of: times.lowerBound).rawValue, (after?.rawValue ?? -1) + 1)
        let end = ObservationKey.first(of: times.upperBound).rawValue
        let firstHour = ObservationKey(rawValue: first).observedAt.seconds / segmentSeconds
        for hour in segments.keys.sorted() where hour >= firstHour && hour * segmentSeconds < times.upperBound.seconds {
            guard keys.count < wanted, let segment = segments[hour] else { break }
            let found = segment.keys(in: area) { first <= $0 && $0 < end }
            keys += found.sorted().map { ObservationKey(rawValue: $0) }
        }
        return keys
    }

    // MARK: - Superseded observations

    /// Recomputes the links of the observations of every place. The hours, each sorted by place and time, are merged
    /// from their ends.
    /// - Complexity: O(rows × hours)
    private mutating func linkAll() {
        guard !replacing.isEmpty else {
            for (hour, segment) in segments {
                segments[hour]?.setReplacedAt([UInt32](repeating: .max, count: segment.count))
            }
            return
        }
        let hours = segments.keys.sorted(by: >)
        let columns = hours.map { segments[$0] ?? Segment() }
        var left = columns.map(\.count)
        var links = columns.map { [UInt32](repeating: .max, count: $0.count) }
        // The last remaining place of each hour plus one; 0 if none remains.
        var heads = columns.map { ($0.places.last ?? .max) &+ 1 }
        while let head = heads.max(), head > 0 {
            let place = head - 1
            let replaces = replacing.contains(RowKey(bits: place).source)
            var observedLater = UInt32.max
            var replacedLater = UInt32.max
            // The newest hour comes first.
            for hour in hours.indices where heads[hour] == head {
                var row = left[hour]
                while row > 0, columns[hour].places[row - 1] == place {
                    row -= 1
                    guard replaces else { continue }
                    let observedAt = columns[hour].observedAt[row]
                    // Observations of one second don't supersede each other.
                    if observedAt != observedLater { replacedLater = observedLater }
                    observedLater = observedAt
                    links[hour][row] = replacedLater
                }
                left[hour] = row
                heads[hour] = row > 0 ? columns[hour].places[row - 1] + 1 : 0
            }
        }
        for (hour, links) in zip(hours, links) { segments[hour]?.setReplacedAt(links) }
    }

    /// Recomputes the links of the observations at the places of some rows.
    private mutating func link(placesOf opened: [ObservationRow], _ closed: [ObservationRow]) {
        var places = Set<UInt64>()
        for row in opened where replacing.contains(row.source) { places.insert(RowKey(of: row).bits) }
        for row in closed where replacing.contains(row.source) { places.insert(RowKey(of: row).bits) }
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

    /// The segments needed for a frame at an instant, newest hour first.
    func segments(for filter: Filter, at instant: Instant) -> [Segment] {
        let last = instant.seconds / segmentSeconds
        let first = max(instant.seconds - filter.lookBackSeconds + 1, 0) / segmentSeconds
        return stride(from: last, through: first, by: -1).compactMap { segments[$0] }
    }
}
