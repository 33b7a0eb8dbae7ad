import Datasets
internal import GRDB
internal import Geometry
internal import SpanKit
internal import Turbulence

extension SQLStore {
    /// Writes a batch in a fixed order. Observations without id come first, by time, then those with an id, also by
    /// time. If an id occurs twice, those with an id keep the given order. Pilot reports, areas, positions and fields
    /// follow, then the retraction and the replacements. Batches in time order write the fewest pages.
    /// - Throws: `unknownSource`, `tooManySources`, `tooManySourcesOfReporter`. `failed` also if the batch has no
    ///   source but has fields, cursors, values, a retraction or a fetch time.
    /// - Complexity: O(n log n) in the batch, independent of other rows at the same place and time.
    package func commit(_ batch: Batch) async throws(StoreError) -> BatchResult {
        try await Spans.span("store commit") { span async throws(StoreError) in
            span.set("billow.source", batch.source?.name)
            let result = try await write(batch)
            span.set("billow.version", result.version.rawValue)
            span.set("billow.accepted", result.accepted)
            span.set("billow.duplicates", result.duplicates)
            return result
        }
    }

    private func write(_ batch: Batch) async throws(StoreError) -> BatchResult {
        guard
            batch.source != nil
                || batch.retraction == nil && batch.transientEnd == nil && batch.mirror == nil
                    && batch.fetchedPlaces.isEmpty
                    && batch.coverage.isEmpty && batch.areaReplacements.isEmpty && batch.cursors.isEmpty
                    && batch.values.isEmpty && batch.fetchedAt == nil && batch.fetchedKinds.isEmpty
                    && batch.completeSince == nil && batch.fields.isEmpty
        else {
            throw .failed(
                "fields, a retraction, a replacement, cursors, values or a fetch time came without the source that "
                    + "they are of")
        }
        let items = BatchItems(batch)
        let retracted = try await keysRetracted(by: batch)
        let lasting = try await newestPermanentTimes(beside: batch)
        let tags = tags
        let longest = batch.source == nil ? longestTransaction : nil
        var next = 0
        var total: BatchResult?
        repeat {
            let part = try await writing { [next, register] db in
                var writer = try BatchWriter(db, tags: tags, batch, damage: register)
                let end = try writer.write(items, from: next, longest: longest)
                if end == items.count { try writer.noteStoredKinds(items.kinds) }
                if end == items.count, let source = batch.source {
                    let number = try writer.number(of: source)
                    try writer.reopen(batch.fetchedPlaces, source: number)
                    if let retraction = batch.retraction {
                        try writer.retract(retraction, source: number, found: retracted)
                    }
                    if let end = batch.transientEnd {
                        try writer.endTransient(end, of: source, number, lasting: lasting)
                    }
                    for replacement in batch.areaReplacements {
                        try writer.endAreas(missing: replacement, source: number, issued: batch.areas)
                    }
                    if let mirror = batch.mirror { try writer.reconcile(mirror, with: batch) }
                    try writer.storeState(of: batch, source: number)
                }
                return (result: try writer.finish(), end: end)
            }
            total = total.map { $0.adding(part.result) } ?? part.result
            next = part.end
        } while next < items.count
        return total ?? BatchResult(version: .zero)
    }
}

/// The contents of a batch, in the order of writing.
struct BatchItems: Sendable {
    let batch: Batch
    /// The indices of observations in the batch.
    let observations: [Int]
    /// The kinds of data in the batch, by source.
    let kinds: [SourceID: Set<FeedKind>]

    /// An id that an observation came with.
    private struct NamedID: Hashable {
        var source: SourceID
        var id: String?
    }

