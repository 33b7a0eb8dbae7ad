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
    private var changed: [ObservedTable: Set<TimeStep>] = [:]
    /// The last change that was noted. Items are written in the order of time, so the next one is often in its step.
    private var noted: (table: ObservedTable, step: TimeStep)?
    /// Where the search for a computed value resumes: no earlier key holds a current row for its place and time.
    var keysOfValues: [Subject: ObservationKey] = [:]
    /// The numbers of stored grids, by definition; nil until a batch needs one.
    var grids: [GridDefinition: Int64]?
    /// The grids of stored fields, cached as they are looked up.
    var gridsOfFields: [FieldIdentity: Int64] = [:]
    /// Whether rows were closed that the result does not count.
    var hasReopened = false

    /// Reads and writes observations and positions together, on a connection where that is faster; nil after `flush`.
    var buffer: ObservationBuffer?
    /// The arguments of `insertObservation` and `insertPosition` while there is a buffer.
    private let collector = ValueCollector(columns: ObservationColumn.allCases.count)
    private let positionCollector = ValueCollector(columns: PositionColumn.allCases.count)
    /// The number of the item that is being written.
    private var item = 0

    private(set) var insertObservation: RawStatement
    let closeObservation: RawStatement
    let setAsideObservation: RawStatement
    let markImported: RawStatement
    let markLasting: RawStatement
    let observationByKey: RawStatement
    let openObservationsByID: RawStatement
    private(set) var insertPosition: RawStatement

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
        let version = version
        buffer = (db as? any BulkConnection).map { ObservationBuffer($0, damage: damage, version: version) }
        insertObservation =
            buffer == nil ? try RawStatement(db, Query.insertObservation) : RawStatement(driver: collector)
        closeObservation = try RawStatement(db, Query.closeObservation)
        setAsideObservation = try RawStatement(db, Query.setAsideObservation)
        markImported = try RawStatement(db, Query.markObservationImported)
        markLasting = try RawStatement(db, Query.markObservationLasting)
        observationByKey = try RawStatement(db, Query.observationByKey)
        openObservationsByID = try RawStatement(db, Query.openObservationsByExternalID)
        insertPosition =
            buffer == nil ? try RawStatement(db, Query.insertPosition) : RawStatement(driver: positionCollector)
    }

    // MARK: Items

    /// The number of items between two readings of the clock.
    static let stride = 128

    /// Writes items from an index on, until the end or until the transaction has taken `longest`.
    /// - Returns: the index at which the next transaction starts.
    mutating func write(_ items: BatchItems, from first: Int, longest: Duration?) throws -> Int {
        let began = ContinuousClock.now
        let batch = items.batch
        defer { item = 0 }
        for index in first..<items.count {
            if let longest, index > first, (index - first) % Self.stride == 0, ContinuousClock.now - began >= longest {
                try flush()
                return index
            }
            if (index - first) % Self.readAhead == 0 { try readAhead(items, from: index) }
            item = index
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
        try flush()
        return items.count
    }

    // MARK: The buffer

    /// The number of observations whose rows are read together.
    private static let readAhead = 4_096

    /// Reads the rows that the next observations may meet.
    private func readAhead(_ items: BatchItems, from first: Int) throws {
        guard let buffer else { return }
        var keys: [ObservationKey] = []
        var ids: [String] = []
        for index in first..<max(first, min(first + Self.readAhead, items.observations.count)) {
            let observation = items.batch.observations[items.observations[index]]
            guard let source = sources[observation.source] else { continue }
            if let id = observation.id {
                ids.append(id)
                keys.append(key(of: observation, number: index))
                if hasForeignIDs { continue }
                guard let exported = ObservationKey(id: id) else { continue }
                keys.append(exported)
            }
            keys.append(key(of: observation, source.merge))
            if sourcesOfChangedRule.contains(source.id) {
                keys.append(key(of: observation, source.merge == .keep ? .replace : .keep))
            }
        }
        try buffer.read(keys, ids: ids)
    }

    /// The first candidate key of an observation that is found by its id.
    private func key(of observation: Observation, number: Int) -> ObservationKey {
        ObservationKey(
            observedAt: observation.observedAt, tag: tags(.row(version: version, number: number)))
    }

    /// The same for the observation that is being written.
    func keyOfItem(_ observation: Observation) -> ObservationKey { key(of: observation, number: item) }

    /// The arguments of `insertObservation`, and of `insertPosition`.
    var collected: [SQLValue] { collector.values }
    var collectedPosition: [SQLValue] {
        // Without a driver SQL would compute the checksum.
        var values = positionCollector.values
        values[Int(PositionColumn.sum.rawValue)] = .integer(0)
        return values
    }

    /// Writes what the buffer holds. What follows is written row by row.
    private mutating func flush() throws {
        guard let buffer else { return }
        for seconds in try buffer.flush() {
            result.positions += 1
            note(.positions, Instant(clamping: Int(seconds)))
        }
        self.buffer = nil
        insertObservation = try RawStatement(db, Query.insertObservation)
        insertPosition = try RawStatement(db, Query.insertPosition)
    }

    /// Adds the time step of `observedAt` to the changed steps of a table.
    mutating func note(_ table: ObservedTable, _ observedAt: Instant) {
        let step = TimeStep(observedAt)
        if let noted, noted == (table, step) { return }
        noted = (table, step)
        changed[table, default: []].insert(step)
    }

    /// Raises the head if any row changed.
    mutating func finish() throws -> BatchResult {
        guard result.changed || hasReopened else { return result }
        guard try Head.raise(db) == version else {
            throw StoreError.failed("the head moved under a transaction; nothing was written")
        }
        let noteStep = try RawStatement(db, Query.noteChangedStep)
        for (kind, steps) in changed {
            // In key order of the table, so that consecutive steps share database pages.
            for step in steps.sorted() {
                try noteStep.bind(Int64(kind.rawValue), Int64(step.number), version)
                try noteStep.run()
            }
        }
        result.version = Version(rawValue: version)
        return result
    }
}
