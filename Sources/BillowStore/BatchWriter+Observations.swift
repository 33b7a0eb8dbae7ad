internal import GRDB
internal import Geometry
internal import Turbulence

extension BatchWriter {
    /// The identity of an observation without id. For a report it includes the intensity. For a computed value it is
    /// place and time only, and the intensity is nil.
    struct Subject: Hashable {
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

    mutating func upsert(_ observation: Observation) throws {
        if let id = observation.id { try upsert(observation, id: id) } else { try upsertByContent(observation) }
    }

    /// The first candidate key of an observation, from its content.
    func key(of observation: Observation, _ merge: MergeRule) -> ObservationKey {
        ObservationKey(
            observedAt: observation.observedAt,
            tag: tags(merge == .replace ? .value(observation) : .report(observation)))
    }

    /// Whether a row is the same observation as one without id. The row must be open, have no public id and belong to
    /// no other reporter. A fetched or imported observation may match any reporter's row.
    func isCandidate(_ found: StoredObservation, _ subject: Subject, _ merge: MergeRule) -> Bool {
        found.row.until == nil && found.details.id == nil && Subject(found.row, merge) == subject
            && (reporter == 0 || found.reporter == 0 || found.reporter == reporter)
    }

    /// Inserts or corrects an observation that is identified by its content. A row under one of its keys, before the
    /// first free key, is the same observation if it is current.
    ///
    /// A source of computed values has one value per place and second, so a different value is a correction. A value
    /// that lacks only the EDR is the same value, because some upstream calls omit the EDR.
    /// - Parameter isEnd: whether the observation ends transient rows. Such an observation is transient itself and is
    ///   not shown.
    mutating func upsertByContent(_ observation: Observation, isEnd: Bool = false) throws {
        let source = try record(of: observation.source)
        let subject = Subject(observation, source)
        let isComputed = source.merge == .replace
        // A hidden observation needs no end.
        var origin = Origin(
            isImported: observation.observedAt < importedBefore,
            isTransient: isEnd || isTransient && observation.kind.isShown)
        func isKnown(by found: StoredObservation) -> Bool {
            // An observation that the query excluded is shown as soon as a query includes it. A visible one stays
            // visible.
            (!isComputed || found.row.isKnown(observation.intensity))
                && (found.row.kind.isShown || !observation.kind.isShown)
        }
        if let found = try rowByFormerMergeRule(observation, subject, source) {
            if isKnown(by: found) { return try countDuplicate(found) }
            origin.inherit(try correct(found))
        }
        var key = (isComputed ? keysOfValues[subject] : nil) ?? key(of: observation, source.merge)
        while try !insert(observation, at: key, source: source.number, id: nil, origin: origin, reporter: reporter) {
            if let found = try row(at: key), isCandidate(found, subject, source.merge) {
                if isKnown(by: found) {
                    if isComputed { keysOfValues[subject] = key }
                    return try countDuplicate(found)
                }
                origin.inherit(try correct(found))
            }
            key = key.next
        }
        if isComputed { keysOfValues[subject] = key }
    }

