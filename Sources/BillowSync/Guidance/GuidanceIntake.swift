import BillowFields
import GRIBKit
import Geometry
import NOAAGuidance
import Turbulence

/// Decodes and packs the levels of one file as they arrive, until they are stored.
actor GuidanceIntake {
    let file: GuidanceFile
    private let identity: FieldIdentity
    private let plan: GuidancePlan
    private let work: any ComputationExecutor
    private let now: @Sendable () -> Instant
    private(set) var progress: GuidanceProgress
    private(set) var attempts: Int
    /// Packed levels that are not stored yet.
    private(set) var drafts: [FieldLevelDraft] = []
    /// Levels that are stored or drafts.
    private var known: Set<FieldLevel>
    /// Levels in the current reading of the file.
    private var read: Set<FieldLevel> = []
    /// The maximum of the nowcast's levels, and the levels that it includes.
    private var column: FieldPlane?
    private var columnLevels: Set<FieldLevel> = []
    private var grid: GridDefinition?
    private(set) var skipped: [SkipReason: Int] = [:]
    /// The number of incomplete messages in the current reading; another reading may complete them.
    private(set) var brokenFrames = 0
    /// An error that ends the download.
    private(set) var failure: SyncError?

    /// - Parameter stored: the file's levels in the store.
    /// - Returns: nil for a file that can't identify a field.
    init?(
        _ file: GuidanceFile, resuming open: GuidanceCursor.PartialDownload?, stored: Set<FieldLevel>,
        plan: GuidancePlan,
        work: any ComputationExecutor, now: @escaping @Sendable () -> Instant
    ) {
        guard
            let identity = FieldIdentity(
                product: file.product.field, run: Instant(clamping: file.runSeconds),
                validTime: Instant(clamping: file.validSeconds))
        else { return nil }
        self.file = file
        self.identity = identity
        self.plan = plan
        self.work = work
        self.now = now
        progress = open?.progress ?? GuidanceProgress()
        attempts = open?.attempts ?? 0
        known = stored
    }

    /// The state that is stored across a restart.
    var open: GuidanceCursor.PartialDownload {
        GuidanceCursor.PartialDownload(file: file, progress: progress, attempts: attempts)
    }

    /// Starts another reading of the file and resets its counts.
    func begin() {
        skipped = [:]
        brokenFrames = 0
        failure = nil
    }

    /// Records a reading with broken messages. Without an index the file must be read from its start again.
    func noteBrokenReading() {
        attempts += 1
        guard progress.keys.isEmpty else { return }
        progress = GuidanceProgress()
        read = []
    }

    func fail(_ error: SyncError) { failure = error }

    /// Releases levels that were written to the store.
    func stored() { drafts = [] }

    // MARK: Events

    func note(_ event: GuidanceEvent) async -> GuidanceStep {
        switch event {
        case .began(let plan):
            if plan.startsOver { dropVersion() }
            let lines = plan.refusedLines.values.reduce(0, +)
            if lines > 0 { skipped[.field(.indexLine), default: 0] += lines }
        case .refused(let refusal, _, _):
            skip(.frame(refusal.code))
            brokenFrames += 1
        case .message(let message): await decode(message)
        }
        // Progress is noted after the message, so that a reading that resumes later skips it.
        progress.note(event)
        return failure == nil && !Task.isCancelled ? .goOn : .stop
    }

    /// Handles the replacement of the file by another version. Stored levels of the previous version stay.
    private func dropVersion() {
        known.subtract(drafts.map(\.level))
        drafts = []
        read = []
        column = nil
        columnLevels = []
    }

    private func skip(_ refusal: FieldReadingError) { skipped[.field(refusal), default: 0] += 1 }

    private func decode(_ message: GuidanceMessage) async {
        for item in GRIBMessages.items(in: message.bytes) {
            switch item {
            case .refused(let refusal, _, _): skip(.message(refusal.code))
            case .message(let found):
                for place in found.fields.indices {
                    do throws(FieldReadingError) { try await decode(found, place, message.keys) } catch { skip(error) }
                }
            }
        }
    }

    private func decode(
        _ message: GRIBMessage, _ place: Int, _ keys: [GuidanceMessageKey]
    ) async throws(FieldReadingError) {
        let header = message.fields[place]
        let level = try FieldReading.level(of: header)
        guard header.referenceSeconds <= now().seconds + FieldReading.futureSeconds else { throw .inTheFuture }
        guard header.referenceSeconds == file.runSeconds, header.validSeconds == file.validSeconds else { throw .time }
        let isWanted = plan.messageLevels(of: file.product).contains(level)
        // Without an index, the whole file is downloaded, including unwanted levels.
        guard isWanted else {
            if keys.isEmpty { return }
            throw .level
        }
        let grid: GridDefinition
        do throws(GRIBError) { grid = try header.grid.definition() } catch { throw .message(error.code) }
        guard self.grid == nil || self.grid == grid else { throw .grid }
        guard read.insert(level).inserted else { throw .duplicate }
        let isColumnMember = file.product == .gtgn && plan.hasColumn
        if known.contains(level), !isColumnMember || columnLevels.contains(level) { return }
        let decoded: (plane: FieldPlane, packed: [UInt8])
        do {
            decoded = try await work.run {
                let plane = try FieldReading.plane(message, field: place)
                return (plane, plane.packed())
            }
        } catch {
            if let refusal = error as? FieldReadingError { throw refusal }
            failure = .cancelled
            return
        }
        self.grid = grid
        if isColumnMember { await addToColumn(decoded.plane, level) }
        guard known.insert(level).inserted else { return }
        drafts.append(FieldLevelDraft(identity: identity, grid: grid, level: level, packed: decoded.packed))
    }

    // MARK: The nowcast's column

    private func addToColumn(_ plane: FieldPlane, _ level: FieldLevel) async {
        columnLevels.insert(level)
        guard var maximum = column else {
            column = plane
            return
        }
        column = nil
        maximum.formMaximum(with: plane)
        column = maximum
    }

    /// Levels of the column that an earlier process stored, and that must be read from the store.
    var lackingInColumn: Set<FieldLevel> {
        guard file.product == .gtgn, plan.hasColumn, !known.contains(.column) else { return [] }
        return known.subtracting(columnLevels)
    }

    /// Adds a level that was read from the store.
    func addStored(_ plane: FieldPlane, _ level: FieldLevel, grid: GridDefinition) async {
        guard plane.width == grid.columns, plane.height == grid.rows, self.grid == nil || self.grid == grid else {
            return
        }
        self.grid = grid
        await addToColumn(plane, level)
    }

    /// Computes the column once all its levels are known: a maximum of some levels would look smoother than the air is.
    func finish() async {
        guard file.product == .gtgn, plan.hasColumn, !known.contains(.column), let column, let grid,
            columnLevels == plan.messageLevels(of: file.product)
        else { return }
        // The only error is a cancellation.
        guard let packed = try? await work.run({ column.packed() }) else { return }
        known.insert(.column)
        drafts.append(FieldLevelDraft(identity: identity, grid: grid, level: .column, packed: packed))
    }
}
