package import BillowFields
package import Geometry
package import Turbulence

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
    /// Levels of fields of the batch's source. The same level again changes nothing, whatever it holds.
    package var fields: [FieldLevelDraft]
    /// Closes what a complete fetch no longer has.
    package var retraction: Retraction?
    /// Ends transient observations that are requested no more.
    package var transientEnd: TransientEnd?
    /// What a fetch has: the newest time at each place. Observations there that a `TransientEnd` ended count again.
    package var fetchedPlaces: [Retraction.ValuePlace: Instant]
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
    /// From when on the log is complete for the source; nil leaves that as it is.
    package var completeSince: Instant?
    /// Rows that were observed, or ended, before this instant are imports: retention spares them, whichever source they
    /// are of. Equal rows that are stored already become imports, and so do later corrections.
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
        fields: [FieldLevelDraft] = [], retraction: Retraction? = nil, transientEnd: TransientEnd? = nil,
        fetchedPlaces: [Retraction.ValuePlace: Instant] = [:], coverage: [CoverageChange] = [],
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
        self.fields = fields
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
    /// The source of observations that name none, which doesn't count among them.
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

/// Open rows of the batch's source that a complete, validated fetch of computed values left out, so that they count no
/// more. Such a row was observed at `from` ≤ t ≤ `to`, and `covers` takes it. It is newer than `standing` has for its
/// place, or has no place there.
package struct Retraction: Sendable {
    /// Where and how high, for which category.
    package struct ValuePlace: Sendable, Hashable {
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
    package var standing: [ValuePlace: Instant]

    package init(
        from: Instant, to: Instant, covers: @escaping @Sendable (ObservationRow) -> Bool,
        standing: [ValuePlace: Instant]
    ) {
        self.from = from
        self.to = to
        self.covers = covers
        self.standing = standing
    }
}

/// Ends transient observations of the batch's source from an instant on. An observation of that time supersedes each,
/// so earlier pictures stay as they were. What was observed no earlier is closed.
///
/// A place with a newer observation that lasts stays as it is. When the place is fetched again
/// (`Batch.fetchedPlaces`), the superseding observation is closed.
package struct TransientEnd: Sendable {
    package var at: Instant
    /// Whether a row is requested no more.
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
    /// From when on the log is complete inside them, by what was fetched last.
    package var since: Instant
    /// The moment of the change. Whatever was noted of a later time, a clock that was ahead noted.
    package var at: Instant
    /// Whether an area that was asked for until now is complete from before, without a gap.
    package var isContinued: Bool
    /// When the areas before were last fetched; nil where they never were.
    package var lastFetch: Instant?

    package init(
        kind: DataKind, part: String, rings: [AreaRing?], since: Instant, at instant: Instant, isContinued: Bool,
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

/// Areas that a complete, validated fetch of a product left out. This is an area of the batch's source, collection and
/// kind that still holds at `at` and isn't in the batch. It has ended then, or ends when one of the batch takes its
/// place. Pictures from before keep it; one that had not begun never will.
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
    /// Levels of fields that are new.
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
