package import BillowFields
package import Turbulence

/// The log of everything that was ever observed, and the state of each source.
///
/// Append-only: a row counts from the version `since` until the version `until`. A correction or a retraction closes a
/// row and opens another; ageing deletes nothing. Versions are dense and in commit order.
package protocol Store: Sendable {
    /// The damage that reads have met: they leave it out, and its sources are complete only after it.
    var damage: [StoredDamage] { get }

    /// Sources as they are complete by what is known of the damage now.
    func marked(_ sources: [SourceRecord]) -> [SourceRecord]

    /// Reads everything once, so that damage is known. Rests after each piece.
    func survey(rest: Duration) async throws(StoreError)

    /// How much the store takes, and how much room is left; nil where it doesn't tell.
    ///
    /// - Parameter counting: whether rows are counted, which reads an index of each table.
    func size(counting: Bool) async throws(StoreError) -> StoreSize?

    /// Which log it is, and its newest version.
    func head() async throws(StoreError) -> Head

    /// Head, sources and extent, read in one transaction.
    func state() async throws(StoreError) -> LogState

    /// Every source that was ever named, in the order of their numbers.
    func sources() async throws(StoreError) -> [SourceRecord]

    /// Makes a source known, or gives a known one its rule; the same again changes nothing. Simulated and real sources
    /// are never known to one store.
    ///
    /// - Parameter simulated: nil takes the value of the known sources. Where none of them has one, the first value
    ///   that is given holds for all.
    func register(_ source: SourceID, merge: MergeRule, simulated: Bool?) async throws(StoreError) -> SourceRecord

    /// Writes a batch, durable when this returns. With a source it is one transaction: rows, retractions, cursors and
    /// the version land together or not at all. Without one, a long batch is divided, so that no other writer waits
    /// long. After an error a part of it may be stored; the same batch again completes it. A batch that changes no row
    /// raises no version, but its cursors and fetch time are stored.
    func commit(_ batch: Batch) async throws(StoreError) -> BatchResult

    /// The cursors of a source, by the name of the piece of its query.
    func cursors(of source: SourceID) async throws(StoreError) -> [String: String]

    /// The key-values of a source: its session, and what else its upstream needs in the next round.
    func values(of source: SourceID) async throws(StoreError) -> [String: String]

    /// All that came and went after a version, read in one transaction with the head, the sources and the extent.
    func changes(since version: Version) async throws(StoreError) -> Changes

    /// The rows that count at a version (nil: the head), observed at `from` ≤ t < `to`, in key order, with the head. A
    /// version is known exactly as long as the rows that were closed after it are kept.
    func rows(from: Instant, to: Instant, asOf version: Version?) async throws(StoreError) -> Rows

    /// The packed rows of a part where they are the ones that count at a version; nil where those are to be read.
    func packed(_ part: ArchivePart, asOf version: Version) async throws(StoreError) -> [UInt8]?

    /// The parts of which something is packed, in rising order.
    func packedParts() async throws(StoreError) -> [ArchivePart]

    /// The parts in a range with rows that aren't packed as they count at the head, the newest first.
    func unpackedParts(in range: ClosedRange<ArchivePart>) async throws(StoreError) -> [ArchivePart]

    /// The rows of a part that count at the head.
    func rows(of part: ArchivePart) async throws(StoreError) -> PartRows

    /// Stores rows packed, beside the log and without a version; false where the rows have changed since the reading.
    func savePacked(_ bytes: [UInt8], of rows: PartRows) async throws(StoreError) -> Bool

    /// One page of the observations that count at a version (nil: the head), in key order, starting after `after`.
    /// Fewer than `limit` means the end.
    func page(
        after: ObservationKey?, from: Instant, to: Instant, limit: Int, asOf version: Version?
    ) async throws(StoreError) -> [(row: ObservationRow, details: ObservationDetails)]

    /// The times of the oldest and the newest observation that count; nil when there is none.
    func extent() async throws(StoreError) -> ClosedRange<Instant>?

    /// The newest time that stored data confirms, whatever a clock says; nil where nothing is confirmed.
    ///
    /// No single row is enough: a clock that is ahead writes its time into rows. A time is confirmed
    ///
    /// - by two voices of that time or a later one. Each row that was fetched or imported is a voice (an observation, a
    ///   report, an issued area, a position, a run of fields). All observations that one reporter sent are one voice;
    /// - or, where only one reporter speaks, by observations in every eighth of the retention before it, and one at
    ///   least an eighth later.
    ///
    /// A fetch's own time confirms nothing: it is the clock's.
    func confirmedTime(retentionSeconds: Int) async throws(StoreError) -> Instant?

    /// The details of some rows; keys that aren't there are left out.
    func details(of keys: [ObservationKey]) async throws(StoreError) -> [ObservationKey: ObservationDetails]

    /// The row that counts at a version (nil: the head) with this feature id: the one it came with, or
    /// `ObservationKey.id`.
    func observation(id: String, asOf version: Version?) async throws(StoreError)
        -> (row: ObservationRow, details: ObservationDetails)?

    /// The pilot report that counts at a version (nil: the head) with this id.
    func pilotReport(id: String, asOf version: Version?) async throws(StoreError) -> PilotReport?

    /// One page of the pilot reports that count at a version (nil: the head), ordered by (time, id), starting after
    /// that pair.
    func pilotReports(
        after: (Instant, String)?, from: Instant, to: Instant, limit: Int, asOf version: Version?
    ) async throws(StoreError) -> [PilotReport]

    /// All pilot reports that count at a version (nil: the head), ordered by (time, id).
    func pilotReports(from: Instant, to: Instant, asOf version: Version?) async throws(StoreError) -> [PilotReport]

    /// The areas that count at a version (nil: the head) and hold at some t with `from` ≤ t < `to`, of one collection
    /// or of all, in the order of their ids.
    func areas(
        _ collection: IssuedArea.Collection?, from: Instant, to: Instant, asOf version: Version?
    ) async throws(StoreError) -> [IssuedArea]

    /// When areas of a collection that count at a version begin or end within a range, in rising order, each once.
    func areaChanges(of collection: IssuedArea.Collection, in range: ClosedRange<Instant>, asOf version: Version)
        async throws(StoreError) -> [Instant]

    /// Every position observed at `from` ≤ t < `to` that was there at a version (nil: the head).
    func positions(from: Instant, to: Instant, asOf version: Version?) async throws(StoreError) -> [AircraftPosition]

    /// The fields as they were stored at a version (nil: the head), and their grids. Levels on a grid that can't be
    /// read are left out.
    /// - Throws: `deleted` where some of them were deleted after the version.
    func fields(asOf version: Version?) async throws(StoreError) -> StoredFields

    /// A level of a field by its row (`FieldLevelRecord.row`); nil where it can't be read, which is noted as damage.
    /// - Throws: `deleted` where it was deleted.
    /// - Complexity: decodes the plane on the caller's executor, some tens of milliseconds. A caller with threads of
    ///   its own decodes `packedFieldPlane` there.
    func fieldPlane(row: Int64) async throws(StoreError) -> FieldPlane?

    /// The same as `FieldPlane.packed()` gave it. Its bytes are those that were stored.
    func packedFieldPlane(row: Int64) async throws(StoreError) -> [UInt8]?

    /// The times of changes after a version, from `from` on. They may be newer than any snapshot taken before.
    func changedTimes(since version: Version, from: Instant) async throws(StoreError) -> ChangedTimes

    /// The last version that changed something; zero where none did.
    func lastChange(of data: FrameDependency) async throws(StoreError) -> Version

    /// Deletes old rows, a little at a time, so that other writers never wait for long. Each transaction that deletes
    /// something raises the version. Pictures of deleted rows get new addresses, and their sources are complete from
    /// later on. Reading that time at an earlier version throws `deleted`.
    func prune(_ pruning: Pruning) async throws(StoreError) -> Pruned

    /// Whether a version changed something.
    func hasChange(of data: FrameDependency, at version: Version) async throws(StoreError) -> Bool

    /// One page of the positions observed at `from` ≤ t < `to` that were there at a version (nil: the head), in an
    /// order of the store's own, starting after `after`. Fewer than `limit` means the end.
    func positions(
        after: PositionPlace?, from: Instant, to: Instant, limit: Int, asOf version: Version?
    ) async throws(StoreError) -> [AircraftPosition]

    /// The aircraft with a position observed at `from` ≤ t < `to` that was there at a version (nil: the head), by
    /// address.
    func aircraft(from: Instant, to: Instant, asOf version: Version?) async throws(StoreError) -> [ICAO24]

    /// The positions of one aircraft, observed at `from` ≤ t < `to`, that were there at a version (nil: the head),
    /// oldest first.
    func track(
        of aircraft: ICAO24, from: Instant, to: Instant, asOf version: Version?
    ) async throws(StoreError) -> [AircraftPosition]
}

