import AviationFormats
import Foundation
package import Turbulence

/// What an import finds, in the order of the file.
package enum ImportItem: Sendable, Hashable {
    case observation(Observation)
    /// A pilot report, and the observations that its turbulence groups put on the map.
    case pilotReport(PilotReport, observations: [Observation])
    /// Only at the end of a file: areas are told from each other, and offices' copies found, among all of it.
    case area(IssuedArea)
    /// Only at the end of a file: what an archive says to have held at one moment.
    case pull(HazardPull)
    case refused(Refusal)
}

/// Reads files of observations, pilot reports and hazards, fed in pieces of any size: a file of any length takes the
/// memory of its longest record. The form is told by the content. Whatever the bytes, it never fails: what can't be
/// used is an item too.
///
///     var reader = ImportReader(now: now)
///     while let piece = try file.next() { use(reader.read(piece)) }
///     use(reader.finish())
package struct ImportReader: Sendable {
    private enum Mode {
        case detecting
        case json(JSONSplitter)
        case jsonLines(LineSplitter)
        case csv(CSVSplitter, CSVTable?)
        case adds(LineSplitter, ADDSTable?)
        case unusable
    }

    /// What has been read, taken and refused so far.
    package private(set) var summary = ImportSummary()
    /// Bytes consumed so far, for a progress bar.
    package private(set) var bytesRead = 0
    /// The form of the file, once told.
    package private(set) var format: ImportFormat?

    /// Whether it stopped because there are more records than `mostRecords`.
    package private(set) var hasTooManyRecords = false

    private let decoder: ObservationDecoder
    private let mostRecords: Int
    private let takesOnlyObservations: Bool
    private let awc: SourceID
    private let pulledAt: Instant?
    private var hazards: [HazardReport] = []
    private var mode = Mode.detecting
    private var buffer: [UInt8] = []
    private var items: [ImportItem] = []
    private var record = 0
    private var jsonRecord = JSONRecordReader()
    private var csvFields = RecordFields()
    private var hasSimulatedRecord = false

    /// - Parameters:
    ///   - now: the clock; an observation more than 5 minutes ahead of it is refused, any past is taken.
    ///   - source: of observations that name none; `import` by default.
    ///   - aviationWeatherSource: of pilot reports and hazards as the Aviation Weather Center sends them; `awc` by
    ///     default.
    ///   - fileName: tells when an archive's file was pulled.
    ///   - mostRecords: reading stops at the record after these, refused ones included.
    ///   - takesOnlyObservations: refuses everything else, so that each record is one item, in the order of the file.
    package init(
        now: Instant, source: SourceID? = nil, aviationWeatherSource: SourceID? = nil, fileName: String? = nil,
        mostRecords: Int = .max, takesOnlyObservations: Bool = false
    ) {
        self.mostRecords = mostRecords
        self.takesOnlyObservations = takesOnlyObservations
        pulledAt = fileName.flatMap(HazardPull.time(inName:))
        decoder = ObservationDecoder(now: now, source: source ?? .import)
        awc = aviationWeatherSource ?? .aviationWeather
    }

    /// Whether the file as a whole can't be used, so that reading on is of no use.
    package var isUnusable: Bool { if case .unusable = mode { true } else { false } }

    /// Whether the file, or a record of it, has said so far that what it holds is simulated, as exports do.
    package var saysSimulated: Bool {
        if case .json(let splitter) = mode, splitter.saysSimulated { true } else { hasSimulatedRecord }
    }

    /// Bytes held back for a record that isn't whole yet.
    var bufferedBytes: Int { buffer.count }

    /// Takes the next piece of the file and gives what became whole with it.
    package mutating func read(_ piece: some Collection<UInt8>) -> [ImportItem] {
        bytesRead += piece.count
        guard !isUnusable else { return [] }
        buffer.append(contentsOf: piece)
        return advance(atEnd: false)
    }

    /// Says that the file ends here, and gives the last items.
    package mutating func finish() -> [ImportItem] {
        let found = advance(atEnd: true)
        settleHazards()
        defer { items = [] }
        return found + items
    }

    /// More hazards than any answer has; a longer file is settled in parts.
    private static let hazardsAtOnce = 20_000

    // MARK: Cutting

    private mutating func advance(atEnd: Bool) -> [ImportItem] {
        if case .detecting = mode { detect(atEnd: atEnd) }
        switch mode {
        case .detecting, .unusable: break
        case .json(var splitter):
            drain(&splitter, atEnd: atEnd) { reader, range, line throws(RefusalReason) in
                try reader.takeJSON(range, line: line)
            }
            if !isUnusable { mode = .json(splitter) }
            if hazards.count >= ImportReader.hazardsAtOnce { settleHazards() }
        case .jsonLines(var splitter):
            drain(&splitter, atEnd: atEnd) { reader, range, line throws(RefusalReason) in
                try reader.takeJSON(range, line: line)
            }
            if !isUnusable { mode = .jsonLines(splitter) }
        case .csv(var splitter, var table):
            drain(&splitter, atEnd: atEnd) { reader, range, line throws(RefusalReason) in
                if reader.isUnusable { return }
                if let table { return try reader.takeCSV(range, line: line, table) }
                reader.record -= 1
                do throws(RefusalReason) { table = try CSVTable(header: reader.buffer[range]) } catch {
                    reader.giveUp(line: line, error)
                }
            }
            if !isUnusable { mode = .csv(splitter, table) }
        case .adds(var splitter, var table):
            drain(&splitter, atEnd: atEnd) { reader, range, line throws(RefusalReason) in
                let row = String(decoding: reader.buffer[range], as: UTF8.self)
                if let table { return try reader.takeADDS(row, line: line, table) }
                reader.record -= 1
                table = ADDSTable(header: row)
            }
            if !isUnusable { mode = .adds(splitter, table) }
        }
        let found = items
        items = []
        return found
    }

    private mutating func detect(atEnd: Bool) {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        if buffer.starts(with: mark) { buffer.removeFirst(mark.count) }
        if !atEnd, mark.starts(with: buffer) { return }
        do throws(RefusalReason) {
            guard let format = try ImportFormat.detect(buffer, atEnd: atEnd) else { return }
            self.format = format
            switch format {
            case .json: mode = .json(JSONSplitter())
            case .jsonLines: mode = .jsonLines(LineSplitter())
            case .csv: mode = .csv(CSVSplitter(), nil)
            case .adds: mode = .adds(LineSplitter(), nil)
            }
        } catch { giveUp(line: 1, error) }
    }

    /// Refuses the file as a whole.
    private mutating func giveUp(line: Int, _ reason: RefusalReason) {
        mode = .unusable
        buffer = []
        refuse(line: line, record: 0, reason)
    }

    private mutating func drain(
        _ splitter: inout some RecordSplitter, atEnd: Bool,
        take: (inout ImportReader, Range<Int>, Int) throws(RefusalReason) -> Void
    ) {
        while let split = splitter.next(in: buffer, atEnd: atEnd) {
            record += 1
            guard record <= mostRecords else {
                hasTooManyRecords = true
                mode = .unusable
                buffer = []
                return
            }
            switch split {
            case .record(let range, let line):
                do throws(RefusalReason) { try take(&self, range, line) } catch {
                    summary.read += 1
                    refuse(line: line, record: record, error)
                }
                if isUnusable { return }
            case .broken(let line, let reason):
                summary.read += 1
                refuse(line: line, record: record, reason)
            }
        }
        let used = splitter.kept
        if used > 0 {
            buffer.removeFirst(used)
            splitter.dropped(used)
        }
    }

    // MARK: Taking

    private mutating func refuse(line: Int, record: Int, _ reason: RefusalReason) {
        let refusal = Refusal(line: line, record: record, reason: reason)
        summary.refuse(refusal)
        items.append(.refused(refusal))
    }

    private mutating func takeJSON(_ range: Range<Int>, line: Int) throws(RefusalReason) {
        let kind = try jsonRecord.read(buffer, in: range)
        if jsonRecord.saysSimulated { hasSimulatedRecord = true }
        guard kind == .observation || !takesOnlyObservations else { throw .notAFeature }
        switch kind {
        case .observation:
            take(try decoder.observation(jsonRecord.fields, featureID: jsonRecord.featureID))
        case .exportedPilotReport:
            take(
                try ExportedPilotReportDecoder(values: decoder).report(
                    jsonRecord.fields, featureID: jsonRecord.featureID, bytes: buffer))
        case .aviationWeather:
            do throws(ReportError) { try take(PilotReportDecoder.report(json: Data(buffer[range]))) } catch {
                throw RefusalReason(error)
            }
        case .hazard:
            do throws(ReportError) { take(try HazardDecoder.report(json: Data(buffer[range]))) } catch {
                // A line (a freezing level, say) is as it should be, and no area; so is the word that there is none.
                guard error.isHarmless else { throw RefusalReason(error) }
                summary.read += 1
                summary.skippedAreas[error.code.description, default: 0] += 1
            }
        }
    }

    private mutating func take(_ hazard: HazardReport) {
        summary.read += 1
        hazards.append(hazard)
    }

    /// Makes areas of the hazards so far.
    private mutating func settleHazards() {
        guard !hazards.isEmpty else { return }
        let archived = pulledAt.map { _ in hazards.filter(\.isArchived) } ?? []
        let issued = pulledAt == nil ? hazards : hazards.filter { !$0.isArchived }
        hazards = []
        items += take(HazardAreas(issued, source: awc)).map { .area($0) }
        if let pulledAt, !archived.isEmpty {
            let areas = take(HazardAreas(archived, source: awc))
            items.append(
                .pull(HazardPull(at: pulledAt, kinds: Set(archived.map(\.product.rawValue)), source: awc, areas: areas))
            )
        }
    }

    private mutating func take(_ hazards: HazardAreas) -> [IssuedArea] {
        for area in hazards.areas { summary.areas[area.kind, default: 0] += 1 }
        for (reason, count) in hazards.skipped { summary.skippedAreas[reason.description, default: 0] += count }
        return hazards.areas
    }

    private mutating func takeCSV(_ range: Range<Int>, line: Int, _ table: CSVTable) throws(RefusalReason) {
        guard try table.read(buffer[range], into: &csvFields) else {
            record -= 1
            return
        }
        if csvFields.saysSimulated { hasSimulatedRecord = true }
        if table.holdsPilotReports {
            take(try ExportedPilotReportDecoder(values: decoder).report(csvFields, featureID: .null, bytes: []))
        } else {
            take(try decoder.observation(csvFields, featureID: .null))
        }
    }

    private mutating func takeADDS(_ row: String, line: Int, _ table: ADDSTable) throws(RefusalReason) {
        do throws(ReportError) { try take(table.report(row: row)) } catch { throw RefusalReason(error) }
    }

    private mutating func take(_ decoded: ObservationDecoder.Decoded) {
        summary.read += 1
        if decoded.finerCell { summary.finerCells += 1 }
        if decoded.clampedSeverity { summary.clampedSeverities += 1 }
        count(decoded.observation)
        items.append(.observation(decoded.observation))
    }

    private mutating func take(_ report: AircraftReport) throws(ReportError) {
        guard let pilotReport = PilotReport(report, source: awc) else { throw .missing(field: "geometry") }
        do throws(RefusalReason) { try decoder.refuseFuture(pilotReport.observedAt) } catch {
            throw .invalid(
                field: "obsTime", value: pilotReport.observedAt.description, expected: "at most 5 minutes ahead of now")
        }
        for word in report.unknownWords { summary.unknownWords[word, default: 0] += 1 }
        take(pilotReport)
    }

    private mutating func take(_ report: PilotReport) {
        summary.read += 1
        if let severity = report.severity {
            summary.pilotReports[severity, default: 0] += 1
        } else {
            summary.silentPilotReports += 1
        }
        let placement = report.placement()
        summary.groupsWithoutLevel += placement.withoutLevel
        summary.groupsWithUnusableLevel += placement.unusableLevel
        for observation in placement.observations { count(observation) }
        items.append(.pilotReport(report, observations: placement.observations))
    }

    private mutating func count(_ observation: Observation) {
        let severity =
            observation.intensity.severity
            ?? observation.intensity.edr.map { SeverityThresholds.medium.severity(of: $0) }
        if let severity { summary.observations[severity, default: 0] += 1 }
    }
}

extension RefusalReason {
    init(_ error: ReportError) {
        self =
            switch error {
            case .notAReport: .notAFeature
            case .missing(let field): .missing(field)
            case .invalid(let field, let value, let expected):
                .invalid(field: field, value: value, expected: expected)
            case .notAnArea(let shape): .invalid(field: "geometry", value: shape, expected: "an area")
            case .noHazard: .notAFeature
            }
    }
}

extension SourceID {
    /// The source of imported observations that name none.
    package static let `import` = SourceID(fixed: "import")
    /// The source of imported reports and hazards of the Aviation Weather Center.
    package static let aviationWeather = SourceID(fixed: "awc")

    /// The source of observations that are sent in and name none.
    package static let ingest = SourceID(fixed: "ingest")

    private init(fixed name: String) {
        guard let source = SourceID(name) else { preconditionFailure("'\(name)' is no source id") }
        self = source
    }
}
