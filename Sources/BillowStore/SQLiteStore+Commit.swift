internal import GRDB
internal import Geometry
package import Turbulence

extension SQLiteStore {
    /// Giving a known source another rule changes every picture of it, so that raises the version; so does settling
    /// whether known sources are made up.
    /// - Throws: `mixed` where a source of the other nature is known.
    package func register(
        _ source: SourceID, merge: MergeRule, simulated: Bool?
    ) async throws(StoreError) -> SourceRecord {
        try await writing { db in try Self.register(source, merge: merge, simulated: simulated, db) }
    }

    fileprivate static func register(
        _ source: SourceID, merge: MergeRule, simulated: Bool?, _ db: Database
    ) throws -> SourceRecord {
        let known = try SourceRecord.all(db)
        if let simulated {
            if let other = known.first(where: { $0.simulated == !simulated }) {
                throw StoreError.mixed(source, simulated: simulated, with: other.id)
            }
            if known.contains(where: { $0.simulated == nil }) {
                let settle = try RawStatement(db, Query.settleSources)
                settle.bind(simulated ? 1 : 0 as Int64, at: 1)
                try settle.run()
                try noteRules(db)
            }
        }
        let simulated = simulated ?? known.first?.simulated
        if var record = known.first(where: { $0.id == source }) {
            record.simulated = simulated
            guard record.merge != merge else { return record }
            record.merge = merge
            let statement = try RawStatement(db, Query.updateSource)
            statement.bind(Int64(merge.rawValue), at: 1)
            statement.bind(Int64(record.number.rawValue), at: 2)
            try statement.run()
            try noteRules(db)
            return record
        }
        // Numbers are never taken back, so they are dense.
        guard let number = UInt8(exactly: known.count) else { throw StoreError.tooManySources(source) }
        let statement = try RawStatement(db, Query.insertSource)
        statement.bind(Int64(number), SourceColumn.number)
        try statement.bind(source.name, SourceColumn.name)
        statement.bind(Int64(merge.rawValue), SourceColumn.mergeRule)
        statement.bind(simulated.map { $0 ? 1 : 0 as Int64 }, SourceColumn.simulated)
        statement.bind(false, SourceColumn.ruleChanged)
        try statement.run()
        return SourceRecord(
            number: SourceNumber(rawValue: number), id: source, merge: merge, simulated: simulated, fetchedAt: nil,
            completeSince: nil)
    }

    /// Makes every picture another version of itself.
    private static func noteRules(_ db: Database) throws {
        _ = try Head.raise(db)
        try RawStatement(db, Query.noteRules).run()
    }

    /// Observations without id are taken in the order of their times, then those with one in the order given, then the
    /// pilot reports, areas and positions, then the retraction and the replacements. Batches that follow the time
    /// write the least.
    /// - Throws: `unknownSource`, `tooManySources`, `tooManySourcesOfReporter`; `failed` also for cursors, values, a
    ///   retraction or a fetch time without the batch's source.
    /// - Complexity: O(n log n) in the batch; what else is stored at the same place and time doesn't count.
    package func commit(_ batch: Batch) async throws(StoreError) -> BatchResult {
        guard
            batch.source != nil
                || batch.retraction == nil && batch.transientEnd == nil && batch.fetchedPlaces.isEmpty
                    && batch.coverage.isEmpty && batch.areaReplacements.isEmpty && batch.cursors.isEmpty
                    && batch.values.isEmpty && batch.fetchedAt == nil && batch.fetchedKinds.isEmpty
                    && batch.completeSince == nil
        else {
            throw .failed(
                "a retraction, a replacement, cursors, values or a fetch time came without the source that they are of")
        }
        let items = BatchItems(batch)
        let gone = try await gone(by: batch)
        let lasting = try await lasting(beside: batch)
        let tags = tags
        let longest = batch.source == nil ? longestTransaction : nil
        var next = 0
        var total: BatchResult?
        repeat {
            let part = try await writing { [next, register] db in
                var writer = try BatchWriter(db, tags: tags, batch, damage: register)
                let end = try writer.take(items, from: next, longest: longest)
                if end == items.count, let source = batch.source {
                    let number = try writer.number(of: source)
                    try writer.resume(batch.fetchedPlaces, source: number)
                    if let retraction = batch.retraction { try writer.retract(retraction, source: number, found: gone) }
                    if let end = batch.transientEnd { try writer.end(end, of: source, number, lasting: lasting) }
                    for replacement in batch.areaReplacements {
                        try writer.end(replacement, source: number, but: batch.areas)
                    }
                    try writer.keepState(of: batch, source: number)
                }
                return (result: try writer.finish(), end: end)
            }
            total = total.map { $0.adding(part.result) } ?? part.result
            next = part.end
        } while next < items.count
        return total ?? BatchResult(version: .zero)
    }
}

/// What a batch holds, in the order in which it is written.
private struct BatchItems: Sendable {
    let batch: Batch
    /// Observations by their place in the batch.
    let observations: [Int]

