import Datasets
import EngineTestSupport
import BillowFields
import BillowAreas
import BillowSnapshot
import BillowStore
import Foundation
import Geometry
import HTTPTypes
import HummingbirdTesting
import JSONKit
import NIOCore
import Synchronization
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

/// Records the sent events.
private final class HeardEvents: FlightEvents {
    private let heard = Mutex<[(name: String, flight: String, items: Int)]>([])
    /// The number of events that were sent outside of work threads.
    let misplaced = Atomic(0)

    func send(_ event: FlightEvent, flight: String) {
        if !WorkThreads.isOnOne { misplaced.add(1, ordering: .relaxed) }
        heard.withLock { heard in
            switch event {
            case .alert(let answer): heard.append(("alert", flight, answer.items.count))
            case .positionLost: heard.append(("positionLost", flight, -1))
            }
        }
    }

    /// The events since the last call, as name and number of items.
    func drain() -> [String] {
        heard.withLock { heard in
            defer { heard = [] }
            return heard.map { $0.items < 0 ? $0.name : "\($0.name) \($0.items)" }
        }
    }
}

/// Holds up those who read planes of fields.
private struct GatedStore: WrappedStore {
    let store: SQLiteStore
    let gate: TestGate
    /// Reads outside of the threads of work.
    let misplaced: Counter

    final class Counter: Sendable { let count = Atomic(0) }

    func fieldPlane(row: Int64) async throws(StoreError) -> FieldPlane? {
        if !WorkThreads.isOnOne { misplaced.count.add(1, ordering: .relaxed) }
        await gate.pass()
        return try await store.fieldPlane(row: row)
    }
}

@Suite("Monitored flights", .timeLimit(.minutes(20)))
struct FlightTests {
    private static func state(_ longitude: Double, _ latitude: Double = 0) throws -> FlightState {
        FlightState(place: try place(longitude, latitude), altitudeFeet: 38_000, track: 90, groundSpeed: 480)
    }

    private static func monitor(
        _ world: World, _ events: HeardEvents, work: WorkExecutor = WorkExecutor()
    ) -> FlightMonitor {
        FlightMonitor(
            alerts: world.application.alerts, events: events, store: world.store,
            reader: FlightBodyReader(airports: .large, areaLimitKm2: 1e7), work: work, logger: World.quiet())
    }

    private static func registration(_ body: String = "{}") throws -> FlightRegistration {
        try FlightBodyReader(airports: .large, areaLimitKm2: 1e7).read(Data(body.utf8))
    }

    private static func snapshot(_ world: World) throws -> Snapshot { try world.application.frames.snapshot() }