    /// Sorts before the transaction, so that no other writer waits for it. Rows of similar times share database pages.
    init(_ batch: Batch) {
        self.batch = batch
        let all = batch.observations
        func byTime(_ indices: [Int]) -> [Int] {
            indices.map { (all[$0].observedAt, $0) }.sorted(by: <).map(\.1)
        }
        let named = all.indices.filter { all[$0].id != nil }
        // If an id occurs twice, the later observation corrects the earlier one. So their order counts.
        var ids = Set<NamedID>(minimumCapacity: named.count)
        let isEachOnce = named.allSatisfy { ids.insert(NamedID(source: all[$0].source, id: all[$0].id)).inserted }
        observations = byTime(all.indices.filter { all[$0].id == nil }) + (isEachOnce ? byTime(named) : named)
        var kinds: [SourceID: Set<FeedKind>] = [:]
        for source in Set(all.map(\.source)) { kinds[source, default: []].insert(.observations) }
        for source in Set(batch.pilotReports.map(\.source)) { kinds[source, default: []].insert(.reports) }
        for source in Set(batch.positions.map(\.source)) { kinds[source, default: []].insert(.positions) }
        for area in batch.areas {
            guard let kind = Catalogue.kind(of: area.collection) else { continue }
            kinds[area.source, default: []].insert(kind)
        }
        if let source = batch.source, !batch.fields.isEmpty { kinds[source, default: []].insert(.fields) }
        self.kinds = kinds
    }

    var count: Int {
        observations.count + batch.pilotReports.count + batch.areas.count + batch.positions.count
            + batch.fields.count
    }
}

extension BatchResult {
    /// The combined result of two consecutive transactions.
    fileprivate func adding(_ later: BatchResult) -> BatchResult {
        BatchResult(
            version: later.version, accepted: accepted + later.accepted, duplicates: duplicates + later.duplicates,
            corrected: corrected + later.corrected, retracted: retracted + later.retracted,
            pilotReports: pilotReports + later.pilotReports, areas: areas + later.areas,
            positions: positions + later.positions, fieldLevels: fieldLevels + later.fieldLevels)
    }
}

extension SQLStore {
    /// The rows up to a version that a batch's retraction closes. A window of hours has a million rows, so they are
    /// searched before the transaction, and no other writer waits. The transaction searches only later rows.
    private func keysRetracted(by batch: Batch) async throws(StoreError) -> (upTo: Version, keys: [ObservationKey]) {
        guard let retraction = batch.retraction, let source = batch.source else {
            return (.zero, [])
        }
        return try await reading { [register] db in
            guard let number = try SourceRecord.all(db).first(where: { $0.id == source })?.number else {
                throw StoreError.unknownSource(source)
            }
            let statement = try RawStatement(db, Query.openOfSource)
            try statement.bind(
                ObservationKey.first(of: retraction.from).rawValue,
                ObservationKey.first(of: retraction.to).rawValue + 1 << ObservationKey.tagBits, Int64(number.rawValue))
            var keys: [ObservationKey] = []
            try statement.forEachReadable(register, ObservationRow.init) { row in
                if retraction.closes(row) { keys.append(row.key) }
            }
            return (try Head(db).version, keys)
        }
    }

    /// The time of the newest lasting row at each place where transient rows end. It is searched before the
    /// transaction, like the retracted rows, because rows have no index by place.
    private func newestPermanentTimes(beside batch: Batch) async throws(StoreError) -> [Retraction.ValueKey: Instant] {
        guard let end = batch.transientEnd, let source = batch.source else { return [:] }
        return try await reading { [register] db in
            guard let number = try SourceRecord.all(db).first(where: { $0.id == source })?.number else {
                throw StoreError.unknownSource(source)
            }
            let transient = try TransientRows(db, end, source: number, damage: register)
            guard let oldest = transient.ending.values.map(\.observedAt).min() else { return [:] }
            let statement = try RawStatement(db, Query.openOfSource)
            try statement.bind(
                ObservationKey.first(of: oldest).rawValue,
                ObservationKey.first(of: end.at).rawValue + 1 << ObservationKey.tagBits, Int64(number.rawValue))
            var lasting: [Retraction.ValueKey: Instant] = [:]
            try statement.forEachReadable(register, ObservationRow.init) { row in
                let place = Retraction.ValueKey(of: row)
                guard transient.ending[place] != nil, !transient.keys.contains(row.key) else { return }
                lasting[place] = max(lasting[place] ?? row.observedAt, row.observedAt)
            }
            return lasting
        }
    }
}
