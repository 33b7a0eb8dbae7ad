internal import Turbulence

extension SQLStore {
    /// Contradictions between the versions of rows, the head and the times of changes; empty for a sound log. Reads
    /// every row.
    package func versionProblems() async throws(StoreError) -> [String] {
        try await reading { db in
            let head = try Head(db).version.rawValue
            var problems: [String] = []
            if let newest = try RawStatement(db, Query.newestVersion).value(), newest > head {
                problems.append("rows of version \(newest) stand above the head \(head)")
            }
            for kind in ObservedTable.allCases {
                let statement = try RawStatement(db, Query.wrongSteps(of: kind))
                try statement.bind(Int64(kind.rawValue), head)
                guard let wrong = try statement.value(), wrong > 0 else { continue }
                problems.append("\(wrong) times of changes of table \(Query.table(of: kind)) aren't those of its rows")
            }
            return problems
        }
    }
}

/// The queries of a check, which read whole tables.
extension Query {
    static let newestVersion = """
        SELECT max(v) FROM (
            SELECT max(since) AS v FROM observation WHERE until IS NULL
            UNION ALL SELECT max(until) FROM observation WHERE until IS NOT NULL
            UNION ALL SELECT max(since) FROM pilotReport
            UNION ALL SELECT max(until) FROM pilotReport
            UNION ALL SELECT max(since) FROM fieldLevel) AS versions
        """

    static func table(of kind: ObservedTable) -> String {
        switch kind {
        case .observations: "observation"
        case .reports: "pilotReport"
        case .positions: "position"
        }
    }

    /// The number of time steps whose version is older than one of their rows, or newer than the head. With such a
    /// version a client would take an outdated frame for the current one. The arguments are the kind and the head.
    static func wrongSteps(of kind: ObservedTable) -> String {
        let step = kind == .observations ? "((key >> 30) + 9) / 10" : "(observedAt + 9) / 10"
        let version = kind == .positions ? "since" : "max(since, coalesce(until, 0))"
        return """
            SELECT (SELECT count(*)
                FROM (SELECT \(step) AS step, max(\(version)) AS version FROM \(table(of: kind)) GROUP BY 1) AS found
                LEFT JOIN changedStep AS noted ON noted.kind = ?1 AND noted.step = found.step
                WHERE noted.version IS NULL OR noted.version < found.version)
                + (SELECT count(*) FROM changedStep WHERE kind = ?1 AND version > ?2)
            """
    }
}
