internal import GRDB
package import Turbulence

extension SQLStore {
    package func pilotReports(from: Instant, to: Instant, asOf version: Version?) async throws(StoreError)
        -> [PilotReport]
    {
        try await reading { [self] db in
            try DeletedBefore.check(.rest, from: from, asOf: version, db)
            let version = try version ?? Head(db).version
            do {
                let statement = try RawStatement(db, Query.reportsAsOf)
                try statement.bind(from: from, to: to, asOf: version)
                return try statement.reports(register, SourceNames(db))
            } catch let error as DatabaseError where error.isPageDamage {
                return try reportsAround(error, from: from, to: to, asOf: version, db)
            }
        }
    }

    /// If two sources use the same id, the one with the lower number wins.
    package func pilotReport(id: String, asOf version: Version?) async throws(StoreError) -> PilotReport? {
        try await reading { [register] db in
            let statement = try RawStatement(db, Query.reportsByID)
            try statement.bind(id: id, asOf: version)
            let names = try SourceNames(db)
            var found: (source: Int64, report: PilotReport)?
            try statement.forEachReadable(
                register, { ($0.integer(PilotReportColumn.source), try PilotReport($0, names)) }
            ) { source, report in
                if source < found?.source ?? .max { found = (source, report) }
            }
            if found == nil { try DeletedBefore.check(.rest, from: .distantPast, asOf: version, db) }
            return found?.report
        }
    }

    /// A page of pilot reports. A page may exceed `limit` by a few: the same report from several sources (same time,
    /// same id) is never split between pages. The start of a page could not distinguish them.
    package func pilotReports(
        after: (Instant, String)?, from: Instant, to: Instant, limit: Int, asOf version: Version?
    ) async throws(StoreError) -> [PilotReport] {
        guard limit > 0 else { return [] }
        let start = max(from, after?.0 ?? from)
        return try await reading { [self] db in
            try DeletedBefore.check(.rest, from: start, asOf: version, db)
            let statement = try RawStatement(db, Query.reportPage)
            try statement.bind(
                Int64(start.seconds), Int64(to.seconds), after.map { Int64($0.0.seconds) } ?? -1, after?.1 ?? "",
                version.bound, version.bound)
            var page: [PilotReport] = []
            func append(_ report: PilotReport) throws {
                if page.count >= limit, let last = page.last,
                    last.observedAt != report.observedAt || last.id != report.id
                {
                    throw EndOfPage()
                }
                page.append(report)
            }
            do {
                do {
                    let names = try SourceNames(db)
                    try statement.forEachReadable(register, { try PilotReport($0, names) }, append)
                } catch let error as DatabaseError where error.isPageDamage {
                    page = []
                    let reports = try reportsAround(error, from: start, to: to, asOf: version, db)
                    for report in reports where after.map({ $0 < (report.observedAt, report.id) }) ?? true {
                        try append(report)
                    }
                }
            } catch is EndOfPage {}
            return page
        }
    }

    /// Reads pilot reports by number because an index or a page of the table is damaged, and sorts them.
    private func reportsAround(
        _ damage: DatabaseError, from: Instant, to: Instant, asOf version: Version?, _ db: any SQLConnection
    ) throws -> [PilotReport] {
        let reports = try readByNumber(
            Query.reportsByNumber, Query.newestReportNumber, PilotReportColumn.number, from, to,
            asOf: version ?? Head(db).version, damage, db, PilotReport.init)
        return reports.sorted { ($0.observedAt, $0.id, $0.source) < ($1.observedAt, $1.id, $1.source) }
    }
}

extension RawStatement {
    /// Decodes all reports in the result of a query, and skips unreadable ones.
    func reports(_ damage: DamageRegister, _ names: SourceNames) throws -> [PilotReport] {
        try readable(damage) { try PilotReport($0, names) }
    }
}
