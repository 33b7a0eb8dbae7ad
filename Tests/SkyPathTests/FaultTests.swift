import AsyncHTTPClient
import Geometry
import SkyPath
import Synchronization
import TestSupport
import Testing
import UpstreamSimulator

@Suite("Failures of SkyPath", .timeLimit(.minutes(20)))
struct FaultTests {
    /// The error of a corridor call and of a map call under a fault.
    private func errors(
        _ fault: Fault, configure: @Sendable (inout SkyPathConfiguration) -> Void = { _ in }
    ) async throws -> [UpstreamError] {
        let seen = ErrorBox()
        try await withRig(flights: 10, fault: fault, configure: configure) { rig in
            do throws(UpstreamError) {
                _ = try await rig.client.corridor(SkyPathCorridorQuery(ring: (try? atlantic()) ?? []))
            } catch { seen.add(error) }
            do throws(UpstreamError) {
                _ = try await rig.client.map(SkyPathMapQuery(.hours(2)))
            } catch { seen.add(error) }
        }
        return seen.errors
    }

    @Test(
        "a refusal is typed",
        arguments: [
            (
                Fault.unauthorized,
                UpstreamError.unauthorized(
                    UpstreamProblem(status: 401, code: "UNAUTHORIZED", message: "Missing or invalid API key"))
            ),
            (
                .forbidden,
                .forbidden(
                    UpstreamProblem(
                        status: 403, code: "FEATURE_DISABLED", message: "Turbulence is disabled for this company")
                )
            ),
            (
                .locked,
                .locked(
                    UpstreamProblem(status: 423, code: "USER_LOCKED", message: "Too many failed attempts"),
                    retryAfterSeconds: nil)
            ),
            (
                .upgradeRequired,
                .upgradeRequired(
                    UpstreamProblem(
                        status: 426, code: "UPGRADE_REQUIRED",
                        message: "This client version is not supported any more"))
            ),
            (
                .rateLimited,
                .rateLimited(
                    UpstreamProblem(
                        status: 429, code: "TOO_MANY_REQUESTS", message: "Rate limit exceeded, retry in 1 minute"),
                    retryAfterSeconds: 60)
            ),
            (
                .serverError,
                .server(
                    UpstreamProblem(status: 500, code: "INTERNAL", message: "Something went wrong"),
                    retryAfterSeconds: nil)
            ),
            (
                .unavailable,
                .server(
                    UpstreamProblem(status: 503, code: "UNAVAILABLE", message: "Down for maintenance"),
                    retryAfterSeconds: 120)
            ),
            (.truncatedBody, .unreadable(.truncated)),
            (.htmlPage, .unreadable(.html)),
            (.emptyBody, .unreadable(.empty)),
        ])
    func aRefusalIsTyped(fault: Fault, expected: UpstreamError) async throws {
        #expect(try await errors(fault) == [expected, expected])
    }

