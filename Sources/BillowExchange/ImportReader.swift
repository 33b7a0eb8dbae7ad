import AviationFormats
import Foundation
package import Turbulence

/// An imported item. Items come in the order of the file.
package enum ImportItem: Sendable, Hashable {
    case observation(Observation)
    /// A pilot report, and the observations of its turbulence groups.
    case pilotReport(PilotReport, observations: [Observation])
    /// An issued area. It comes at the end of a file, because ids and copies of several offices depend on all areas.
    case area(IssuedArea)
    /// The hazards of an archive at one moment, at the end of a file.
    case pull(HazardArchiveCopy)
    case refused(RefusedRecord)
}

/// Parses files of observations, pilot reports and hazards from pieces of any size. Memory is bounded by the longest
/// record. The content determines the format. The parser never fails: a rejected record is an item too.
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

    /// The counts of read, accepted and rejected records so far.
    package private(set) var summary = ImportSummary()
    /// The bytes consumed so far, for a progress bar.
    package private(set) var bytesRead = 0
    /// The detected format.
    package private(set) var format: ImportFormat?

    /// Whether reading stopped because there are more records than `maximumRecords`.
    package private(set) var hasTooManyRecords = false

    private let decoder: ObservationDecoder
    private let maximumRecords: Int
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
    ///   - now: the clock; an observation more than 5 minutes ahead of it is rejected, any past one is accepted.
    ///   - source: the source of observations that name none; `import` by default.
    ///   - aviationWeatherSource: the source of pilot reports and hazards in the Aviation Weather Center's formats;
    ///     `awc` by default.
    ///   - fileName: contains the time of an archive's copy.
    ///   - maximumRecords: reading stops at the next record, counting rejected ones too.
    ///   - takesOnlyObservations: rejects everything else, so that each record is one item, in the order of the file.
    package init(
        now: Instant, source: SourceID? = nil, aviationWeatherSource: SourceID? = nil, fileName: String? = nil,
        maximumRecords: Int = .max, takesOnlyObservations: Bool = false
    ) {
        self.maximumRecords = maximumRecords
        self.takesOnlyObservations = takesOnlyObservations
        pulledAt = fileName.flatMap(HazardArchiveCopy.time(inName:))
        decoder = ObservationDecoder(now: now, source: source ?? .import)
        awc = aviationWeatherSource ?? .aviationWeather
    }

    /// Whether the whole file is unusable, so that further reading is pointless.
    package var isUnusable: Bool { if case .unusable = mode { true } else { false } }

    /// Whether the file or one of its records has stated so far that its data is simulated, as exports do.
    package var saysSimulated: Bool {
        if case .json(let splitter) = mode, splitter.saysSimulated { true } else { hasSimulatedRecord }
    }

    /// The buffered bytes of an incomplete record.
    var bufferedBytes: Int { buffer.count }

    /// Parses the next piece and returns the items that it completes.
    package mutating func read(_ piece: some Collection<UInt8>) -> [ImportItem] {
        bytesRead += piece.count
        guard !isUnusable else { return [] }
        buffer.append(contentsOf: piece)
        return advance(atEnd: false)
    }

    /// Ends the file and returns the last items.
    package mutating func finish() -> [ImportItem] {
        let found = advance(atEnd: true)
        resolveHazards()
        defer { items = [] }
        return found + items
    }

    /// The most hazards in one commit. It is more than any response has; a longer file is committed in parts.
    private static let hazardsAtOnce = 20_000

    // MARK: Splitting

    private mutating func advance(atEnd: Bool) -> [ImportItem] {
        if case .detecting = mode { detect(atEnd: atEnd) }
        switch mode {
        case .detecting, .unusable: break
        case .json(var splitter):
            drain(&splitter, atEnd: atEnd) { reader, range, line throws(RefusalReason) in
                try reader.readJSON(range, line: line)
            }
            if !isUnusable { mode = .json(splitter) }
            if hazards.count >= ImportReader.hazardsAtOnce { resolveHazards() }
        case .jsonLines(var splitter):
            drain(&splitter, atEnd: atEnd) { reader, range, line throws(RefusalReason) in
                try reader.readJSON(range, line: line)
            }
            if !isUnusable { mode = .jsonLines(splitter) }
        case .csv(var splitter, var table):
            drain(&splitter, atEnd: atEnd) { reader, range, line throws(RefusalReason) in
                if reader.isUnusable { return }
                if let table { return try reader.readCSV(range, line: line, table) }
                reader.record -= 1
                do throws(RefusalReason) { table = try CSVTable(header: reader.buffer[range]) } catch {
                    reader.reject(line: line, error)
                }
            }
            if !isUnusable { mode = .csv(splitter, table) }
        case .adds(var splitter, var table):
            drain(&splitter, atEnd: atEnd) { reader, range, line throws(RefusalReason) in
                let row = String(decoding: reader.buffer[range], as: UTF8.self)
                if let table { return try reader.readADDS(row, line: line, table) }
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
        } catch { reject(line: 1, error) }
    }

    /// Rejects the whole file.
    private mutating func reject(line: Int, _ reason: RefusalReason) {
        mode = .unusable
        buffer = []
        refuse(line: line, record: 0, reason)
    }

    private mutating func drain(
        _ splitter: inout some RecordSplitter, atEnd: Bool,
        read: (inout ImportReader, Range<Int>, Int) throws(RefusalReason) -> Void
    ) {
        while let split = splitter.next(in: buffer, atEnd: atEnd) {
            record += 1
            guard record <= maximumRecords else {
                hasTooManyRecords = true
                mode = .unusable
                buffer = []
                return
            }
            switch split {
            case .record(let range, let line):
                do throws(RefusalReason) { try read(&self, range, line) } catch {
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

    // MARK: Decoding

    private mutating func refuse(line: Int, record: Int, _ reason: RefusalReason) {
        let refusal = RefusedRecord(line: line, record: record, reason: reason)
        summary.refuse(refusal)
        items.append(.refused(refusal))
    }

    private mutating func readJSON(_ range: Range<Int>, line: Int) throws(RefusalReason) {
        let kind = try jsonRecord.read(buffer, in: range)
        if jsonRecord.saysSimulated { hasSimulatedRecord = true }
        guard kind == .observation || !takesOnlyObservations else { throw .notAFeature }
        switch kind {
        case .observation:
            append(try decoder.observation(jsonRecord.fields, featureID: jsonRecord.featureID))
        case .exportedPilotReport:
            append(
                try ExportedPilotReportDecoder(values: decoder).report(
                    jsonRecord.fields, featureID: jsonRecord.featureID, bytes: buffer))
        case .aviationWeather:
            do throws(ReportError) { try append(PilotReportDecoder.report(json: Data(buffer[range]))) } catch {
                throw RefusalReason(error)
            }
        case .hazard:
            do throws(ReportError) { append(try HazardDecoder.catalogue.report(json: Data(buffer[range]))) } catch {
                // A line (for example a freezing level) is valid but no area, and so is a report of no hazard.
                guard error.isHarmless else { throw RefusalReason(error) }
                summary.read += 1
                summary.skippedAreas[error.code.description, default: 0] += 1
            }
        }
    }

    private mutating func append(_ hazard: HazardReport) {
        summary.read += 1
        hazards.append(hazard)
    }

    /// Converts the hazards so far to areas.
    private mutating func resolveHazards() {
        guard !hazards.isEmpty else { return }
        let archived = pulledAt.map { _ in hazards.filter(\.isArchived) } ?? []
        let issued = pulledAt == nil ? hazards : hazards.filter { !$0.isArchived }
        hazards = []
        items += counted(HazardAreas(issued, source: awc)).map { .area($0) }
        if let pulledAt, !archived.isEmpty {
            let areas = counted(HazardAreas(archived, source: awc))
            items.append(
                .pull(
                    HazardArchiveCopy(
                        at: pulledAt, kinds: Set(archived.map(\.product.id)), source: awc, areas: areas))
            )
        }
    }

    private mutating func counted(_ hazards: HazardAreas) -> [IssuedArea] {
        for area in hazards.areas { summary.areas[area.kind, default: 0] += 1 }
        for (reason, count) in hazards.skipped { summary.skippedAreas[reason.description, default: 0] += count }
        return hazards.areas
    }

    private mutating func readCSV(_ range: Range<Int>, line: Int, _ table: CSVTable) throws(RefusalReason) {
        guard try table.read(buffer[range], into: &csvFields) else {
            record -= 1
            return
        }
        if csvFields.saysSimulated { hasSimulatedRecord = true }
        if table.holdsPilotReports {
            append(try ExportedPilotReportDecoder(values: decoder).report(csvFields, featureID: .null, bytes: []))
        } else {
            append(try decoder.observation(csvFields, featureID: .null))
        }
    }

    private mutating func readADDS(_ row: String, line: Int, _ table: ADDSTable) throws(RefusalReason) {
        do throws(ReportError) { try append(table.report(row: row)) } catch { throw RefusalReason(error) }
    }

    private mutating func append(_ decoded: ObservationDecoder.Decoded) {
        summary.read += 1
        if decoded.finerCell { summary.finerCells += 1 }
        count(decoded.observation)
        items.append(.observation(decoded.observation))
    }

    private mutating func append(_ report: AircraftReport) throws(ReportError) {
        guard let pilotReport = PilotReport(report, source: awc) else { throw .missing(field: "geometry") }
        do throws(RefusalReason) { try decoder.refuseFuture(pilotReport.observedAt) } catch {
            throw .invalid(
                field: "obsTime", value: pilotReport.observedAt.description, expected: "at most 5 minutes ahead of now")
        }
        for word in report.unknownWords { summary.unknownWords[word, default: 0] += 1 }
        append(pilotReport)
    }

    private mutating func append(_ report: PilotReport) {
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
    /// The source of imported observations without a source name.
    package static let `import` = SourceID(fixed: "import")
    /// The source of imported reports and hazards of the Aviation Weather Center.
    package static let aviationWeather = SourceID(fixed: "awc")

    /// The source of ingested observations without a source name.
    package static let ingest = SourceID(fixed: "ingest")

    private init(fixed name: String) {
        guard let source = SourceID(name) else { preconditionFailure("'\(name)' is no source id") }
        self = source
    }
}
