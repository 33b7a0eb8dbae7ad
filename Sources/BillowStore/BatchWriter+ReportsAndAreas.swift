internal import GRDB
internal import Geometry
internal import Turbulence

extension BatchWriter {
    // MARK: Pilot reports

    mutating func upsert(_ report: PilotReport) throws {
        let source = try number(of: report.source)
        let standing = try RawStatement(db, Query.openReport)
        try standing.bind(report.id, Int64(source.rawValue))
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
                if imported { try markImported(number, Query.markReportImported) }
                return
            }
            imported = imported || wasImported
            note(.reports, known.observedAt)
            try close.bind(version, number)
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
        note(.reports, report.observedAt)
    }

    /// Marks an existing row as imported.
    func markImported(_ number: Int64, _ query: String) throws {
        let mark = try RawStatement(db, query)
        try mark.bind(number)
        try mark.run()
    }

    // MARK: Areas and positions

    mutating func upsert(_ area: IssuedArea) throws {
        let source = try number(of: area.source)
        let standing = try RawStatement(db, Query.openArea)
        try standing.bind(
            Int64(area.collection.rawValue), area.id, Int64(source.rawValue), Int64(area.validFrom.seconds))
        var imported = area.validTo < importedBefore
        let found = try readable(standing, setAside: RawStatement(db, Query.setAsideArea)) {
            try StoredArea($0, names)
        }
        if let known = found {
            if known.area == area {
                if imported { try markImported(known.number, Query.markAreaImported) }
                return
            }
            try self.close(known)
            imported = imported || known.isImported
        }
        try insert(area, source: source, imported: imported)
        result.areas += 1
    }

    /// Ends the areas that a complete fetch no longer contains. Such an area ends where its replacement begins, which
    /// may be in the future. Without a replacement it ends at the time of the fetch.
    mutating func endAreas(missing replacement: AreaReplacement, source: SourceNumber, issued areas: [IssuedArea])
        throws
    {
        let issued = Set(areas.map(\.identity))
        try endAreas(replacement.collection, of: source, at: replacement.at, issued: areas) { area in
            !issued.contains(area.identity) && replacement.kind.map { $0 == area.kind } ?? true
        }
    }

    /// Ends the areas of a source and collection that are valid after an instant and no longer issued.
    /// - Parameter areas: those that may replace them.
    mutating func endAreas(
        _ collection: IssuedArea.DatasetNumber, of source: SourceNumber, at instant: Instant,
        issued areas: [IssuedArea], where isGone: (IssuedArea) -> Bool
    ) throws {
        let statement = try RawStatement(db, Query.openAreasAfter)
        try statement.bind(Int64(instant.seconds), Int64(source.rawValue), Int64(collection.rawValue))
        var gone: [StoredArea] = []
        try statement.forEachReadable(damage, { try StoredArea($0, names) }) { stored in
            if isGone(stored.area) { gone.append(stored) }
        }
        let successors = areas.filter { $0.kind == IssuedArea.sigmetKind }
        for stored in gone {
            let replaced = successors.lazy.filter { $0.replaces(stored.area) }.map(\.validFrom)
                .filter { $0 > stored.area.validFrom }.min()
            var ended = stored.area
            ended.validTo = min(replaced ?? instant, stored.area.validTo)
            guard ended != stored.area else { continue }
            try close(stored)
            result.areas += 1
            guard ended.validFrom < ended.validTo else { continue }
            try insert(ended, source: source, imported: stored.isImported)
        }
    }

    func insert(_ area: IssuedArea, source: SourceNumber, imported: Bool) throws {
        let insert = try RawStatement(db, Query.insertArea)
        try insert.bind(area, source: source, since: version, imported: imported)
        try insert.run()
    }

    func close(_ area: StoredArea) throws {
        let close = try RawStatement(db, Query.closeArea)
        try close.bind(version, area.number)
        try close.run()
    }

    mutating func insert(_ position: AircraftPosition) throws {
        try insertPosition.bind(position, source: try number(of: position.source), since: version)
        if let buffer { return buffer.insert(position: collectedPosition) }
        try insertPosition.run()
        guard db.changesCount > 0 else { return }
        result.positions += 1
        note(.positions, position.observedAt)
    }
}
