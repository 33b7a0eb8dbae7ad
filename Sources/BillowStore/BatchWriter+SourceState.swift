internal import GRDB
internal import Geometry
internal import Datasets
internal import Turbulence

extension BatchWriter {
    /// Stores cursors, values and fetch times, even if no row changed.
    func storeState(of batch: Batch, source: SourceNumber) throws {
        try set(batch.cursors, Query.setCursor, Query.removeCursor, source: source)
        try set(batch.values, Query.setSourceValue, Query.removeSourceValue, source: source)
        for change in batch.coverage { try changeCoverage(change, source: source) }
        try set(Query.setFetched, batch.fetchedAt, source: source)
        for (kind, instant) in batch.fetchedKinds {
            let statement = try RawStatement(db, Query.setFetchedKind)
            try statement.bind(
                Int64(source.rawValue), kind.rawValue, Int64(instant.seconds), Int64(kind.longestGapSeconds ?? .max),
                Int64(instant.advanced(by: Instant.clockToleranceSeconds).seconds))
            try statement.run()
        }
        try set(Query.setComplete, batch.completeSince, source: source)
    }

    /// Records the kinds of data that sources have stored for the first time.
    func noteStoredKinds(_ kinds: [SourceID: Set<FeedKind>]) throws {
        for (source, kinds) in kinds {
            let record = try record(of: source)
            for kind in kinds.subtracting(record.storedKinds) {
                let note = try RawStatement(db, Query.noteStoredKind)
                note.bind(Int64(record.number.rawValue), StoredKindColumn.source)
                try note.bind(kind.rawValue, StoredKindColumn.kind)
                try note.run()
            }
        }
    }

    func set(
        _ values: [String: String?], _ setQuery: String, _ removeQuery: String, source: SourceNumber
    ) throws {
        for (name, value) in values {
            let statement = try RawStatement(db, value == nil ? removeQuery : setQuery)
            if let value {
                try statement.bind(Int64(source.rawValue), name, value)
            } else {
                try statement.bind(Int64(source.rawValue), name)
            }
            try statement.run()
        }
    }

    /// The number of earlier areas that are stored per part. Dragging a viewport creates thousands.
    static let formerAreas: Int64 = 100

    /// Records the areas that one part of the source's query requests from now on.
    func changeCoverage(_ change: CoverageChange, source: SourceNumber) throws {
        let isAhead = change.lastFetch?.isAhead(of: change.at) ?? false
        let (isContinued, lastFetch) = isAhead ? (false, nil) : (change.isContinued, change.lastFetch)
        var wanted: [[UInt8]?] = []
        for ring in change.rings.map({ $0?.stored }) where !wanted.contains(ring) { wanted.append(ring) }
        var ended: [(number: Int64, since: Int64)] = []
        var early: [Int64] = []
        let open = try RawStatement(db, Query.openCoveredAreas)
        try open.bind(Int64(source.rawValue), change.kind.rawValue, change.part)
        try open.forEachRow { columns in
            typealias Column = CoveredAreaColumn
            let ring: [UInt8]? = columns.isNull(Column.ring) ? nil : columns.bytes(Column.ring)
            let isWhole = columns.isWhole(Column.self)
            if isWhole, isContinued, let index = wanted.firstIndex(of: ring) {
                wanted.remove(at: index)
                // The fetch covers everything from that time on, so earlier knowledge about the area is superseded.
                if columns.integer(Column.since) > change.since.seconds { early.append(columns.integer(Column.number)) }
            } else {
                // A row with a wrong checksum is removed: it proves no complete fetch.
                ended.append((columns.integer(Column.number), isWhole ? columns.integer(Column.since) : .max))
            }
        }
        for number in early {
            let lower = try RawStatement(db, Query.lowerCoveredSince)
            try lower.bind(Int64(change.since.seconds), number)
            try lower.run()
        }
        let removeAhead = try RawStatement(db, Query.removeCoveredAreasAhead)
        try removeAhead.bind(
            Int64(source.rawValue), change.kind.rawValue, change.part,
            Int64(change.at.advanced(by: Instant.clockToleranceSeconds).seconds))
        try removeAhead.run()
        for area in ended {
            if let last = lastFetch.map({ Int64($0.seconds) }), last >= area.since {
                let close = try RawStatement(db, Query.closeCoveredArea)
                try close.bind(last, area.number)
                try close.run()
            } else {
                let remove = try RawStatement(db, Query.removeCoveredArea)
                try remove.bind(area.number)
                try remove.run()
            }
        }
        if !ended.isEmpty {
            let removeOld = try RawStatement(db, Query.removeOldCoveredAreas)
            try removeOld.bind(Int64(source.rawValue), change.kind.rawValue, change.part, Self.formerAreas)
            try removeOld.run()
        }
        for ring in wanted {
            let insert = try RawStatement(db, Query.insertCoveredArea)
            insert.bind(Int64(source.rawValue), CoveredAreaColumn.source)
            try insert.bind(change.kind.rawValue, CoveredAreaColumn.kind)
            try insert.bind(change.part, CoveredAreaColumn.part)
            if let ring { insert.bind(ring, CoveredAreaColumn.ring) }
            insert.bind(Int64(change.since.seconds), CoveredAreaColumn.since)
            try insert.run()
        }
    }

    func set(_ query: String, _ instant: Instant?, source: SourceNumber) throws {
        guard let instant else { return }
        let statement = try RawStatement(db, query)
        try statement.bind(Int64(instant.seconds), Int64(source.rawValue))
        try statement.run()
    }
}