    /// Sorted before the transaction, so that no other writer waits for it. Rows of one time share their pages.
    init(_ batch: Batch) {
        self.batch = batch
        let all = batch.observations
        let unnamed = all.indices.filter { all[$0].id == nil }
        observations =
            unnamed.sorted { (all[$0].observedAt, $0) < (all[$1].observedAt, $1) }
            + all.indices.filter { all[$0].id != nil }
    }

    var count: Int {
        observations.count + batch.pilotReports.count + batch.areas.count + batch.positions.count
    }
}

extension BatchResult {
    /// The result of two transactions, one after the other.
    fileprivate func adding(_ later: BatchResult) -> BatchResult {
        BatchResult(
            version: later.version, accepted: accepted + later.accepted, duplicates: duplicates + later.duplicates,
            corrected: corrected + later.corrected, retracted: retracted + later.retracted,
            pilotReports: pilotReports + later.pilotReports, areas: areas + later.areas,
            positions: positions + later.positions)
    }
}

extension SQLiteStore {
    /// The rows that a batch's retraction closes among those up to a version. A window of hours holds a million rows:
    /// they are looked through before the transaction, so that no other writer waits for it; it looks only at what came
    /// since.
    private func gone(by batch: Batch) async throws(StoreError) -> (upTo: Version, keys: [ObservationKey]) {
        guard let retraction = batch.retraction, let source = batch.source else {
            return (.zero, [])
        }
        return try await reading { [register] db in
            guard let number = try SourceRecord.all(db).first(where: { $0.id == source })?.number else {
                throw StoreError.unknownSource(source)
            }
            let statement = try RawStatement(db, Query.openOfSource)
            statement.bind(ObservationKey.first(of: retraction.from).rawValue, at: 1)
            statement.bind(ObservationKey.first(of: retraction.to).rawValue + 1 << ObservationKey.tagBits, at: 2)
            statement.bind(Int64(number.rawValue), at: 3)
            var keys: [ObservationKey] = []
            try statement.forEachReadable(register, ObservationRow.init) { row in
                if retraction.closes(row) { keys.append(row.key) }
            }
            return (try Head(db).version, keys)
        }
    }

    /// Where transient rows are to end, the newest row that lasts. Looked for before the transaction, as what a
    /// retraction closes is: rows have no index by place.
    private func lasting(beside batch: Batch) async throws(StoreError) -> [Retraction.Place: Instant] {
        guard let end = batch.transientEnd, let source = batch.source else { return [:] }
        return try await reading { [register] db in
            guard let number = try SourceRecord.all(db).first(where: { $0.id == source })?.number else {
                throw StoreError.unknownSource(source)
            }
            let transient = try TransientRows(db, end, source: number, damage: register)
            guard let oldest = transient.ending.values.map(\.observedAt).min() else { return [:] }
            let statement = try RawStatement(db, Query.openOfSource)
            statement.bind(ObservationKey.first(of: oldest).rawValue, at: 1)
            statement.bind(ObservationKey.first(of: end.at).rawValue + 1 << ObservationKey.tagBits, at: 2)
            statement.bind(Int64(number.rawValue), at: 3)
            var lasting: [Retraction.Place: Instant] = [:]
            try statement.forEachReadable(register, ObservationRow.init) { row in
                let place = Retraction.Place(of: row)
                guard transient.ending[place] != nil, !transient.keys.contains(row.key) else { return }
                lasting[place] = max(lasting[place] ?? row.observedAt, row.observedAt)
            }
            return lasting
        }
    }
}

/// The transient rows that a picture at an instant could show.
private struct TransientRows {
    /// All of them.
    var keys: Set<ObservationKey> = []
    /// By place, the newest where that is one to be ended: observed before then, and not ended already.
    var ending: [Retraction.Place: ObservationRow] = [:]
    /// To be ended, and observed no earlier.
    var later: [ObservationKey] = []

    init(_ db: Database, _ end: TransientEnd, source: SourceNumber, damage: DamageRegister) throws {
        let statement = try RawStatement(db, Query.openTransient)
        statement.bind(Int64(source.rawValue), at: 1)
        let oldest = end.at.advanced(by: -History.sixHours.seconds)
        statement.bind(ObservationKey.first(of: oldest).rawValue, at: 2)
        var newest: [Retraction.Place: ObservationRow] = [:]
        try statement.forEachReadable(damage, ObservationRow.init) { row in
            keys.insert(row.key)
            if row.observedAt >= end.at {
                if row.kind.isShown, end.covers(row) { later.append(row.key) }
                return
            }
            let place = Retraction.Place(of: row)
            if newest[place].map({ $0.observedAt < row.observedAt }) ?? true { newest[place] = row }
        }
        ending = newest.filter { $0.value.kind.isShown && end.covers($0.value) }
    }
}

extension Retraction {
    /// Whether an open row of its source and window is gone.
    fileprivate func closes(_ row: ObservationRow) -> Bool {
        if let standing = standing[Place(of: row)], row.observedAt <= standing { return false }
        return covers(row)
    }
}

