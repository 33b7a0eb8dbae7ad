import BillowExchange
import BillowFields
import BillowStore
import Foundation
import GRIBKit
import Geometry
import Turbulence

/// Imports GRIB2 files: EDR grids of any model. Memory is bounded by one message and its values, whatever the file's
/// length.
extension FileImporter {
    /// Whether a file starts with GRIB2 data; a bulletin's heading may precede it.
    static func isGRIB(_ start: [UInt8]) -> Bool {
        let window = start.prefix(64)
        return window.indices.contains { window[$0...].starts(with: Array("GRIB".utf8)) }
    }

    /// The number of levels in one transaction, which limits the waiting time of other writers.
    private static let levelsPerBatch = 8
    /// The originating centre of NOAA's grids (common code table C-11).
    private static let ncep = 7

    /// The result of a file's messages so far.
    private struct FieldFile {
        var summary = ImportSummary()
        /// Levels of one source that are not stored yet.
        var drafts: [FieldLevelDraft] = []
        var source: SourceID?
        /// Whether the messages are marked as test data.
        var isSimulated = false
    }

    /// Imports a GRIB2 file, like `importFile`.
    func importFields(
        _ first: [UInt8], _ file: inout ImportFile, progress: (ImportFile.Progress, Int) -> Void
    ) async throws -> ImportSummary {
        let name = URL(filePath: file.path).lastPathComponent.lowercased()
        let stored = try await store.sources().lazy.compactMap(\.simulated).first
        var messages = GRIBMessages()
        var found = FieldFile()
        var piece: [UInt8]? = first
        while true {
            let items = if let piece { messages.read(piece) } else { messages.finish() }
            for item in items {
                switch item {
                case .refused(let refusal, let number, _):
                    found.summary.refuse(message: number, FieldReadingError.message(refusal.code).description)
                case .message(let message):
                    for place in message.fields.indices { try await importField(message, place, name, stored, &found) }
                }
            }
            progress(file.progress, found.summary.read)
            if piece == nil { break }
            piece = try file.next()
        }
        try await commit(&found, stored)
        return found.summary
    }

    private func importField(
        _ message: GRIBMessage, _ place: Int, _ name: String, _ stored: Bool?, _ found: inout FieldFile
    ) async throws {
        do {
            let header = message.fields[place]
            let level = try FieldReading.level(of: header)
            guard header.referenceSeconds <= now().seconds + FieldReading.futureSeconds else {
                throw FieldReadingError.inTheFuture
            }
            let run = Instant(clamping: header.referenceSeconds)
            guard
                let identity = FieldIdentity(
                    product: Self.product(header, name: name), run: run,
                    validTime: Instant(clamping: header.validSeconds))
            else { throw FieldReadingError.time }
            let grid: GridDefinition
            do { grid = try header.grid.definition() } catch { throw FieldReadingError.grid }
            let packed = try await work.run { try FieldReading.plane(message, field: place).packed() }
            let source = source ?? (header.centre == Self.ncep ? .noaaGuidance : .centre(header.centre))
            let isSimulated = header.productionStatus == .operationalTest
            // As with other files, a file alone can't make a database simulated.
            if isSimulated, stored == false || !(simulated ?? stored ?? false) {
                throw SimulatedDataError(source: nil)
            }
            if found.source != source || found.isSimulated != isSimulated
                || found.drafts.count >= Self.levelsPerBatch
            {
                try await commit(&found, stored)
            }
            found.source = source
            found.isSimulated = isSimulated
            found.drafts.append(FieldLevelDraft(identity: identity, grid: grid, level: level, packed: packed))
            found.summary.count(levelOf: identity.product.name)
        } catch FieldReadingError.parameter {
            // A file of GTG has three such messages for each EDR message.
            found.summary.omit(message: FieldReadingError.parameter.description)
        } catch let refusal as FieldReadingError {
            found.summary.refuse(message: message.number, refusal.description)
        }
    }

    /// The product of a field. It is a nowcast if the file's name says so. It also is one if its valid time equals its
    /// run, and it is packed like NOAA's nowcasts or lies between full hours. Otherwise it is a forecast.
    private static func product(_ header: GRIBHeader, name: String) -> FieldProduct {
        if name.contains(FieldProduct.nowcast.name) { return .nowcast }
        if name.contains(FieldProduct.forecast.name) || header.leadSeconds != 0 { return .forecast }
        return header.referenceSeconds % 3_600 != 0 || header.packing.kind == .jpeg2000 ? .nowcast : .forecast
    }

    private func commit(_ found: inout FieldFile, _ stored: Bool?) async throws {
        guard let source = found.source, !found.drafts.isEmpty else { return }
        let isSimulated = found.isSimulated || simulated == true || source.name.hasPrefix(SourceID.simulatorName)
        if isSimulated, stored == false { throw SimulatedDataError(source: source) }
        if !isSimulated, stored == true { throw SimulatedDataError(source: source, isReal: true) }
        var batch = Batch(source: source)
        batch.fields = found.drafts
        batch.registration = SourceRegistration([source], simulated: isSimulated)
        let result = try await store.commit(batch)
        found.summary.duplicates += found.drafts.count - result.fieldLevels
        found.drafts = []
    }
}

extension SourceID {
    /// The source name for imported NOAA grids.
    static let noaaGuidance: SourceID = {
        guard let id = SourceID(NOAAUpstream.kind) else { preconditionFailure("a name of letters and a hyphen") }
        return id
    }()

    /// The source name for imported grids of another centre.
    ///
    /// - Parameter number: of the originating centre, 0…65,535 (WMO common code table C-11; 98 is ECMWF).
    static func centre(_ number: Int) -> SourceID {
        guard let id = SourceID("centre-\(number)") else {
            preconditionFailure("a name of letters, digits and a hyphen")
        }
        return id
    }
}
