/// The tables of a log in a PostgreSQL database.
package enum PostgreSQLTables: Sendable, Hashable {
    case missing
    /// An older version of Billow made them. The next command that writes upgrades them.
    case older(step: Int, newest: Int)
    case current

    /// Why the tables can't be read; nil for current ones.
    package var problem: String? {
        switch self {
        case .missing: "it has no tables yet; a server creates them when it starts"
        case .older(let step, let newest):
            "an older version of Billow made its tables (step \(step) of \(newest)); a server upgrades them when it "
                + "starts"
        case .current: nil
        }
    }
}