/// One batch on its way into the log, inside its transaction.
private struct BatchWriter {
    private let db: Database
    private let tags: ContentTags
    private let importedBefore: Instant
    private let isTransient: Bool
    private let damage: DamageRegister
    private let sources: [SourceID: SourceRecord]
    private let names: SourceNames
    private let sourcesOfChangedRule: Set<SourceID>
    /// The number of the reporter that sent the batch; 0 for what was fetched or imported.
    private let reporter: Int64
    private let before: Int64
    /// The version that the batch's rows carry. No other writer can raise the head meanwhile: the transaction holds the
    /// write lock from its start.
    private let version: Int64
    private var result: BatchResult
    /// By kind, the steps of time in which something was observed that this batch changes.
    private var changed: [ObservedKind: Set<TimeStep>] = [:]
    /// Where the search for a computed value goes on: no row before that key counts for its place and time.
    private var values: [Subject: ObservationKey] = [:]
    /// Whether rows were closed that the result doesn't count.
    private var hasResumed = false

    private let insert: RawStatement
    private let close: RawStatement
    private let setAside: RawStatement
    private let keep: RawStatement
    private let last: RawStatement
    private let byKey: RawStatement
    private let byID: RawStatement
    private let insertPosition: RawStatement

    init(_ db: Database, tags: ContentTags, _ batch: Batch, damage: DamageRegister) throws {
        self.db = db
        self.tags = tags
        importedBefore = batch.importedBefore
        isTransient = batch.isTransient
        self.damage = damage
        reporter = try batch.reporter.map { try Self.number(ofReporter: $0, db) } ?? 0
        if let registration = batch.registration { try Self.register(registration, reporter: reporter, db) }
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
        insert = try RawStatement(db, Query.insertObservation)
        close = try RawStatement(db, Query.closeObservation)
        setAside = try RawStatement(db, Query.setAsideObservation)
        keep = try RawStatement(db, Query.keepObservation)
        last = try RawStatement(db, Query.lastObservation)
        byKey = try RawStatement(db, Query.observationByKey)
        byID = try RawStatement(db, Query.openObservationsByExternalID)
        insertPosition = try RawStatement(db, Query.insertPosition)
    }

    // MARK: Reporters and sources

    private static func number(ofReporter key: String, _ db: Database) throws -> Int64 {
        let known = try RawStatement(db, Query.reporter)
        try known.bind(key, at: 1)
        if let number = try known.first({ $0.integer(0) }) { return number }
        let insert = try RawStatement(db, Query.insertReporter)
        try insert.bind(key, at: 1)
        guard let number = try insert.first({ $0.integer(0) }) else {
            throw StoreError.failed("the reporter has no number")
        }
        return number
    }

    private static func register(_ registration: SourceRegistration, reporter: Int64, _ db: Database) throws {
        var known = try SourceRecord.all(db)
        let new = try newSources(of: registration, reporter: reporter, known)
        let simulated = registration.simulated ?? known.first?.simulated ?? registration.simulatedByDefault
        for source in registration.sources.sorted() {
            let record = known.first { $0.id == source }
            // A source that is known but not settled takes the nature that is stated now.
            if let record, record.simulated != nil || simulated == nil { continue }
            guard record != nil || known.count < SourceRecord.most - SourceRecord.reserved else {
                throw StoreError.tooManySources(source)
            }
            let registered = try SQLiteStore.register(
                source, merge: record?.merge ?? .keep, simulated: simulated, db)
            if record == nil { known.append(registered) }
        }
        let note = try RawStatement(db, Query.insertReporterSource)
        for record in known where new.contains(record.id) {
            note.bind(reporter, at: 1)
            note.bind(Int64(record.number.rawValue), at: 2)
            try note.run()
        }

        /// The sources that the reporter has not named before.
        func newSources(
            of registration: SourceRegistration, reporter: Int64, _ known: [SourceRecord]
        ) throws -> Set<SourceID> {
            guard reporter > 0 else { return [] }
            let named = try RawStatement(db, Query.reporterSources)
            named.bind(reporter, at: 1)
            var numbers = Set<Int64>()
            try named.forEachRow { numbers.insert($0.integer(0)) }
            let before = known.filter { numbers.contains(Int64($0.number.rawValue)) }.map(\.id)
            let new = registration.sources.subtracting(before)
            if let most = registration.sourcesPerReporter, !new.isEmpty, before.count + new.count > most {
                throw StoreError.tooManySourcesOfReporter(limit: most, known: before)
            }
            return new
        }
    }

    private func record(of source: SourceID) throws -> SourceRecord {
        guard let record = sources[source] else { throw StoreError.unknownSource(source) }
        return record
    }

    func number(of source: SourceID) throws -> SourceNumber {
        try record(of: source).number
    }

    // MARK: Items

    /// So many items are written between two looks at the clock.
    private static let stride = 128

    /// Writes items from one place on, until the end or until the transaction has taken `longest`.
    /// - Returns: where the next transaction goes on.
    mutating func take(_ items: BatchItems, from first: Int, longest: Duration?) throws -> Int {
        let began = ContinuousClock.now
        let batch = items.batch
        for index in first..<items.count {
            if let longest, index > first, (index - first) % Self.stride == 0, ContinuousClock.now - began >= longest {
                return index
            }
            var index = index
            if index < items.observations.count {
                try take(batch.observations[items.observations[index]])
                continue
            }
            index -= items.observations.count
            if index < batch.pilotReports.count {
                try take(batch.pilotReports[index])
                continue
            }
            index -= batch.pilotReports.count
            if index < batch.areas.count {
                try take(batch.areas[index])
            } else {
                try take(batch.positions[index - batch.areas.count])
            }
        }
        return items.count
    }