    /// Finds the row of an observation without id under the source's earlier merge rule.
    mutating func rowByFormerMergeRule(
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

    /// Inserts or corrects an observation that came with an id. The open row with this id, of the same source and
    /// reporter, is the same observation. It is corrected if it differs.
    ///
    /// A fetched or imported observation may correct any reporter's row. An id in Billow's own format comes from an
    /// export, so the observation is then identified by its content.
    mutating func upsert(_ observation: Observation, id: String) throws {
        let source = try record(of: observation.source)
        var origin = Origin(isImported: observation.observedAt < importedBefore, isTransient: isTransient)
        var owner = reporter
        let named = try rows(id: id)
        let ofSource = named.filter { $0.row.source == source.number }
        if let same = ofSource.first(where: {
            (reporter == 0 || $0.reporter == 0 || $0.reporter == reporter) && $0.isSame(as: observation, source.number)
        }) {
            return try countDuplicate(same)
        }
        // Where several reporters use the id, an import corrects the row that is public under it.
        // `filter(mayCorrect)` would copy the writer.
        let mine = ofSource.filter { mayCorrect($0) }
        let corrected = mine.first { $0.details.id != nil } ?? mine.first
        if let corrected {
            owner = corrected.reporter
            origin.inherit(try correct(corrected))
        } else if !hasForeignIDs, let exported = ObservationKey(id: id) {
            if let same = try openRow(like: observation, source) { return try countDuplicate(same) }
            if let found = try row(at: exported), found.row.until == nil, found.details.id == nil,
                found.row.source == source.number, mayCorrect(found)
            {
                owner = found.reporter
                origin.inherit(try correct(found))
            } else if reporter > 0 || exported.observedAt == observation.observedAt {
                // A reporter may not assign ids in Billow's own format.
                return try upsertByContent(observation)
            }
        }
        let isTaken = owner > 0 && named.contains { $0.details.id != nil && $0.row.key != corrected?.row.key }
        // A row without a public id must be found by its content.
        var key =
            isTaken
            ? key(of: observation, source.merge)
            : keyOfItem(observation)
        while try !insert(
            observation, at: key, source: source.number, id: id, origin: origin, reporter: owner, isTaken: isTaken)
        { key = key.next }
    }

    /// Whether the batch's reporter may correct a row. Fetched and imported observations may correct any.
    func mayCorrect(_ found: StoredObservation) -> Bool { reporter == 0 || found.reporter == reporter }

    /// Inserts a row unless its key exists.
    mutating func insert(
        _ observation: Observation, at key: ObservationKey, source: SourceNumber, id: String?, origin: Origin,
        reporter: Int64, isTaken: Bool = false
    ) throws -> Bool {
        var sum = RowSum()
        func bind(_ value: Int64?, _ column: ObservationColumn) {
            sum.add(value, at: column.rawValue)
            insertObservation.bind(value, column)
        }
        func bind(_ text: String?, _ column: ObservationColumn) throws {
            sum.add(text, at: column.rawValue)
            try insertObservation.bind(text, column)
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
        insertObservation.bind(sum, ObservationColumn.sum)
        if let buffer {
            let row = ObservationRow(
                key: key, cell: observation.cell, altitude: observation.altitude, intensity: observation.intensity,
                observedAt: observation.observedAt, category: observation.category, source: source,
                kind: observation.kind, since: Version(rawValue: version), until: nil)
            let details = ObservationDetails(id: isTaken ? nil : id, aircraft: observation.aircraft)
            let stored = StoredObservation(row: row, details: details, origin: origin, reporter: reporter)
            guard try buffer.insert(stored, id: id, collected) else { return false }
        } else {
            try insertObservation.run()
            guard db.changesCount > 0 else { return false }
        }
        result.accepted += 1
        note(.observations, key.observedAt)
        return true
    }

    /// Counts a duplicate.
    mutating func countDuplicate(_ found: StoredObservation) throws {
        result.duplicates += 1
        if let buffer {
            if found.origin.isTransient, !isTransient { buffer.markLasting(found.row.key) }
            if found.row.observedAt < importedBefore { buffer.markImported(found.row.key) }
            return
        }
        if found.origin.isTransient, !isTransient {
            try markLasting.bind(found.row.key.rawValue)
            try markLasting.run()
        }
        guard found.row.observedAt < importedBefore else { return }
        try markImported.bind(found.row.key.rawValue)
        try markImported.run()
    }

    /// Closes a row that another one corrects.
    /// - Returns: the closed row's origin, which the correction inherits.
    mutating func correct(_ found: StoredObservation) throws -> Origin {
        try close(found.row.key)
        result.corrected += 1
        return found.origin
    }

    mutating func close(_ key: ObservationKey) throws {
        if let buffer {
            try buffer.close(key)
        } else {
            try closeObservation.bind(version, key.rawValue)
            try closeObservation.run()
        }
        note(.observations, key.observedAt)
    }

    /// Decodes the row of a query. An unreadable row is set aside, so that the batch's row replaces it.
    func readable<Row>(
        _ found: RawStatement, setAside: RawStatement, _ decode: (Columns) throws -> Row
    ) throws -> Row? {
        do { return try found.first(decode) } catch let row as UnreadableRow {
            try self.setAside(row, setAside)
            return nil
        }
    }

    func setAside(_ row: UnreadableRow, _ statement: RawStatement) throws {
        damage.note(row)
        try statement.bind(version, row.key)
        try statement.run()
    }

    func row(at key: ObservationKey) throws -> StoredObservation? {
        if let buffer { return try buffer.row(at: key) }
        try observationByKey.bind(key.rawValue)
        return try readable(observationByKey, setAside: setAsideObservation, StoredObservation.init)
    }

    /// The open rows with an id, of every source and reporter.
    func rows(id: String) throws -> [StoredObservation] {
        if let buffer { return try buffer.rows(id: id) }
        try openObservationsByID.bind(id)
        var rows: [StoredObservation] = []
        var unreadable: [UnreadableRow] = []
        try openObservationsByID.forEachRow { columns in
            do { rows.append(try StoredObservation(columns)) } catch let row as UnreadableRow { unreadable.append(row) }
        }
        for row in unreadable { try setAside(row, setAsideObservation) }
        return rows
    }

    /// The open row without id that has this content.
    mutating func openRow(like observation: Observation, _ source: SourceRecord) throws -> StoredObservation? {
        let subject = Subject(observation, source)
        func isSame(_ found: StoredObservation) -> Bool {
            isCandidate(found, subject, source.merge) && found.row.intensity == observation.intensity
        }
        if let found = try rowByFormerMergeRule(observation, subject, source), isSame(found) { return found }
        var key = key(of: observation, source.merge)
        while let found = try row(at: key) {
            if isSame(found) { return found }
            key = key.next
        }
        return nil
    }
}
