package import Geometry
package import Turbulence

/// The log of everything that was ever observed, and where each source stands.
///
/// Append-only: a row counts from the version `since` until the version `until`; a correction or a retraction closes a
/// row and opens another, ageing deletes nothing. Versions are dense and in commit order.
package protocol Store: Sendable {
    /// What was met so far that can't be read: reads leave it out, and its sources are complete only after it.
    var damage: [StoredDamage] { get }

    /// Sources as they are complete by what is known of the damage now.
    func marked(_ sources: [SourceRecord]) -> [SourceRecord]

    /// Reads everything once, so that damage is known. Rests after each piece.
    func survey(rest: Duration) async throws(StoreError)

    /// Which log it is, and its newest version.
    func head() async throws(StoreError) -> Head

    /// Head, sources and extent, read in one transaction.
    func state() async throws(StoreError) -> LogState

    /// Every source that was ever named, in the order of their numbers.
    func sources() async throws(StoreError) -> [SourceRecord]

    /// Makes a source known, or gives a known one its rule; the same again changes nothing. Simulated and real sources
    /// are never known to one store.
    ///
    /// - Parameter simulated: nil takes after the sources that are known. Where those don't know either, who first
    ///   says it
    ///   settles it for all.
    func register(_ source: SourceID, merge: MergeRule, simulated: Bool?) async throws(StoreError) -> SourceRecord

    /// Writes a batch, durable when this returns. With a source it is one transaction: rows, retractions, cursors and
    /// the version land together or not at all. Without one, a batch that takes long is divided, so that no other
    /// writer waits
    /// long; after an error a part of it may be stored, and the same batch again completes it. A batch that changes no
    /// row raises no version, but keeps its cursors and fetch time.
    func commit(_ batch: Batch) async throws(StoreError) -> BatchResult

    /// The cursors of a source, by the name of the piece of its query.
    func cursors(of source: SourceID) async throws(StoreError) -> [String: String]

    /// The key-values of a source: its session, and what else its upstream keeps from round to round.
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

    /// Keeps rows packed, beside the log and without a version; false where they don't count any more as they were
    /// read.
    func keep(_ bytes: [UInt8], packedFrom rows: PartRows) async throws(StoreError) -> Bool

    /// One page of the observations that count at a version (nil: the head), in key order, starting after `after`.
    /// Fewer than `limit` means the end.
    func page(
        after: ObservationKey?, from: Instant, to: Instant, limit: Int, asOf version: Version?
    ) async throws(StoreError) -> [(row: ObservationRow, details: ObservationDetails)]

    /// The times of the oldest and the newest observation that count; nil when there is none.
    func extent() async throws(StoreError) -> ClosedRange<Instant>?

    /// The newest time that what is stored confirms has come, whatever a clock says; nil where nothing is confirmed.
    ///
    /// No single record is enough: a clock that is ahead stamps records with its time. A time is confirmed
    ///
    /// - by two voices that tell of it or of a later time. Each record that was fetched or imported is a voice (an
    ///   observation, a report, an issued area, a position). All observations that one reporter sent are one voice;
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

    /// What changed after a version, of what is seen from `from` on. It may be newer than any snapshot taken before.
    func changedTimes(since version: Version, from: Instant) async throws(StoreError) -> ChangedTimes

    /// The last version that changed something; zero where none did.
    func lastChange(of data: FrameDependency) async throws(StoreError) -> Version

    /// Deletes what is old, a little at a time, so that other writers never wait for long. Each transaction that
    /// deletes something raises the version: pictures that reach back to what is deleted get new addresses, and their
    /// sources are
    /// complete from later on. What an earlier version showed of that time is `deleted`.
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

/// Where the log stands.
package struct Head: Sendable, Hashable {
    package var version: Version
    /// Names the log among all others: versions of two logs have nothing in common. A backup is another log, and so is
    /// what is left when rows that pictures showed were deleted.
    package var log: String

    package init(version: Version, log: String) {
        self.version = version
        self.log = log
    }
}

/// The log at its head: what one transaction reads of it besides its rows.
package struct LogState: Sendable, Hashable {
    package var head: Head
    package var sources: [SourceRecord]
    package var extent: LogExtent

    package init(head: Head, sources: [SourceRecord], extent: LogExtent) {
        self.head = head
        self.sources = sources
        self.extent = extent
    }
}

/// What one commit writes. Everything in it is of sources that are registered before or by `registration`.
package struct Batch: Sendable {
    /// The source on whose behalf it is written; nil for an import of several.
    package var source: SourceID?
    package var observations: [Observation]
    package var pilotReports: [PilotReport]
    /// Areas as they were issued; the same again changes nothing, other content corrects it.
    package var areas: [IssuedArea]
    /// What complete fetches of areas say by leaving out.
    package var areaReplacements: [AreaReplacement]
    package var positions: [AircraftPosition]
    /// Closes what a complete fetch no longer has.
    package var retraction: Retraction?
    /// Ends transient observations that nobody asks for any more.
    package var transientEnd: TransientEnd?
    /// What a fetch has: the newest time at each place. Observations there that a `TransientEnd` ended count again.
    package var fetchedPlaces: [Retraction.Place: Instant]
    /// What the source is asked for from now on.
    package var coverage: [CoverageChange]
    /// New cursors by piece; nil as a value removes one.
    package var cursors: [String: String?]
    /// New key-values of the source; nil as a value removes one.
    package var values: [String: String?]
    /// When the fetch of all that is asked for succeeded that this is the (last) batch of.
    package var fetchedAt: Instant?
    /// When kinds of data were fetched, where some may be had and others not.
    package var fetchedKinds: [DataKind: Instant]
    /// From when on the log is complete for the source, where this batch settles it.
    package var completeSince: Instant?
    /// What of it was observed, or ended, before this instant is imported: it stays until it is pruned by hand,
    /// whichever source it is of, and so does what was there already and is the same, and what later corrects it.
    package var importedBefore: Instant
    /// Whether the observations are wanted only for a while, until a `TransientEnd` ends them. An observation that
    /// another batch brings to last does last, in whatever order the two come.
    package var isTransient: Bool
    /// The id of the access key that sent the observations; nil for what was fetched or imported. Only the same key
    /// corrects them later.
    package var reporter: String?
    /// Sources to register in the batch's first transaction.
    package var registration: SourceRegistration?

    package init(
        source: SourceID?, observations: [Observation] = [], pilotReports: [PilotReport] = [],
        areas: [IssuedArea] = [], areaReplacements: [AreaReplacement] = [], positions: [AircraftPosition] = [],
        retraction: Retraction? = nil, transientEnd: TransientEnd? = nil,
        fetchedPlaces: [Retraction.Place: Instant] = [:], coverage: [CoverageChange] = [],
        cursors: [String: String?] = [:], values: [String: String?] = [:], fetchedAt: Instant? = nil,
        fetchedKinds: [DataKind: Instant] = [:], completeSince: Instant? = nil,
        importedBefore: Instant = .distantPast, isTransient: Bool = false, reporter: String? = nil,
        registration: SourceRegistration? = nil
    ) {
        self.source = source
        self.observations = observations
        self.pilotReports = pilotReports
        self.areas = areas
        self.areaReplacements = areaReplacements
        self.positions = positions
        self.retraction = retraction
        self.transientEnd = transientEnd
        self.fetchedPlaces = fetchedPlaces
        self.coverage = coverage
        self.cursors = cursors
        self.values = values
        self.fetchedAt = fetchedAt
        self.fetchedKinds = fetchedKinds
        self.completeSince = completeSince
        self.importedBefore = importedBefore
        self.isTransient = isTransient
        self.reporter = reporter
        self.registration = registration
    }
}

/// Sources that a batch may name for the first time. They become known with the batch's rows, or not at all; a source
/// that is known keeps its merge rule.
package struct SourceRegistration: Sendable, Hashable {
    package var sources: Set<SourceID>
    /// Whether their data is simulated; nil takes after the known sources.
    package var simulated: Bool?
    /// Whether it is where no known source says so.
    package var simulatedByDefault: Bool?
    /// How many sources the batch's reporter may name, over all of its batches; nil for any number.
    package var sourcesPerReporter: Int?

    package init(
        _ sources: Set<SourceID>, simulated: Bool? = nil, simulatedByDefault: Bool? = nil,
        sourcesPerReporter: Int? = nil
    ) {
        self.sources = sources
        self.simulated = simulated
        self.simulatedByDefault = simulatedByDefault
        self.sourcesPerReporter = sourcesPerReporter
    }
}

/// Open rows of the batch's source that count no more, which a complete, validated fetch of computed values says by
/// leaving out: a row observed at `from` ≤ t ≤ `to`, that `covers` and that is newer than `standing` has for its place
/// (or has no
/// place there).
package struct Retraction: Sendable {
    /// Where and how high, for which category.
    package struct Place: Sendable, Hashable {
        package var cell: UInt32
        package var altitude: AltitudeBand
        package var category: AircraftCategory?

        package init(cell: UInt32, altitude: AltitudeBand, category: AircraftCategory?) {
            self.cell = cell
            self.altitude = altitude
            self.category = category
        }

        /// Where a row is.
        package init(of row: ObservationRow) {
            self.init(cell: row.cell.dense, altitude: row.altitude, category: row.category)
        }
    }

    package var from: Instant
    package var to: Instant
    /// Whether the fetch would have had this row (area, altitudes, category).
    package var covers: @Sendable (ObservationRow) -> Bool
    /// All that the fetch has: the observation time at each place.
    package var standing: [Place: Instant]

    package init(
        from: Instant, to: Instant, covers: @escaping @Sendable (ObservationRow) -> Bool, standing: [Place: Instant]
    ) {
        self.from = from
        self.to = to
        self.covers = covers
        self.standing = standing
    }
}

/// Ends transient observations of the batch's source from an instant on: a superseding observation of that time takes
/// the place of each, so pictures of before stay as they were. What was observed no earlier is closed.
///
/// A place with a newer observation that lasts stays as it is. When the place is fetched again
/// (`Batch.fetchedPlaces`), the superseding observation is closed.
package struct TransientEnd: Sendable {
    package var at: Instant
    /// Whether nobody asks for a row any more.
    package var covers: @Sendable (ObservationRow) -> Bool

    package init(at instant: Instant, where covers: @escaping @Sendable (ObservationRow) -> Bool = { _ in true }) {
        at = instant
        self.covers = covers
    }
}

/// The areas that a part of a source's query asks for from now on, for one kind of data. Areas of the part that are
/// not among them are asked for no more.
package struct CoverageChange: Sendable, Hashable {
    package var kind: DataKind
    /// Which part of the query; each has its areas apart.
    package var part: String
    /// nil stands for the world; empty asks for nothing.
    package var rings: [AreaRing?]
    /// From when on the log is complete inside them.
    package var since: Instant
    /// Whether an area that was asked for until now is complete from before, without a gap.
    package var isContinued: Bool
    /// When the areas before were last fetched; nil where they never were.
    package var lastFetch: Instant?

    package init(
        kind: DataKind, part: String, rings: [AreaRing?], since: Instant, isContinued: Bool, lastFetch: Instant?
    ) {
        self.kind = kind
        self.part = part
        self.rings = rings
        self.since = since
        self.isContinued = isContinued
        self.lastFetch = lastFetch
    }
}

/// What a position is told apart by, and where a page of positions starts.
package struct PositionPlace: Sendable, Hashable {
    package var observedAt: Instant
    package var icao24: ICAO24
    package var source: SourceID

    package init(observedAt: Instant, icao24: ICAO24, source: SourceID) {
        self.observedAt = observedAt
        self.icao24 = icao24
        self.source = source
    }

    package init(_ position: AircraftPosition) {
        self.init(observedAt: position.observedAt, icao24: position.icao24, source: position.source)
    }
}

/// What a complete, validated fetch of a product says by leaving out: an area of the batch's source, collection and
/// kind that still holds at `at` and isn't in the batch has ended then, or ends when one of the batch takes its place.
/// Pictures from before keep it; one that had not begun never will.
package struct AreaReplacement: Sendable, Hashable {
    package var collection: IssuedArea.Collection
    /// nil for every kind.
    package var kind: String?
    package var at: Instant

    package init(collection: IssuedArea.Collection, kind: String?, at: Instant) {
        self.collection = collection
        self.kind = kind
        self.at = at
    }
}

/// What became of a batch.
package struct BatchResult: Sendable, Hashable {
    /// The head after it.
    package var version: Version
    /// Rows opened, corrections among them.
    package var accepted: Int
    /// Observations that stood there already.
    package var duplicates: Int
    /// Rows closed because the same id came with other content.
    package var corrected: Int
    /// Rows closed because a complete fetch no longer has them.
    package var retracted: Int
    /// Pilot reports that are new.
    package var pilotReports: Int
    /// Areas that are new, changed or ended.
    package var areas: Int
    /// Positions that are new.
    package var positions: Int

    /// Whether the version rose.
    package var changed: Bool { accepted + retracted + pilotReports + areas + positions > 0 }

    package init(
        version: Version, accepted: Int = 0, duplicates: Int = 0, corrected: Int = 0, retracted: Int = 0,
        pilotReports: Int = 0, areas: Int = 0, positions: Int = 0
    ) {
        self.version = version
        self.accepted = accepted
        self.duplicates = duplicates
        self.corrected = corrected
        self.retracted = retracted
        self.pilotReports = pilotReports
        self.areas = areas
        self.positions = positions
    }
}

/// All that changed after a version.
package struct Changes: Sendable {
    package var head: Head
    package var sources: [SourceRecord]
    package var extent: LogExtent
    /// Rows with since > version that still count.
    package var opened: [ObservationRow]
    /// Rows that counted at the version and have been closed after it.
    package var closed: [ObservationRow]
    package var openedReports: [PilotReport]
    package var closedReports: [PilotReport]
    package var openedAreas: [IssuedArea]
    package var closedAreas: [IssuedArea]
    package var positions: [AircraftPosition]

    package init(
        head: Head, sources: [SourceRecord], extent: LogExtent = LogExtent(), opened: [ObservationRow] = [],
        closed: [ObservationRow] = [], openedReports: [PilotReport] = [], closedReports: [PilotReport] = [],
        openedAreas: [IssuedArea] = [], closedAreas: [IssuedArea] = [], positions: [AircraftPosition] = []
    ) {
        self.head = head
        self.sources = sources
        self.extent = extent
        self.opened = opened
        self.closed = closed
        self.openedReports = openedReports
        self.closedReports = closedReports
        self.openedAreas = openedAreas
        self.closedAreas = closedAreas
        self.positions = positions
    }
}

/// Rows with the head at which they count.
package struct Rows: Sendable {
    package var head: Head
    package var sources: [SourceRecord]
    package var rows: [ObservationRow]

    package init(head: Head, sources: [SourceRecord], rows: [ObservationRow]) {
        self.head = head
        self.sources = sources
        self.rows = rows
    }
}

/// The parts of an observation that no picture needs.
package struct ObservationDetails: Sendable, Hashable {
    /// The id that it came with.
    package var id: String?
    package var aircraft: String?

    package init(id: String?, aircraft: String?) {
        self.id = id
        self.aircraft = aircraft
    }
}

/// What can go wrong with a store.
package enum StoreError: Error, Sendable, CustomStringConvertible {
    /// The file can't be opened or written, with the path and the system's reason.
    case unavailable(path: String, reason: String)
    /// The file is no database, or another program's.
    case foreign(path: String, reason: String)
    /// The file is a database, and damaged.
    case corrupt(path: String, reason: String)
    /// A file of the open database was removed or replaced: what is written to it would be lost.
    case replaced(path: String, isGone: Bool)
    /// No room is left on the disk.
    case full(path: String)
    /// More sources than a row can name (256), or than may come from outside of the settings.
    case tooManySources(SourceID)
    /// A reporter named more sources than it may.
    case tooManySourcesOfReporter(limit: Int, known: [SourceID])
    /// An observation names a source that was never registered.
    case unknownSource(SourceID)
    /// A source is simulated and another one real, or the other way round: they never share a file.
    case mixed(SourceID, simulated: Bool, with: SourceID)
    /// Rows from before this instant were deleted after the version that was asked for.
    case deleted(before: Instant)
    /// Disk full, locked for too long, or another failure of the database.
    case failed(String)

    package var description: String {
        switch self {
        case .unavailable(let path, let reason): "the database \(path) can't be used: \(reason)"
        case .foreign(let path, let reason): "the database \(path) can't be used: \(reason)"
        case .corrupt(let path, let reason): "the database \(path) is damaged: \(reason)"
        case .replaced(let path, let isGone):
            "the file \(path) of the open database was \(isGone ? "removed" : "replaced by another"): nothing more can be "
                + "stored in it; put it back, or start the server again"
        case .full(let path): "the database failed: the disk that holds \(path) is full"
        case .tooManySources(let source):
            "source \(source) is one too many: a database knows at most 256, \(SourceRecord.reserved) of them for sources "
                + "that the settings name"
        case .tooManySourcesOfReporter(let limit, let known):
            "a reporter may name at most \(limit) sources; this one has named "
                + (known.isEmpty ? "none" : known.map(\.name).joined(separator: ", "))
        case .unknownSource(let source): "source \(source) is not registered"
        case .mixed(let source, let simulated, let other):
            "source \(source) has \(simulated ? "simulated" : "real") data, and the database holds "
                + "\(simulated ? "real" : "simulated") data of source \(other): they must not be mixed, use another database"
        case .deleted(let before): "what was stored from before \(before) has been deleted"
        case .failed(let reason): "the database failed: \(reason)"
        }
    }
}
