/// The number of killed processes by what they did.
struct KillTally: CustomStringConvertible {
    enum Work: String, CaseIterable {
        case start, ingest, sync, `import`, prune, retention, backup, restore, packing, upgrade, migration
    }

    private var kills: [Work: Int] = [:]

    var total: Int { kills.values.reduce(0, +) }

    mutating func count(_ work: Work) { kills[work, default: 0] += 1 }

    var description: String {
        let parts = Work.allCases.compactMap { work in kills[work].map { "\(work.rawValue) \($0)" } }
        return "\(total) kills (\(parts.joined(separator: ", ")))"
    }
}
