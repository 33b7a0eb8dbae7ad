internal import GRDB
internal import Geometry
public import Turbulence

extension SQLiteStore {
    /// Giving a known source another rule changes every picture of it, so that raises the version; so does settling whether
    /// known sources are made up.
    /// - Throws: `mixed` where a source of the other nature is known.
    public func register(
        _ source: SourceID, merge: MergeRule, simulated: Bool?
    ) async throws(StoreError) -> SourceRecord {
        try await writing { db in
            let known = try SourceRecord.all(db)
            if let simulated {
                if let other = known.first(where: { $0.simulated == !simulated }) {
                    throw StoreError.mixed(source, simulated: simulated, with: other.id)
                }
                if known.contains(where: { $0.simulated == nil }) {
                    let settle = try RawStatement(db, Query.settleSources)
                    settle.bind(simulated ? 1 : 0 as Int64, at: 1)
                    try settle.run()
                    try Self.noteRules(db)
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
                try Self.noteRules(db)
                return record
            }
            // Numbers are never taken back, so they are dense.
            guard let number = UInt8(exactly: known.count) else { throw StoreError.tooManySources(source) }
            let statement = try RawStatement(db, Query.insertSource)
            statement.bind(Int64(number), at: 1)
            try statement.bind(source.name, at: 2)
            statement.bind(Int64(merge.rawValue), at: 3)
            statement.bind(simulated == true ? 1 : 0 as Int64, at: 4)
            statement.bind(simulated == nil ? 0 : 1 as Int64, at: 5)
            try statement.run()
            return SourceRecord(
                number: SourceNumber(rawValue: number), id: source, merge: merge, simulated: simulated, fetchedAt: nil,
                completeSince: nil)
        }
    }

    /// Makes every picture another version of itself.
    private static func noteRules(_ db: Database) throws {
        _ = try Head.raise(db)
        try RawStatement(db, Query.noteRules).run()
    }

    /// Observations without id are taken in the order of their keys, then those with one in the order given, then the
    /// pilot reports, areas and positions, then the retraction and the replacements. Batches that follow the time write the least.
    /// - Throws: `unknownSource`; `failed` also for cursors, a retraction or a fetch time without the batch's source.
    public func commit(_ batch: Batch) async throws(StoreError) -> BatchResult {
        guard
            batch.source != nil
                || batch.retraction == nil && batch.areaReplacements.isEmpty && batch.cursors.isEmpty
                    && batch.fetchedAt == nil && batch.fetchedKinds.isEmpty && batch.completeSince == nil
        else {
            throw .failed(
                "a retraction, a replacement, cursors or a fetch time came without the source that they are of")
        }
        // Hashed and sorted before the transaction, so that no other writer waits for it. Keys that follow each other
        // share their pages.
        let tag = self.tag
        var unnamed: [(key: ObservationKey, index: Int)] = []
        var named: [(id: String, index: Int)] = []
        for (index, observation) in batch.observations.enumerated() {
            if let id = observation.id {
                named.append((id, index))
            } else {
                let key = ObservationKey(observedAt: observation.observedAt, tag: tag(observation, nil))
                unnamed.append((key, index))
            }
        }
        unnamed.sort { $0.key < $1.key }
        let gone = try await gone(by: batch)
        return try await writing { [unnamed, named, register] db in
            var writer = try BatchWriter(
                db, tag: tag, importedBefore: batch.importedBefore, isTransient: batch.isTransient, damage: register)
            let number = try batch.source.map(writer.number)
            for (key, index) in unnamed { try writer.take(batch.observations[index], key: key) }
            for (id, index) in named { try writer.take(batch.observations[index], id: id) }
            for report in batch.pilotReports { try writer.take(report) }
            for area in batch.areas { try writer.take(area) }
            for position in batch.positions { try writer.take(position) }
            if let number {
                if let retraction = batch.retraction { try writer.retract(retraction, source: number, found: gone) }
                for replacement in batch.areaReplacements {
                    try writer.end(replacement, source: number, but: batch.areas)
                }
                try writer.keepState(of: batch, source: number)
            }
            return try writer.finish()
        }
    }
}

extension SQLiteStore {
    /// The rows that a batch's retraction closes among those up to a version. A window of hours holds a million rows: they
    /// are looked through before the transaction, so that no other writer waits for it; it looks only at what came since.
    private func gone(by batch: Batch) async throws(StoreError) -> (upTo: Version, keys: [ObservationKey]) {
        // Transient rows have an index of their own.
        guard let retraction = batch.retraction, !retraction.transientOnly, let source = batch.source else {
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
}

extension Retraction {
    /// Whether an open row of its source and window is gone.
    fileprivate func closes(_ row: ObservationRow) -> Bool {
        let place = Place(cell: row.cell.dense, altitude: row.altitude, category: row.category)
        if let standing = standing[place], row.observedAt <= standing { return false }
        return covers(row)
    }
}

extension Head {
    /// The last statement of every transaction that changes rows.
    static func raise(_ db: Database) throws -> Int64 {
        guard let version = try RawStatement(db, Query.raiseHead).first({ $0.integer(0) }) else {
            throw UnreadableRow(table: "head", key: 1)
        }
        return version
    }
}

/// One batch on its way into the log, inside its transaction.
private struct BatchWriter {
    private let db: Database
    private let tag: @Sendable (Observation, String?) -> UInt32
    private let importedBefore: Instant
    private let isTransient: Bool
    private let damage: DamageRegister
    private let sources: [SourceID: SourceRecord]
    private let before: Int64
    /// The version that the batch's rows carry. No other writer can raise the head meanwhile: the transaction holds the
    /// write lock from its start.
    private let version: Int64
    private var result: BatchResult
    /// By kind, the steps of time in which something was observed that this batch changes.
    private var changed: [ObservedKind: Set<TimeStep>] = [:]

    private let insert: RawStatement
    private let close: RawStatement
    private let keep: RawStatement
    private let last: RawStatement
    private let byKey: RawStatement
    private let byID: RawStatement
    private let insertPosition: RawStatement

    init(
        _ db: Database, tag: @escaping @Sendable (Observation, String?) -> UInt32, importedBefore: Instant,
        isTransient: Bool, damage: DamageRegister
    ) throws {
        self.db = db
        self.tag = tag
        self.importedBefore = importedBefore
        self.isTransient = isTransient
        self.damage = damage
        sources = Dictionary(
            try SourceRecord.all(db).map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        before = try Head(db).version.rawValue
        version = before + 1
        result = BatchResult(version: Version(rawValue: before))
        insert = try RawStatement(db, Query.insertObservation)
        close = try RawStatement(db, Query.closeObservation)
        keep = try RawStatement(db, Query.keepObservation)
        last = try RawStatement(db, Query.lastObservation)
        byKey = try RawStatement(db, Query.observationByKey)
        byID = try RawStatement(db, Query.openObservationByExternalID)
        insertPosition = try RawStatement(db, Query.insertPosition)
    }

    func number(of source: SourceID) throws -> SourceNumber {
        guard let record = sources[source] else { throw StoreError.unknownSource(source) }
        return record.number
    }

    /// Raises the head where a row changed.
    mutating func finish() throws -> BatchResult {
        guard result.changed else { return result }
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

    /// An observation whose content is its identity: a row that counts at one of its keys, before the first free one, is
    /// the same observation. A source of computed values has one value for a place and second: another is a correction,
    /// but for the same value without its EDR (not every call of an upstream gives one).
    mutating func take(_ observation: Observation, key: ObservationKey) throws {
        let source = try number(of: observation.source)
        let isComputed = sources[observation.source]?.merge == .replace
        var origin = Origin(isImported: observation.observedAt < importedBefore, isTransient: isTransient)
        var key = key
        while try !open(observation, at: key, source: source, id: nil, origin: origin) {
            if let found = try row(at: key), found.row.until == nil, found.details.id == nil,
                found.row.isSamePlace(as: observation, source: source)
            {
                if found.row.intensity == observation.intensity
                    || isComputed && found.row.intensity.says(observation.intensity),
                    // What the query left out is shown from when it is asked for; what was shown stays so.
                    found.row.kind.isShown || !observation.kind.isShown
                {
                    return try leave(found)
                }
                if isComputed { origin.inherit(try correct(found)) }
            }
            key = key.next
        }
    }

    /// An observation that came with an id: the row of its source that counts with this id is the same observation, and is
    /// corrected where it says something else. An id of our own making comes from an export: then the content decides.
    mutating func take(_ observation: Observation, id: String) throws {
        let source = try number(of: observation.source)
        var origin = Origin(isImported: observation.observedAt < importedBefore, isTransient: isTransient)
        if let found = try row(id: id, source: source) {
            if found.isSame(as: observation, source: source) { return try leave(found) }
            origin.inherit(try correct(found))
        } else if let exported = ObservationKey(id: id) {
            let key = ObservationKey(observedAt: observation.observedAt, tag: tag(observation, nil))
            if let same = try standing(observation, from: key, source: source) { return try leave(same) }
            if let found = try row(at: exported), found.row.until == nil, found.details.id == nil,
                found.row.source == source
            {
                origin.inherit(try correct(found))
            } else if exported.isNear(key) {
                return try take(observation, key: key)
            }
        }
        var key = ObservationKey(observedAt: observation.observedAt, tag: tag(observation, id))
        while try !open(observation, at: key, source: source, id: id, origin: origin) { key = key.next }
    }

    /// Writes a row unless its key is taken.
    private mutating func open(
        _ observation: Observation, at key: ObservationKey, source: SourceNumber, id: String?, origin: Origin
    ) throws -> Bool {
        insert.bind(key.rawValue, at: 1)
        insert.bind(Int64(bitPattern: observation.cell.h3), at: 2)
        insert.bind(Int64(observation.altitude.lowest.feet), at: 3)
        insert.bind(Int64(observation.altitude.highest.feet), at: 4)
        insert.bind(observation.intensity.severity.map { Int64($0.rawValue) }, at: 5)
        insert.bind(observation.intensity.edr.map { Int64($0.tenThousandths) }, at: 6)
        insert.bind(observation.category.map { Int64($0.number) }, at: 7)
        insert.bind(Int64(source.rawValue), at: 8)
        insert.bind(Int64(observation.kind.rawValue), at: 9)
        insert.bind(version, at: 10)
        try insert.bind(id, at: 11)
        try insert.bind(observation.aircraft, at: 12)
        insert.bind(origin.isImported ? 1 : 0 as Int64, at: 13)
        insert.bind(origin.isTransient ? 1 : 0 as Int64, at: 14)
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

    /// The row of a query that can be read. One that can't be is closed, so that what comes now takes its place.
    private func readable<Row>(
        _ found: RawStatement, close: RawStatement, _ decode: (Columns) throws -> Row
    ) throws -> Row? {
        do { return try found.first(decode) } catch let row as UnreadableRow {
            damage.note(row)
            close.bind(version, at: 1)
            close.bind(row.key, at: 2)
            try close.run()
            return nil
        }
    }

    private func row(at key: ObservationKey) throws -> StoredObservation? {
        byKey.bind(key.rawValue, at: 1)
        return try readable(byKey, close: close, StoredObservation.init)
    }

    private func row(id: String, source: SourceNumber) throws -> StoredObservation? {
        try byID.bind(id, at: 1)
        byID.bind(Int64(source.rawValue), at: 2)
        return try readable(byID, close: close, StoredObservation.init)
    }

    /// The row without id that counts and has this content.
    private func standing(
        _ observation: Observation, from key: ObservationKey, source: SourceNumber
    ) throws -> StoredObservation? {
        var key = key
        while let found = try row(at: key) {
            if found.row.until == nil, found.details.id == nil,
                found.row.isSameContent(as: observation, source: source)
            {
                return found
            }
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
        let since = try RawStatement(db, retraction.transientOnly ? Query.openTransient : Query.openedSince)
        since.bind(retraction.transientOnly ? Int64(source.rawValue) : found.upTo.rawValue, at: 1)
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

    // MARK: Pilot reports

    mutating func take(_ report: PilotReport) throws {
        let source = try number(of: report.source)
        let standing = try RawStatement(db, Query.openReport)
        try standing.bind(report.id, at: 1)
        standing.bind(Int64(source.rawValue), at: 2)
        var imported = report.observedAt < importedBefore
        let close = try RawStatement(db, Query.closeReport)
        if let (known, number, wasImported) = try readable(
            standing, close: close, { (try PilotReport($0), $0.integer(11), $0.integer(12) != 0) })
        {
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
        try insert.bind(report.id, at: 1)
        insert.bind(Int64(source.rawValue), at: 2)
        insert.bind(report.place.longitude, at: 3)
        insert.bind(report.place.latitude, at: 4)
        insert.bind(Int64(report.observedAt.seconds), at: 5)
        try insert.bind(report.type, at: 6)
        try insert.bind(report.aircraft, at: 7)
        insert.bind(report.altitudeFeet.map { Int64($0) }, at: 8)
        try insert.bind(try report.turbulenceJSON(), at: 9)
        try insert.bind(report.text, at: 10)
        insert.bind(version, at: 11)
        insert.bind(imported ? 1 : 0 as Int64, at: 12)
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

    mutating func take(_ area: IssuedArea) throws {
        let source = try number(of: area.source)
        let standing = try RawStatement(db, Query.openArea)
        standing.bind(Int64(area.collection.rawValue), at: 1)
        try standing.bind(area.id, at: 2)
        standing.bind(Int64(source.rawValue), at: 3)
        standing.bind(Int64(area.validFrom.seconds), at: 4)
        var imported = area.validTo < importedBefore
        let close = try RawStatement(db, Query.closeArea)
        if let known = try readable(standing, close: close, StoredArea.init) {
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

    /// Ends what a complete fetch no longer has: when something of it took its place, which need not have begun yet, or else
    /// at the fetch.
    mutating func end(_ replacement: AreaReplacement, source: SourceNumber, but areas: [IssuedArea]) throws {
        let issued = Set(areas.map(\.identity))
        let statement = try RawStatement(db, Query.openAreasAfter)
        statement.bind(Int64(replacement.at.seconds), at: 1)
        statement.bind(Int64(source.rawValue), at: 2)
        statement.bind(Int64(replacement.collection.rawValue), at: 3)
        var gone: [StoredArea] = []
        try statement.forEachReadable(damage, StoredArea.init) { stored in
            guard !issued.contains(stored.area.identity), replacement.kind.map({ $0 == stored.area.kind }) ?? true
            else { return }
            gone.append(stored)
        }
        for stored in gone {
            let replaced = areas.lazy.filter { $0.replaces(stored.area) }.map(\.validFrom)
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

    mutating func take(_ position: AircraftPosition) throws {
        try insertPosition.bind(position, source: try number(of: position.source), since: version)
        try insertPosition.run()
        guard db.changesCount > 0 else { return }
        result.positions += 1
        changed[.positions, default: []].insert(TimeStep(position.observedAt))
    }

    // MARK: Where the source stands

    /// Cursors and times, kept whether a row changed or not.
    func keepState(of batch: Batch, source: SourceNumber) throws {
        for (piece, value) in batch.cursors {
            let statement = try RawStatement(db, value == nil ? Query.removeCursor : Query.setCursor)
            statement.bind(Int64(source.rawValue), at: 1)
            try statement.bind(piece, at: 2)
            if let value { try statement.bind(value, at: 3) }
            try statement.run()
        }
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
    var details: ObservationDetails
    var origin: Origin

    init(_ columns: Columns) throws {
        row = try ObservationRow(columns)
        details = ObservationDetails(columns)
        origin = Origin(isImported: columns.integer(13) != 0, isTransient: columns.integer(14) != 0)
    }

    /// Whether an observation with this row's id says the same.
    func isSame(as observation: Observation, source: SourceNumber) -> Bool {
        row.isSameContent(as: observation, source: source) && row.kind == observation.kind
            && details.aircraft == observation.aircraft
    }
}

extension Intensity {
    /// Whether this is a severity with EDR and the other one the same severity without.
    fileprivate func says(_ other: Intensity) -> Bool {
        edr != nil && other.edr == nil && severity == other.severity
    }
}

extension ObservationKey {
    private static let tags: Int64 = 1 << tagBits

    /// The next key of the same second, round at its end.
    var next: ObservationKey {
        let second = rawValue & ~(ObservationKey.tags - 1)
        return ObservationKey(rawValue: second | (rawValue + 1) & (ObservationKey.tags - 1))
    }

    /// Whether this is `first` or one of the few keys that its content would have taken next.
    fileprivate func isNear(_ first: ObservationKey) -> Bool {
        let distance = (rawValue - first.rawValue) & (ObservationKey.tags - 1)
        return rawValue >> ObservationKey.tagBits == first.rawValue >> ObservationKey.tagBits && distance < 16
    }
}
