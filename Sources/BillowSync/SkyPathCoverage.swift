import BillowStore
import Geometry
import Turbulence

/// The name of a cursor: its area and its piece.
struct SkyPathCursorKey: Sendable, Hashable {
    var area: DataQuery.Area
    var piece: String

    init(_ area: DataQuery.Area, _ piece: String) {
        self.area = area
        self.piece = piece
    }

    /// Parses `text`; nil for any other text.
    init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let area = DataQuery.Area(rawValue: String(parts[0])) else { return nil }
        self.init(area, String(parts[1]))
    }

    /// The stored form.
    var text: String { "\(area.rawValue) \(piece)" }
}

/// The time from which the log is complete for each area. It is stored among the values of the source.
struct SkyPathCoverage: Sendable {
    struct Entry: Sendable, Hashable {
        /// The request of the last complete round.
        var request: String
        var fetchedAt: Instant
        var completeSince: Instant

        init(request: String, fetchedAt: Instant, completeSince: Instant) {
            self.request = request
            self.fetchedAt = fetchedAt
            self.completeSince = completeSince
        }

        /// Parses `text`.
        init?(text: String) {
            let parts = text.split(separator: " ", maxSplits: 2)
            guard parts.count == 3, let fetchedAt = Int(parts[0]).flatMap(Instant.init(seconds:)),
                let completeSince = Int(parts[1]).flatMap(Instant.init(seconds:))
            else { return nil }
            self.init(request: String(parts[2]), fetchedAt: fetchedAt, completeSince: completeSince)
        }

        var text: String { "\(fetchedAt.seconds) \(completeSince.seconds) \(request)" }
    }

    private var entries: [DataQuery.Area: Entry]
    private let areas: [DataQuery.Area]

    /// The name under which earlier versions stored the last round's query for all areas.
    private static let oldName = "query"

    private static func name(_ area: DataQuery.Area) -> String { SkyPathCursorKey(area, "coverage").text }

    /// - Parameters:
    ///   - values: the key-values of the source.
    ///   - record: the source as a whole. A later `completeSince` than the last recorded one means a deletion since: no
    ///     area is complete from before it.
    ///   - areas: the areas of the current query.
    init(_ values: [String: String], record: SourceRecord?, requested areas: [DataQuery.Area]) {
        self.areas = areas
        var entries: [DataQuery.Area: Entry] = [:]
        for area in Self.single { entries[area] = values[Self.name(area)].flatMap(Entry.init(text:)) }
        if entries.isEmpty, let old = values[Self.oldName], let fetchedAt = record?.fetchedAt(.observations),
            let completeSince = record?.completeSince, let only = areas.first, areas.count == 1
        {
            entries[only] = Entry(request: old, fetchedAt: fetchedAt, completeSince: completeSince)
        }
        let noted = values[Self.name(.all)].flatMap { Int($0) }.flatMap(Instant.init(seconds:))
        if let noted, let completeSince = record?.completeSince, completeSince > noted {
            for (area, entry) in entries { entries[area]?.completeSince = max(entry.completeSince, completeSince) }
        }
        self.entries = entries
    }

    private static let single: [DataQuery.Area] = [.corridor, .viewport, .global]

    /// Removes an area.
    mutating func remove(_ area: DataQuery.Area) { entries[area] = nil }

    /// Records a complete round of an area.
    /// - Parameter start: the start of its window.
    /// - Returns: the new coverage of the area.
    mutating func note(
        _ area: DataQuery.Area, request: String, ring: AreaRing?, at now: Instant, from start: Instant
    ) -> CoverageChange {
        let last = entries[area]
        let isContinued =
            last.map { $0.request == request && $0.fetchedAt >= start && !$0.fetchedAt.isAhead(of: now) } ?? false
        let completeSince = isContinued ? min(last?.completeSince ?? start, start) : start
        entries[area] = Entry(request: request, fetchedAt: now, completeSince: completeSince)
        return CoverageChange(
            kind: .observations, part: area.rawValue, rings: [ring], since: completeSince, at: now,
            isContinued: isContinued, lastFetch: last?.fetchedAt)
    }

    /// The coverage change for an area that is no longer requested.
    func end(of area: DataQuery.Area, at now: Instant) -> CoverageChange {
        CoverageChange(
            kind: .observations, part: area.rawValue, rings: [], since: now, at: now, isContinued: false,
            lastFetch: entries[area]?.fetchedAt)
    }

    /// The time from which the log is complete for all areas of the query; nil if unknown.
    var completeSince: Instant? {
        let times = areas.map { entries[$0]?.completeSince }
        return times.contains(nil) ? nil : times.compactMap(\.self).max()
    }

    /// The values to store, as far as they differ from some stored ones.
    func changes(to values: [String: String]) -> [String: String?] {
        var changed: [String: String?] = [:]
        for area in Self.single where values[Self.name(area)] != entries[area]?.text {
            changed.updateValue(entries[area]?.text, forKey: Self.name(area))
        }
        if let completeSince { changed.updateValue(String(completeSince.seconds), forKey: Self.name(.all)) }
        if values[Self.oldName] != nil { changed.updateValue(nil, forKey: Self.oldName) }
        return changed
    }
}