    /// Raises the head where a row changed.
    mutating func finish() throws -> BatchResult {
        guard result.changed || hasResumed else { return result }
        guard try Head.raise(db) == version else {
            throw StoreError.failed("the head moved under a transaction; nothing was written")
        }
        let note = try RawStatement(db, Query.noteChangedStep)
        for (kind, steps) in changed {
            // In the order of the table, so that steps that follow each other share their pages.
            for step in steps.sorted() {
                note.bind(Int64(kind.rawValue), at: 1)
                note.bind(Int64(step.number), at: 2)
                note.bind(version, at: 3)
                try note.run()
            }
        }
        result.version = Version(rawValue: version)
        return result
    }

    // MARK: Observations

    /// What an observation without id is told apart by: an independent report by all of this, a computed value by its
    /// place and time (the intensity is nil).
    private struct Subject: Hashable {
        var source: SourceNumber
        var cell: Cell
        var altitude: AltitudeBand
        var category: AircraftCategory?
        var observedAt: Instant
        var intensity: Intensity?

        init(_ observation: Observation, _ source: SourceRecord) {
            self.source = source.number
            cell = observation.cell
            altitude = observation.altitude
            category = observation.category
            observedAt = observation.observedAt
            intensity = source.merge == .replace ? nil : observation.intensity
        }

        init(_ row: ObservationRow, _ merge: MergeRule) {
            source = row.source
            cell = row.cell
            altitude = row.altitude
            category = row.category
            observedAt = row.observedAt
            intensity = merge == .replace ? nil : row.intensity
        }
    }

    private mutating func take(_ observation: Observation) throws {
        if let id = observation.id { try take(observation, id: id) } else { try takeUnnamed(observation) }
    }

    /// The first key of an observation by its content.
    private func key(of observation: Observation, _ merge: MergeRule) -> ObservationKey {
        ObservationKey(
            observedAt: observation.observedAt,
            tag: tags(merge == .replace ? .value(observation) : .report(observation)))
    }

    /// Whether a row is what an observation without id is taken for: it counts, has no public id of its own, and
    /// belongs to nobody else. What was fetched or imported may be found to be any reporter's.
    private func isCandidate(_ found: StoredObservation, _ subject: Subject, _ merge: MergeRule) -> Bool {
        found.row.until == nil && found.details.id == nil && Subject(found.row, merge) == subject
            && (reporter == 0 || found.reporter == 0 || found.reporter == reporter)
    }

    /// An observation whose content is its identity: a row that counts at one of its keys, before the first free one,
    /// is the same observation. A source of computed values has one value for a place and second: another is a
    /// correction, but for the same value without its EDR (not every call of an upstream gives one).
    /// - Parameter isEnd: whether it ends transient rows; those are transient themselves, and not shown.
    private mutating func takeUnnamed(_ observation: Observation, isEnd: Bool = false) throws {
        let source = try record(of: observation.source)
        let subject = Subject(observation, source)
        let isComputed = source.merge == .replace
        // What shows nothing needn't end.
        var origin = Origin(
            isImported: observation.observedAt < importedBefore,
            isTransient: isEnd || isTransient && observation.kind.isShown)
        func isKnown(by found: StoredObservation) -> Bool {
            // An observation that the query left out is shown once it is asked for; one that was shown stays shown.
            (!isComputed || found.row.says(observation.intensity))
                && (found.row.kind.isShown || !observation.kind.isShown)
        }
        if let found = try elsewhere(observation, subject, source) {
            if isKnown(by: found) { return try leave(found) }
            origin.inherit(try correct(found))
        }
        var key = (isComputed ? values[subject] : nil) ?? key(of: observation, source.merge)
        while try !open(observation, at: key, source: source.number, id: nil, origin: origin, reporter: reporter) {
            if let found = try row(at: key), isCandidate(found, subject, source.merge) {
                if isKnown(by: found) {
                    if isComputed { values[subject] = key }
                    return try leave(found)
                }
                origin.inherit(try correct(found))
            }
            key = key.next
        }
        if isComputed { values[subject] = key }
    }

    /// A row that an observation without id is taken for, at the keys of the source's former merge rule.
    private mutating func elsewhere(
        _ observation: Observation, _ subject: Subject, _ source: SourceRecord
    ) throws -> StoredObservation? {
        guard sourcesOfChangedRule.contains(source.id) else { return nil }
        var key = key(of: observation, source.merge == .keep ? .replace : .keep)
        while let found = try row(at: key) {
            if isCandidate(found, subject, source.merge) { return found }
            key = key.next
        }
        return nil
    }

