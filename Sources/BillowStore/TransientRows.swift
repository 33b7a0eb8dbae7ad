internal import GRDB
internal import Geometry
internal import Turbulence

/// The transient rows that a frame at an instant could show.
struct TransientRows {
    /// The keys of all of them.
    var keys: Set<ObservationKey> = []
    /// The newest row of each place, if it must be ended: observed before the instant and not ended already.
    var ending: [Retraction.ValueKey: ObservationRow] = [:]
    /// Rows to end that were observed at the instant or later.
    var later: [ObservationKey] = []

    init(_ db: any SQLConnection, _ end: TransientEnd, source: SourceNumber, damage: DamageRegister) throws {
        let statement = try RawStatement(db, Query.openTransient)
        let oldest = end.at.advanced(by: -History.sixHours.seconds)
        try statement.bind(Int64(source.rawValue), ObservationKey.first(of: oldest).rawValue)
        var newest: [Retraction.ValueKey: ObservationRow] = [:]
        try statement.forEachReadable(damage, ObservationRow.init) { row in
            keys.insert(row.key)
            if row.observedAt >= end.at {
                if row.kind.isShown, end.covers(row) { later.append(row.key) }
                return
            }
            let place = Retraction.ValueKey(of: row)
            if newest[place].map({ $0.observedAt < row.observedAt }) ?? true { newest[place] = row }
        }
        ending = newest.filter { $0.value.kind.isShown && end.covers($0.value) }
    }
}

extension Retraction {
    /// Whether the retraction closes an open row of its source and window.
    func closes(_ row: ObservationRow) -> Bool {
        if let standing = standing[ValueKey(of: row)], row.observedAt <= standing { return false }
        return covers(row)
    }
}
