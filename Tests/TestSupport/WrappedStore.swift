package import BillowFields
package import BillowStore
package import Turbulence

/// A real store with something around it: whatever isn't said otherwise is the store's own.
package protocol WrappedStore: Store {
    var store: SQLiteStore { get }
}

extension WrappedStore {
    package var damage: [StoredDamage] { store.damage }
    package func marked(_ sources: [SourceRecord]) -> [SourceRecord] { store.marked(sources) }
    package func survey(rest: Duration) async throws(StoreError) { try await store.survey(rest: rest) }
    package func size(counting: Bool) async throws(StoreError) -> StoreSize? {
        try await store.size(counting: counting)
    }
    package func head() async throws(StoreError) -> Head { try await store.head() }
    package func sources() async throws(StoreError) -> [SourceRecord] { try await store.sources() }
    package func state() async throws(StoreError) -> LogState { try await store.state() }
    package func register(_ source: SourceID, merge: MergeRule, simulated: Bool?) async throws(StoreError)
        -> SourceRecord
    { try await store.register(source, merge: merge, simulated: simulated) }
    package func commit(_ batch: Batch) async throws(StoreError) -> BatchResult { try await store.commit(batch) }
    package func cursors(of source: SourceID) async throws(StoreError) -> [String: String] {
        try await store.cursors(of: source)
    }

    package func values(of source: SourceID) async throws(StoreError) -> [String: String] {
        try await store.values(of: source)
    }
    package func fields(asOf version: Version?) async throws(StoreError) -> StoredFields {
        try await store.fields(asOf: version)
    }
    package func fieldPlane(row: Int64) async throws(StoreError) -> FieldPlane? {
        try await store.fieldPlane(row: row)
    }
    package func packedFieldPlane(row: Int64) async throws(StoreError) -> [UInt8]? {
        try await store.packedFieldPlane(row: row)
    }
    package func changes(since version: Version) async throws(StoreError) -> Changes {
        try await store.changes(since: version)
    }
    package func rows(from: Instant, to: Instant, asOf version: Version?) async throws(StoreError) -> Rows {
        try await store.rows(from: from, to: to, asOf: version)
    }
    package func packed(_ part: ArchivePart, asOf version: Version) async throws(StoreError) -> [UInt8]? {
        try await store.packed(part, asOf: version)
    }
    package func countObservations(from: Instant, to: Instant) async throws(StoreError) -> Int {
        try await store.countObservations(from: from, to: to)
    }
    package func packedParts() async throws(StoreError) -> [ArchivePart] { try await store.packedParts() }
    package func unpackedParts(in range: ClosedRange<ArchivePart>) async throws(StoreError) -> [ArchivePart] {
        try await store.unpackedParts(in: range)
    }
    package func rows(of part: ArchivePart) async throws(StoreError) -> PartRows { try await store.rows(of: part) }
    package func savePacked(_ bytes: [UInt8], of rows: PartRows) async throws(StoreError) -> Bool {
        try await store.savePacked(bytes, of: rows)
    }
    package func page(after: ObservationKey?, from: Instant, to: Instant, limit: Int, asOf version: Version?)
        async throws(StoreError) -> [(row: ObservationRow, details: ObservationDetails)]
    { try await store.page(after: after, from: from, to: to, limit: limit, asOf: version) }
    package func extent() async throws(StoreError) -> ClosedRange<Instant>? { try await store.extent() }
    package func confirmedTime(retentionSeconds: Int) async throws(StoreError) -> Instant? {
        try await store.confirmedTime(retentionSeconds: retentionSeconds)
    }
    package func observations(of keys: [ObservationKey]) async throws(StoreError)
        -> [ObservationKey: (row: ObservationRow, details: ObservationDetails)]
    { try await store.observations(of: keys) }
    package func details(of keys: [ObservationKey]) async throws(StoreError) -> [ObservationKey: ObservationDetails] {
        try await store.details(of: keys)
    }
    package func observation(id: String, asOf version: Version?) async throws(StoreError)
        -> (row: ObservationRow, details: ObservationDetails)?
    { try await store.observation(id: id, asOf: version) }
    package func pilotReport(id: String, asOf version: Version?) async throws(StoreError) -> PilotReport? {
        try await store.pilotReport(id: id, asOf: version)
    }
    package func pilotReports(after: (Instant, String)?, from: Instant, to: Instant, limit: Int, asOf version: Version?)
        async throws(StoreError) -> [PilotReport]
    { try await store.pilotReports(after: after, from: from, to: to, limit: limit, asOf: version) }
    package func pilotReports(from: Instant, to: Instant, asOf version: Version?) async throws(StoreError)
        -> [PilotReport]
    { try await store.pilotReports(from: from, to: to, asOf: version) }
    package func areaChanges(
        of collection: IssuedArea.DatasetNumber, in range: ClosedRange<Instant>, asOf version: Version
    )
        async throws(StoreError) -> [Instant]
    {
        try await store.areaChanges(of: collection, in: range, asOf: version)
    }

    package func areas(
        _ collection: IssuedArea.DatasetNumber?, from: Instant, to: Instant, asOf version: Version?
    ) async throws(StoreError) -> [IssuedArea] {
        try await store.areas(collection, from: from, to: to, asOf: version)
    }
    package func positions(from: Instant, to: Instant, asOf version: Version?) async throws(StoreError)
        -> [AircraftPosition]
    { try await store.positions(from: from, to: to, asOf: version) }
    package func changedTimes(since version: Version, from: Instant) async throws(StoreError) -> ChangedTimes {
        try await store.changedTimes(since: version, from: from)
    }
    package func lastChange(of data: FrameDependency) async throws(StoreError) -> Version {
        try await store.lastChange(of: data)
    }
    package func prune(_ pruning: Pruning) async throws(StoreError) -> PruneResult { try await store.prune(pruning) }
    package func hasChange(of data: FrameDependency, at version: Version) async throws(StoreError) -> Bool {
        try await store.hasChange(of: data, at: version)
    }
    package func positions(after: PositionCursor?, from: Instant, to: Instant, limit: Int, asOf version: Version?)
        async throws(StoreError) -> [AircraftPosition]
    { try await store.positions(after: after, from: from, to: to, limit: limit, asOf: version) }
    package func aircraft(from: Instant, to: Instant, asOf version: Version?) async throws(StoreError) -> [ICAO24] {
        try await store.aircraft(from: from, to: to, asOf: version)
    }

    package func track(of aircraft: ICAO24, from: Instant, to: Instant, asOf version: Version?)
        async throws(StoreError) -> [AircraftPosition]
    { try await store.track(of: aircraft, from: from, to: to, asOf: version) }
}