    /// An observation that came with an id: the row of its source and reporter that counts with this id is the same
    /// observation, and is corrected where it says something else. What is fetched or imported corrects any
    /// reporter's. An id of our own making comes from an export: then the content decides.
    private mutating func take(_ observation: Observation, id: String) throws {
        let source = try record(of: observation.source)
        var origin = Origin(isImported: observation.observedAt < importedBefore, isTransient: isTransient)
        var owner = reporter
        let named = try rows(id: id)
        let ofSource = named.filter { $0.row.source == source.number }
        if let same = ofSource.first(where: {
            (reporter == 0 || $0.reporter == 0 || $0.reporter == reporter) && $0.isSame(as: observation, source.number)
        }) {
            return try leave(same)
        }
        // Where several reporters use the id, an import means the one that the public sees under it.
        let mine = ofSource.filter(mayCorrect)
        let corrected = mine.first { $0.details.id != nil } ?? mine.first
        if let corrected {
            owner = corrected.reporter
            origin.inherit(try correct(corrected))
        } else if let exported = ObservationKey(id: id) {
            if let same = try standing(observation, source) { return try leave(same) }
            if let found = try row(at: exported), found.row.until == nil, found.details.id == nil,
                found.row.source == source.number, mayCorrect(found)
            {
                owner = found.reporter
                origin.inherit(try correct(found))
            } else if reporter > 0 || exported.observedAt == observation.observedAt {
                // Ids of our own making are nobody's to give.
                return try takeUnnamed(observation)
            }
        }
        let isTaken = owner > 0 && named.contains { $0.details.id != nil && $0.row.key != corrected?.row.key }
        // Without a public id of its own it has to be found by its content.
        var key =
            isTaken
            ? key(of: observation, source.merge)
            : ObservationKey(
                observedAt: observation.observedAt, tag: tags(.row(version: version, number: result.accepted)))
        while try !open(
            observation, at: key, source: source.number, id: id, origin: origin, reporter: owner, isTaken: isTaken)
        { key = key.next }
    }

    /// Whether the batch's reporter may correct a row. What is fetched or imported may correct any.
    private func mayCorrect(_ found: StoredObservation) -> Bool { reporter == 0 || found.reporter == reporter }

    /// Writes a row unless its key is taken.
    private mutating func open(
        _ observation: Observation, at key: ObservationKey, source: SourceNumber, id: String?, origin: Origin,
        reporter: Int64, isTaken: Bool = false
    ) throws -> Bool {
        var sum = RowSum()
        func bind(_ value: Int64?, _ column: ObservationColumn) {
            sum.add(value, at: column.rawValue)
            insert.bind(value, column)
        }
        func bind(_ text: String?, _ column: ObservationColumn) throws {
            sum.add(text, at: column.rawValue)
            try insert.bind(text, column)
        }
        bind(key.rawValue, .key)
        bind(Int64(bitPattern: observation.cell.h3), .cell)
        bind(Int64(observation.altitude.lowest.feet), .altitudeMin)
        bind(Int64(observation.altitude.highest.feet), .altitudeMax)
        bind(observation.intensity.severity.map { Int64($0.rawValue) }, .severity)
        bind(observation.intensity.edr.map { Int64($0.tenThousandths) }, .edr)
        bind(observation.category.map { Int64($0.number) }, .category)
        bind(Int64(source.rawValue), .source)
        bind(Int64(observation.kind.rawValue), .kind)
        bind(version, .since)
        bind(nil as Int64?, .until)
        try bind(id, .externalId)
        try bind(observation.aircraft, .aircraft)
        bind(origin.isImported ? 1 : 0, .imported)
        bind(origin.isTransient ? 1 : 0, .transient)
        bind(reporter, .reporter)
        bind(isTaken ? 1 : 0, .idTaken)
        insert.bind(sum.value, ObservationColumn.sum)
        try insert.run()
        guard db.changesCount > 0 else { return false }
        result.accepted += 1
        changed[.observations, default: []].insert(TimeStep(key.observedAt))
        return true
    }

    /// Counts an observation that is there already.
    private mutating func leave(_ found: StoredObservation) throws {
        result.duplicates += 1
        if found.origin.isTransient, !isTransient {
            last.bind(found.row.key.rawValue, at: 1)
            try last.run()
        }
        guard found.row.observedAt < importedBefore else { return }
        keep.bind(found.row.key.rawValue, at: 1)
        try keep.run()
    }

    /// Closes a row for another that says better.
    /// - Returns: its origin, which the other one inherits.
    private mutating func correct(_ found: StoredObservation) throws -> Origin {
        try close(found.row.key)
        result.corrected += 1
        return found.origin
    }

    private mutating func close(_ key: ObservationKey) throws {
        close.bind(version, at: 1)
        close.bind(key.rawValue, at: 2)
        try close.run()
        changed[.observations, default: []].insert(TimeStep(key.observedAt))
    }

    /// The row of a query that can be read. One that can't be is set aside, so that the batch's takes its place.
    private func readable<Row>(
        _ found: RawStatement, setAside: RawStatement, _ decode: (Columns) throws -> Row
    ) throws -> Row? {
        do { return try found.first(decode) } catch let row as UnreadableRow {
            try self.setAside(row, setAside)
            return nil
        }
    }

