import Datasets
package import BillowStore
import Foundation
import Geometry
package import OpenSky
package import Turbulence
package import UpstreamKit

/// Fetches live traffic of the OpenSky Network into the store: the last position of each aircraft, for the world or for
/// boxes.
package struct OpenSkyUpstream: Upstream {
    package let id: SourceID
    package static let kind = "opensky"
    package var kind: String { Self.kind }
    package let merge = MergeRule.keep
    package let simulated: Bool?
    private let client: OpenSkyClient
    /// The requested boxes; empty for the world.
    private let boxes: [GeographicBox]
    private let store: any Store
    private let retentionSeconds: Int

    /// Positions further in the future than this are rejected, because a clock is wrong.
    private static let futureSeconds = 300
    /// The number of rows in one transaction, which limits the waiting time of other writers.
    private static let batchSize = 10_000

    /// - Parameter boxes: the requested areas, one request each; empty for the world in one request.
    package init(
        id: SourceID, client: OpenSkyClient, boxes: [GeographicBox] = [], simulated: Bool?, store: any Store,
        retentionSeconds: Int
    ) {
        self.id = id
        self.client = client
        self.boxes = boxes
        self.simulated = simulated
        self.store = store
        self.retentionSeconds = retentionSeconds
    }

    package var collections: [String] { Catalogue.datasets(of: Dataset.Origin(kind, "states")).map(\.id) }
    package var feeds: Set<FeedKind> { Catalogue.kinds(of: kind) }
    package var credential: String? { client.configuration.credentials?.clientSecret.fingerprint }

    /// The interval at which the credits last for the day.
    package var shortestInterval: Duration {
        let configuration = client.configuration
        guard configuration.allowance != nil else { return .seconds(1) }
        return .seconds(
            boxes.isEmpty
                ? configuration.statesInterval(in: nil)
                : boxes.reduce(0) { $0 + configuration.statesInterval(in: $1) })
    }

    package func synchronise(now: Instant) async throws(SyncError) -> SyncOutcome {
        var outcome = SyncOutcome()
        do throws(SyncError) {
            var positions: [AircraftPosition] = []
            var use = RecordCounts()
            for box in boxes.isEmpty ? [nil] : boxes.map({ Optional($0) }) {
                positions += try await fetch(box, now, &use, &outcome)
            }
            try use.check()
            try await write(positions, now, &outcome)
        } catch {
            var error = error
            error.outcome = outcome
            throw error
        }
        return outcome
    }

    private func fetch(
        _ box: GeographicBox?, _ now: Instant, _ use: inout RecordCounts, _ outcome: inout SyncOutcome
    ) async throws(SyncError) -> [AircraftPosition] {
        let answer: StateVectors
        do throws(UpstreamError) { answer = try await client.states(in: box, includesCategory: true) } catch {
            throw SyncError(error)
        }
        try await register(
            in: store, answerIsSimulated: answer.isSimulated, from: client.configuration.baseURL)
        let unusable = answer.counts.skipped.counted { SkipReason.openSky($0) }
        use.add(used: answer.vectors.count, unusable: unusable)
        outcome.skipped.merge(unusable, uniquingKeysWith: +)
        if answer.counts.droppedValues > 0 {
            outcome.adjusted[.droppedValue, default: 0] += answer.counts.droppedValues
        }
        let latest = now.advanced(by: Self.futureSeconds)
        let oldest = now.advanced(by: -retentionSeconds)
        var positions: [AircraftPosition] = []
        positions.reserveCapacity(answer.vectors.count)
        for vector in answer.vectors {
            guard let position = AircraftPosition(vector, source: id) else {
                outcome.skipped[.withoutPosition, default: 0] += 1
                continue
            }
            guard position.observedAt <= latest else {
                outcome.skipped[.inTheFuture, default: 0] += 1
                continue
            }
            guard position.observedAt >= oldest else {
                outcome.skipped[.olderThanRetention, default: 0] += 1
                continue
            }
            positions.append(position)
        }
        return positions
    }

    private func write(
        _ positions: [AircraftPosition], _ now: Instant, _ outcome: inout SyncOutcome
    ) async throws(SyncError) {
        let covered = coverage(try await known(in: store), at: now)
        var start = 0
        repeat {
            let end = min(positions.count, start + Self.batchSize)
            let isLast = end == positions.count
            let batch = Batch(
                source: id, positions: Array(positions[start..<end]), coverage: isLast ? [covered] : [],
                fetchedAt: isLast ? now : nil,
                fetchedKinds: isLast ? [.positions: now] : [:])
            let result = try await stored { () async throws(StoreError) in try await store.commit(batch) }
            outcome.accepted += result.positions
            outcome.duplicates += end - start - result.positions
            start = end
        } while start < positions.count
    }

    /// The area in which the log is complete from this fetch on.
    private func coverage(_ record: SourceRecord?, at now: Instant) -> CoverageChange {
        let kind = FeedKind.positions
        let last = record?.fetchedKinds[kind]
        let start = now.advanced(by: -(kind.longestGapSeconds ?? 0))
        // Earlier versions recorded no areas and are assumed to have requested the world.
        let isFirst = record?.coveredAreas.contains { $0.kind == kind } != true
        return CoverageChange(
            kind: kind, part: "", rings: boxes.isEmpty ? [nil] : boxes.map(\.ring),
            since: boxes.isEmpty && isFirst ? record?.fetchedSince[kind] ?? now : now, at: now,
            isContinued: last.map { $0 >= start } ?? false, lastFetch: last)
    }
}

extension AircraftPosition {
    /// nil if the vector has no position or no time of it.
    init?(_ vector: StateVector, source: SourceID) {
        guard let longitude = vector.longitude, let latitude = vector.latitude, let time = vector.positionTime,
            let place = LonLat(longitude: longitude, latitude: latitude),
            let aircraft = ICAO24(rawValue: vector.address.value)
        else { return nil }
        self.init(
            icao24: aircraft, callsign: vector.callsign, place: place, source: source, observedAt: Instant(time),
            altitudeFeet: vector.barometricAltitude.flatMap { Int(exactly: $0.feet.rounded()) },
            geometricAltitudeFeet: vector.geometricAltitude.flatMap { Int(exactly: $0.feet.rounded()) },
            groundSpeedKnots: vector.groundSpeed?.knots, headingDegrees: vector.trackDegrees,
            verticalRateFeetPerMinute: vector.verticalRate.flatMap { Int(exactly: $0.feetPerMinute.rounded()) },
            isOnGround: vector.isOnGround,
            category: vector.category.flatMap { $0.isInformation ? UInt8(exactly: $0.rawValue) : nil })
    }
}
