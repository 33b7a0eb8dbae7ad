import BillowFields
import GRIBKit
import Geometry
import NOAAGuidance
import Turbulence

/// What one file has brought: its levels as they come, decoded and packed, until they are stored.
actor GuidanceIntake {
    let file: GuidanceFile
    private let identity: FieldIdentity
    private let plan: GuidancePlan
    private let work: any LongWork
    private let now: @Sendable () -> Instant
    private(set) var progress: GuidanceProgress
    private(set) var attempts: Int
    /// Packed, and not stored yet.
    private(set) var drafts: [FieldLevelDraft] = []
    /// Levels that are stored or drafts.
    private var known: Set<FieldLevel>
    /// Levels that the present reading of the file had.
    private var read: Set<FieldLevel> = []
    /// The maximum of the nowcast's levels, and those that it is of.
    private var column: FieldPlane?
    private var columnLevels: Set<FieldLevel> = []
    private var grid: GridDefinition?
    private(set) var skipped: [SkipReason: Int] = [:]
    /// Messages of the present reading that weren't whole: another reading may bring them.
    private(set) var brokenFrames = 0
    /// Ends the download.
    private(set) var failure: SyncError?

    /// - Parameter stored: the levels of the file that the store has.
    /// - Returns: nil for a file that no field can be of.
    init?(
        _ file: GuidanceFile, resuming open: GuidanceCursor.Open?, stored: Set<FieldLevel>, plan: GuidancePlan,
        work: any LongWork, now: @escaping @Sendable () -> Instant
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

    /// What the store keeps of it across a restart.
    var open: GuidanceCursor.Open { GuidanceCursor.Open(file: file, progress: progress, attempts: attempts) }

    /// Another reading of the file begins: nothing of it is refused yet.
    func begin() {
        skipped = [:]
        brokenFrames = 0
        failure = nil
    }

    /// Notes a reading with broken messages. Without an index nothing but the file's beginning leads to them again.
    func noteBrokenReading() {
        attempts += 1
        guard progress.keys.isEmpty else { return }
        progress = GuidanceProgress()
        read = []
    }

    func fail(_ error: SyncError) { failure = error }

    /// What was given to the store is kept no longer.
    func stored() { drafts = [] }

    // MARK: What comes

    func note(_ event: GuidanceEvent) async -> GuidanceStep {
        switch event {
        case .began(let plan):
            if plan.startsOver { dropVersion() }
            let lines = plan.refusedLines.values.reduce(0, +)
            if lines > 0 { skipped[.field(.indexLine), default: 0] += lines }
        case .refused(let refusal, _, _):
            skip(.frame(refusal.code))
            brokenFrames += 1
        case .message(let message): await take(message)
        }
        // Behind the message: a reading that goes on elsewhere has what it says.
        progress.note(event)
        return failure == nil && !Task.isCancelled ? .goOn : .stop
    }

    /// The file was replaced by another version. What is stored of the first stays.
    private func dropVersion() {
        known.subtract(drafts.map(\.level))
        drafts = []
        read = []
        column = nil
        columnLevels = []
    }

    private func skip(_ refusal: FieldRefusal) { skipped[.field(refusal), default: 0] += 1 }

    private func take(_ message: GuidanceMessage) async {
        for item in GRIBMessages.items(in: message.bytes) {
            switch item {
            case .refused(let refusal, _, _): skip(.message(refusal.code))
            case .message(let found):
                for place in found.fields.indices {
                    do throws(FieldRefusal) { try await take(found, place, message.keys) } catch { skip(error) }
                }
            }
        }
    }

    private func take(
        _ message: GRIBMessage, _ place: Int, _ keys: [GuidanceMessageKey]
    ) async throws(FieldRefusal) {
        let header = message.fields[place]
        let level = try FieldReading.level(of: header)
        guard header.referenceSeconds <= now().seconds + FieldReading.futureSeconds else { throw .inTheFuture }
        guard header.referenceSeconds == file.runSeconds, header.validSeconds == file.validSeconds else { throw .time }
        let isWanted = plan.messageLevels(of: file.product).contains(level)
        // Without an index the whole file comes.
        guard isWanted else {
            if keys.isEmpty { return }
            throw .level
        }
        let grid: GridDefinition
        do throws(GRIBRefusal) { grid = try header.grid.definition() } catch { throw .message(error.code) }
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
            if let refusal = error as? FieldRefusal { throw refusal }
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

    /// Levels of the column that were stored by an earlier process, and are to be read back.
    var lackingInColumn: Set<FieldLevel> {
        guard file.product == .gtgn, plan.hasColumn, !known.contains(.column) else { return [] }
        return known.subtracting(columnLevels)
    }

    /// Adds a level that was read back.
    func addStored(_ plane: FieldPlane, _ level: FieldLevel, grid: GridDefinition) async {
        guard plane.width == grid.columns, plane.height == grid.rows, self.grid == nil || self.grid == grid else {
            return
        }
        self.grid = grid
        await addToColumn(plane, level)
    }

    /// Makes the column of all levels, once there is none that it lacks: a maximum of some would look smoother than the
    /// air is.
    func finish() async {
        guard file.product == .gtgn, plan.hasColumn, !known.contains(.column), let column, let grid,
            columnLevels == plan.messageLevels(of: file.product)
        else { return }
        // What can't be packed is cancelled.
        guard let packed = try? await work.run({ column.packed() }) else { return }
        known.insert(.column)
        drafts.append(FieldLevelDraft(identity: identity, grid: grid, level: .column, packed: packed))
    }
}