    private func setAside(_ row: UnreadableRow, _ statement: RawStatement) throws {
        damage.note(row)
        statement.bind(version, at: 1)
        statement.bind(row.key, at: 2)
        try statement.run()
    }

    private func row(at key: ObservationKey) throws -> StoredObservation? {
        byKey.bind(key.rawValue, at: 1)
        return try readable(byKey, setAside: setAside, StoredObservation.init)
    }

    /// The rows that count with an id, of every source and reporter.
    private func rows(id: String) throws -> [StoredObservation] {
        try byID.bind(id, at: 1)
        var rows: [StoredObservation] = []
        var unreadable: [UnreadableRow] = []
        try byID.forEachRow { columns in
            do { rows.append(try StoredObservation(columns)) } catch let row as UnreadableRow { unreadable.append(row) }
        }
        for row in unreadable { try setAside(row, setAside) }
        return rows
    }

    /// The row without id that counts and has this content.
    private mutating func standing(_ observation: Observation, _ source: SourceRecord) throws -> StoredObservation? {
        let subject = Subject(observation, source)
        func isSame(_ found: StoredObservation) -> Bool {
            isCandidate(found, subject, source.merge) && found.row.intensity == observation.intensity
        }
        if let found = try elsewhere(observation, subject, source), isSame(found) { return found }
        var key = key(of: observation, source.merge)
        while let found = try row(at: key) {
            if isSame(found) { return found }
            key = key.next
        }
        return nil
    }

    // MARK: Retraction

    /// Closes the rows that were found among those up to a version, and looks at the ones since then.
    mutating func retract(
        _ retraction: Retraction, source: SourceNumber, found: (upTo: Version, keys: [ObservationKey])
    ) throws {
        var gone = found.keys
        let since = try RawStatement(db, Query.openedSince)
        since.bind(found.upTo.rawValue, at: 1)
        // First found, then closed: no row changes under the query that finds it.
        try since.forEachReadable(damage, ObservationRow.init) { row in
            if row.source == source, row.observedAt >= retraction.from, row.observedAt <= retraction.to,
                retraction.closes(row)
            {
                gone.append(row.key)
            }
        }
        for key in gone {
            try close(key)
            // Another process may have closed it meanwhile.
            result.retracted += db.changesCount
        }
    }

    // MARK: Transient observations

    /// Puts a superseding row in the place of each transient row that is to end.
    /// - Parameter lasting: the newest row that lasts, by place.
    mutating func end(
        _ end: TransientEnd, of source: SourceID, _ number: SourceNumber, lasting: [Retraction.Place: Instant]
    ) throws {
        let rows = try TransientRows(db, end, source: number, damage: damage)
        for key in rows.later {
            try close(key)
            result.retracted += db.changesCount
        }
        let accepted = result.accepted
        for (place, row) in rows.ending.sorted(by: { $0.value.key < $1.value.key }) {
            if let newest = lasting[place], newest >= row.observedAt { continue }
            try takeUnnamed(
                Observation(
                    cell: row.cell, altitude: row.altitude, intensity: .reported(.smooth, edr: nil),
                    observedAt: end.at, category: row.category, source: source,
                    kind: .superseding), isEnd: true)
        }
        result.retracted += result.accepted - accepted
        result.accepted = accepted
    }

    /// Closes the rows that ended transient ones where what they ended was fetched again.
    mutating func resume(_ fetched: [Retraction.Place: Instant], source: SourceNumber) throws {
        guard let newest = fetched.values.filter({ $0 != .distantFuture }).max() else { return }
        let statement = try RawStatement(db, Query.openTransientEnds)
        statement.bind(Int64(source.rawValue), at: 1)
        statement.bind(ObservationKey.first(of: newest.advanced(by: -2 * History.sixHours.seconds)).rawValue, at: 2)
        var ends: [ObservationKey] = []
        try statement.forEachReadable(damage, ObservationRow.init) { row in
            guard let observedAt = fetched[Retraction.Place(of: row)],
                observedAt <= row.observedAt
            else { return }
            ends.append(row.key)
        }
        for key in ends { try close(key) }
        hasResumed = hasResumed || !ends.isEmpty
    }

    // MARK: Pilot reports

