package import BillowFields
package import Turbulence

/// The log of all observed data, and the state of each source.
///
/// It is append-only: a row is visible from the version `since` until the version `until`. A correction or a retraction
/// closes a row and opens another. Ageing deletes nothing. Versions are dense and in commit order.
package protocol Store: Sendable {
    /// The damage that reads have found. Damaged rows are left out, and their sources are complete only after them.
    var damage: [StoredDamage] { get }

    /// The sources with the completeness that the known damage leaves.
    func marked(_ sources: [SourceRecord]) -> [SourceRecord]

    /// Reads the whole store once to find damage, with a pause after each piece.
    func survey(rest: Duration) async throws(StoreError)

    /// The size of the store and the free space; nil if the store does not report it.
    ///
    /// - Parameter counting: whether rows are counted, which reads an index of each table.
    func size(counting: Bool) async throws(StoreError) -> StoreSize?

    /// The log's identity and its newest version.
    func head() async throws(StoreError) -> Head

    /// The head, the sources and the extent, read in one transaction.
    func state() async throws(StoreError) -> LogState

    /// All registered sources in the order of their numbers.
    func sources() async throws(StoreError) -> [SourceRecord]

    /// Registers a source, or changes the rule of a known one. Repeating it changes nothing. A store never has both
    /// simulated and real sources.
    ///
    /// - Parameter simulated: nil uses the value of the known sources. If none of them has one, the first given value
    ///   applies to all.
    func register(_ source: SourceID, merge: MergeRule, simulated: Bool?) async throws(StoreError) -> SourceRecord

    /// Writes a batch, which is durable when this returns. A batch with a source is one transaction: rows, retractions,
    /// cursors and the version are committed together or not at all. A long batch without a source is divided, so that
    /// no other writer waits long. After an error a part of it may be stored, and committing it again completes it. A
    /// batch that changes no row raises no version, but its cursors and fetch time are stored.
    func commit(_ batch: Batch) async throws(StoreError) -> BatchResult

    /// The cursors of a source by the piece of its query.
    func cursors(of source: SourceID) async throws(StoreError) -> [String: String]

    /// The key-value pairs of a source, such as its session and other values for the upstream's next round.
    func values(of source: SourceID) async throws(StoreError) -> [String: String]

    /// All changes after a version, read in one transaction with the head, the sources and the extent.
    func changes(since version: Version) async throws(StoreError) -> Changes

    /// The rows that are visible at a version (nil: the head), observed at `from` ≤ t < `to`, in key order, with the
    /// head. A version is readable as long as no row that was closed after it is deleted.
    func rows(from: Instant, to: Instant, asOf version: Version?) async throws(StoreError) -> Rows

    /// The number of stored observations with `from` ≤ t < `to`, including the few closed ones.
    /// - Complexity: reads the keys of the range.
    func countObservations(from: Instant, to: Instant) async throws(StoreError) -> Int

    /// The packed rows of a part if they are the visible ones at a version; nil if the rows must be read.
    func packed(_ part: ArchivePart, asOf version: Version) async throws(StoreError) -> [UInt8]?

    /// The packed parts in rising order.
    func packedParts() async throws(StoreError) -> [ArchivePart]

    /// The parts in a range whose visible rows at the head aren't packed, newest first.
    func unpackedParts(in range: ClosedRange<ArchivePart>) async throws(StoreError) -> [ArchivePart]

    /// The rows of a part that are visible at the head.
    func rows(of part: ArchivePart) async throws(StoreError) -> PartRows

    /// Stores packed rows, without a version; false if the rows have changed since they were read.
    func savePacked(_ bytes: [UInt8], of rows: PartRows) async throws(StoreError) -> Bool

    /// A page of the observations that are visible at a version (nil: the head), in key order, after `after`. A page
    /// with fewer than `limit` is the last one.
    func page(
        after: ObservationKey?, from: Instant, to: Instant, limit: Int, asOf version: Version?
    ) async throws(StoreError) -> [(row: ObservationRow, details: ObservationDetails)]

    /// The times of the oldest and the newest visible observation; nil without any.
    func extent() async throws(StoreError) -> ClosedRange<Instant>?

    /// The newest time that stored data confirms, independent of the clock; nil if nothing is confirmed.
    ///
    /// A single row is not enough, because a clock that is ahead writes its time into rows. A time is confirmed
    ///
    /// - by two independent witnesses of that time or a later one. Each fetched or imported row is a witness (an
    ///   observation, a report, an issued area, a position, a run of fields). All observations of one reporter are one
    ///   witness;
    /// - or, with a single reporter, by observations in each eighth of the retention before it, and one that is at
    ///   least an eighth newer.
    ///
    /// The time of a fetch confirms nothing, because it comes from the clock.
    func confirmedTime(retentionSeconds: Int) async throws(StoreError) -> Instant?

    /// Rows with their details by key. Unknown keys are left out.
    func observations(of keys: [ObservationKey]) async throws(StoreError)
        -> [ObservationKey: (row: ObservationRow, details: ObservationDetails)]

    /// The details of rows by key. Unknown keys are left out.
    func details(of keys: [ObservationKey]) async throws(StoreError) -> [ObservationKey: ObservationDetails]

    /// The row with a feature id that is visible at a version (nil: the head). The id is the received one or
    /// `ObservationKey.id`.
    func observation(id: String, asOf version: Version?) async throws(StoreError)
        -> (row: ObservationRow, details: ObservationDetails)?

    /// The pilot report with an id that is visible at a version (nil: the head).
    func pilotReport(id: String, asOf version: Version?) async throws(StoreError) -> PilotReport?

    /// A page of the pilot reports that are visible at a version (nil: the head), ordered by (time, id), after such a
    /// pair.
    func pilotReports(
        after: (Instant, String)?, from: Instant, to: Instant, limit: Int, asOf version: Version?
    ) async throws(StoreError) -> [PilotReport]

    /// All pilot reports that are visible at a version (nil: the head), ordered by (time, id).
    func pilotReports(from: Instant, to: Instant, asOf version: Version?) async throws(StoreError) -> [PilotReport]

    /// The areas of one or all collections that are visible at a version (nil: the head) and valid at some t with
    /// `from` ≤ t < `to`, ordered by id.
    func areas(
        _ collection: IssuedArea.DatasetNumber?, from: Instant, to: Instant, asOf version: Version?
    ) async throws(StoreError) -> [IssuedArea]

    /// The times within a range at which areas of a collection, visible at a version, begin or end, in rising order
    /// without duplicates.
    func areaChanges(of collection: IssuedArea.DatasetNumber, in range: ClosedRange<Instant>, asOf version: Version)
        async throws(StoreError) -> [Instant]

    /// The positions observed at `from` ≤ t < `to` that are visible at a version (nil: the head).
    func positions(from: Instant, to: Instant, asOf version: Version?) async throws(StoreError) -> [AircraftPosition]

    /// The fields that were stored at a version (nil: the head), and their grids. Levels on an unreadable grid are left
    /// out.
    /// - Throws: `deleted` if some of them were deleted after the version.
    func fields(asOf version: Version?) async throws(StoreError) -> StoredFields

    /// A level of a field by its row (`FieldLevelRecord.row`); nil if it is unreadable, which is recorded as damage.
    /// - Throws: `deleted` if it was deleted.
    /// - Complexity: decodes the plane on the caller's executor in some tens of milliseconds. A caller with threads of
    ///   its own decodes `packedFieldPlane` there.
    func fieldPlane(row: Int64) async throws(StoreError) -> FieldPlane?

    /// The packed bytes of the level, as `FieldPlane.packed()` made them.
    func packedFieldPlane(row: Int64) async throws(StoreError) -> [UInt8]?

    /// The times of changes after a version, from `from` on. They may be newer than any earlier snapshot.
    func changedTimes(since version: Version, from: Instant) async throws(StoreError) -> ChangedTimes

    /// The last version that changed some data; zero if none did.
    func lastChange(of data: FrameDependency) async throws(StoreError) -> Version

    /// Deletes old rows in small steps, so that other writers never wait for long. Each transaction that deletes rows
    /// raises the version. Frames of deleted rows get new addresses, and their sources are complete from a later time
    /// on. Reading that time at an earlier version throws `deleted`.
    func prune(_ pruning: Pruning) async throws(StoreError) -> PruneResult

    /// Whether a version changed some data.
    func hasChange(of data: FrameDependency, at version: Version) async throws(StoreError) -> Bool

    /// A page of the positions observed at `from` ≤ t < `to` that are visible at a version (nil: the head), in the
    /// store's own order, after `after`. A page with fewer than `limit` is the last one.
    func positions(
        after: PositionCursor?, from: Instant, to: Instant, limit: Int, asOf version: Version?
    ) async throws(StoreError) -> [AircraftPosition]

    /// The aircraft with a position observed at `from` ≤ t < `to` that is visible at a version (nil: the head), ordered
    /// by address.
    func aircraft(from: Instant, to: Instant, asOf version: Version?) async throws(StoreError) -> [ICAO24]

    /// The positions of one aircraft, observed at `from` ≤ t < `to`, that are visible at a version (nil: the head),
    /// oldest first.
    func track(
        of aircraft: ICAO24, from: Instant, to: Instant, asOf version: Version?
    ) async throws(StoreError) -> [AircraftPosition]
}

