package import BillowFields
package import Geometry
package import Turbulence

/// The content of one commit. All of it belongs to sources that are registered before or by `registration`.
package struct Batch: Sendable {
    /// The source on whose behalf the batch is written; nil for an import of several sources.
    package var source: SourceID?
    package var observations: [Observation]
    package var pilotReports: [PilotReport]
    /// Areas as they were issued. An equal area changes nothing, one with other content corrects the stored one.
    package var areas: [IssuedArea]
    /// The ends of areas that complete fetches no longer contain.
    package var areaReplacements: [AreaReplacement]
    package var positions: [AircraftPosition]
    /// Levels of fields of the batch's source. A stored level is never changed.
    package var fields: [FieldLevelDraft]
    /// Closes rows that a complete fetch no longer contains.
    package var retraction: Retraction?
    /// Ends transient observations that are no longer requested.
    package var transientEnd: TransientEnd?
    /// What the batch means to the copy of another server's data; nil for other data.
    package var mirror: MirrorChange?
    /// The newest time of a fetch at each place. Observations there that a `TransientEnd` ended become current again.
    package var fetchedPlaces: [Retraction.ValueKey: Instant]
    /// The areas that the source is queried for from now on.
    package var coverage: [CoverageChange]
    /// New cursors by piece; nil as a value removes one.
    package var cursors: [String: String?]
    /// New key-value pairs of the source; nil as a value removes a pair.
    package var values: [String: String?]
    /// The time of a successful fetch of everything requested, set on its last batch.
    package var fetchedAt: Instant?
    /// The fetch times of kinds of data, if they are fetched separately.
    package var fetchedKinds: [FeedKind: Instant]
    /// The time from which the log is complete for the source; nil leaves it unchanged.
    package var completeSince: Instant?
    /// Rows that were observed, or ended, before this instant are imports, which retention does not delete, whatever
    /// their source. Equal stored rows become imports too, and so do later corrections.
    package var importedBefore: Instant
    /// Whether the observations are transient: a `TransientEnd` ends them. An observation that another batch brings
    /// without this mark is permanent, in whatever order the two arrive.
    package var isTransient: Bool
    /// The id of the access key that sent the observations; nil for fetched or imported ones. Only the same key
    /// corrects them later.
    package var reporter: String?
    /// Sources to register in the batch's first transaction.
    package var registration: SourceRegistration?

    package init(
        source: SourceID?, observations: [Observation] = [], pilotReports: [PilotReport] = [],
        areas: [IssuedArea] = [], areaReplacements: [AreaReplacement] = [], positions: [AircraftPosition] = [],
        fields: [FieldLevelDraft] = [], retraction: Retraction? = nil, transientEnd: TransientEnd? = nil,
        mirror: MirrorChange? = nil, fetchedPlaces: [Retraction.ValueKey: Instant] = [:],
        coverage: [CoverageChange] = [],
        cursors: [String: String?] = [:], values: [String: String?] = [:], fetchedAt: Instant? = nil,
        fetchedKinds: [FeedKind: Instant] = [:], completeSince: Instant? = nil,
        importedBefore: Instant = .distantPast, isTransient: Bool = false, reporter: String? = nil,
        registration: SourceRegistration? = nil
    ) {
        self.source = source
        self.observations = observations
        self.pilotReports = pilotReports
        self.areas = areas
        self.areaReplacements = areaReplacements
        self.positions = positions
        self.fields = fields
        self.retraction = retraction
        self.transientEnd = transientEnd
        self.mirror = mirror
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

/// Sources that a batch may name for the first time. They are registered with the batch's rows, or not at all. A known
/// source keeps its merge rule.
package struct SourceRegistration: Sendable, Hashable {
    package var sources: Set<SourceID>
    /// Whether their data is simulated; nil uses the value of the known sources.
    package var simulated: Bool?
    /// The value if no known source has one.
    package var simulatedByDefault: Bool?
    /// The most sources that the batch's reporter may name over all batches; nil for no limit.
    package var sourcesPerReporter: Int?
    /// The source of observations that name none. It does not count toward the limit.
    package var unnamed: SourceID?

    package init(
        _ sources: Set<SourceID>, simulated: Bool? = nil, simulatedByDefault: Bool? = nil,
        sourcesPerReporter: Int? = nil, unnamed: SourceID? = nil
    ) {
        self.sources = sources
        self.simulated = simulated
        self.simulatedByDefault = simulatedByDefault
        self.sourcesPerReporter = sourcesPerReporter
        self.unnamed = unnamed
    }
}

/// Open rows of the batch's source that a complete, validated fetch of computed values no longer contains. They are
/// closed. Such a row was observed at `from` ≤ t ≤ `to` and matches `covers`. It is newer than the time of its place in
/// `standing`, or its place is not in `standing`.
package struct Retraction: Sendable {
    /// A place, an altitude band and an aircraft category.
    package struct ValueKey: Sendable, Hashable {
        package var cell: UInt32
        package var altitude: AltitudeBand
        package var category: AircraftCategory?

        package init(cell: UInt32, altitude: AltitudeBand, category: AircraftCategory?) {
            self.cell = cell
            self.altitude = altitude
            self.category = category
        }

        /// The place of a row.
        package init(of row: ObservationRow) {
            self.init(cell: row.cell.dense, altitude: row.altitude, category: row.category)
        }
    }

    package var from: Instant
    package var to: Instant
    /// Whether the fetch would have contained this row (area, altitudes, category).
    package var covers: @Sendable (ObservationRow) -> Bool
    /// The content of the fetch: the observation time at each place.
    package var standing: [ValueKey: Instant]

    package init(
        from: Instant, to: Instant, covers: @escaping @Sendable (ObservationRow) -> Bool,
        standing: [ValueKey: Instant]
    ) {
        self.from = from
        self.to = to
        self.covers = covers
        self.standing = standing
    }
}

/// Ends transient observations of the batch's source from an instant on. An observation of that time supersedes each,
/// so earlier frames stay unchanged. Rows that were observed at that time or later are closed.
///
/// A place with a newer permanent observation stays unchanged. When the place is fetched again (`Batch.fetchedPlaces`),
/// the superseding observation is closed.
package struct TransientEnd: Sendable {
    package var at: Instant
    /// Whether a row is no longer requested.
    package var covers: @Sendable (ObservationRow) -> Bool

    package init(at instant: Instant, where covers: @escaping @Sendable (ObservationRow) -> Bool = { _ in true }) {
        at = instant
        self.covers = covers
    }
}

/// The areas that a part of a source's query requests from now on, for one kind of data. Other areas of the part are no
/// longer requested.
package struct CoverageChange: Sendable, Hashable {
    package var kind: FeedKind
    /// The part of the query. Each part has its own areas.
    package var part: String
    /// nil stands for the world. An empty list requests nothing.
    package var rings: [AreaRing?]
    /// The time from which the log is complete inside the areas, by the last fetch.
    package var since: Instant
    /// The time of the change. Records of later times come from a clock that was ahead.
    package var at: Instant
    /// Whether an area that was already requested stays complete from its earlier start.
    package var isContinued: Bool
    /// The time of the last fetch of the earlier areas; nil if they were never fetched.
    package var lastFetch: Instant?

    package init(
        kind: FeedKind, part: String, rings: [AreaRing?], since: Instant, at instant: Instant, isContinued: Bool,
        lastFetch: Instant?
    ) {
        self.kind = kind
        self.part = part
        self.rings = rings
        self.since = since
        at = instant
        self.isContinued = isContinued
        self.lastFetch = lastFetch
    }
}

/// Areas that a complete, validated fetch of a product no longer contains: areas of the batch's source, collection and
/// kind that are valid at `at` and not in the batch. Such an area ends at that time, or when an area of the batch
/// replaces it. Earlier frames keep it, and an area that had not begun is never shown.
package struct AreaReplacement: Sendable, Hashable {
    package var collection: IssuedArea.DatasetNumber
    /// nil for every kind.
    package var kind: String?
    package var at: Instant

    package init(collection: IssuedArea.DatasetNumber, kind: String?, at: Instant) {
        self.collection = collection
        self.kind = kind
        self.at = at
    }
}

/// The result of a batch.
package struct BatchResult: Sendable, Hashable {
    /// The head after the commit.
    package var version: Version
    /// The number of opened rows, including corrections.
    package var accepted: Int
    /// The number of observations that were already stored.
    package var duplicates: Int
    /// The number of rows that were closed because the same id had other content.
    package var corrected: Int
    /// The number of rows that were closed because a complete fetch no longer contains them.
    package var retracted: Int
    /// The number of new pilot reports.
    package var pilotReports: Int
    /// The number of new, changed or ended areas.
    package var areas: Int
    /// The number of new positions.
    package var positions: Int
    /// The number of new levels of fields.
    package var fieldLevels: Int

    /// Whether the version rose.
    package var changed: Bool { accepted + retracted + pilotReports + areas + positions + fieldLevels > 0 }

    package init(
        version: Version, accepted: Int = 0, duplicates: Int = 0, corrected: Int = 0, retracted: Int = 0,
        pilotReports: Int = 0, areas: Int = 0, positions: Int = 0, fieldLevels: Int = 0
    ) {
        self.version = version
        self.accepted = accepted
        self.duplicates = duplicates
        self.corrected = corrected
        self.retracted = retracted
        self.pilotReports = pilotReports
        self.areas = areas
        self.positions = positions
        self.fieldLevels = fieldLevels
    }
}
