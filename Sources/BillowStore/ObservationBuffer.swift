internal import Turbulence

/// The observations of a batch on a `BulkConnection`: the rows that it may meet are read together, and its changes are
/// written together at the end. No other transaction writes meanwhile, so the rows that were read do not change.
final class ObservationBuffer {
    private let connection: any BulkConnection
    private let damage: DamageRegister
    private let version: Int64
    /// The rows that are known to exist, with the batch's changes.
    private var rows: [ObservationKey: StoredObservation] = [:]
    /// Keys that are known to be free.
    private var free: Set<ObservationKey> = []
    /// Keys of unreadable rows.
    private var unreadable: Set<ObservationKey> = []
    /// The keys of the open rows with an id, of ids that were read.
    private var keysByID: [String: [ObservationKey]] = [:]
    private var idsByKey: [ObservationKey: String] = [:]

    // MARK: Changes to write

    private var new: [ObservationKey: [SQLValue]] = [:]
    private var closed: [ObservationKey] = []
    private var imported: [ObservationKey] = []
    private var lasting: [ObservationKey] = []
    private var positions: [[SQLValue]] = []

    init(_ connection: any BulkConnection, damage: DamageRegister, version: Int64) {
        self.connection = connection
        self.damage = damage
        self.version = version
    }

    // MARK: Reading

    /// Reads the rows with some keys or ids, unless they are known.
    func read(_ keys: [ObservationKey], ids: [String]) throws {
        let keys = Set(keys).filter { rows[$0] == nil && !free.contains($0) && !unreadable.contains($0) }
        if !keys.isEmpty {
            free.formUnion(keys)
            let found = try RawStatement(connection, Query.observationsByKeys)
            try found.bind(.integers(keys.map(\.rawValue)), at: 1)
            try take(found) { _ in }
        }
        let ids = Set(ids).filter { keysByID[$0] == nil }
        guard !ids.isEmpty else { return }
        for id in ids { keysByID[id] = [] }
        let found = try RawStatement(connection, Query.openObservationsByExternalIDs)
        try found.bind(.texts(Array(ids)), at: 1)
        try take(found) { add($0.key, to: $0.id) }
    }

    /// Adds rows from the database. A row that the batch has changed is known better here.
    private func take(_ found: RawStatement, _ body: ((id: String, key: ObservationKey)) -> Void) throws {
        try found.forEachRow { columns in
            let key = ObservationKey(rawValue: columns.integer(ObservationColumn.key))
            free.remove(key)
            do {
                let row = try StoredObservation(columns)
                if rows[key] == nil { rows[key] = row }
            } catch let row as UnreadableRow {
                damage.note(row)
                unreadable.insert(key)
                return
            }
            guard rows[key]?.row.until == nil, let id = columns.text(ObservationColumn.externalId) else { return }
            body((id, key))
        }
    }

    private func add(_ key: ObservationKey, to id: String) {
        keysByID[id, default: []].append(key)
        idsByKey[key] = id
    }

    func row(at key: ObservationKey) throws -> StoredObservation? {
        try read([key], ids: [])
        return rows[key]
    }

    /// The open rows with an id, of every source and reporter.
    func rows(id: String) throws -> [StoredObservation] {
        try read([], ids: [id])
        return (keysByID[id] ?? []).compactMap { rows[$0] }
            .sorted { ($0.row.source.rawValue, $0.reporter) < ($1.row.source.rawValue, $1.reporter) }
    }

    // MARK: Changing

    /// Adds a row unless its key exists.
    ///
    /// - Parameter values: the row in the order of `ObservationColumn`.
    func insert(_ row: StoredObservation, id: String?, _ values: [SQLValue]) throws -> Bool {
        let key = row.row.key
        try read([key], ids: id.map { [$0] } ?? [])
        guard rows[key] == nil, !unreadable.contains(key) else { return false }
        free.remove(key)
        rows[key] = row
        new[key] = values
        if let id { add(key, to: id) }
        return true
    }

    /// Closes an open row.
    func close(_ key: ObservationKey) throws {
        guard var row = try row(at: key), row.row.until == nil else { return }
        row.row.until = Version(rawValue: version)
        rows[key] = row
        if let id = idsByKey.removeValue(forKey: key) { keysByID[id]?.removeAll { $0 == key } }
        if new[key] == nil { closed.append(key) } else { set(.until, .integer(version), of: key) }
    }

    func markImported(_ key: ObservationKey) {
        rows[key]?.origin.isImported = true
        if new[key] == nil { imported.append(key) } else { set(.imported, .integer(1), of: key) }
    }

    func markLasting(_ key: ObservationKey) {
        rows[key]?.origin.isTransient = false
        if new[key] == nil { lasting.append(key) } else { set(.transient, .integer(0), of: key) }
    }

    private func set(_ column: ObservationColumn, _ value: SQLValue, of key: ObservationKey) {
        new[key]?[Int(column.rawValue)] = value
    }

    /// Adds a position.
    ///
    /// - Parameter values: the row in the order of `PositionColumn`.
    func insert(position values: [SQLValue]) { positions.append(values) }

    // MARK: Writing

    /// Writes the changes. An id is free before another row gets it.
    ///
    /// - Returns: the times of the new positions, in seconds.
    func flush() throws -> [Int64] {
        for (keys, query) in [
            (closed, Query.closeObservations), (imported, Query.markObservationsImported),
            (lasting, Query.markObservationsLasting),
        ] where !keys.isEmpty {
            let statement = try RawStatement(connection, query)
            try statement.bind(.integers(keys.map(\.rawValue)), at: 1)
            if query == Query.closeObservations { try statement.bind(.integer(version), at: 2) }
            try statement.run()
        }
        if !new.isEmpty {
            // In key order, so that rows of similar times share pages.
            let rows = new.sorted { $0.key < $1.key }.map(\.value)
            try connection.copy(rows, into: "observation", ObservationColumn.allCases.map(\.name))
        }
        let times =
            positions.isEmpty
            ? []
            : try connection.copyNew(
                positions, into: "position", PositionColumn.allCases.map(\.name),
                key: ["bucket", "icao24", "observedAt", "source"], returning: "observedAt")
        (new, closed, imported, lasting, positions) = ([:], [], [], [], [])
        return times
    }
}

/// The queries on many rows. Their array arguments are for drivers only.
extension Query {
    static let observationsByKeys = "SELECT \(ObservationColumn.list) FROM observation WHERE key = ANY(?1)"
    static let openObservationsByExternalIDs = """
        SELECT \(ObservationColumn.list) FROM observation WHERE externalId = ANY(?1) AND until IS NULL
        """
    static let closeObservations = "UPDATE observation SET until = ?2 WHERE key = ANY(?1) AND until IS NULL"
    static let markObservationsImported = "UPDATE observation SET imported = 1 WHERE key = ANY(?1)"
    static let markObservationsLasting = "UPDATE observation SET transient = 0 WHERE key = ANY(?1)"
}

/// Collects the arguments of an insertion in place of executing it.
final class ValueCollector: DriverStatement {
    private(set) var values: [SQLValue]

    init(columns: Int) { values = Array(repeating: .null, count: columns) }

    var parameterCount: Int { values.count }
    func bind(_ value: SQLValue, at position: Int32) { values[Int(position) - 1] = value }
    func run() {}
    func forEachRow(_ body: (Columns) throws -> Void) {}
    func first(_ body: (Columns) throws -> Void) {}
}