    private mutating func take(_ report: PilotReport) throws {
        let source = try number(of: report.source)
        let standing = try RawStatement(db, Query.openReport)
        try standing.bind(report.id, at: 1)
        standing.bind(Int64(source.rawValue), at: 2)
        var imported = report.observedAt < importedBefore
        let close = try RawStatement(db, Query.closeReport)
        let found = try readable(standing, setAside: RawStatement(db, Query.setAsideReport)) { columns in
            (
                try PilotReport(columns, names), columns.integer(PilotReportColumn.number),
                columns.integer(PilotReportColumn.imported) != 0
            )
        }
        if let (known, number, wasImported) = found {
            if known == report {
                if imported { try keep(number, Query.keepReport) }
                return
            }
            imported = imported || wasImported
            changed[.reports, default: []].insert(TimeStep(known.observedAt))
            close.bind(version, at: 1)
            close.bind(number, at: 2)
            try close.run()
        }
        let insert = try RawStatement(db, Query.insertReport)
        try insert.bind(report.id, PilotReportColumn.id)
        insert.bind(Int64(source.rawValue), PilotReportColumn.source)
        insert.bind(report.place.longitude, PilotReportColumn.lon)
        insert.bind(report.place.latitude, PilotReportColumn.lat)
        insert.bind(Int64(report.observedAt.seconds), PilotReportColumn.observedAt)
        try insert.bind(report.type, PilotReportColumn.type)
        try insert.bind(report.aircraft, PilotReportColumn.aircraft)
        insert.bind(report.altitudeFeet.map { Int64($0) }, PilotReportColumn.altitude)
        try insert.bind(try report.turbulenceJSON(), PilotReportColumn.turbulence)
        try insert.bind(report.text, PilotReportColumn.text)
        insert.bind(version, PilotReportColumn.since)
        insert.bind(imported, PilotReportColumn.imported)
        try insert.run()
        result.pilotReports += 1
        changed[.reports, default: []].insert(TimeStep(report.observedAt))
    }

    /// Marks a row that is there already as imported.
    private func keep(_ number: Int64, _ query: String) throws {
        let keep = try RawStatement(db, query)
        keep.bind(number, at: 1)
        try keep.run()
    }

    // MARK: Areas and positions

    private mutating func take(_ area: IssuedArea) throws {
        let source = try number(of: area.source)
        let standing = try RawStatement(db, Query.openArea)
        standing.bind(Int64(area.collection.rawValue), at: 1)
        try standing.bind(area.id, at: 2)
        standing.bind(Int64(source.rawValue), at: 3)
        standing.bind(Int64(area.validFrom.seconds), at: 4)
        var imported = area.validTo < importedBefore
        let found = try readable(standing, setAside: RawStatement(db, Query.setAsideArea)) {
            try StoredArea($0, names)
        }
        if let known = found {
            if known.area == area {
                if imported { try keep(known.number, Query.keepArea) }
                return
            }
            try self.close(known)
            imported = imported || known.isImported
        }
        try open(area, source: source, imported: imported)
        result.areas += 1
    }

    /// Ends what a complete fetch no longer has: when something of it took its place, which need not have begun yet,
    /// or else at the fetch.
    mutating func end(_ replacement: AreaReplacement, source: SourceNumber, but areas: [IssuedArea]) throws {
        let issued = Set(areas.map(\.identity))
        let statement = try RawStatement(db, Query.openAreasAfter)
        statement.bind(Int64(replacement.at.seconds), at: 1)
        statement.bind(Int64(source.rawValue), at: 2)
        statement.bind(Int64(replacement.collection.rawValue), at: 3)
        var gone: [StoredArea] = []
        try statement.forEachReadable(damage, { try StoredArea($0, names) }) { stored in
            guard !issued.contains(stored.area.identity), replacement.kind.map({ $0 == stored.area.kind }) ?? true
            else { return }
            gone.append(stored)
        }
        let successors = areas.filter { $0.kind == IssuedArea.sigmetKind }
        for stored in gone {
            let replaced = successors.lazy.filter { $0.replaces(stored.area) }.map(\.validFrom)
                .filter { $0 > stored.area.validFrom }.min()
            var ended = stored.area
            ended.validTo = min(replaced ?? replacement.at, stored.area.validTo)
            guard ended != stored.area else { continue }
            try close(stored)
            result.areas += 1
            guard ended.validFrom < ended.validTo else { continue }
            try open(ended, source: source, imported: stored.isImported)
        }
    }

    private func open(_ area: IssuedArea, source: SourceNumber, imported: Bool) throws {
        let insert = try RawStatement(db, Query.insertArea)
        try insert.bind(area, source: source, since: version, imported: imported)
        try insert.run()
    }

    private func close(_ area: StoredArea) throws {
        let close = try RawStatement(db, Query.closeArea)
        close.bind(version, at: 1)
        close.bind(area.number, at: 2)
        try close.run()
    }

    private mutating func take(_ position: AircraftPosition) throws {
        try insertPosition.bind(position, source: try number(of: position.source), since: version)
        try insertPosition.run()
        guard db.changesCount > 0 else { return }
        result.positions += 1
        changed[.positions, default: []].insert(TimeStep(position.observedAt))
    }

    // MARK: Where the source stands

    /// Cursors, values and times, kept whether a row changed or not.
    func keepState(of batch: Batch, source: SourceNumber) throws {
        try set(batch.cursors, Query.setCursor, Query.removeCursor, source: source)
        try set(batch.values, Query.setSourceValue, Query.removeSourceValue, source: source)
        for change in batch.coverage { try cover(change, source: source) }
        try set(Query.setFetched, batch.fetchedAt, source: source)
        for (kind, instant) in batch.fetchedKinds {
            let statement = try RawStatement(db, Query.setFetchedKind)
            statement.bind(Int64(source.rawValue), at: 1)
            try statement.bind(kind.rawValue, at: 2)
            statement.bind(Int64(instant.seconds), at: 3)
            statement.bind(Int64(kind.longestGapSeconds ?? .max), at: 4)
            try statement.run()
        }
        try set(Query.setComplete, batch.completeSince, source: source)
    }

