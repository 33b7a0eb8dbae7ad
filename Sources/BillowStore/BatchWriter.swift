internal import BillowFields
internal import GRDB
internal import Geometry
internal import Turbulence

/// Writes one batch into the log, inside a transaction.
struct BatchWriter {
    let db: any SQLConnection
    let tags: ContentTags
    let importedBefore: Instant
    let isTransient: Bool
    /// Whether ids in Billow's own format are those of another server, which are stored like any other id.
    let hasForeignIDs: Bool
    let damage: DamageRegister
    let sources: [SourceID: SourceRecord]
    let names: SourceNames
    let sourcesOfChangedRule: Set<SourceID>
    /// The number of the reporter that sent the batch; 0 for fetched and imported data.
    let reporter: Int64
    let before: Int64
    /// The version of the batch's rows. No other writer can raise the head meanwhile, because the transaction holds the
    /// write lock from its start.
    let version: Int64
    var result: BatchResult
    /// The time steps with observed data that this batch changes, by kind.
    var changed: [ObservedTable: Set<TimeStep>] = [:]
    /// Where the search for a computed value resumes: no earlier key holds a current row for its place and time.
    var keysOfValues: [Subject: ObservationKey] = [:]
    /// The numbers of stored grids, by definition; nil until a batch needs one.
    var grids: [GridDefinition: Int64]?
    /// The grids of stored fields, cached as they are looked up.
    var gridsOfFields: [FieldIdentity: Int64] = [:]
    /// Whether rows were closed that the result does not count.
    var hasReopened = false

    let insertObservation: RawStatement
    let closeObservation: RawStatement
    let setAsideObservation: RawStatement
    let markImported: RawStatement
    let markLasting: RawStatement
    let observationByKey: RawStatement
    let openObservationsByID: RawStatement
    let insertPosition: RawStatement

    init(_ db: any SQLConnection, tags: ContentTags, _ batch: Batch, damage: DamageRegister) throws {
        self.db = db
        self.tags = tags
        importedBefore = batch.importedBefore
        isTransient = batch.isTransient
        hasForeignIDs = batch.mirror != nil
        self.damage = damage
        let reporter = try batch.reporter.map { key in
            try damage.recordingDamage(.reporter) { try Self.number(ofReporter: key, db) }
        }
        self.reporter = reporter ?? 0
        if let registration = batch.registration {
            try damage.recordingDamage(.reporterSource) { try Self.register(registration, reporter: reporter ?? 0, db) }
        }
        let records = try SourceRecord.all(db)
        sources = Dictionary(records.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        var changed = Set<Int64>()
        try RawStatement(db, Query.sources).forEachRow { columns in
            guard columns.integer(SourceColumn.ruleChanged) != 0 else { return }
            changed.insert(columns.integer(SourceColumn.number))
        }
        names = SourceNames(records)
        sourcesOfChangedRule = Set(records.filter { changed.contains(Int64($0.number.rawValue)) }.map(\.id))
        before = try Head(db).version.rawValue
        version = before + 1
        result = BatchResult(version: Version(rawValue: before))
        insertObservation = try RawStatement(db, Query.insertObservation)
        closeObservation = try RawStatement(db, Query.closeObservation)
        setAsideObservation = try RawStatement(db, Query.setAsideObservation)
        markImported = try RawStatement(db, Query.markObservationImported)
        markLasting = try RawStatement(db, Query.markObservationLasting)
        observationByKey = try RawStatement(db, Query.observationByKey)
        openObservationsByID = try RawStatement(db, Query.openObservationsByExternalID)
        insertPosition = try RawStatement(db, Query.insertPosition)
    }

    // MARK: Items

    /// The number of items between two readings of the clock.
    static let stride = 128

    /// Writes items from an index on, until the end or until the transaction has taken `longest`.
    /// - Returns: the index at which the next transaction starts.
    mutating func write(_ items: BatchItems, from first: Int, longest: Duration?) throws -> Int {
        let began = ContinuousClock.now
        let batch = items.batch
        for index in first..<items.count {
            if let longest, index > first, (index - first) % Self.stride == 0, ContinuousClock.now - began >= longest {
                return index
            }
            var index = index
            if index < items.observations.count {
                try upsert(batch.observations[items.observations[index]])
                continue
            }
            index -= items.observations.count
            if index < batch.pilotReports.count {
                try upsert(batch.pilotReports[index])
                continue
            }
            index -= batch.pilotReports.count
            if index < batch.areas.count {
                try upsert(batch.areas[index])
                continue
            }
            index -= batch.areas.count
            if index < batch.positions.count {
                try insert(batch.positions[index])
            } else if let source = batch.source {
                try insert(batch.fields[index - batch.positions.count], source: source)
            }
        }
        return items.count
    }

    /// Raises the head if any row changed.
    mutating func finish() throws -> BatchResult {
        guard result.changed || hasReopened else { return result }
        guard try Head.raise(db) == version else {
            throw StoreError.failed("the head moved under a transaction; nothing was written")
        }
        let note = try RawStatement(db, Query.noteChangedStep)
        for (kind, steps) in changed {
            // In key order of the table, so that consecutive steps share database pages.
            for step in steps.sorted() {
                try note.bind(Int64(kind.rawValue), Int64(step.number), version)
                try note.run()
            }
        }
        result.version = Version(rawValue: version)
        return result
    }
}
