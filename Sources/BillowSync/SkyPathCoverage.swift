import BillowStore
import Geometry
import Turbulence

/// The name of a cursor: the area that it belongs to, and the piece of it.
struct SkyPathPieceName: Sendable, Hashable {
    var area: DataQuery.Area
    var piece: String

    init(_ area: DataQuery.Area, _ piece: String) {
        self.area = area
        self.piece = piece
    }

    /// Reads `text` back; nil for what is no piece's.
    init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let area = DataQuery.Area(rawValue: String(parts[0])) else { return nil }
        self.init(area, String(parts[1]))
    }

    /// As the store keeps it.
    var text: String { "\(area.rawValue) \(piece)" }
}

/// From when on the log is complete for each area, as it is stored among the values of the source.
struct SkyPathCoverage: Sendable {
    struct Entry: Sendable, Hashable {
        /// What the last complete round asked for.
        var asked: String
        var fetchedAt: Instant
        var completeSince: Instant

        init(asked: String, fetchedAt: Instant, completeSince: Instant) {
            self.asked = asked
            self.fetchedAt = fetchedAt
            self.completeSince = completeSince
        }

        /// Reads `text` back.
        init?(text: String) {
            let parts = text.split(separator: " ", maxSplits: 2)
            guard parts.count == 3, let fetchedAt = Int(parts[0]).flatMap(Instant.init(seconds:)),
                let completeSince = Int(parts[1]).flatMap(Instant.init(seconds:))
            else { return nil }
            self.init(asked: String(parts[2]), fetchedAt: fetchedAt, completeSince: completeSince)
        }

        var text: String { "\(fetchedAt.seconds) \(completeSince.seconds) \(asked)" }
    }

    private var entries: [DataQuery.Area: Entry]
    private let areas: [DataQuery.Area]

    /// The name by which earlier versions kept the last round's query, of all areas together.
    private static let oldName = "query"

    private static func name(_ area: DataQuery.Area) -> String { SkyPathPieceName(area, "coverage").text }

    /// - Parameters:
    ///   - values: the key-values of the source.
    ///   - record: the source as a whole. Where it is complete from later on than was noted last, something was deleted
    ///     since: then no area is complete from before it.
    ///   - areas: those that are asked for.
    init(_ values: [String: String], record: SourceRecord?, requested areas: [DataQuery.Area]) {
        self.areas = areas
        var entries: [DataQuery.Area: Entry] = [:]
        for area in Self.single { entries[area] = values[Self.name(area)].flatMap(Entry.init(text:)) }
        if entries.isEmpty, let old = values[Self.oldName], let fetchedAt = record?.fetchedAt(.observations),
            let completeSince = record?.completeSince, let only = areas.first, areas.count == 1
        {
            entries[only] = Entry(asked: old, fetchedAt: fetchedAt, completeSince: completeSince)
        }
        let noted = values[Self.name(.all)].flatMap { Int($0) }.flatMap(Instant.init(seconds:))
        if let noted, let completeSince = record?.completeSince, completeSince > noted {
            for (area, entry) in entries { entries[area]?.completeSince = max(entry.completeSince, completeSince) }
        }
        self.entries = entries
    }

    private static let single: [DataQuery.Area] = [.corridor, .viewport, .global]

    /// Forgets an area.
    mutating func remove(_ area: DataQuery.Area) { entries[area] = nil }

    /// Notes a complete round of an area.
    /// - Parameter start: where its window began.
    /// - Returns: the areas that the log is complete for from now on.
    mutating func note(
        _ area: DataQuery.Area, asked: String, ring: AreaRing?, at now: Instant, from start: Instant
    ) -> CoverageChange {
        let last = entries[area]
        let isContinued =
            last.map { $0.asked == asked && $0.fetchedAt >= start && !$0.fetchedAt.isAhead(of: now) } ?? false
        let completeSince = isContinued ? min(last?.completeSince ?? start, start) : start
        entries[area] = Entry(asked: asked, fetchedAt: now, completeSince: completeSince)
        return CoverageChange(
            kind: .observations, part: area.rawValue, rings: [ring], since: completeSince, at: now,
            isContinued: isContinued, lastFetch: last?.fetchedAt)
    }

    /// What an area that is asked for no more leaves behind.
    func end(of area: DataQuery.Area, at now: Instant) -> CoverageChange {
        CoverageChange(
            kind: .observations, part: area.rawValue, rings: [], since: now, at: now, isContinued: false,
            lastFetch: entries[area]?.fetchedAt)
    }

    /// From when on the log is complete for all areas that are asked for; nil where that isn't known yet.
    var completeSince: Instant? {
        let times = areas.map { entries[$0]?.completeSince }
        return times.contains(nil) ? nil : times.compactMap(\.self).max()
    }

    /// The values that say so, as far as they differ.
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
