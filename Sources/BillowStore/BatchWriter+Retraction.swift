internal import GRDB
internal import Geometry
internal import Turbulence

extension BatchWriter {
    // MARK: Retraction

    /// Closes the rows that were found up to a version, and finds and closes the retracted rows after it.
    mutating func retract(
        _ retraction: Retraction, source: SourceNumber, found: (upTo: Version, keys: [ObservationKey])
    ) throws {
        var gone = found.keys
        let since = try RawStatement(db, Query.openedSince)
        try since.bind(found.upTo.rawValue)
        // The query finishes before any row is closed: no row may change under a running query.
        try since.forEachReadable(damage, ObservationRow.init) { row in
            if row.source == source, row.observedAt >= retraction.from, row.observedAt <= retraction.to,
                retraction.closes(row)
            {
                gone.append(row.key)
            }
        }
        for key in gone {
            try close(key)
            // Another process may have closed the row since the search.
            result.retracted += db.changesCount
        }
    }

    // MARK: Transient observations

    /// Ends transient rows: each is superseded by a new row.
    /// - Parameter lasting: the time of the newest lasting row, by place.
    mutating func endTransient(
        _ end: TransientEnd, of source: SourceID, _ number: SourceNumber, lasting: [Retraction.ValueKey: Instant]
    ) throws {
        let rows = try TransientRows(db, end, source: number, damage: damage)
        for key in rows.later {
            try close(key)
            result.retracted += db.changesCount
        }
        let accepted = result.accepted
        for (place, row) in rows.ending.sorted(by: { $0.value.key < $1.value.key }) {
            if let newest = lasting[place], newest >= row.observedAt { continue }
            try upsertByContent(
                Observation(
                    cell: row.cell, altitude: row.altitude, intensity: .reported(.smooth, edr: nil),
                    observedAt: end.at, category: row.category, source: source,
                    kind: .superseding), isEnd: true)
        }
        result.retracted += result.accepted - accepted
        result.accepted = accepted
    }

    /// Reopens transient rows that were fetched again, by closing the rows that ended them.
    mutating func reopen(_ fetched: [Retraction.ValueKey: Instant], source: SourceNumber) throws {
        guard let newest = fetched.values.filter({ $0 != .distantFuture }).max() else { return }
        let statement = try RawStatement(db, Query.openTransientEnds)
        try statement.bind(
            Int64(source.rawValue),
            ObservationKey.first(of: newest.advanced(by: -2 * History.sixHours.seconds)).rawValue)
        var ends: [ObservationKey] = []
        try statement.forEachReadable(damage, ObservationRow.init) { row in
            guard let observedAt = fetched[Retraction.ValueKey(of: row)],
                observedAt <= row.observedAt
            else { return }
            ends.append(row.key)
        }
        for key in ends { try close(key) }
        hasReopened = hasReopened || !ends.isEmpty
    }
}