extension Store {
    /// The rows that count at the head.
    package func rows(from: Instant, to: Instant) async throws(StoreError) -> Rows {
        try await rows(from: from, to: to, asOf: nil)
    }

    /// One page of the observations that count at the head.
    package func page(
        after: ObservationKey?, from: Instant, to: Instant, limit: Int
    ) async throws(StoreError) -> [(row: ObservationRow, details: ObservationDetails)] {
        try await page(after: after, from: from, to: to, limit: limit, asOf: nil)
    }

    /// The row that counts at the head with this feature id.
    package func observation(id: String) async throws(StoreError)
        -> (row: ObservationRow, details: ObservationDetails)?
    { try await observation(id: id, asOf: nil) }

    /// The pilot report that counts at the head with this id.
    package func pilotReport(id: String) async throws(StoreError) -> PilotReport? {
        try await pilotReport(id: id, asOf: nil)
    }

    /// One page of the pilot reports that count at the head.
    package func pilotReports(
        after: (Instant, String)?, from: Instant, to: Instant, limit: Int
    ) async throws(StoreError) -> [PilotReport] {
        try await pilotReports(after: after, from: from, to: to, limit: limit, asOf: nil)
    }

    /// One page of the positions that are there at the head.
    package func positions(
        after: PositionPlace?, from: Instant, to: Instant, limit: Int
    ) async throws(StoreError) -> [AircraftPosition] {
        try await positions(after: after, from: from, to: to, limit: limit, asOf: nil)
    }

    /// The aircraft with a position that is there at the head.
    package func aircraft(from: Instant, to: Instant) async throws(StoreError) -> [ICAO24] {
        try await aircraft(from: from, to: to, asOf: nil)
    }

    /// The positions of one aircraft that are there at the head.
    package func track(of aircraft: ICAO24, from: Instant, to: Instant) async throws(StoreError) -> [AircraftPosition] {
        try await track(of: aircraft, from: from, to: to, asOf: nil)
    }
}