    @Test("transience follows the kind")
    func transienceFollowsTheKind() {
        let problem = UpstreamProblem(status: 0)
        #expect(UpstreamError.rateLimited(problem, retryAfterSeconds: 9).isTransient)
        #expect(UpstreamError.rateLimited(problem, retryAfterSeconds: 9).retryAfterSeconds == 9)
        #expect(UpstreamError.server(problem, retryAfterSeconds: nil).isTransient)
        #expect(UpstreamError.timeout.isTransient && UpstreamError.unreachable("").isTransient)
        #expect(
            !UpstreamError.unauthorized(problem).isTransient
                && !UpstreamError.forbidden(problem).isTransient)
        #expect(
            !UpstreamError.invalidRequest(problem).isTransient && !UpstreamError.cancelled.isTransient)
    }

    @Test("truncated JSON is reported with its byte offset")
    func cutJSONIsToldByItsByte() async throws {
        for error in try await errors(.cutJSON) {
            guard case .unreadable(.notJSON(let byte)) = error else {
                Issue.record("\(error)")
                continue
            }
            #expect(byte > 100)
        }
    }

    @Test("a closed connection is unreachable")
    func aClosedConnectionIsUnreachable() async throws {
        let errors = try await errors(.connectionReset)
        #expect(errors.count == 2)
        for error in errors {
            guard case .unreachable = error else {
                Issue.record("\(error)")
                continue
            }
        }
    }

    @Test("a slow body times out or arrives whole")
    func aSlowBodyTimesOutOrArrivesWhole() async throws {
        let errors = try await errors(.slowBody, configure: { $0.timeout = .milliseconds(80) })
        #expect(errors == [.timeout, .timeout])
        try await withRig(flights: 5, dripInterval: .zero, configure: { $0.timeout = .seconds(240) }) { rig in
            let whole = try await rig.client.corridor(SkyPathCorridorQuery(ring: try atlantic()))
            rig.simulator.setFault(.slowBody)
            let slow = try await rig.client.corridor(SkyPathCorridorQuery(ring: try atlantic()))
            #expect(slow.records == whole.records && !slow.records.isEmpty)
        }
    }

    @Test("a body beyond the limit is refused")
    func aBodyBeyondTheLimitIsRefused() async throws {
        try await withRig(configure: { $0.maximumBodyBytes = 2_000 }) { rig in
            await #expect(throws: UpstreamError.tooLarge(limitBytes: 2_000)) {
                try await rig.client.map(SkyPathMapQuery(.hours(2)))
            }
        }
    }

    @Test("a port without a listener is unreachable")
    func portWithoutListener() async throws {
        let port = try SilentPort()
        let http = HTTPClient(configuration: SkyPathClient.recommendedHTTPConfiguration)
        let client = try SkyPathClient(
            configuration: SkyPathConfiguration(
                environment: .custom("http://127.0.0.1:\(port.number)"), apiKey: try unwrap(Secret("demo"))),
            httpClient: http)
        do throws(UpstreamError) {
            _ = try await client.map(SkyPathMapQuery(.hours(2)))
            Issue.record("answered")
        } catch {
            guard case .unreachable = error else {
                Issue.record("\(error)")
                return try await http.shutdown()
            }
        }
        withExtendedLifetime(port) {}
        try await http.shutdown()
    }

    @Test("a cancelled task is cancelled")
    func aCancelledTaskIsCancelled() async throws {
        try await withRig(flights: 5, fault: .slowBody, dripInterval: .seconds(30)) { rig in
            let client = rig.client
            let task = Task { () async -> UpstreamError? in
                do throws(UpstreamError) {
                    _ = try await client.map(SkyPathMapQuery(.hours(2)))
                    return nil
                } catch { return error }
            }
            try await eventually("the call has come") { rig.simulator.calls > 0 }
            task.cancel()
            #expect(await task.value == .cancelled)
        }
    }

    @Test("a wrong key is never in a message")
    func aWrongKeyIsNotTold() async throws {
        try await withRig(flights: 5, key: "sesame-open-1234") { rig in
            do throws(UpstreamError) {
                _ = try await rig.client.map(SkyPathMapQuery(.hours(2)))
                Issue.record("let in")
            } catch {
                guard case .unauthorized = error else { throw Missing(what: "unauthorized: \(error)") }
                var dumped = ""
                dump(error, to: &dumped)
                dump(rig.client.configuration, to: &dumped)
                #expect(
                    !dumped.contains("sesame") && !"\(error)\(rig.client.configuration)".contains("sesame"))
            }
        }
    }

    @Test("a revoked session ends in the middle")
    func aRevokedSessionEndsInTheMiddle() async throws {
        try await withRig(flights: 5, fault: .sessionRevoked) { rig in
            _ = try await rig.client.map(SkyPathMapQuery(.hours(2)))
            for _ in 0..<2 {
                await #expect(
                    throws: UpstreamError.unauthorized(
                        UpstreamProblem(
                            status: 401, code: "SESSION_REVOKED", message: "The session was invalidated"))
                ) { try await rig.client.map(SkyPathMapQuery(.hours(2))) }
            }
            rig.simulator.setFault(nil)
            _ = try await rig.client.map(SkyPathMapQuery(.hours(2)))
        }
    }

    @Test("a fault of one call goes away by itself")
    func aFaultOfOneCallGoesAwayByItself() async throws {
        try await withRig(flights: 5) { rig in
            rig.simulator.setFault(.serverError, count: 1)
            await #expect(throws: UpstreamError.self) {
                try await rig.client.map(SkyPathMapQuery(.hours(2)))
            }
            _ = try await rig.client.map(SkyPathMapQuery(.hours(2)))
            #expect(rig.simulator.fault == nil && rig.simulator.calls == 2)
        }
    }

    @Test("too many identical calls are rate limited")
    func tooManyIdenticalCallsAreRateLimited() async throws {
        try await withRig(flights: 5, identicalCallsPerMinute: 6) { rig in
            for _ in 0..<6 { _ = try await rig.client.map(SkyPathMapQuery(.hours(2))) }
            do throws(UpstreamError) {
                _ = try await rig.client.map(SkyPathMapQuery(.hours(2)))
                Issue.record("let through")
            } catch { #expect(error.retryAfterSeconds == 60) }
            _ = try await rig.client.map(SkyPathMapQuery(.hours(4)))
            rig.clock.advance(61)
            _ = try await rig.client.map(SkyPathMapQuery(.hours(2)))
        }
    }

    // MARK: Awkward content

    @Test("awkward content keeps the picture and is counted")
    func awkwardContentKeepsThePictureAndIsCounted() async throws {
        try await withRig { rig in
            let ring = try atlantic()
            let cell = H3.cell(at: try unwrap(LonLat(longitude: -30, latitude: 50)))
            rig.simulator.inject(cell: cell, altitudeThousands: 36, edr: 0.6)
            let query = SkyPathCorridorQuery(ring: ring)
            let good = try await rig.client.corridor(query)

            rig.simulator.setFault(.resolution10)
            let finer = try await rig.client.corridor(query)
            #expect(finer.records == good.records)
            #expect(finer.counts.broughtToParent == good.records.count)

            rig.simulator.setFault(.resolution4)
            let coarser = try await rig.client.corridor(query)
            #expect(
                coarser.records.isEmpty && coarser.counts.skipped == [.coarserCell: good.records.count])

            rig.simulator.setFault(.missingEDR)
            let plain = try await rig.client.corridor(query)
            #expect(severities(plain.records) == severities(good.records))
            #expect(plain.records.allSatisfy { $0.edr == nil } && plain.counts.droppedEDR == 0)

            rig.simulator.setFault(.severity5)
            let worst = try await rig.client.corridor(query)
            #expect(worst.records == good.records)
            let fours = good.records.count { $0.severity == 4 }
            #expect(fours > 0 && worst.counts.clampedSeverity == fours)

            rig.simulator.setFault(.empty)
            let none = try await rig.client.corridor(query)
            #expect(
                none.records.isEmpty && none.counts.read == 0 && none.lastUpdatedAt == good.lastUpdatedAt)

            rig.simulator.setFault(.clockSkew)
            let skewed = try await rig.client.corridor(query)
            #expect(skewed.lastUpdatedAt == good.lastUpdatedAt.map { $0 - 60 })
            #expect(skewed.records == good.records)
        }
    }

    @Test("broken records cost only themselves")
    func brokenRecordsCostOnlyThemselves() async throws {
        try await withRig { rig in
            let query = SkyPathCorridorQuery(ring: try atlantic())
            let good = try await rig.client.corridor(query)
            rig.simulator.setFault(.wrongTypes)
            let broken = try await rig.client.corridor(query)
            let expected = good.records.enumerated().filter { $0.offset % 5 != 0 }.map(\.element)
            #expect(broken.records == expected)
            #expect(broken.counts.read == good.records.count)
            #expect(broken.counts.skippedTotal == good.records.count - expected.count)
            for reason in [SkyPathSkipReason.unreadable, .invalidCell, .altitude, .severity, .time] {
                #expect((broken.counts.skipped[reason] ?? 0) > 0, "\(reason)")
            }
            let map = try await rig.client.map(SkyPathMapQuery(.hours(2)))
            #expect(map.counts.skippedTotal == (map.counts.read + 4) / 5)
            var skipped = 0
            var read = 0
            for parent in H3.cells(resolution: 0) {
                let bulk = try await rig.client.hexagons(SkyPathHexagonsQuery(parent: parent))
                skipped += bulk.counts.skipped[.altitude] ?? 0
                read += bulk.counts.read
            }
            #expect(skipped >= read / 5 && read == map.counts.read)
        }
    }

    @Test("duplicates at the cursor are harmless")
    func duplicatesAtTheCursorAreHarmless() async throws {
        try await withRig { rig in
            let ring = try atlantic()
            let first = try await rig.client.corridor(SkyPathCorridorQuery(ring: ring))
            rig.clock.advance(60)
            rig.simulator.setFault(.duplicatesAtCursor)
            let delta = try await rig.client.corridor(
                SkyPathCorridorQuery(ring: ring, updatedSince: first.lastUpdatedAt))
            #expect(delta.records.count == 2 * Set(delta.records).count)
            let repeated = Set(delta.records).intersection(first.records)
            #expect(!repeated.isEmpty)
            rig.simulator.setFault(nil)
            let whole = try await rig.client.corridor(SkyPathCorridorQuery(ring: ring))
            let oldest = rig.clock.now - 7_200
            #expect(
                picture(first.records + delta.records).filter { $0.value.observedAt > oldest }
                    == picture(whole.records))
        }
    }

    @Test("the worst cells fall on demand")
    func theWorstCellsFallOnDemand() async throws {
        try await withRig(flights: 2) { rig in
            let cell = H3.cell(at: try unwrap(LonLat(longitude: -30, latitude: 50)))
            let ring = try box(west: -32, south: 48, east: -28, north: 52)
            rig.simulator.inject(cell: cell, altitudeThousands: 36, edr: 0.5)
            let first = try await rig.client.corridor(SkyPathCorridorQuery(ring: ring))
            rig.clock.advance(60)
            rig.simulator.setFault(.fallingSeverity)
            let delta = try await rig.client.corridor(
                SkyPathCorridorQuery(ring: ring, updatedSince: first.lastUpdatedAt))
            let place = Place(cell: cell, altitude: 36)
            #expect(picture(first.records)[place]?.severity == 4)
            #expect(picture(delta.records)[place]?.severity == 0)
            rig.simulator.setFault(nil)
            let whole = try await rig.client.corridor(SkyPathCorridorQuery(ring: ring))
            #expect(picture(whole.records)[place]?.severity == 0)
        }
    }

    @Test("a refused delta and an expired cursor are invalid requests")
    func aRefusedDeltaAndAnExpiredCursorAreInvalidRequests() async throws {
        try await withRig(flights: 5) { rig in
            let ring = try atlantic()
            let expired = UpstreamError.invalidRequest(
                UpstreamProblem(
                    status: 400, code: "CURSOR_EXPIRED",
                    message: "changes since then are not available any more"))
            let first = try await rig.client.corridor(SkyPathCorridorQuery(ring: ring))
            let map = try await rig.client.map(SkyPathMapQuery(.hours(2)))
            rig.simulator.setFault(.deltaRefused)
            await #expect(throws: expired) {
                try await rig.client.corridor(
                    SkyPathCorridorQuery(ring: ring, updatedSince: first.lastUpdatedAt))
            }
            _ = try await rig.client.corridor(SkyPathCorridorQuery(ring: ring))
            rig.simulator.setFault(nil)
            rig.clock.advance(7 * 3_600)
            await #expect(throws: expired) {
                try await rig.client.corridor(
                    SkyPathCorridorQuery(ring: ring, updatedSince: first.lastUpdatedAt))
            }
            let tick = try unwrap(map.tick)
            await #expect(throws: expired) {
                try await rig.client.map(SkyPathMapQuery(.since(tick: tick)))
            }
        }
    }
}

/// Collects errors from a closure that must be Sendable.
final class ErrorBox: Sendable {
    private let list = Mutex<[UpstreamError]>([])
    func add(_ error: UpstreamError) { list.withLock { $0.append(error) } }
    var errors: [UpstreamError] { list.withLock { $0 } }
}
