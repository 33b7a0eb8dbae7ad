package import AsyncHTTPClient
import BillowFields
package import BillowStore
import Datasets
import Foundation
import Geometry
package import NOAAGuidance
import Synchronization
package import Turbulence
import UpstreamKit

/// Fetches NOAA's turbulence grids, GTGN and GTG, into the store level by level.
///
/// A round requests the newest nowcast, and the available lead times of the newest run. A partial download is resumed,
/// even after a restart. An unusable message does not affect the others.
///
/// Source: docs/upstreams/noaa.md
package struct NOAAUpstream: Upstream {
    package let id: SourceID
    package static let kind = "noaa-gtg"
    package var kind: String { Self.kind }
    package let merge = MergeRule.keep
    package let simulated: Bool?
    private let plan: GuidancePlan
    private let configuration: GuidanceConfiguration
    private let httpClient: HTTPClient
    private let clock: GuidanceClock
    private let work: any ComputationExecutor
    /// Whether a part of a file may be stored before the rest.
    var storesPortions: Bool { plan.publication == .growing }
    let store: any Store
    private let session = GuidanceSession()

    /// The name of the stored ledger of bytes.
    private static let ledgerName = "budget"
    /// The most readings of a file with broken messages.
    private static let maximumAttempts = 3
    /// The shortest time between two stored portions of a slow download.
    private static let portionSeconds = 60
    private static let hour = 3_600

    /// - Parameters:
    ///   - httpClient: a client with `GuidanceClient.recommendedHTTPConfiguration`; the caller shuts it down.
    ///   - work: decodes and packs.
    package init(
        id: SourceID, configuration: GuidanceConfiguration, plan: GuidancePlan = GuidancePlan(),
        httpClient: HTTPClient, clock: GuidanceClock = .system, work: any ComputationExecutor, simulated: Bool?,
        store: any Store
    ) {
        self.id = id
        self.configuration = configuration
        self.plan = plan
        self.httpClient = httpClient
        self.clock = clock
        self.work = work
        self.simulated = simulated
        self.store = store
    }

    package var collections: [String] {
        let datasets = plan.products.flatMap { Catalogue.datasets(of: Dataset.Origin(kind, $0.rawValue)) }
        return Catalogue.all.filter(datasets.contains).map(\.id)
    }
    package var feeds: Set<FeedKind> { Catalogue.kinds(of: kind) }
    package var shortestInterval: Duration { .seconds(max(1, 3 * Int(configuration.spacing.components.seconds))) }

    package func resetCursors(of area: DataQuery.Area) async throws(SyncError) {
        let isRegistered = try await known(in: store) != nil
        session.state.withLock { state in
            state.cursors = [:]
            state.intakes = [:]
            state.held = []
            state.absent = []
        }
        guard isRegistered else { return }
        let names = GuidanceProduct.allCases.map { ($0.rawValue, String?.none) }
        try await commit(Batch(source: id, cursors: Dictionary(uniqueKeysWithValues: names)))
    }

    // MARK: - A round

    package func synchronise(now: Instant) async throws(SyncError) -> SyncOutcome {
        var outcome = SyncOutcome()
        do throws(SyncError) {
            try await round(now, &outcome)
        } catch {
            throw error.after(outcome)
        }
        return outcome
    }

    private func round(_ now: Instant, _ outcome: inout SyncOutcome) async throws(SyncError) {
        let client = try await prepare()
        var failure: SyncError?
        var isAnswered = false
        for step in steps {
            if Task.isCancelled { throw .cancelled }
            do throws(SyncError) {
                switch step {
                case .newestNowcast: try await fetchNewestNowcast(client, now, &outcome)
                case .forecasts: try await fetchForecasts(client, now, &outcome)
                case .pastNowcasts: try await fetchPastNowcasts(client, now, &outcome)
                }
                isAnswered = true
            } catch {
                // An unreadable product does not affect the other one. If the service is down or rejects further
                // requests, the round ends.
                failure = failure ?? error
                if !error.isAboutOneProduct { break }
            }
        }
        outcome.wasAnswered = isAnswered
        try await saveLedger(client, fetchedAt: isAnswered ? now : nil, isWhole: failure == nil)
        if let failure { throw failure.besides(answered: isAnswered) }
    }

    /// The steps of a round, in order of priority.
    private enum Step {
        case newestNowcast
        case forecasts
        case pastNowcasts
    }

    private var steps: [Step] {
        var steps = plan.products.map { $0 == .gtgn ? Step.newestNowcast : .forecasts }
        if plan.products.contains(.gtgn), plan.historySeconds > 0 { steps.append(.pastNowcasts) }
        return steps
    }

    /// Restores the client with the budget of earlier processes, and their progress.
    private func prepare() async throws(SyncError) -> GuidanceClient {
        if let client = session.state.withLock({ $0.cursors.isEmpty ? nil : $0.client }) { return client }
        let record = try await known(in: store)
        var values: [String: String] = [:]
        var cursors: [String: String] = [:]
        if record != nil {
            (values, cursors) = try await stored { [store, id] () async throws(StoreError) in
                (try await store.values(of: id), try await store.cursors(of: id))
            }
        }
        let ledger = values[Self.ledgerName].flatMap {
            try? JSONDecoder().decode(RequestBudget.Ledger.self, from: Data($0.utf8))
        }
        let known = session.state.withLock { $0.client }
        let client: GuidanceClient
        if let known {
            client = known
        } else {
            do throws(UpstreamError) {
                client = try GuidanceClient(
                    configuration: configuration, httpClient: httpClient, clock: clock,
                    resuming: ledger ?? RequestBudget.Ledger())
            } catch { throw SyncError(error) }
        }
        session.state.withLock { state in
            state.client = client
            state.ledger = ledger
            // A source without cursors may be known by a block alone. Then its first response decides whether its data
            // is simulated, and not the other sources of the store.
            state.isRegistered = record?.simulated != nil && !cursors.isEmpty
            for product in GuidanceProduct.allCases {
                state.cursors[product] = GuidanceCursor(cursors[product.rawValue], plan)
            }
        }
        return client
    }

    /// Stores the ledger and the time of the request. A block is stored even before the first response, so that
    /// restarts don't send more requests to a service that blocks this address.
    private func saveLedger(_ client: GuidanceClient, fetchedAt: Instant?, isWhole: Bool) async throws(SyncError) {
        let ledger = client.budget.ledger
        let (isRegistered, isNew) = session.state.withLock { ($0.isRegistered, $0.ledger != ledger) }
        guard isNew || fetchedAt != nil else { return }
        if !isRegistered {
            let isKnown = try await known(in: store) != nil
            guard isKnown || ledger.blocks > 0 else { return }
            _ = try await stored { [store, id, merge] () async throws(StoreError) in
                try await store.register(id, merge: merge, simulated: nil)
            }
        }
        var batch = Batch(source: id, values: values(client), fetchedAt: isWhole ? fetchedAt : nil)
        if let fetchedAt { batch.fetchedKinds = [.fields: fetchedAt] }
        try await commit(batch)
        session.state.withLock { $0.ledger = ledger }
    }

    private func values(_ client: GuidanceClient) -> [String: String?] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        // Can't fail: a ledger is four numbers.
        guard let data = try? encoder.encode(client.budget.ledger) else { return [:] }
        return [Self.ledgerName: String(decoding: data, as: UTF8.self)]
    }

    private func cursor(_ product: GuidanceProduct) -> GuidanceCursor {
        session.state.withLock { $0.cursors[product] } ?? GuidanceCursor(plan)
    }

    /// Whether a file is complete.
    private func isDone(_ file: GuidanceFile) -> Bool {
        session.state.withLock { $0.cursors[file.product]?.isComplete(file) == true || $0.held.contains(file) }
    }

    private func withSyncErrors<Value>(
        _ body: () async throws(UpstreamError) -> Value
    ) async throws(SyncError) -> Value {
        do throws(UpstreamError) { return try await body() } catch { throw SyncError(error) }
    }

    // MARK: - Selection of files

    private func fetchNewestNowcast(
        _ client: GuidanceClient, _ now: Instant, _ outcome: inout SyncOutcome
    ) async throws(SyncError) {
        let newestKnown = cursor(.gtgn).newestRun(leadHours: [0])
        let search = try await withSyncErrors { () async throws(UpstreamError) in
            try await client.newest(.gtgn, afterRun: newestKnown)
        }
        if let newest = search.newest { _ = try await download(newest, client, now, &outcome) }
    }

    private func fetchPastNowcasts(
        _ client: GuidanceClient, _ now: Instant, _ outcome: inout SyncOutcome
    ) async throws(SyncError) {
        guard let latest = cursor(.gtgn).newestRun(leadHours: [0]) else { return }
        let past = GuidanceProduct.gtgn.candidates(
            nowSeconds: clock.nowSeconds, afterRun: clock.nowSeconds - plan.historySeconds)
        for file in past where file.runSeconds < latest && !isDone(file) {
            guard !session.state.withLock({ $0.absent.contains(file) }) else { continue }
            if Task.isCancelled { throw .cancelled }
            if try await download(file, client, now, &outcome) == .absent {
                _ = session.state.withLock { $0.absent.insert(file) }
            }
        }
    }

    private func fetchForecasts(
        _ client: GuidanceClient, _ now: Instant, _ outcome: inout SyncOutcome
    ) async throws(SyncError) {
        guard let first = plan.leadHours.first else { return }
        let newestWhole = cursor(.gtg).newestRun(leadHours: plan.leadHours)
        let search = try await withSyncErrors { () async throws(UpstreamError) in
            try await client.newest(.gtg, leadHours: first, afterRun: newestWhole)
        }
        guard let run = search.newest?.runSeconds else { return }
        let isWhole = try await fetch(run: run, plan.leadHours, client, now, &outcome)
        let before = run - Self.hour
        guard !isWhole, newestWhole.map({ before > $0 }) ?? true else { return }
        // Until the newest run is available, the previous one supplies its lead times.
        let present = plan.leadHours.filter { lead in
            GuidanceFile(product: .gtg, runSeconds: run, leadHours: lead).map(isDone) ?? true
        }
        let covered = Set(present.map { run + $0 * Self.hour })
        let lacking = plan.leadHours.filter { lead in
            let valid = before + lead * Self.hour
            return plan.publication == .whole || valid > now.seconds && !covered.contains(valid)
        }
        _ = try await fetch(run: before, lacking, client, now, &outcome)
    }

    /// Fetches the available lead times of a run.
    ///
    /// - Returns: whether all lead times are complete.
    private func fetch(
        run: Int, _ leadHours: [Int], _ client: GuidanceClient, _ now: Instant, _ outcome: inout SyncOutcome
    ) async throws(SyncError) -> Bool {
        func file(_ lead: Int) -> GuidanceFile? {
            GuidanceFile(product: .gtg, runSeconds: run, leadHours: lead)
        }
        let missing = leadHours.filter { lead in file(lead).map { !isDone($0) } ?? false }
        guard !missing.isEmpty else { return true }
        let states = try await withSyncErrors { () async throws(UpstreamError) in
            try await client.leads(of: .gtg, runSeconds: run, leadHours: missing)
        }
        let present = missing.filter { states[$0] == .present }
        guard plan.publication == .growing || present.count == missing.count else { return false }
        var isWhole = present.count == missing.count
        for file in present.compactMap(file) {
            if Task.isCancelled { throw .cancelled }
            let ending = try await download(file, client, now, &outcome)
            isWhole = isWhole && ending == .whole
        }
        return isWhole
    }

    // MARK: - One file

    private enum RoundEnd {
        case whole
        case absent
        /// The rest is fetched later.
        case partial
    }

    private func download(
        _ file: GuidanceFile, _ client: GuidanceClient, _ now: Instant, _ outcome: inout SyncOutcome
    ) async throws(SyncError) -> RoundEnd {
        guard let intake = try await intake(file) else { return .absent }
        await intake.begin()
        let follower = DownloadFollower(self, intake, client, every: Self.portionSeconds)
        let download = GuidanceDownload(file, plan.selection(of: file.product), progress: await intake.progress)
        var ended: GuidanceOutcome?
        var failure: SyncError?
        do throws(UpstreamError) {
            ended = try await client.download(download) { event in await follower.note(event) }
        } catch { failure = SyncError(error) }
        failure = await intake.failure ?? failure
        outcome.skipped.merge(await intake.skipped, uniquingKeysWith: +)
        var isComplete = failure == nil && ended?.ending == .whole
        if isComplete, await intake.brokenFrames > 0 {
            // The server may have sent them damaged, so the file is read again a few times.
            await intake.noteBrokenReading()
            isComplete = await intake.attempts >= Self.maximumAttempts
        }
        if isComplete { try await finish(intake) }
        do throws(SyncError) {
            try await publish(intake, completedAt: isComplete ? now : nil, client, &outcome)
        } catch { failure = failure ?? error }
        await outcome.add(follower.outcome)
        if let failure { throw failure }
        return isComplete ? .whole : ended?.ending == .absent ? .absent : .partial
    }

    /// The intake of a file, with its previous progress.
    private func intake(_ file: GuidanceFile) async throws(SyncError) -> GuidanceIntake? {
        if let known = session.state.withLock({ $0.intakes[file] }) { return known }
        let open = cursor(file.product).open(file)
        let stored = open == nil ? [] : try await storedLevels(of: file).map(\.level)
        let clock = clock
        let intake = GuidanceIntake(
            file, resuming: open, stored: Set(stored), plan: plan, work: work,
            now: { Instant(clamping: clock.nowSeconds) })
        session.state.withLock { $0.intakes[file] = intake }
        return intake
    }

    /// Reads levels from the store that an earlier process wrote, and computes the column.
    private func finish(_ intake: GuidanceIntake) async throws(SyncError) {
        let lacking = await intake.lackingInColumn
        if !lacking.isEmpty {
            for (level, plane, grid) in try await planes(of: intake.file, lacking) {
                await intake.addStored(plane, level, grid: grid)
            }
        }
        await intake.finish()
    }

    /// Stores the levels of a file, or withholds them until the rest of its run is available.
    private func publish(
        _ intake: GuidanceIntake, completedAt: Instant?, _ client: GuidanceClient, _ outcome: inout SyncOutcome
    ) async throws(SyncError) {
        let file = intake.file
        guard plan.publication == .whole else {
            try await commit([intake], completedAt: completedAt, client, &outcome)
            return
        }
        guard let completedAt else { return }
        guard file.product == .gtg else {
            try await commit([intake], completedAt: completedAt, client, &outcome)
            return
        }
        let run = session.state.withLock { state -> [GuidanceIntake]? in
            state.held.insert(file)
            let files = plan.leadHours.compactMap {
                GuidanceFile(product: .gtg, runSeconds: file.runSeconds, leadHours: $0)
            }
            guard state.held.isSuperset(of: files) else { return nil }
            return files.compactMap { state.intakes[$0] }
        }
        guard let run else { return }
        try await commit(run, completedAt: completedAt, client, &outcome)
    }

    /// Stores the levels and the progress of some files in one transaction.
    ///
    /// - Parameter completedAt: the time of a round that has all of them; nil if any is incomplete. A first round takes
    ///   minutes, so the first complete file already counts as a fetch of the source.
    func commit(
        _ intakes: [GuidanceIntake], completedAt: Instant?, _ client: GuidanceClient, _ outcome: inout SyncOutcome
    ) async throws(SyncError) {
        guard session.state.withLock({ $0.isRegistered }), let product = intakes.first?.file.product else { return }
        var cursor = cursor(product)
        var batch = Batch(source: id, values: values(client))
        for intake in intakes {
            batch.fields += await intake.drafts
            if completedAt != nil { cursor.noteComplete(intake.file) } else { cursor.note(await intake.open) }
        }
        if product == .gtgn, let run = intakes.first?.file.runSeconds {
            cursor.removePartialDownloads(beforeRun: run - GuidancePlan.longestHistorySeconds)
        } else if let run = intakes.first?.file.runSeconds {
            cursor.removePartialDownloads(beforeRun: run - 2 * Self.hour)
        }
        batch.cursors = [product.rawValue: cursor.text]
        if let completedAt { batch.fetchedKinds = [.fields: completedAt] }
        let count = batch.fields.count
        let result = try await commit(batch)
        outcome.accepted += result.fieldLevels
        outcome.duplicates += count - result.fieldLevels
        for intake in intakes { await intake.stored() }
        session.state.withLock { state in
            state.cursors[product] = cursor
            state.ledger = client.budget.ledger
            guard completedAt != nil else { return }
            for intake in intakes {
                state.intakes[intake.file] = nil
                state.held.remove(intake.file)
            }
        }
        removeExpired(product, before: intakes.map(\.file.runSeconds).min() ?? 0)
    }

    /// Removes partly read files that no round will resume.
    private func removeExpired(_ product: GuidanceProduct, before run: Int) {
        let oldest = run - (product == .gtgn ? GuidancePlan.longestHistorySeconds : 2 * Self.hour)
        session.state.withLock { state in
            state.intakes = state.intakes.filter { $0.key.product != product || $0.key.runSeconds >= oldest }
            state.held = state.held.filter { $0.product != product || $0.runSeconds >= oldest }
            state.absent = state.absent.filter { $0.product != product || $0.runSeconds >= oldest }
        }
    }

    /// Registers the source as real or simulated, according to the response.
    func register(answerIsSimulated: Bool) async throws(SyncError) {
        guard !session.state.withLock({ $0.isRegistered }) else { return }
        try await register(in: store, answerIsSimulated: answerIsSimulated, from: configuration.baseURL)
        session.state.withLock { $0.isRegistered = true }
    }

    // MARK: - The store

    /// Writes a batch even if the round is cancelled, so that received data isn't downloaded again.
    @discardableResult
    private func commit(_ batch: Batch) async throws(SyncError) -> BatchResult {
        let store = store
        let task = Task { () async -> Result<BatchResult, StoreError> in
            do throws(StoreError) { return .success(try await store.commit(batch)) } catch { return .failure(error) }
        }
        return try await stored { () async throws(StoreError) in try await task.value.get() }
    }

    private func frame(of file: GuidanceFile) async throws(SyncError) -> (FieldFrame, [Int64: GridDefinition])? {
        let fields = try await stored { [store] () async throws(StoreError) in try await store.fields(asOf: nil) }
        let frame = fields.index.frames.first { frame in
            frame.source == id && frame.identity.product == file.product.field
                && frame.identity.run.seconds == file.runSeconds
                && frame.identity.validTime.seconds == file.validSeconds
        }
        return frame.map { ($0, fields.grids) }
    }

    private func storedLevels(of file: GuidanceFile) async throws(SyncError) -> [FieldLevelRecord] {
        try await frame(of: file)?.0.levels ?? []
    }

    private func planes(
        of file: GuidanceFile, _ levels: Set<FieldLevel>
    ) async throws(SyncError) -> [(FieldLevel, FieldPlane, GridDefinition)] {
        guard let (frame, grids) = try await frame(of: file), let grid = grids[frame.grid] else { return [] }
        var planes: [(FieldLevel, FieldPlane, GridDefinition)] = []
        for record in frame.levels where levels.contains(record.level) {
            let row = record.row
            let packed = try await stored { [store] () async throws(StoreError) in
                try await store.packedFieldPlane(row: row)
            }
            // An unreadable level is left out, and then there is no column.
            guard let packed, let plane = try? await work.run({ try FieldPlane(packed: packed) }) else { continue }
            planes.append((record.level, plane, grid))
        }
        return planes
    }
}
