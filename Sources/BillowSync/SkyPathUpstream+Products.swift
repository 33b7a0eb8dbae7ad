import BillowStore
import Datasets
import Geometry
import SkyPath
import Turbulence
import UpstreamKit

/// Fetches SkyPath's products other than computed turbulence. Their API is not public: paths and shapes are
/// assumptions, and no request is sent unless its type is configured. Every response is complete, so there are no
/// cursors.
extension SkyPathUpstream {
    /// The seconds between two requests for a nowcast, which is issued once an hour.
    ///
    /// Source: docs/upstreams/skypath.md, "Products that are assumed": the web SDK's own interval
    static let nowcastSeconds = 900
    /// The time step of a nowcast.
    private static let nowcastStepSeconds = 3_600
    /// The severities of a nowcast, which excludes smooth and light.
    ///
    /// Source: docs/upstreams/skypath.md, "Products that are assumed" (NowcastItem of the iOS SDK)
    private static let nowcastSeverities = 2...4

    /// Fetches one type of data whole.
    func fetch(_ type: QueryType, now: Instant, _ outcome: inout SyncOutcome) async throws(SyncError) {
        switch type {
        case .polygons: try await polygons(now, &outcome)
        case .nowcast: try await nowcast(now, &outcome)
        case .flights: try await flights(now, &outcome)
        case .pireps: try await pilotReports(now, &outcome)
        // Turbulence is fetched by area.
        default: break
        }
    }

    // MARK: - Areas

    /// Fetches polygons of all histories. They are one batch with one time, so that a frame never has two sets of one
    /// history.
    private func polygons(_ now: Instant, _ outcome: inout SyncOutcome) async throws(SyncError) {
        var sets: [(history: History, reply: SkyPathReply<SkyPathArea>)] = []
        for history in wanted.separateHistories {
            let reply = try await reply(&outcome) { () async throws(UpstreamError) in
                try await client.polygons(hours: history.hours)
            }
            sets.append((history, reply))
        }
        let updatedAt = Self.updatedAt(sets.flatMap(\.reply.records), now)
        var areas = AreaIdentifiers()
        for (history, reply) in sets {
            for area in reply.records where isWanted(area, .polygons) {
                areas.append(
                    issued(
                        area, .polygons, id: "\(area.severity)-\(history.text)-\(id)", validFrom: updatedAt,
                        // At this time, the set's youngest observation leaves the window.
                        validTo: updatedAt.advanced(by: history.seconds), issuedAt: updatedAt,
                        historySeconds: history.seconds))
            }
        }
        // The set of one history may be empty, but it is doubtful if all are.
        guard isTrusted(.polygons, isEmpty: sets.allSatisfy { $0.reply.records.isEmpty }) else { return }
        try await replace(.polygons, with: areas.areas, at: updatedAt, &outcome)
    }

    /// Whether the last nowcast is so recent that there is no newer one.
    func hasNowcast(at now: Instant) -> Bool {
        progress.nowcastAt(for: SyncRequest.DataRequest(.nowcast, wanted))
            .map { now >= $0 && now < $0.advanced(by: Self.nowcastSeconds) } ?? false
    }

    /// Whether to trust a response. An empty response is more likely a fault of the upstream than a quiet sky. Stored
    /// areas end only if the next response is empty too.
    private func isTrusted(_ type: QueryType, isEmpty: Bool) -> Bool {
        progress.wasEmptyBefore(type, isEmpty: isEmpty) || !isEmpty
    }

