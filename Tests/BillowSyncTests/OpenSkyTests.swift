import BillowStore
import Geometry
import OpenSky
import Testing
import Turbulence
import UpstreamSimulator

@testable import BillowSync

extension Rig {
    fileprivate func openSky(boxes: [GeographicBox] = [], simulated: Bool = true) throws -> OpenSkyUpstream {
        let clock = clock
        return OpenSkyUpstream(
            id: try SourceID("opensky").orMissing(),
            client: try OpenSkyClient(
                configuration: OpenSkyConfiguration(baseURL: baseURL), httpClient: http,
                now: { clock.seconds1970 }), boxes: boxes, simulated: simulated, store: store,
            retentionSeconds: 86_400)
    }

    fileprivate func positions() async throws -> [AircraftPosition] {
        try await store.positions(from: .distantPast, to: .distantFuture, asOf: nil)
    }
}

@Suite("Traffic from OpenSky")
struct OpenSkyTests {
    @Test("a round stores every placed aircraft once")
    func aRoundStoresEveryPlacedAircraftOnce() async throws {
        try await withRig(flights: 120) { rig in
            let upstream = try rig.openSky()
            let first = try await upstream.synchronise(now: rig.clock.now)
            let stored = try await rig.positions()
            #expect(first.accepted > 60 && first.accepted == stored.count && first.duplicates == 0)
            #expect(Set(stored.map(\.icao24)).count == stored.count)
            #expect(stored.allSatisfy { $0.category == 4 || $0.category == 6 })
            #expect(stored.contains { ($0.altitudeFeet ?? 0) > 28_000 && ($0.groundSpeedKnots ?? 0) > 400 })
            #expect(stored.allSatisfy { $0.observedAt <= rig.clock.now && $0.callsign?.count != 8 })
            #expect(try await rig.store.source().fetchedAt == rig.clock.now)
            let version = try await rig.store.head().version

            let again = try await upstream.synchronise(now: rig.clock.now)
            #expect(again.accepted == 0 && again.duplicates == stored.count)
            #expect(try await rig.store.head().version == version, "nothing new is no version")

            rig.clock.advance(60)
            let later = try await upstream.synchronise(now: rig.clock.now)
            #expect(later.accepted > 0)
            let aircraft = try #require(stored.first { $0.observedAt == rig.clock.now.advanced(by: -60) })
            let track = try await rig.store.track(of: aircraft.icao24, from: .distantPast, to: .distantFuture)
            #expect(track.count == 2 && track.first == aircraft)
            #expect(
                try await rig.store.aircraft(from: rig.clock.now, to: .distantFuture).contains(aircraft.icao24))
        }
    }

    /// A position is a metre or two from where the wire's four decimals put it, and in the field's units.
    @Test("a vector becomes a position in the field's units")
    func aVectorBecomesAPositionInTheFieldsUnits() throws {
        let vector = StateVector(
            address: try TransponderAddress("3c6444").orMissing(), callsign: "DLH9LF",
            positionTime: Instant(clamping: 1_700_000_000).date, lastContact: Instant(clamping: 1_700_000_100).date,
            longitude: 8.5, latitude: 50, barometricAltitude: Length(metres: 10_668),
            geometricAltitude: Length(metres: -30.48), groundSpeed: Speed(metresPerSecond: 231.5), trackDegrees: 90,
            verticalRate: Speed(metresPerSecond: -5.08), category: EmitterCategory(rawValue: 6))
        let id = try SourceID("opensky").orMissing()
        let position = try AircraftPosition(vector, source: id).orMissing()
        #expect(position.icao24.text == "3c6444" && position.observedAt == Instant(clamping: 1_700_000_000))
        #expect(position.altitudeFeet == 35_000 && position.geometricAltitudeFeet == -100)
        #expect(position.groundSpeedKnots == 450 && position.verticalRateFeetPerMinute == -1_000)
        #expect(position.category == 6 && position.callsign == "DLH9LF" && position.headingDegrees == 90)
        var unknown = vector
        unknown.category = EmitterCategory(rawValue: -1)
        #expect(AircraftPosition(unknown, source: id)?.category == nil)
        unknown.longitude = nil
        #expect(AircraftPosition(unknown, source: id) == nil)
        unknown = vector
        unknown.positionTime = nil
        #expect(AircraftPosition(unknown, source: id) == nil)
    }

    @Test("boxes are requested one by one")
    func boxesAreAskedOneByOne() async throws {
        try await withRig(flights: 200) { rig in
            let boxes = try [
                GeographicBox(west: 170, south: -80, east: 180, north: 80).orMissing(),
                GeographicBox(west: -180, south: -80, east: -60, north: 80).orMissing(),
            ]
            let outcome = try await rig.openSky(boxes: boxes).synchronise(now: rig.clock.now)
            #expect(outcome.accepted > 0 && rig.simulator.calls == 2)
            #expect(try await rig.positions().allSatisfy { $0.place.longitude >= 170 || $0.place.longitude <= -60 })
        }
    }

    @Test("boxes bound where traffic is known, each with its time")
    func coveredBoxes() async throws {
        try await withRig(flights: 60) { rig in
            let start = rig.clock.now
            let wide = try GeographicBox(west: -180, south: -80, east: 170, north: 80).orMissing()
            _ = try await rig.openSky(boxes: [wide]).synchronise(now: start)
            _ = try await rig.openSky(boxes: [wide]).synchronise(now: start.advanced(by: 60))
            let areas = try await rig.store.source().coveredAreas
            #expect(areas.map(\.kind) == [.positions] && areas.map(\.since) == [start] && areas[0].until == nil)
            for (west, east, isInside) in [(-179.0, 160.0, true), (0, 10, true), (165, 175, false), (171, 179, false)] {
                let box = try BoundingBox(west: west, south: -70, east: east, north: 70).orMissing()
                #expect(GeographicRegion.box(box).isInside(areas[0].ring) == isInside)
            }
            _ = try await rig.openSky().synchronise(now: start.advanced(by: 120))
            let later = try await rig.store.source().coveredAreas
            #expect(later.map(\.until) == [start.advanced(by: 60), nil] && later[1].ring == nil)
        }
    }

    @Test("bad rows are counted and the rest accepted")
    func badRowsAreCountedAndTheRestTaken() async throws {
        try await withRig(flights: 120) { rig in
            rig.simulator.setFault(.wrongTypes)
            let outcome = try await rig.openSky().synchronise(now: rig.clock.now)
            #expect(outcome.accepted > 40)
            #expect(
                outcome.skipped[.openSky(.unreadable), default: 0] > 0
                    && outcome.skipped[.openSky(.address), default: 0] > 0)
        }
    }

    @Test("a clock that runs ahead is not believed")
    func aClockThatRunsAheadIsNotBelieved() async throws {
        try await withRig(flights: 60) { rig in
            let behind = rig.clock.now.advanced(by: -3_600)
            let outcome = try await rig.openSky().synchronise(now: behind)
            #expect(outcome.accepted == 0 && outcome.skipped[.inTheFuture, default: 0] > 20)
        }
    }

    @Test("simulated traffic is refused where real is expected")
    func simulatedTrafficIsRefusedWhereRealIsExpected() async throws {
        try await withRig { rig in
            let upstream = try rig.openSky(simulated: false)
            let error = await #expect(throws: SyncError.self) { try await upstream.synchronise(now: rig.clock.now) }
            #expect(error?.code == .simulatedData)
            #expect(try await rig.positions().isEmpty)
        }
    }

    @Test(
        "a failed round leaves the data unchanged",
        arguments: [
            (Fault.unauthorized, "unauthorized", SyncError.Kind.session), (.rateLimited, "rate-limited", .transient),
            (.serverError, "upstream-error", .transient), (.htmlPage, "unreadable", .transient),
            (.truncatedBody, "unreadable", .transient), (.connectionReset, "unreachable", .transient),
            (.forbidden, "disabled", .refused),
        ])
    func aFailedRoundLeavesWhatWasThere(fault: Fault, code: String, kind: SyncError.Kind) async throws {
        try await withRig { rig in
            let upstream = try rig.openSky()
            _ = try await upstream.synchronise(now: rig.clock.now)
            let before = try await rig.positions().count
            rig.clock.advance(60)
            rig.simulator.setFault(fault)
            let error = await #expect(throws: SyncError.self) { try await upstream.synchronise(now: rig.clock.now) }
            #expect(error?.code.rawValue == code && error?.kind == kind)
            #expect(try await rig.positions().count == before)
            rig.simulator.setFault(nil)
            rig.clock.advance(60)
            #expect(try await upstream.synchronise(now: rig.clock.now).accepted > 0, "recovers by itself")
        }
    }
}
