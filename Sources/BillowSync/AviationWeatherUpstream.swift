package import AviationWeather
import Datasets
import BillowExchange
package import BillowStore
import Foundation
import Synchronization
package import Turbulence
package import UpstreamKit

/// Fetches pilot reports and hazards from the US Aviation Weather Center into the store.
///
/// A round sends the due requests: one per product and minute, conditional, so that unchanged data costs no body.
/// Reports become observations in the hexagon of their position. SIGMETs and G-AIRMETs become hazard areas; an area
/// ends when a complete response no longer contains it.
package struct AviationWeatherUpstream: Upstream {
    /// A product, by the service's own name.
    package struct Product: RawRepresentable, Sendable, Hashable {
        package let rawValue: String
        /// The datasets that its records become.
        let datasets: [Dataset]

        /// nil for a product that no dataset uses.
        package init?(rawValue: String) {
            guard Self.names.contains(rawValue) else { return nil }
            self.init(name: rawValue)
        }

        private init(name: String) {
            rawValue = name
            datasets = Catalogue.datasets(of: Dataset.Origin(AviationWeatherUpstream.kind, name))
        }

        package static func == (a: Product, b: Product) -> Bool { a.rawValue == b.rawValue }
        package func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

        private static let names = Catalogue.types(of: AviationWeatherUpstream.kind)
        /// All products that datasets use.
        package static let all = names.map { Product(name: $0) }
        /// Pilot reports by area, in order of priority.
        package static let pilotReports = Product(name: Dataset.Origin.aircraftReports.type)
        package static let sigmets = Product(name: HazardProduct.sigmet.endpoint)
        package static let internationalSigmets = Product(name: HazardProduct.isigmet.endpoint)
        /// Forecasts for several coming hours.
        package static let gairmets = Product(name: HazardProduct.gairmet.endpoint)

        /// The kinds of data that its records become.
        package var feeds: Set<FeedKind> { Set(datasets.map(\.kind)) }

        /// The product of its hazards; nil for pilot reports.
        var hazards: HazardProduct? { Catalogue.hazardProducts.first { $0.endpoint == rawValue } }
    }

    package let id: SourceID
    package static let kind = "aviationweather"
    package var kind: String { Self.kind }
    package let merge = MergeRule.keep
    package let simulated: Bool?
    private let client: AviationWeatherClient
    private let products: [Product]
    private let store: any Store
    private let retentionSeconds: Int
    private let spacingSeconds: Int
    private let progress: Progress
    /// The areas for pilot reports; empty for the default areas.
    private let areas: [GeographicBox]

    /// State between rounds, in memory only: after a restart all requests are unconditional.
    private final class Progress: Sendable {
        struct ScheduleState {
            var schedule: AviationWeatherSchedule
            var gairmets = GairmetForecasts()
            /// The products whose last response was empty.
            var empty: Set<Product> = []
            /// The first round after a gap in pilot reports; nil once all areas were requested again.
            var resumedAt: Instant?
        }

        let state: Mutex<ScheduleState>

        init(_ schedule: AviationWeatherSchedule) { state = Mutex(ScheduleState(schedule: schedule)) }
    }

    /// The hours of reports in a request: at first the longest history, later enough for late reports.
    private static let firstAgeHours = 6
    private static let ageHours = 2
    /// An area without a response for this long is requested as if for the first time.
    private static let gapSeconds = 3_600
    /// Observations further in the future than this are rejected, because a clock is wrong.
    private static let futureSeconds = 300

    /// The contiguous US, then the surrounding oceans and countries, where most reports come from.
    package static let defaultAreas: [GeographicBox] = [
        (-130.0, 20.0, -60.0, 55.0), (-180, 10, -130, 75), (-130, 55, -60, 85), (-100, -10, -60, 20),
        (-60, 0, -10, 75), (-10, 0, 60, 75), (120, -10, 180, 60), (60, -10, 120, 60), (-180, -60, -60, -10),
        (-60, -60, 180, -10),
    ].compactMap { GeographicBox(west: $0.0, south: $0.1, east: $0.2, north: $0.3) }

    /// - Parameters:
    ///   - areas: the areas for pilot reports, in order of priority.
    ///   - spacingSeconds: the time between two requests for one product; less than 60 is for simulators only.
    package init(
        id: SourceID, client: AviationWeatherClient, products: [Product] = Product.all,
        areas: [GeographicBox] = AviationWeatherUpstream.defaultAreas, spacingSeconds: Int = 60, simulated: Bool?,
        store: any Store, retentionSeconds: Int
    ) {
        self.id = id
        self.client = client
        self.products = products
        self.simulated = simulated
        self.store = store
        self.retentionSeconds = retentionSeconds
        self.spacingSeconds = spacingSeconds
        self.areas = areas == Self.defaultAreas ? [] : areas
        progress = Progress(
            AviationWeatherSchedule(products: products, areas: areas, spacingSeconds: spacingSeconds))
    }

    package var collections: [String] { collections(of: products) }

    private func collections(of products: [Product]) -> [String] {
        Catalogue.all.filter { dataset in products.contains { $0.datasets.contains(dataset) } }.map(\.id)
    }

    /// The spacing of requests, because no product is due more often.
    package var shortestInterval: Duration { .seconds(max(1, spacingSeconds)) }
    package var feeds: Set<FeedKind> { Set(products.flatMap(\.feeds)) }

    package func parts(of area: DataQuery.Area, at now: Instant) -> Set<SourceState.AreaCollection> {
        parts(of: collections(of: products.filter { !due($0, at: now).isEmpty }))
    }

    /// The requests for a product that are due.
    private func due(_ product: Product, at now: Instant) -> [AviationWeatherSchedule.ScheduledCall] {
        progress.state.withLock { $0.schedule.due(product, at: now) }
    }

    package func resetCursors(of area: DataQuery.Area) async throws(SyncError) {
        progress.state.withLock { $0.schedule.resetResponses() }
    }

    // MARK: - A round

    package func synchronise(now: Instant) async throws(SyncError) -> SyncOutcome {
        var outcome = SyncOutcome()
        do throws(SyncError) {
            try await round(now, &outcome)
        } catch {
            var error = error
            error.outcome = outcome
            throw error
        }
        return outcome
    }

    private func round(_ now: Instant, _ outcome: inout SyncOutcome) async throws(SyncError) {
        let record = try await known(in: store)
        progress.state.withLock { $0.schedule.discardResponses(aheadOf: now) }
        var failure: SyncError?
        var failed = Set<FeedKind>()
        var requested = Set<FeedKind>()
        for product in products {
            var use = RecordCounts()
            /// The failure of one product does not affect the others. If the service is down or limits the rate, the
            /// round ends.
            func attempt(_ body: () async throws(SyncError) -> Void) async throws(SyncError) {
                do throws(SyncError) { try await body() } catch {
                    guard error.isAboutOneProduct else { throw error }
                    failure = failure ?? error
                    failed.formUnion(product.feeds)
                }
            }
            for call in due(product, at: now) {
                if Task.isCancelled { throw .cancelled }
                requested.formUnion(product.feeds)
                try await attempt { () async throws(SyncError) in
                    try await fetch(product, call, now, &use, &outcome)
                }
            }
            try await attempt { () async throws(SyncError) in try use.check() }
        }
        let fetched = requested.subtracting(failed)
        outcome.wasAnswered = !fetched.isEmpty
        if !fetched.isEmpty {
            let complete = fetched.contains(.reports) ? completeSince(record, now) : nil
            let batch = Batch(
                source: id, coverage: complete.map { coverage(record, since: $0, at: now) } ?? [],
                fetchedAt: failure == nil ? now : nil,
                fetchedKinds: Dictionary(uniqueKeysWithValues: fetched.map { ($0, now) }),
                completeSince: complete)
            _ = try await stored { () async throws(StoreError) in try await store.commit(batch) }
        }
        if let failure { throw failure.besides(answered: outcome.wasAnswered) }
    }

    /// The time from which the log has all areas' reports; nil if it is unchanged. After a gap the areas are requested
    /// in turn. Until each was, only data from now on is known to be complete.
    private func completeSince(_ record: SourceRecord?, _ now: Instant) -> Instant? {
        let isUnbroken =
            record?.fetchedAt(.reports).map { $0 >= now.advanced(by: -Self.gapSeconds) && !$0.isAhead(of: now) }
            ?? false
        return progress.state.withLock { state in
            if !isUnbroken { state.resumedAt = now }
            let answered = state.schedule.oldestResponse(.pilotReports)
            guard let answered, answered >= state.resumedAt ?? .distantPast else {
                return state.resumedAt != nil && record?.completeSince != nil ? now : nil
            }
            let start = answered.advanced(by: -Self.firstAgeHours * 3_600)
            defer { state.resumedAt = nil }
            return state.resumedAt == nil ? min(record?.completeSince ?? start, start) : start
        }
    }

    /// The areas in which the log has all reports: those of the settings. The default areas stand for the world, if no
    /// other area was requested before.
    private func coverage(_ record: SourceRecord?, since: Instant, at now: Instant) -> [CoverageChange] {
        let last = record?.fetchedAt(.reports)
        return Product.pilotReports.feeds.sorted { $0.rawValue < $1.rawValue }.compactMap { kind in
            let hasAreas = record?.coveredAreas.contains { $0.kind == kind } ?? false
            guard hasAreas || !areas.isEmpty else { return nil }
            return CoverageChange(
                kind: kind, part: "", rings: areas.isEmpty ? [nil] : areas.map(\.ring), since: since,
                at: now, isContinued: last.map { $0 >= now.advanced(by: -Self.gapSeconds) } ?? false, lastFetch: last)
        }
    }

    private func fetch(
        _ product: Product, _ call: AviationWeatherSchedule.ScheduledCall, _ now: Instant, _ use: inout RecordCounts,
        _ outcome: inout SyncOutcome
    ) async throws(SyncError) {
        progress.state.withLock { $0.schedule.noteRequest(product, call.place, at: now) }
        switch call.place {
        case .area(let box):
            let isFirst = call.respondedAt.map { $0 < now.advanced(by: -Self.gapSeconds) } ?? true
            let reply = try await reply { () async throws(UpstreamError) in
                try await client.pilotReports(
                    in: box, ageHours: isFirst ? Self.firstAgeHours : Self.ageHours,
                    since: isFirst ? AviationWeatherClient.Validators() : call.validators)
            }
            if let content = reply.content {
                use.add(used: content.reports.count, unusable: content.refused.counted { .report($0) })
                try await write(content, now, &outcome)
            }
            let isCut = answered(
                product, call, reply, now,
                count: reply.content.map { $0.reports.count + $0.refused.values.reduce(0, +) },
                isUseful: reply.content.map { !$0.reports.isEmpty || $0.refused.isEmpty } ?? true)
            if isCut { outcome.skipped[.beyondTheLimit, default: 0] += 1 }
        case .forecastHour, .everywhere:
            guard let hazards = product.hazards else { preconditionFailure("pilot reports are requested by area") }
            let query: AviationWeatherQuery =
                if case .forecastHour(let hour) = call.place { .gairmets(forecastHour: hour) } else {
                    .everything(hazards)
                }
            let reply = try await reply { () async throws(UpstreamError) in
                try await client.hazards(query, since: call.validators)
            }
            if let content = reply.content {
                use.add(
                    used: content.count - content.unreadable.values.reduce(0, +),
                    unusable: content.unreadable.counted { .report($0) })
            }
            let isTrusted = reply.content.map { self.isTrusted(product, isEmpty: $0.count == 0) } ?? true
            try await write(product, isTrusted ? reply.content : nil, now, &outcome)
            _ = answered(
                product, call, reply, now, count: reply.content?.count,
                isUseful: isTrusted && reply.content?.unreadable.isEmpty ?? true)
        }
    }

    /// Whether to trust a response. An empty response would end every hazard of a product, but it is more likely a
    /// fault of the service. So only the second empty response in a row is trusted. It must be unconditional, and comes
    /// one spacing later.
    private func isTrusted(_ product: Product, isEmpty: Bool) -> Bool {
        progress.state.withLock { state in
            if isEmpty { return !state.empty.insert(product).inserted }
            state.empty.remove(product)
            return true
        }
    }

    private func reply<Content>(
        _ body: () async throws(UpstreamError) -> AviationWeatherClient.Reply<Content>
    ) async throws(SyncError) -> AviationWeatherClient.Reply<Content> {
        let reply: AviationWeatherClient.Reply<Content>
        do throws(UpstreamError) { reply = try await body() } catch { throw SyncError(error) }
        try await register(in: store, answerIsSimulated: reply.isSimulated, from: client.configuration.baseURL)
        return reply
    }

    private func answered<Content>(
        _ product: Product, _ call: AviationWeatherSchedule.ScheduledCall,
        _ reply: AviationWeatherClient.Reply<Content>,
        _ now: Instant, count: Int?, isUseful: Bool
    ) -> Bool {
        // After an unreadable response, the next request is unconditional.
        let validators = isUseful ? reply.validators : AviationWeatherClient.Validators()
        return progress.state.withLock {
            $0.schedule.answered(product, call.place, count: count, validators: validators, at: now)
        }
    }

    // MARK: - Responses

    private func write(_ content: PilotReportDecoder.Outcome, _ now: Instant, _ outcome: inout SyncOutcome)
        async throws(SyncError)
    {
        outcome.skipped.merge(content.refused.counted { .report($0) }, uniquingKeysWith: +)
        let unknown = content.unknownWords.values.reduce(0, +)
        if unknown > 0 { outcome.adjusted[.unknownWord, default: 0] += unknown }
        var batch = Batch(source: id)
        var seen = Set<String>()
        for report in content.reports {
            guard let report = PilotReport(report, source: id), seen.insert(report.id).inserted else { continue }
            guard report.observedAt <= now.advanced(by: Self.futureSeconds) else {
                outcome.skipped[.inTheFuture, default: 0] += 1
                continue
            }
            guard report.observedAt >= now.advanced(by: -retentionSeconds) else {
                outcome.skipped[.olderThanRetention, default: 0] += 1
                continue
            }
            let placement = report.placement()
            let unplaced = placement.withoutLevel + placement.unusableLevel
            if unplaced > 0 { outcome.adjusted[.withoutLevel, default: 0] += unplaced }
            batch.pilotReports.append(report)
            batch.observations += placement.observations
        }
        guard !batch.pilotReports.isEmpty else { return }
        let (written, count) = (batch, batch.pilotReports.count)
        let result = try await stored { () async throws(StoreError) in try await store.commit(written) }
        outcome.accepted += result.accepted + result.pilotReports
        outcome.duplicates += result.duplicates + count - result.pilotReports
    }

    /// - Parameter content: nil if nothing has changed; a forecast hour may still have passed.
    private func write(
        _ product: Product, _ content: HazardDecoder.Outcome?, _ now: Instant, _ outcome: inout SyncOutcome
    ) async throws(SyncError) {
        guard let content else { return }
        let unreadable = content.unreadable
        outcome.skipped.merge(content.refused.counted { .report($0) }, uniquingKeysWith: +)
        let hazards = HazardAreas(content.reports, source: id)
        outcome.skipped.merge(hazards.skipped.counted { .hazard($0) }, uniquingKeysWith: +)
        outcome.adjusted.merge(hazards.adjusted.counted { Adjustment($0) }, uniquingKeysWith: +)
        var areas = hazards.areas.filter { $0.validTo > now }
        var isComplete = unreadable.isEmpty
        if product == .gairmets {
            (areas, isComplete) = progress.state.withLock { state in
                state.gairmets.drop(before: now)
                if let picture = Self.picture(content.reports), unreadable.isEmpty {
                    state.gairmets.insert(
                        hazards.areas, validFrom: picture.validFrom, validTo: picture.validTo,
                        issuedAt: picture.issuedAt)
                    return (state.gairmets.areas, state.gairmets.isComplete(at: now))
                }
                return (areas, false)
            }
        }
        var batch = Batch(source: id, areas: areas)
        if isComplete, let (kind, number) = Catalogue.areas(of: Dataset.Origin(self.kind, product.rawValue)) {
            batch.areaReplacements = [AreaReplacement(collection: number, kind: kind.id, at: now)]
        }
        guard !batch.areas.isEmpty || !batch.areaReplacements.isEmpty else { return }
        let (written, count) = (batch, batch.areas.count)
        let result = try await stored { () async throws(StoreError) in try await store.commit(written) }
        outcome.accepted += result.areas
        outcome.duplicates += max(0, count - result.areas)
    }

    /// The forecast hour of a response and its issue time; nil if its records disagree or there are none.
    private static func picture(_ reports: [HazardReport]) -> (validFrom: Instant, validTo: Instant, issuedAt: Instant)?
    {
        guard let first = reports.first, reports.allSatisfy({ $0.validFrom == first.validFrom }) else { return nil }
        let issuedAt = reports.compactMap(\.issuedAt).max() ?? first.validFrom
        return (Instant(first.validFrom), Instant(first.validTo), Instant(issuedAt))
    }
}