    private func nowcast(_ now: Instant, _ outcome: inout SyncOutcome) async throws(SyncError) {
        let reply = try await reply(&outcome) { () async throws(UpstreamError) in try await client.nowcast() }
        let issuedAt = Self.updatedAt(reply.records, now)
        var areas = AreaIdentifiers()
        for area in reply.records where isWanted(area, .nowcast) {
            guard Self.nowcastSeverities.contains(area.severity) else {
                outcome.skipped[.nowcastSeverity, default: 0] += 1
                continue
            }
            guard let hour = area.validFrom.map({ Instant(clamping: $0) }) else {
                outcome.skipped[.skyPath(.time), default: 0] += 1
                continue
            }
            let validTo = hour.advanced(by: Self.nowcastStepSeconds)
            // For the current hour, this issue is valid from its issue time on; before that, the previous issue was.
            let validFrom = max(hour, issuedAt)
            guard validFrom < validTo else { continue }
            areas.append(
                issued(
                    area, .nowcast, id: "\(id)-nowcast-\(area.severity)-\(area.forecastHour ?? 0)",
                    validFrom: validFrom, validTo: validTo, issuedAt: issuedAt, forecastHour: area.forecastHour))
        }
        guard isTrusted(.nowcast, isEmpty: reply.records.isEmpty) else { return }
        try await replace(.nowcast, with: areas.areas, at: issuedAt, &outcome)
        progress.noteNowcast(SyncRequest.DataRequest(.nowcast, wanted), at: now)
    }

    /// Creates ids of areas. Areas of the same name differ by their index in the response.
    private struct AreaIdentifiers {
        private(set) var areas: [IssuedArea] = []
        private var counts: [String: Int] = [:]

        mutating func append(_ area: IssuedArea) {
            var area = area
            let count = counts[area.id, default: 0] + 1
            counts[area.id] = count
            if count > 1 { area.id += "-\(count)" }
            areas.append(area)
        }
    }

    private func issued(
        _ area: SkyPathArea, _ type: QueryType, id: String, validFrom: Instant,
        validTo: Instant, issuedAt: Instant, forecastHour: Int? = nil, historySeconds: Int? = nil
    ) -> IssuedArea {
        let altitudes = area.altitudesThousands
        let (kind, number) = type.areas
        return IssuedArea(
            collection: number,
            id: id + (altitudes.map { "-\($0.lowerBound)-\($0.upperBound)" } ?? ""),
            source: self.id, kind: kind.id, hazard: "TURB", severity: Severity(rawValue: UInt8(area.severity)),
            altitudeMinFeet: altitudes.map { $0.lowerBound * 1_000 },
            altitudeMaxFeet: altitudes.map { $0.upperBound * 1_000 }, validFrom: validFrom, validTo: validTo,
            issuedAt: issuedAt, forecastHour: forecastHour, historySeconds: historySeconds, geometry: area.geometry)
    }

    /// The creation time of a response; the current time if it states none or one in the future.
    private static func updatedAt(_ areas: [SkyPathArea], _ now: Instant) -> Instant {
        areas.compactMap(\.updatedAt).max().map { min(Instant(clamping: $0), now) } ?? now
    }

    private func isWanted(_ area: SkyPathArea, _ type: QueryType) -> Bool {
        guard let severity = Severity(rawValue: UInt8(area.severity)), wanted.severities.contains(severity) else {
            return false
        }
        return wanted.isGlobal(type)
            || [wanted.polygon, wanted.viewport].contains { ring in
                ring.flatMap { MultiPolygon(outline: $0.places) }.flatMap { AreaIndex($0) }?
                    .intersects(area.geometry.polygons) ?? false
            }
    }

    /// Replaces the stored areas: an area that is missing in the response has ended.
    private func replace(
        _ type: QueryType, with areas: [IssuedArea], at instant: Instant, _ outcome: inout SyncOutcome
    ) async throws(SyncError) {
        let (kind, number) = type.areas
        let batch = Batch(
            source: id, areas: areas,
            areaReplacements: [AreaReplacement(collection: number, kind: kind.id, at: instant)])
        let result = try await stored { () async throws(StoreError) in try await store.commit(batch) }
        outcome.accepted += result.areas
        outcome.duplicates += max(0, areas.count - result.areas)
    }

    // MARK: - Points