    @Test("computed turbulence is an event when it gets worse, and none with each new run")
    func field() async throws {
        try await withWorld { world in
            let events = HeardEvents()
            let monitor = Self.monitor(world, events)
            let id = try await monitor.register(try Self.registration(), key: "k", at: noon)
            let state = FlightState(place: try place(-99.6, 35), altitudeFeet: 32_000, track: 90, groundSpeed: 480)
            func run(_ number: Int, _ value: UInt8) async throws -> [String] {
                let begin = -3_600 + number * 900
                try await world.insertAir(run: begin, valid: 0) { column, _, _ in value + UInt8((column + number) % 2) }
                let answer = try #require(
                    try await monitor.position(
                        state, of: id, key: "k", at: world.clock.now, in: try Self.snapshot(world)))
                #expect(answer.items.isEmpty && answer.field?.items.isEmpty == (value < 10))
                return events.drain()
            }
            #expect(try await run(0, 12) == [], "light")
            #expect(try await run(1, 25) == ["alert 0"], "moderate")
            #expect(try await run(2, 27) == [])
            #expect(try await run(3, 5) == [])
            #expect(try await run(4, 26) == [], "the same again within an hour")
        }
    }

    @Test("a A A is one event, A B A three, and a report that vanishes one with an empty set")
    func sequence() async throws {
        try await withWorld { world in
            let events = HeardEvents()
            let monitor = Self.monitor(world, events)
            try await world.insert([try observation(try cell(1, 0)), try observation(try cell(10, 0))])
            let id = try await monitor.register(try Self.registration(), key: "k", at: noon)
            func fly(_ longitude: Double) async throws {
                _ = try await monitor.position(
                    try Self.state(longitude), of: id, key: "k", at: world.clock.now, in: try Self.snapshot(world))
            }
            for longitude in [0.0, 0.05, 0.1] { try await fly(longitude) }
            #expect(events.drain() == ["alert 1"])
            // Nothing ahead, then the same again.
            try await fly(3)
            try await fly(0.1)
            #expect(events.drain() == ["alert 0", "alert 1"])
            try await monitor.published(try Self.snapshot(world))
            #expect(events.drain().isEmpty, "the same set")
            world.clock.advance(by: 7_100)
            try await world.refresh()
            try await fly(0.1)
            #expect(events.drain().isEmpty, "the same set")
            world.clock.advance(by: 100)
            try await world.refresh()
            try await monitor.published(try Self.snapshot(world))
            #expect(events.drain() == ["alert 0"], "it aged out")
        }
    }

    @Test("flights of a publication are checked in a job, one after another, which ends when it is cancelled")
    func isJob() async throws {
        try await withWorld { world in
            let store = GatedStore(store: world.store, gate: TestGate(), misplaced: GatedStore.Counter())
            try await world.restarted(store: store) { world in
                let (events, work) = (HeardEvents(), WorkExecutor())
                let monitor = Self.monitor(world, events, work: work)
                for longitude in [-99.6, -95.6] {
                    let id = try await monitor.register(try Self.registration(), key: "k", at: noon)
                    let state = FlightState(
                        place: try place(longitude, 35), altitudeFeet: 32_000, track: 90, groundSpeed: 480)
                    _ = try await monitor.position(state, of: id, key: "k", at: noon, in: try Self.snapshot(world))
                }
                try await world.insertAir(valid: 0) { column, _, _ in UInt8(25 + column % 2) }
                let snapshot = try Self.snapshot(world)
                let published = Task { try await monitor.published(snapshot) }
                try await eventually("one flight is looked at") {
                    work.statistics(.background).running == 1 && store.gate.arrivals > 0
                }
                #expect(work.statistics(.background).waiting == 0)
                published.cancel()
                store.gate.open()
                await #expect(throws: EngineError.cancelled) { try await published.value }
                #expect(work.statistics(.background).running == 0)
                #expect(events.drain().isEmpty)
                try await monitor.published(snapshot)
                #expect(events.drain() == ["alert 0", "alert 0"])
                #expect(store.misplaced.count.load(ordering: .relaxed) == 0)
                #expect(events.misplaced.load(ordering: .relaxed) == 0)
            }
        }
    }

    @Test("an alert states what it searched, and rejects members that it would ignore")
    func looked() async throws {
        try await withWorld { world in
            let answer = try await world.post(
                "/alerts", #"{"position": [0, 0], "altitude": 35400, "track": 90, "minSeverity": 3, "speed": 480}"#)
            let query = try answer["query"].orMissing()
            #expect(query["minAltitude"]?.double == 33_000 && query["maxAltitude"]?.double == 37_000)
            #expect(query["severity"]?.items.compactMap(\.double) == [3, 4])
            #expect(query["hours"]?.double == 2 && query["category"]?.string == "C60")
            #expect(query["distance"]?.double == 100 && query["angle"]?.double == 15)
            for area in [#""route": "00N000E 00N010E""#, #""polygon": [[0,0],[1,0],[1,1],[0,0]]"#] {
                let body = #"{"position": [0, 0], "altitude": 35400, "speed": 480, "minSeverity": 3, \#(area)}"#
                let query = try await world.post("/alerts", body)["query"].orMissing()
                #expect(query["severity"]?.items.compactMap(\.double) == [3, 4], "\(area)")
            }
            for (members, code) in [
                (#""track": 90, "minsevrity": 3"#, "unknown-member"),
                (#""track": 90, "source": []"#, "invalid-parameter"),
                (#""track": 90, "source": ["a b"]"#, "invalid-parameter"),
                (#""track": 90, "source": \#([String](repeating: "a", count: 33))"#, "invalid-parameter"),
                (#""track": 90, "source": "skypath""#, "invalid-body"),
                (#""route": "00N000E 00N010E", "cells": ["851b8153fffffff"]"#, "several-areas"),
                (#""route": "00N000E 00N010E", "polygon": [[0,0],[1,0],[1,1],[0,0]]"#, "several-areas"),
            ] {
                let body = #"{"position": [0, 0], "altitude": 35000, \#(members)}"#
                let problem = try await world.post("/alerts", body, status: .badRequest)
                #expect(problem["code"]?.string == code)
            }
        }
    }

    @Test("five minutes without a position cause one event, and a day ends the flight")
    func silence() async throws {
        try await withWorld { world in
            let events = HeardEvents()
            let monitor = Self.monitor(world, events)
            let id = try await monitor.register(try Self.registration(), key: "k", at: noon)
            await monitor.tick(noon.advanced(by: 299))
            #expect(events.drain().isEmpty)
            await monitor.tick(noon.advanced(by: 300))
            await monitor.tick(noon.advanced(by: 400))
            #expect(events.drain() == ["positionLost"])
            #expect(try await monitor.owns(id, key: "k"))
            await Self.watch(monitor, from: 400, to: 86_000)
            #expect(try await monitor.owns(id, key: "k"))
            await Self.watch(monitor, from: 86_000, to: 86_800)
            #expect(try await !monitor.owns(id, key: "k"))
        }
    }

    /// Lets time go by as a server does, in steps.
    private static func watch(_ monitor: FlightMonitor, from start: Int, to end: Int) async {
        for seconds in stride(from: start, through: end, by: 50) { await monitor.tick(noon.advanced(by: seconds)) }
    }

    @Test("a clock that jumps ends no flight, also at a start")
    func jumpingClock() async throws {
        try await withWorld { world in
            let events = HeardEvents()
            let monitor = Self.monitor(world, events)
            let id = try await monitor.register(try Self.registration(), key: "k", at: noon)
            await monitor.tick(noon)
            for days in [30, 0, 60] {
                await monitor.tick(noon.advanced(by: days * 86_400))
                await Self.watch(monitor, from: days * 86_400, to: days * 86_400 + 600)
                #expect(try await monitor.owns(id, key: "k"))
            }
        }
    }

    @Test("a flight of long ago ends")
    func endsAfterSilence() async throws {
        try await withWorld { world in
            let monitor = Self.monitor(world, HeardEvents())
            let id = try await monitor.register(try Self.registration(), key: "k", at: noon)
            await Self.watch(monitor, from: 0, to: 87_000)
            #expect(try await !monitor.owns(id, key: "k"))
        }
    }

    @Test("one key can neither move nor end another's flight")
    func owners() async throws {
        try await withWorld { world in
            let monitor = Self.monitor(world, HeardEvents())
            let id = try await monitor.register(try Self.registration(), key: "k", at: noon)
            let snapshot = try Self.snapshot(world)
            #expect(
                try await monitor.position(try Self.state(0), of: id, key: "other", at: noon, in: snapshot) == nil)
            #expect(try await !monitor.end(id, key: "other"))
            #expect(try await monitor.end(id, key: "k"))
            #expect(try await monitor.position(try Self.state(0), of: id, key: "k", at: noon, in: snapshot) == nil)
        }
    }

    @Test("one's own reports are left out for an hour")
    func own() async throws {
        try await withWorld { world in
            try await world.insert([
                try observation(try cell(1, 0), severity: .moderateSevere, at: -600, aircraft: "N1"),
                try observation(try cell(1, 0), severity: .light, at: -500, source: "other", aircraft: "N2"),
                try observation(try cell(1.4, 0), at: -3_700, aircraft: "N1"),
            ])
            let alerts = world.application.alerts
            func severities(_ aircraft: String?) async throws -> [Severity] {
                let request = AlertRequest(aircraft: aircraft)
                return try await alerts.report(request, of: try Self.state(0), in: try Self.snapshot(world)).items
                    .map(\.record.severity)
            }
            #expect(try await severities(nil) == [.moderateSevere, .moderate])
            #expect(try await severities("N1") == [.light, .moderate])
        }
    }

    @Test("alerts over HTTP say what lies ahead, grouped, with the searched area")
    func answer() async throws {
        try await withWorld { world in
            try await world.insert([try observation(try cell(1, 0)), try observation(try cell(1.3, 0))])
            func post(_ body: String) async throws -> TestResponse {
                try await world.client.executeRequest(
                    uri: "/alerts", method: .post, headers: [:], body: ByteBuffer(string: body))
            }
            let response = try await post(#"{"position": [0, 0], "altitude": 38000, "track": 90, "speed": 480}"#)
            #expect(response.status == .ok)
            let answer = try response.json
            #expect(answer["kind"]?.string == "beam")
            #expect(answer["items"]?.items.count == 2)
            #expect(answer["clusters"]?.items.count == 1)
            #expect(answer["area"]?["type"]?.string == "MultiPolygon")
            #expect(answer["stale"]?.bool == false)
            #expect(answer["simulated"]?.bool == false)
            #expect(response.headers[.frameTime] == noon.description)
            let cells = try await post(
                #"{"position": [0, 0], "altitude": 38000, "cells": ["\#(cell(1, 0).h3String)"]}"#)
            #expect(try cells.json["items"]?.items.count == 1)
            #expect(try cells.json["area"]?["coordinates"]?.items.count == 1)
            // An hour before, there was no report of it.
            let before = try await post(
                #"{"position": [0, 0], "altitude": 38000, "track": 90, "time": "2026-11-21T11:00:00Z"}"#)
            #expect(try before.json["time"]?.string == "2026-11-21T11:00:00Z")
            #expect(try before.json["items"]?.items.isEmpty == true)
            // Without a direction no area is searched, which must not look like smooth air.
            let blind = try await post(#"{"position": [0, 0], "altitude": 38000}"#)
            #expect(blind.status == .badRequest)
            #expect(try blind.json["code"]?.string == "area-missing")
            let none = try await post(#"{"position": [0, 0], "altitude": 10000, "track": 90}"#)
            #expect(try none.json["items"]?.items.isEmpty == true)
            for body in [
                "{}", #"{"position": [0, 0]}"#, #"{"position": [0, 91], "altitude": 1}"#,
                #"{"position": [0, 0], "altitude": 1e9}"#, #"{"position": [0, 0], "altitude": 1, "distance": 0}"#,
                #"{"position": [0, 0], "altitude": 1, "cells": ["zz"]}"#,
                #"{"position": [0, 0], "altitude": 1, "route": [[0, 0]]}"#,
                #"{"position": [0, 0], "altitude": 1, "hours": 3}"#,
            ] {
                #expect(try await post(body).status == .badRequest, "\(body)")
            }
            let flight = try await world.client.executeRequest(
                uri: "/flights", method: .post, headers: [:], body: ByteBuffer(string: "{}"))
            #expect(flight.status == .unauthorized)
        }
    }

    @Test("hazards that touch the searched area are named, at its altitudes and its instant, and are no event")
    func hazards() async throws {
        try await withWorld { world in
            func hazard(_ id: String, _ longitude: Double, top: Int) throws -> IssuedArea {
                let ring = try [(0.0, -1.0), (1, -1), (1, 1), (0, 1)].map { try place(longitude + $0.0, $0.1) }
                return IssuedArea(
                    collection: .hazards, id: id, source: try source("awc"), kind: "sigmet", hazard: "TURB",
                    severity: .moderateSevere, altitudeMinFeet: 20_000, altitudeMaxFeet: top,
                    validFrom: noon.advanced(by: -600), validTo: noon.advanced(by: 600),
                    geometry: try MultiPolygon(outline: ring).orMissing())
            }
            _ = try await world.store.commit(
                Batch(
                    source: nil, observations: [],
                    areas: [
                        try hazard("ahead", 1, top: 39_000), try hazard("below", 1, top: 30_000),
                        try hazard("behind", -3, top: 39_000),
                    ]))
            try await world.refresh()
            let events = HeardEvents()
            let monitor = Self.monitor(world, events)
            let id = try await monitor.register(try Self.registration(), key: "k", at: noon)
            let answer = try await monitor.position(
                try Self.state(0), of: id, key: "k", at: noon, in: try Self.snapshot(world))
            #expect(answer?.hazards.map(\.id) == ["ahead"])
            #expect(events.drain().isEmpty)
        }
    }

    @Test("a key's flight over HTTP: registered, flown, heard by that key alone, ended")
    func overHTTP() async throws {
        try await withWorld { world in
            let key = try await world.key(.read).text
            let other = try await world.key(.read, name: "other").text
            try await world.insert([try observation(try cell(1, 0))])
            let registered = try await world.send(.post, "/flights", #"{"distance": 90}"#, key: key)
            #expect(registered.status == .created)
            #expect(try registered.json["alert"] == nil, "no position yet")
            let id = try registered.json["id"]?.string.orMissing() ?? ""
            #expect(try registered.json["events"]?.string == "/events?flight=\(id)")
            let events = "/events?flight=\(id)"
            let path = "/flights/\(id)/position"
            let state = #"{"position": [0, 0], "altitude": 38000, "track": 90, "speed": 480}"#

            for (method, path, body) in [
                (HTTPRequest.Method.put, path, state), (.delete, "/flights/\(id)", nil), (.get, events, nil),
            ] {
                let foreign = try await world.send(method, path, body, key: other)
                #expect(foreign.status == .notFound)
                #expect(try foreign.json["code"]?.string == "unknown-flight")
                #expect(try await world.send(method, path, body).status == .unauthorized)
            }

            let hub = world.application.events
            async let heard = world.send(.get, events, key: key)
            async let everyone = world.get("/events")
            try await eventually("two listen") { hub.listeners >= 2 }
            let flown = try await world.send(.put, path, state, key: key)
            #expect(flown.status == .ok)
            #expect(try flown.json["items"]?.items.count == 1)
            #expect(flown.headers[.cacheControl] == "private, no-store")
            // Once more the same, then a place with nothing ahead.
            _ = try await world.send(.put, path, state, key: key)
            let onward = state.replacing("[0, 0]", with: "[3, 0]")
            #expect(try await world.send(.put, path, onward, key: key).status == .ok)
            for (method, path, body) in [(HTTPRequest.Method.delete, "/flights/\(id)", nil), (.put, path, state)] {
                let answer = try await world.send(method, path, body, key: key)
                #expect(answer.status == (method == .delete ? .noContent : .notFound))
            }
            hub.close()
            let alerts = try Heard.read(try await heard.text).filter { $0.name == "alert" }
            #expect(alerts.map { $0.data["flight"]?.string } == [id, id])
            #expect(alerts.map { $0.data["items"]?.items.count } == [1, 0])
            #expect(try Heard.read(try await everyone.text).allSatisfy { $0.name != "alert" })
        }
    }

    @Test("a flight in the traffic is followed by its address or callsign, without a position from anyone")
    func followed() async throws {
        try await withWorld { world in
            let key = try await world.key(.read).text
            func register(_ body: String) async throws -> String {
                try await world.send(.post, "/flights", body, key: key).json["id"]?.string.orMissing() ?? ""
            }
            let byAddress = try await register(#"{"icao24": "3C6DD2"}"#)
            let byCallsign = try await register(#"{"callsign": "dlh4ab"}"#)
            let elsewhere = try await register(#"{"callsign": "OTHER1"}"#)
            for body in [#"{"icao24": "xyz"}"#, #"{"callsign": "TOOLONG99"}"#, #"{"callsign": ""}"#] {
                #expect(try await world.send(.post, "/flights", body, key: key).status == .badRequest)
            }
            let position = AircraftPosition(
                icao24: try ICAO24("3c6dd2").orMissing(), callsign: "DLH4AB", place: try place(0, 0),
                source: try source("awc"), observedAt: noon, altitudeFeet: 38_000, groundSpeedKnots: 480,
                headingDegrees: 90, isOnGround: false)
            _ = try await world.store.commit(
                Batch(source: nil, observations: [try observation(try cell(1, 0))], positions: [position]))
            try await world.refresh()
            let hub = world.application.events
            async let first = world.send(.get, "/events?flight=\(byAddress)", key: key)
            async let second = world.send(.get, "/events?flight=\(byCallsign)", key: key)
            async let third = world.send(.get, "/events?flight=\(elsewhere)", key: key)
            try await eventually("three listen") { hub.listeners >= 3 }
            try await world.application.flights.published(try Self.snapshot(world))
            hub.close()
            for (id, text) in [(byAddress, try await first.text), (byCallsign, try await second.text)] {
                let alerts = try Heard.read(text).filter { $0.name == "alert" }
                #expect(alerts.map { $0.data["flight"]?.string } == [id])
                let item = try #require(alerts.first?.data["items"]?[0])
                let ahead = try cell(1, 0)
                #expect(item["h3"]?.string == ahead.h3String)
                // 60 NM at 480 knots; the cell's middle lies some miles off.
                let seconds = try item["timeTo"]?.double.orMissing() ?? 0
                #expect(abs(seconds - 450) < 60)
            }
            #expect(try Heard.read(try await third.text).allSatisfy { $0.name != "alert" })
        }
    }

    @Test("a position with a time ahead of another aircraft silences no flight")
    func ahead() async throws {
        try await withWorld { world in
            let events = HeardEvents()
            let monitor = Self.monitor(world, events)
            func position(_ address: String, _ longitude: Double, at seconds: Int) throws -> AircraftPosition {
                AircraftPosition(
                    icao24: try ICAO24(address).orMissing(), place: try place(longitude, 0), source: try source("awc"),
                    observedAt: noon.advanced(by: seconds), altitudeFeet: 38_000, groundSpeedKnots: 480,
                    headingDegrees: 90, isOnGround: false)
            }
            _ = try await monitor.register(try Self.registration(#"{"icao24": "3c6dd2"}"#), key: "k", at: noon)
            _ = try await world.store.commit(
                Batch(
                    source: nil, observations: [try observation(try cell(1, 0)), try observation(try cell(5, 0))],
                    positions: [try position("3c6dd2", 0, at: -1), try position("aaaaaa", 0, at: 250)]))
            try await world.refresh()
            try await monitor.published(try Self.snapshot(world))
            #expect(events.drain() == ["alert 1"])
            // Onward, while the other one still lies ahead.
            world.clock.advance(by: 100)
            _ = try await world.store.commit(Batch(source: nil, positions: [try position("3c6dd2", 2.5, at: 90)]))
            try await world.refresh()
            try await monitor.published(try Self.snapshot(world))
            #expect(events.drain() == ["alert 0"])
            // Its own position ahead counts from its time on, and until then the one before.
            _ = try await world.store.commit(Batch(source: nil, positions: [try position("3c6dd2", 4.2, at: 300)]))
            world.clock.advance(by: 190)
            try await world.refresh()
            try await monitor.published(try Self.snapshot(world))
            #expect(events.drain().isEmpty)
            world.clock.advance(by: 10)
            try await world.refresh()
            try await monitor.published(try Self.snapshot(world))
            #expect(events.drain() == ["alert 1"])
        }
    }

    @Test("a flight looks ahead from now on: another time is refused")
    func time() async throws {
        try await withWorld { world in
            let key = try await world.key(.read).text
            let answer = try await world.send(.post, "/flights", #"{"time": "2026-11-21T11:00:00Z"}"#, key: key)
            #expect(answer.status == .badRequest)
            #expect(try answer.json["parameter"]?.string == "time")
            #expect(try await world.send(.post, "/flights", #"{"time": "latest"}"#, key: key).status == .created)
            let late = try await world.send(.post, "/flights", #"{"departure": "2026-11-21T13:00:00Z"}"#, key: key)
            #expect(late.status == .badRequest)
            #expect(try late.json["parameter"]?.string == "departure")
        }
    }

    @Test("flights outlive a restart with their position, clusters and what was told: nothing is told twice or missed")
    func restart() async throws {
        try await withWorld { world in
            let key = try await world.key(.read)
            let owner = key.id
            try await world.insert([try observation(try cell(1, 0)), try observation(try cell(10, 0))])
            let before = HeardEvents()
            let first = Self.monitor(world, before)
            let id = try await first.register(try Self.registration(#"{"distance": 90}"#), key: owner, at: noon)
            let gone = try await first.register(try Self.registration(), key: owner, at: noon)
            let revoked = try await first.register(try Self.registration(), key: "0000000000000000", at: noon)
            #expect(try await first.end(gone, key: owner))
            let answer = try await first.position(
                try Self.state(0), of: id, key: owner, at: noon, in: try Self.snapshot(world))
            #expect(before.drain() == ["alert 1"])
            await first.save()

            let after = HeardEvents()
            let second = Self.monitor(world, after)
            try await second.published(try Self.snapshot(world))
            #expect(after.drain().isEmpty, "told before")
            #expect(try await second.owns(id, key: owner))
            #expect(try await !second.owns(gone, key: owner))
            #expect(try await !second.owns(revoked, key: "0000000000000000"))
            // Data from the downtime causes events, in the earlier clusters.
            try await world.insert([try observation(try cell(1.1, 0), severity: .light)])
            let third = Self.monitor(world, after)
            try await third.published(try Self.snapshot(world))
            #expect(after.drain() == ["alert 2"])
            let again = try await third.position(
                try Self.state(0), of: id, key: owner, at: noon, in: try Self.snapshot(world))
            #expect(again?.query.distance == 90)
            #expect(again?.clusters.map(\.id) == answer?.clusters.map(\.id))
            #expect(again?.clusters.first?.new == [])
            await third.save()
            #expect(try await world.store.monitoredFlights().map(\.id) == [id])
            // Silence counts on, and ends it in the store too.
            let fourth = Self.monitor(world, after)
            world.clock.advance(by: 600)
            try await world.refresh()
            try await fourth.published(try Self.snapshot(world))
            #expect(after.drain() == ["positionLost"])
            await Self.watch(fourth, from: 600, to: 88_000)
            await fourth.save()
            #expect(try await world.store.monitoredFlights().isEmpty)
        }
    }

    @Test("a flight that can't be stored is rejected, and a deletion that can't be stored fails")
    func unstorable() async throws {
        try await withWorld { world in
            let control = FailingControl(world.store)
            let registration = try Self.registration()
            let monitor = FlightMonitor(
                alerts: world.application.alerts, events: HeardEvents(), store: control,
                reader: FlightBodyReader(airports: .large, areaLimitKm2: 1e7), work: WorkExecutor(),
                logger: World.quiet())
            let id = try await monitor.register(registration, key: "k", at: noon)
            control.fails.withLock { $0 = true }
            let refused = await #expect(throws: EngineError.self) {
                try await monitor.register(registration, key: "k", at: noon)
            }
            #expect(refused == .flightNotStored(.registration))
            #expect(refused.flatMap { Problem($0)?.code } == .storeUnavailable)
            await #expect(throws: EngineError.flightNotStored(.end)) { try await monitor.end(id, key: "k") }
            #expect(try await monitor.owns(id, key: "k"))
            func fly(_ longitude: Double) async throws -> AlertResponse? {
                try await monitor.position(
                    try Self.state(longitude), of: id, key: "k", at: noon, in: try Self.snapshot(world))
            }
            _ = try await fly(0)
            await monitor.save()
            #expect(try await fly(1)?.stored == false)
            control.fails.withLock { $0 = false }
            await monitor.save()
            #expect(try await fly(2)?.stored == nil)
            #expect(try await monitor.end(id, key: "k"))
        }
    }

    @Test("a listener that reconnects after a restart gets its flight's missed events")
    func listensAgain() async throws {
        let hub = EventHub(logger: World.quiet())
        hub.publish("alert", ["flight": "a"], to: .flight("a"))
        hub.publish("alert", ["flight": "b"], to: .flight("b"))
        hub.publish("data", ["area": "all"])
        func heard(after id: String?) async throws -> [String] {
            let greeting: (name: String, payload: [String: String])? = ("data", ["greeting": "true"])
            let subscription = try hub.subscribe(after: id, flight: "a", greeting: greeting)
            subscription.cancel()
            var texts: [String] = []
            for await bytes in subscription.events { texts.append(String(buffer: bytes)) }
            return try texts.flatMap { try Heard.read($0) }.map(\.name)
        }
        let (again, first) = (try await heard(after: "000000000000-7"), try await heard(after: nil))
        #expect(again == ["alert", "data"])
        #expect(first == ["data"])
    }

    @Test("an alert of a large area is bounded: by its area with 400, by its items with a count of all")
    func bounded() async throws {
        try await withWorld { world in
            let cells = H3.disk(around: try cell(0, 0), distance: 30).sorted { $0.dense < $1.dense }
            #expect(cells.count > AlertSource.maximumItems)
            let observations = try cells.enumerated().map { number, cell in
                try observation(cell, severity: number.isMultiple(of: 100) ? .moderateSevere : .light)
            }
            try await world.insert(observations)
            let all =
                #""position": [0, 0], "altitude": 36000, "track": 90, "angle": 360, "#
                + #""minAltitude": 0, "maxAltitude": 60000"#
            let refused = try await world.post("/alerts", "{\(all), \"distance\": 2000}", status: .badRequest)
            #expect(refused["code"]?.string == "area-too-large" && refused["parameter"]?.string == "distance")
            let answer = try await world.post("/alerts", "{\(all), \"distance\": 900}")
            let items = answer["items"]?.items ?? []
            #expect(items.count == AlertSource.maximumItems)
            #expect(answer["numberMatched"]?.double == Double(cells.count))
            #expect(answer["truncated"]?.bool == true)
            #expect(items.count(where: { $0["severity"]?.double == 4 }) == (cells.count + 99) / 100)
            let distances = items.compactMap { $0["distance"]?.double }
            #expect(distances == distances.sorted())
            let near = try await world.post("/alerts", "{\(all), \"distance\": 50}")
            #expect(near["truncated"]?.bool == false)
            #expect(near["numberMatched"]?.double == Double(near["items"]?.items.count ?? -1))
        }
    }

    @Test("alerts exclude smooth air unless it is requested")
    func smooth() async throws {
        try await withWorld { world in
            try await world.insert([
                try observation(try cell(1, 0), severity: .smooth), try observation(try cell(1.4, 0), severity: .light),
            ])
            for (wish, severities) in [
                ("", [1.0]), (#", "minSeverity": 0"#, [0, 1]), (#", "severity": [0]"#, [0]),
                (#", "severity": [0, 1], "minSeverity": 1"#, [1]),
            ] {
                let answer = try await world.post(
                    "/alerts", #"{"position": [0, 0], "altitude": 38000, "track": 90\#(wish)}"#)
                #expect(answer["items"]?.items.compactMap { $0["severity"]?.double } == severities, "\(wish)")
            }
        }
    }
}

/// A real store that can be made to refuse flights.
private final class FailingControl: ControlStore {
    let store: SQLiteStore
    let fails = Mutex(false)

    init(_ store: SQLiteStore) { self.store = store }

    private func check() throws(StoreError) {
        if fails.withLock({ $0 }) { throw .failed("disk I/O error") }
    }

    func accessKeys() async throws(StoreError) -> [AccessKey] { try await store.accessKeys() }
    func add(_ key: AccessKey) async throws(StoreError) { try await store.add(key) }
    func revokeAccessKey(id: String, at: Instant) async throws(StoreError) -> Bool {
        try await store.revokeAccessKey(id: id, at: at)
    }
    func persistedOverride(of source: SourceID) async throws(StoreError) -> String? {
        try await store.persistedOverride(of: source)
    }
    func setPersistedOverride(_ value: String?, of source: SourceID) async throws(StoreError) {
        try await store.setPersistedOverride(value, of: source)
    }
    func monitoredFlights() async throws(StoreError) -> [MonitoredFlight] {
        try check()
        return try await store.monitoredFlights()
    }
    func add(_ flight: MonitoredFlight) async throws(StoreError) {
        try check()
        try await store.add(flight)
    }
    func update(_ flights: [MonitoredFlight]) async throws(StoreError) {
        try check()
        try await store.update(flights)
    }
    func removeMonitoredFlights(_ ids: [String]) async throws(StoreError) {
        try check()
        try await store.removeMonitoredFlights(ids)
    }
}