    private func set(
        _ values: [String: String?], _ setQuery: String, _ removeQuery: String, source: SourceNumber
    ) throws {
        for (name, value) in values {
            let statement = try RawStatement(db, value == nil ? removeQuery : setQuery)
            statement.bind(Int64(source.rawValue), at: 1)
            try statement.bind(name, at: 2)
            if let value { try statement.bind(value, at: 3) }
            try statement.run()
        }
    }

    /// Former areas of one part that are kept: of a viewport that somebody moves about there may be thousands.
    private static let formerAreas: Int64 = 100

    /// Notes what a part of the source's query asks for from now on.
    private func cover(_ change: CoverageChange, source: SourceNumber) throws {
        func part(_ query: String) throws -> RawStatement {
            let statement = try RawStatement(db, query)
            statement.bind(Int64(source.rawValue), at: 1)
            try statement.bind(change.kind.rawValue, at: 2)
            try statement.bind(change.part, at: 3)
            return statement
        }
        var wanted: [[UInt8]?] = []
        for ring in change.rings.map({ $0?.stored }) where !wanted.contains(ring) { wanted.append(ring) }
        var ended: [(number: Int64, since: Int64)] = []
        try part(Query.openCoveredAreas).forEachRow { columns in
            typealias Column = CoveredAreaColumn
            let ring: [UInt8]? = columns.isNull(Column.ring) ? nil : columns.bytes(Column.ring)
            let isWhole = columns.isWhole(Column.self)
            if isWhole, change.isContinued, let index = wanted.firstIndex(of: ring) {
                wanted.remove(at: index)
            } else {
                // A row whose sum doesn't hold is removed: nothing was fetched since it was complete.
                ended.append((columns.integer(Column.number), isWhole ? columns.integer(Column.since) : .max))
            }
        }
        for area in ended {
            if let last = change.lastFetch.map({ Int64($0.seconds) }), last >= area.since {
                let close = try RawStatement(db, Query.closeCoveredArea)
                close.bind(last, at: 1)
                close.bind(area.number, at: 2)
                try close.run()
            } else {
                let remove = try RawStatement(db, Query.removeCoveredArea)
                remove.bind(area.number, at: 1)
                try remove.run()
            }
        }
        if !ended.isEmpty {
            let removeOld = try part(Query.removeOldCoveredAreas)
            removeOld.bind(Self.formerAreas, at: 4)
            try removeOld.run()
        }
        for ring in wanted {
            let insert = try RawStatement(db, Query.insertCoveredArea)
            insert.bind(Int64(source.rawValue), CoveredAreaColumn.source)
            try insert.bind(change.kind.rawValue, CoveredAreaColumn.kind)
            try insert.bind(change.part, CoveredAreaColumn.part)
            if let ring { insert.bind(ring, CoveredAreaColumn.ring) }
            insert.bind(Int64(change.since.seconds), CoveredAreaColumn.since)
            try insert.run()
        }
    }

    private func set(_ query: String, _ instant: Instant?, source: SourceNumber) throws {
        guard let instant else { return }
        let statement = try RawStatement(db, query)
        statement.bind(Int64(instant.seconds), at: 1)
        statement.bind(Int64(source.rawValue), at: 2)
        try statement.run()
    }
}

/// Who asked for an observation, as far as that decides how long it is kept.
private struct Origin {
    var isImported: Bool
    var isTransient: Bool

    /// Takes over what a corrected row was: imported if either is, transient only if both are.
    mutating func inherit(_ corrected: Origin) {
        isImported = isImported || corrected.isImported
        isTransient = isTransient && corrected.isTransient
    }
}

/// An observation as it stands in the log.
private struct StoredObservation {
    var row: ObservationRow
    /// With its public id: none where it is made of the key.
    var details: ObservationDetails
    var origin: Origin
    /// 0 for none.
    var reporter: Int64

    init(_ columns: Columns) throws {
        row = try ObservationRow(columns)
        details = ObservationDetails(columns)
        origin = Origin(
            isImported: columns.integer(ObservationColumn.imported) != 0,
            isTransient: columns.integer(ObservationColumn.transient) != 0)
        reporter = columns.integer(ObservationColumn.reporter)
    }

    /// Whether an observation with this row's id says the same.
    func isSame(as observation: Observation, _ source: SourceNumber) -> Bool {
        row.isSameContent(as: observation, source: source) && row.kind == observation.kind
            && details.aircraft == observation.aircraft
    }
}

extension ObservationRow {
    /// Whether a computed value is known by this row: it is the same, or the same severity without the EDR.
    fileprivate func says(_ other: Intensity) -> Bool {
        intensity == other || intensity.edr != nil && other.edr == nil && intensity.severity == other.severity
    }
}

extension ObservationKey {
    private static let tags: Int64 = 1 << tagBits

    /// The next key of the same second, round at its end.
    var next: ObservationKey {
        let second = rawValue & ~(ObservationKey.tags - 1)
        return ObservationKey(rawValue: second | (rawValue + 1) & (ObservationKey.tags - 1))
    }
}