    private func flights(_ now: Instant, _ outcome: inout SyncOutcome) async throws(SyncError) {
        let reply = try await reply(&outcome) { () async throws(UpstreamError) in try await client.flights() }
        var positions: [AircraftPosition] = []
        var known: [ICAO24: String] = [:]
        for flight in reply.records where wanted.contains(flight.place, .flights) {
            guard isWithinHistory(flight.observedAt, now, &outcome), let aircraft = Self.address(of: flight.id) else {
                continue
            }
            guard known[aircraft, default: flight.id] == flight.id else {
                outcome.skipped[.sharedAddress, default: 0] += 1
                continue
            }
            known[aircraft] = flight.id
            positions.append(
                AircraftPosition(
                    icao24: aircraft, callsign: flight.number, place: flight.place, source: id,
                    observedAt: Instant(clamping: flight.observedAt), altitudeFeet: flight.altitudeFeet,
                    groundSpeedKnots: flight.speedMetresPerSecond.map { $0 * 3_600 / 1_852 },
                    headingDegrees: flight.headingDegrees))
        }
        guard !positions.isEmpty else { return }
        let (batch, count) = (Batch(source: id, positions: positions), positions.count)
        let result = try await stored { () async throws(StoreError) in try await store.commit(batch) }
        outcome.accepted += result.positions
        outcome.duplicates += count - result.positions
    }

    /// A pseudo-address for a flight, because SkyPath identifies flights, not transponders. It derives from the
    /// flight's id, in the block `d00000` to `dfffff`, which no state uses. It differs from every real address, and
    /// stays the same between positions.
    ///
    /// Source: ICAO Annex 10 volume III chapter 9, table 9-1 (blocks beginning 1101 are reserved)
    static func address(of flight: String) -> ICAO24? {
        // FNV-1a, folded to 20 bits.
        let hash = flight.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        return ICAO24(rawValue: 0xD0_0000 | (hash >> 20 ^ hash) & 0xF_FFFF)
    }

    /// Fetches pilot reports. They appear only in the collection of pilot reports, because SkyPath's hexagons already
    /// include its own information.
    private func pilotReports(_ now: Instant, _ outcome: inout SyncOutcome) async throws(SyncError) {
        let reply = try await reply(&outcome) { () async throws(UpstreamError) in
            try await client.pilotReports(hours: wanted.history.hours)
        }
        var reports: [String: PilotReport] = [:]
        for report in reply.records where wanted.contains(report.place, .pireps) {
            guard isWithinHistory(report.observedAt, now, &outcome) else { continue }
            let severity = report.severity.flatMap { Severity(rawValue: UInt8($0)) }
            if let severity, !wanted.severities.contains(severity) { continue }
            let id = "\(self.id)-\(report.id)"
            reports[id] = PilotReport(
                id: id, place: report.place, observedAt: Instant(clamping: report.observedAt),
                type: PilotReport.type(ofText: report.text),
                aircraft: report.aircraft, altitudeFeet: report.altitudeFeet,
                turbulence: severity.map { severity in
                    [
                        TurbulenceGroup(
                            severity: severity, intensity: nil, baseFeet: report.altitudeFeet,
                            topFeet: report.altitudeFeet, type: nil, frequency: nil)
                    ]
                } ?? [], text: report.text, source: self.id)
        }
        guard !reports.isEmpty else { return }
        let (batch, count) = (Batch(source: id, pilotReports: reports.values.sorted { $0.id < $1.id }), reports.count)
        let result = try await stored { () async throws(StoreError) in try await store.commit(batch) }
        outcome.accepted += result.pilotReports
        outcome.duplicates += count - result.pilotReports
    }

    private func isWithinHistory(_ seconds: Int, _ now: Instant, _ outcome: inout SyncOutcome) -> Bool {
        let reason: SkipReason? =
            if seconds > now.seconds + Self.futureSeconds {
                .inTheFuture
            } else if seconds < now.seconds - retentionSeconds {
                .olderThanRetention
            } else {
                nil
            }
        if let reason { outcome.skipped[reason, default: 0] += 1 }
        return reason == nil
    }

    // MARK: - Requests

    private func reply<Record>(
        _ outcome: inout SyncOutcome, _ call: () async throws(UpstreamError) -> SkyPathReply<Record>
    ) async throws(SyncError) -> SkyPathReply<Record> {
        let reply: SkyPathReply<Record>
        do throws(UpstreamError) { reply = try await call() } catch { throw SyncError(error) }
        try await register(
            in: store, answerIsSimulated: reply.isSimulated, from: client.configuration.environment.baseURL)
        count(reply.counts, &outcome)
        var use = RecordCounts()
        use.add(used: reply.records.count, unusable: reply.counts.skippedByReason)
        try use.check()
        return reply
    }
}
