public import BillowStore
public import Turbulence

/// A real store with something around it: whatever isn't said otherwise is the store's own.
public protocol WrappedStore: Store {
    var store: SQLiteStore { get }
}

extension WrappedStore {
    public var damage: [StoredDamage] { store.damage }
    public func survey(rest: Duration) async throws(StoreError) { try await store.survey(rest: rest) }
    public func head() async throws(StoreError) -> Head { try await store.head() }
    public func sources() async throws(StoreError) -> [SourceRecord] { try await store.sources() }
    public func state() async throws(StoreError) -> LogState { try await store.state() }
    public func register(_ source: SourceID, merge: MergeRule, simulated: Bool?) async throws(StoreError)
        -> SourceRecord
    { try await store.register(source, merge: merge, simulated: simulated) }
    public func commit(_ batch: Batch) async throws(StoreError) -> BatchResult { try await store.commit(batch) }
    public func cursors(of source: SourceID) async throws(StoreError) -> [String: String] {
        try await store.cursors(of: source)
    }

    public func values(of source: SourceID) async throws(StoreError) -> [String: String] {
        try await store.values(of: source)
    }
    public func changes(since version: Version) async throws(StoreError) -> Changes {
        try await store.changes(since: version)
    }
    public func rows(from: Instant, to: Instant, asOf version: Version?) async throws(StoreError) -> Rows {
        try await store.rows(from: from, to: to, asOf: version)
    }
    public func packed(_ part: ArchivePart, asOf version: Version) async throws(StoreError) -> [UInt8]? {
        try await store.packed(part, asOf: version)
    }
    public func packedParts() async throws(StoreError) -> [ArchivePart] { try await store.packedParts() }
    public func unpackedParts(in range: ClosedRange<ArchivePart>) async throws(StoreError) -> [ArchivePart] {
        try await store.unpackedParts(in: range)
    }
    public func rows(of part: ArchivePart) async throws(StoreError) -> PartRows { try await store.rows(of: part) }
    public func keep(_ bytes: [UInt8], packedFrom rows: PartRows) async throws(StoreError) -> Bool {
        try await store.keep(bytes, packedFrom: rows)
    }
    public func page(after: ObservationKey?, from: Instant, to: Instant, limit: Int, asOf version: Version?)
        async throws(StoreError) -> [(row: ObservationRow, details: ObservationDetails)]
    { try await store.page(after: after, from: from, to: to, limit: limit, asOf: version) }
    public func extent() async throws(StoreError) -> ClosedRange<Instant>? { try await store.extent() }
    public func confirmedTime(retentionSeconds: Int) async throws(StoreError) -> Instant? {
        try await store.confirmedTime(retentionSeconds: retentionSeconds)
    }
    public func details(of keys: [ObservationKey]) async throws(StoreError) -> [ObservationKey: ObservationDetails] {
        try await store.details(of: keys)
    }
    public func observation(id: String, asOf version: Version?) async throws(StoreError)
        -> (row: ObservationRow, details: ObservationDetails)?
    { try await store.observation(id: id, asOf: version) }
    public func pilotReport(id: String, asOf version: Version?) async throws(StoreError) -> PilotReport? {
        try await store.pilotReport(id: id, asOf: version)
    }
    public func pilotReports(after: (Instant, String)?, from: Instant, to: Instant, limit: Int, asOf version: Version?)
        async throws(StoreError) -> [PilotReport]
    { try await store.pilotReports(after: after, from: from, to: to, limit: limit, asOf: version) }
    public func pilotReports(from: Instant, to: Instant, asOf version: Version?) async throws(StoreError)
        -> [PilotReport]
    { try await store.pilotReports(from: from, to: to, asOf: version) }
    public func areaChanges(of collection: IssuedArea.Collection, in range: ClosedRange<Instant>, asOf version: Version)
        async throws(StoreError) -> [Instant]
    {
        try await store.areaChanges(of: collection, in: range, asOf: version)
    }

    public func areas(
        _ collection: IssuedArea.Collection?, from: Instant, to: Instant, asOf version: Version?
    ) async throws(StoreError) -> [IssuedArea] {
        try await store.areas(collection, from: from, to: to, asOf: version)
    }
    public func positions(from: Instant, to: Instant, asOf version: Version?) async throws(StoreError)
        -> [AircraftPosition]
    { try await store.positions(from: from, to: to, asOf: version) }
    public func changedTimes(since version: Version, from: Instant) async throws(StoreError) -> ChangedTimes {
        try await store.changedTimes(since: version, from: from)
    }
    public func lastChange(of data: SeenData) async throws(StoreError) -> Version {
        try await store.lastChange(of: data)
    }
    public func prune(_ pruning: Pruning) async throws(StoreError) -> Pruned { try await store.prune(pruning) }
    public func hasChange(of data: SeenData, at version: Version) async throws(StoreError) -> Bool {
        try await store.hasChange(of: data, at: version)
    }
    public func positions(after: PositionPlace?, from: Instant, to: Instant, limit: Int, asOf version: Version?)
        async throws(StoreError) -> [AircraftPosition]
    { try await store.positions(after: after, from: from, to: to, limit: limit, asOf: version) }
    public func aircraft(from: Instant, to: Instant, asOf version: Version?) async throws(StoreError) -> [ICAO24] {
        try await store.aircraft(from: from, to: to, asOf: version)
    }

    public func track(of aircraft: ICAO24, from: Instant, to: Instant, asOf version: Version?)
        async throws(StoreError) -> [AircraftPosition]
    { try await store.track(of: aircraft, from: from, to: to, asOf: version) }
}
