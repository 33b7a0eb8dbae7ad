import BillowExchange
import BillowFields
import BillowStore
import Foundation
import GRIBKit
import Geometry
import Turbulence

/// Imports GRIB2 files: EDR grids of any model. Memory is bounded by one message, its values and 256 packed levels,
/// whatever the file's length.
///
/// All levels of a field have one grid. It is that of the stored levels, or else that of most levels in the file, so
/// that a single message of another grid does not displace the others.
extension FileImporter {
    /// Whether a file starts with GRIB2 data; a bulletin's heading may precede it.
    static func isGRIB(_ start: [UInt8]) -> Bool {
        let window = start.prefix(64)
        return window.indices.contains { window[$0...].starts(with: Array("GRIB".utf8)) }
    }

    /// The number of levels in one transaction, which limits the waiting time of other writers.
    private static let levelsPerBatch = 8
    /// The number of levels that wait for the grid of most of them. A field of GTG has 52; each has some 70 kB.
    private static let waitingLevels = 256
    /// The originating centre of NOAA's grids (common code table C-11).
    private static let ncep = 7

    /// The result of a file's messages so far.
    private struct FieldFile {
        var summary = ImportSummary()
        /// Levels that are not stored yet.
        var waiting: [WaitingLevel] = []
        /// The grids of the fields of which levels are stored.
        var grids: [FieldKey: GridDefinition] = [:]
    }

    /// A field of a source.
    private struct FieldKey: Hashable {
        var source: SourceID
        var identity: FieldIdentity
        /// Whether the messages are marked as test data.
        var isSimulated: Bool
    }

    /// A level that is not stored yet, with the number of its message.
    private struct WaitingLevel {
        var field: FieldKey
        var draft: FieldLevelDraft
        var message: Int
    }

    /// Imports a GRIB2 file, like `importFile`.
    func importFields(
        _ first: [UInt8], _ file: inout ImportFile, progress: (ImportFile.Progress, Int) -> Void
    ) async throws -> ImportSummary {
        let name = URL(filePath: file.path).lastPathComponent.lowercased()
        let stored = try await store.sources().lazy.compactMap(\.simulated).first
        var messages = GRIBMessages()
        var found = FieldFile()
        try await readStoredGrids(&found)
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
            found.waiting.append(
                WaitingLevel(
                    field: FieldKey(source: source, identity: identity, isSimulated: isSimulated),
                    draft: FieldLevelDraft(identity: identity, grid: grid, level: level, packed: packed),
                    message: message.number))
            if found.waiting.count >= Self.waitingLevels { try await commit(&found, stored) }
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

    /// Reads the grids of all stored fields.
    private func readStoredGrids(_ found: inout FieldFile) async throws(StoreError) {
        let stored = try await store.fields(asOf: nil)
        for frame in stored.index.frames {
            guard let grid = stored.grids[frame.grid] else { continue }
            for isSimulated in [false, true] {
                let key = FieldKey(source: frame.source, identity: frame.identity, isSimulated: isSimulated)
                found.grids[key] = grid
            }
        }
    }

    /// Stores the waiting levels, field by field, and refuses those of another grid than their field's.
    private func commit(_ found: inout FieldFile, _ stored: Bool?) async throws {
        let fields = Dictionary(grouping: found.waiting, by: \.field).values.sorted { $0[0].message < $1[0].message }
        found.waiting = []
        for levels in fields {
            let field = levels[0].field
            let grid = found.grids[field] ?? Self.mostFrequentGrid(levels)
            let fitting = levels.filter { $0.draft.grid == grid }
            for level in levels where level.draft.grid != grid {
                found.summary.refuse(message: level.message, FieldReadingError.grid.description)
            }
            for start in stride(from: 0, to: fitting.count, by: Self.levelsPerBatch) {
                let drafts = fitting[start..<min(start + Self.levelsPerBatch, fitting.count)].map(\.draft)
                try await commit(drafts, of: field, stored, &found.summary)
            }
            found.grids[field] = grid
        }
    }

    /// The grid of most levels; of equally many, that of the earliest message.
    private static func mostFrequentGrid(_ levels: [WaitingLevel]) -> GridDefinition? {
        let counts = levels.reduce(into: [GridDefinition: Int]()) { $0[$1.draft.grid, default: 0] += 1 }
        let most = counts.values.max()
        return levels.first { counts[$0.draft.grid] == most }?.draft.grid
    }

    private func commit(
        _ drafts: [FieldLevelDraft], of field: FieldKey, _ stored: Bool?, _ summary: inout ImportSummary
    ) async throws {
        let source = field.source
        let isSimulated = field.isSimulated || simulated == true || source.name.hasPrefix(SourceID.simulatorName)
        if isSimulated, stored == false { throw SimulatedDataError(source: source) }
        if !isSimulated, stored == true { throw SimulatedDataError(source: source, isReal: true) }
        var batch = Batch(source: source)
        batch.fields = drafts
        batch.registration = SourceRegistration([source], simulated: isSimulated)
        let result = try await store.commit(batch)
        for draft in drafts { summary.count(levelOf: draft.identity.product.name) }
        summary.duplicates += drafts.count - result.fieldLevels
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