extension Store {
    /// The rows that are visible at the head.
    package func rows(from: Instant, to: Instant) async throws(StoreError) -> Rows {
        try await rows(from: from, to: to, asOf: nil)
    }

    /// A page of the observations that are visible at the head.
    package func page(
        after: ObservationKey?, from: Instant, to: Instant, limit: Int
    ) async throws(StoreError) -> [(row: ObservationRow, details: ObservationDetails)] {
        try await page(after: after, from: from, to: to, limit: limit, asOf: nil)
    }

    /// The row with a feature id that is visible at the head.
    package func observation(id: String) async throws(StoreError)
        -> (row: ObservationRow, details: ObservationDetails)?
    { try await observation(id: id, asOf: nil) }

    /// The pilot report with an id that is visible at the head.
    package func pilotReport(id: String) async throws(StoreError) -> PilotReport? {
        try await pilotReport(id: id, asOf: nil)
    }

    /// A page of the pilot reports that are visible at the head.
    package func pilotReports(
        after: (Instant, String)?, from: Instant, to: Instant, limit: Int
    ) async throws(StoreError) -> [PilotReport] {
        try await pilotReports(after: after, from: from, to: to, limit: limit, asOf: nil)
    }

    /// A page of the positions that are visible at the head.
    package func positions(
        after: PositionCursor?, from: Instant, to: Instant, limit: Int
    ) async throws(StoreError) -> [AircraftPosition] {
        try await positions(after: after, from: from, to: to, limit: limit, asOf: nil)
    }

    /// The aircraft with a position that is visible at the head.
    package func aircraft(from: Instant, to: Instant) async throws(StoreError) -> [ICAO24] {
        try await aircraft(from: from, to: to, asOf: nil)
    }

    /// The positions of one aircraft that are visible at the head.
    package func track(of aircraft: ICAO24, from: Instant, to: Instant) async throws(StoreError) -> [AircraftPosition] {
        try await track(of: aircraft, from: from, to: to, asOf: nil)
    }
}
