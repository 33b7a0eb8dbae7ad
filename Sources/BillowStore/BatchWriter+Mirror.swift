internal import GRDB
internal import Geometry
internal import Turbulence

extension BatchWriter {
    // MARK: Data of a mirrored server

    /// Closes what a mirrored server no longer has.
    mutating func reconcile(_ mirror: MirrorChange, with batch: Batch) throws {
        switch mirror.content {
        case .none: break
        case .observations(let ids, let isWhole, let from):
            let brought = Set(batch.observations.map { MirroredID(source: $0.source, id: $0.id ?? "") })
            let gone =
                isWhole
                ? try observations(of: mirror.sources, from: from) { !ids.contains($0.details.id ?? "") }
                : try ids.flatMap { try rows(id: $0) }.filter { found in
                    guard let source = names[Int64(found.row.source.rawValue)], mirror.sources.contains(source),
                        found.row.observedAt >= from
                    else { return false }
                    return !brought.contains(MirroredID(source: source, id: found.details.id ?? ""))
                }
            for found in gone {
                try close(found.row.key)
                result.retracted += 1
            }
        case .reports(let ids, let isWhole, let from):
            let brought = Set(batch.pilotReports.map { MirroredID(source: $0.source, id: $0.id) })
            try closeReports(of: mirror.sources, from: from) { report in
                let id = MirroredID(source: report.source, id: report.id)
                return isWhole ? !ids.contains(report.id) : ids.contains(report.id) && !brought.contains(id)
            }
        case .areas(let collection, let listed, let isWhole, let at):
            for source in mirror.sources {
                guard let record = sources[source] else { continue }
                try endAreas(collection, of: record.number, at: at, issued: batch.areas) { area in
                    listed.contains(area.identity) != isWhole
                }
            }
        }
    }

    private struct MirroredID: Hashable {
        var source: SourceID
        var id: String
    }

    /// The open rows of some sources from an instant on, as far as they are selected.
    private func observations(
        of mirrored: Set<SourceID>, from: Instant, where isSelected: (StoredObservation) -> Bool
    ) throws -> [StoredObservation] {
        var found: [StoredObservation] = []
        for source in mirrored {
            guard let record = sources[source] else { continue }
            let statement = try RawStatement(db, Query.openOfSource)
            try statement.bind(
                ObservationKey.first(of: from).rawValue, ObservationKey.first(of: .distantFuture).rawValue,
                Int64(record.number.rawValue))
            try statement.forEachReadable(damage, StoredObservation.init) { row in
                if isSelected(row) { found.append(row) }
            }
        }
        return found
    }

    /// Closes the selected open reports of some sources from an instant on.
    private mutating func closeReports(
        of mirrored: Set<SourceID>, from: Instant, where isSelected: (PilotReport) -> Bool
    ) throws {
        let statement = try RawStatement(db, Query.reportsAsOf)
        try statement.bind(
            Int64(from.seconds), Int64(Instant.distantFuture.seconds), Int64.max, Int64.max)
        var gone: [(number: Int64, report: PilotReport)] = []
        try statement.forEachReadable(
            damage, { (try PilotReport($0, names), $0.integer(PilotReportColumn.number)) }
        ) { report, number in
            if mirrored.contains(report.source), isSelected(report) { gone.append((number, report)) }
        }
        let close = try RawStatement(db, Query.closeReport)
        for (number, report) in gone {
            note(.reports, report.observedAt)
            try close.bind(version, number)
            try close.run()
            result.retracted += 1
        }
    }
}
