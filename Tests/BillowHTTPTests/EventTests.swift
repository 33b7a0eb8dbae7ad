import EngineTestSupport
import BillowFields
import BillowStore
import BillowSync
import Datasets
import Foundation
import Geometry
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import JSONKit
import NIOCore
import Synchronization
import TestSupport
import Testing
import UpstreamKit
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

/// A server-sent event, read as a browser does.
struct Heard: Hashable {
    var id: String?
    var name: String
    var data: JSON

    /// The events of a stream's bytes; comments and `retry` are none.
    static func read(_ text: String) throws -> [Heard] {
        try text.components(separatedBy: "\n\n").compactMap { block in
            var fields: [String: String] = [:]
            for line in block.split(separator: "\n") where !line.hasPrefix(":") {
                let parts = line.split(separator: ":", maxSplits: 1)
                fields[String(parts[0])] = parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""
            }
            guard let name = fields["event"], let data = fields["data"] else { return nil }
            let json = try JSONDecoder().decode(JSON.self, from: Data(data.utf8))
            return Heard(id: fields["id"], name: name, data: json)
        }
    }
}

extension EventHub {
    fileprivate func listen(_ last: String? = nil, flight: String? = nil) throws(Problem) -> Subscription {
        let nobody: (name: String, payload: [String: String])? = ("data", ["area": "all"])
        return try subscribe(after: last, flight: flight, greeting: nobody)
    }

    fileprivate static func quiet() -> EventHub { EventHub(logger: World.quiet()) }
}

extension EventHub.Subscription {
    /// All that came until the stream's end.
    fileprivate func heard() async throws -> [Heard] { try Heard.read(await text()) }

    fileprivate func text() async -> String {
        var text = ""
        for await bytes in events { text += String(buffer: bytes) }
        return text
    }
}

/// An upstream that fails on demand.
private struct Moody: Upstream {
    let id: SourceID
    let kind = "moody"
    let merge = MergeRule.replace
    let simulated: Bool? = false
    let feeds: Set<FeedKind> = [.observations]
    let collections = ["turbulence"]
    let credential: String? = "key"
    var query: DataQuery?
    final class Mood: Sendable { let failure = Mutex<SyncError?>(nil) }
    let mood = Mood()

    func synchronise(now: Instant) async throws(SyncError) -> SyncOutcome {
        if let failure = mood.failure.withLock({ $0 }) { throw failure }
        return SyncOutcome()
    }
}

@Suite("Events are sent to all listeners", .timeLimit(.minutes(20)))
struct EventTests {
    @Test("everyone hears what is for everyone, and a flight's listeners what is for it, in order, with rising ids")
    func audiences() async throws {
        let hub = EventHub.quiet()
        let all = try hub.listen()
        let flight = try hub.listen(flight: "F1")
        let other = try hub.listen(flight: "F2")
        hub.publish("data", ["n": 1])
        hub.publish("alert", ["flight": "F1"], to: .flight("F1"))
        hub.publish("reachable", ["text": "two\nlines"])
        hub.sendHeartbeat()
        hub.close()
        #expect(try await flight.heard().map(\.name) == ["data", "data", "alert", "reachable"])
        #expect(try await other.heard().map(\.name) == ["data", "data", "reachable"])
        let text = await all.text()
        #expect(text.hasPrefix("retry: 3000\n\n") && text.hasSuffix(": alive\n\n"))
        let heard = try Heard.read(text)
        #expect(heard.map(\.name) == ["data", "data", "reachable"])
        #expect(heard[2].data["text"]?.string == "two\nlines")
        #expect(heard.compactMap(\.id).map { $0.split(separator: "-").last } == ["0", "1", "3"])
        #expect(throws: Problem.self) { try hub.listen() }
    }

    @Test("a heartbeat is so frequent that the viewer, which allows five seconds of silence, hears two in that time")
    func heartbeat() {
        #expect(EventHub.heartbeatInterval * 2 < .seconds(5))
    }

    @Test("a listener of some collections hears of their changes and of its flight, and of nothing else")
    func collections() async throws {
        let hub = EventHub.quiet()
        let nobody: (name: String, payload: [String: String])? = nil
        func listen(_ last: String? = nil) throws -> EventHub.Subscription {
            try hub.subscribe(after: last, flight: "F1", collections: ["turbulence", "pireps"], greeting: nobody)
        }
        let all = try hub.listen()
        let some = try listen()
        for id in ["turbulence", "hazards", "pireps"] {
            hub.publish("data", ["n": id], about: .data(collection: id))
            hub.publish("fetching", ["n": id])
        }
        hub.publish("data", ["n": "all"], about: .data(collection: nil))
        hub.publish("alert", ["n": "F1"], to: .flight("F1"))
        hub.publish("alert", ["n": "F2"], to: .flight("F2"))
        some.cancel()
        let heard = try await some.heard()
        #expect(heard.map { $0.data["n"]?.string } == ["turbulence", "pireps", "all", "F1"])
        // The missed ones are those of the same collections.
        let back = try listen(heard[0].id)
        back.cancel()
        #expect(try await back.heard().map { $0.data["n"]?.string } == ["pireps", "all", "F1"])
        all.cancel()
        #expect(try await all.heard().count == 8)
    }

    @Test("the collections whose events announce changes of a collection")
    func announcing() throws {
        func announcing(_ ids: String...) -> Set<String> {
            EventFeed.announcing(Catalogue.all.filter { ids.contains($0.id) })
        }
        #expect(announcing("observations") == ["observations", "turbulence"])
        #expect(announcing("hexagons", "polygons") == ["hexagons", "polygons", "turbulence"])
        #expect(announcing("hazards", "pireps") == ["hazards", "pireps"])
    }

    @Test(
        "the parameter collections has names of collections",
        arguments: [
            ("observations", 200), ("hazards,pireps", 200), ("", 400), ("clouds", 400), ("hazards,", 400),
            (String(repeating: "hazards,", count: 40) + "hazards", 400),
        ])
    func collectionNames(_ names: String, _ status: Int) async throws {
        try await withWorld { world in
            let answer = try await world.get("/events?collections=\(names)", method: .head)
            #expect(answer.status.code == status)
        }
    }

    @Test("a client that returns with the last id gets the missed events; if they are gone, it reads everything")
    func replay() async throws {
        let hub = EventHub.quiet()
        for number in 1...10 { hub.publish("data", ["n": number], to: number == 9 ? .flight("F1") : .everyone) }
        let first = try hub.listen()
        hub.publish("data", ["n": 11])
        first.cancel()
        let greeted = try await first.heard()
        #expect(greeted.map { $0.data["n"]?.double } == [nil, 11] && greeted[0].data["area"]?.string == "all")
        let run = try greeted[0].id.orMissing().split(separator: "-")[0]
        #expect(greeted[0].id == "\(run)-10")

        func missed(_ last: String?, flight: String? = nil) async throws -> [Double?] {
            let back = try hub.listen(last, flight: flight)
            back.cancel()
            return try await back.heard().map { $0.data["n"]?.double }
        }
        #expect(try await missed("\(run)-7") == [8, 10, 11])
        #expect(try await missed("\(run)-7", flight: "F1") == [8, 9, 10, 11])
        #expect(try await missed("\(run)-11") == [])
        for unknown in [nil, "", "x", "\(run)-12", "\(run)--1", "other-7", "\(run)-7-7"] {
            #expect(try await missed(unknown) == [nil], "\(unknown ?? "none")")
        }
        // Forgotten in the meantime.
        for number in 0...EventHub.maximumEvents { hub.publish("data", ["n": number]) }
        #expect(try await missed("\(run)-7") == [nil])
    }

    @Test("a listener that doesn't read is dropped, others continue; and their number is limited")
    func bounds() async throws {
        let hub = EventHub.quiet()
        let slow = try hub.listen()
        let quick = try hub.listen()
        var iterator = quick.events.makeAsyncIterator()
        var heard = 0
        for number in 0..<(2 * EventHub.longestBacklog) {
            hub.publish("data", ["n": number])
            if try Heard.read(String(buffer: try await iterator.next().orMissing())).first != nil { heard += 1 }
        }
        #expect(hub.listeners == 1)
        #expect(try await slow.heard().count < EventHub.longestBacklog)
        #expect(heard > EventHub.longestBacklog)
        var many = try (1..<hub.maximumListeners).map { _ in try hub.listen() }
        #expect(throws: Problem.self) { try hub.listen() }
        many.removeLast()
        _ = try hub.listen()
        many = []
        #expect(hub.listeners == 1)
    }

    @Test("each change of the picture is one event; loaded data is announced once")
    func data() async throws {
        try await withWorld(load: false) { world in
            let listener = try world.application.events.listen()
            try await world.refresh()
            try await world.eventsSent()
            try await world.insert([try observation(try cell(10, 46), source: "import")])
            world.clock.advance(by: 60)
            try await world.refresh()
            try await world.eventsSent()
            world.application.events.close()
            let heard = try await listener.heard().dropFirst()
            #expect(heard.map(\.name) == ["data", "data"])
            #expect(heard.map { $0.data["area"]?.string } == ["all", "global"])
            #expect(heard.last?.data["collection"]?.string == "turbulence")
            #expect(heard.last?.data["version"]?.double == 1)
        }
    }

    @Test("a new field of turbulence is an event of its collection")
    func fields() async throws {
        try await withWorld { world in
            let listener = try world.application.events.listen()
            let grid = try GridDefinition(
                shape: .sphere, columns: 2, rows: 2, projection: .lonLat(west: -100, south: 30, dx: 0.5, dy: 0.5))
            let plane = try #require(FieldPlane(width: 2, height: 2, values: [0, 10, 20, 30]))
            let identity = try #require(FieldIdentity(product: .nowcast, run: noon, validTime: noon))
            let draft = FieldLevelDraft(identity: identity, grid: grid, level: .column, packed: plane.packed())
            _ = try await world.store.commit(Batch(source: source("awc"), fields: [draft], fetchedAt: noon))
            try await world.refresh()
            try await world.eventsSent()
            world.application.events.close()
            let told = try await listener.heard().filter { $0.data["collection"] != nil }
            #expect(
                told.map { "\($0.name) \($0.data["collection"]?.string ?? "") \($0.data["area"]?.string ?? "")" }
                    == ["data gtg global"])
        }
    }

    @Test("new data is announced for the part of the query that contains it")
    func areas() async throws {
        @Sendable func ring(_ west: Double) throws -> AreaRing {
            try AreaRing(
                [(0.0, 0.0), (10, 0), (10, 10), (0, 10), (0, 0)].map { longitude, latitude in
                    try #require(LonLat(longitude: west + longitude, latitude: 40 + latitude))
                })
        }
        try await withWorld(configured: ["skypath"]) { world in
            let id = try source("skypath")
            let query = DataQuery(
                types: [.turbulence, .flights, .pireps], global: false, polygon: try ring(0), viewport: try ring(20))
            // A loop makes the state known, and with it the query.
            _ = SourceLoop(
                upstream: Moody(id: id, query: query), update: .fast, states: world.states, now: { world.clock.now },
                logger: World.quiet())
            let listener = try world.application.events.listen()
            func position(_ icao24: UInt32, _ longitude: Double, at seconds: Int = 0) throws -> AircraftPosition {
                AircraftPosition(
                    icao24: try #require(ICAO24(rawValue: icao24)),
                    place: try #require(LonLat(longitude: longitude, latitude: 45)), source: id,
                    observedAt: noon.advanced(by: seconds))
            }
            func report(_ longitude: Double) throws -> PilotReport {
                PilotReport(
                    id: "r", place: try #require(LonLat(longitude: longitude, latitude: 45)), observedAt: noon,
                    type: "PIREP", aircraft: nil, altitudeFeet: nil, turbulence: [], text: "UA", source: id)
            }
            _ = try await world.store.register(id, merge: .replace, simulated: false)
            _ = try await world.store.commit(
                Batch(source: id, pilotReports: [try report(25)], positions: [try position(1, 5, at: -60)]))
            try await world.refresh()
            try await world.eventsSent()
            _ = try await world.store.commit(Batch(source: id, positions: [try position(1, 5.1), try position(2, 25)]))
            try await world.refresh()
            try await world.eventsSent()
            world.application.events.close()
            let told = try await listener.heard().filter { $0.name == "data" && $0.data["collection"] != nil }
            #expect(
                told.compactMap { "\($0.data["collection"]?.string ?? "") \($0.data["area"]?.string ?? "")" } == [
                    "pireps viewport", "traffic corridor", "tracks corridor", "traffic corridor", "traffic viewport",
                    "tracks corridor", "tracks viewport",
                ])
        }
    }

    @Test("an upstream that is gone or there again, and a key that is refused or accepted again, are told once each")
    func sources() async throws {
        try await withWorld(configured: ["skypath"]) { world in
            let upstream = Moody(id: try source("skypath"))
            let loop = SourceLoop(
                upstream: upstream, update: .fast, states: world.states, now: { world.clock.now }, random: { 0.5 },
                logger: World.quiet())
            let listener = try world.application.events.listen()
            let gone = SyncError(kind: .transient, code: .upstream(.unreachable), message: "gone", isReachable: false)
            let refused = SyncError(
                kind: .session, code: .upstream(.unauthorized), message: "wrong key", isReachable: true)
            for failure in [nil, gone, gone, nil, refused] {
                upstream.mood.failure.withLock { $0 = failure }
                _ = await loop.round()
            }
            // Started, it is refused again, and that is another failure.
            try await loop.start()
            _ = await loop.round()
            upstream.mood.failure.withLock { $0 = nil }
            try await loop.start()
            _ = await loop.round()
            try await world.eventsSent()
            world.application.events.close()
            let heard = try await listener.heard()
            let reachable = heard.filter { $0.name == "reachable" }.map(\.data)
            #expect(reachable.map { $0["on"]?.bool } == [false, true])
            #expect(reachable.allSatisfy { $0["source"]?.string == "skypath" })
            let session = heard.filter { $0.name == "session" }.map(\.data)
            // Nothing is said before the upstream has said so, not even after a start.
            #expect(session.map { $0["active"]?.bool } == [true, false, false, true])
            #expect(session.map { $0["reason"]?.string } == [nil, "wrong key", "wrong key", nil])
            let failed = heard.filter { $0.name == "failed" }.map { $0.data["code"]?.string }
            #expect(failed == ["unreachable", "unreachable", "unauthorized", "unauthorized"])
            let fetching = heard.filter { $0.name == "fetching" }.map { $0.data["on"]?.bool }
            #expect(fetching == Array(repeating: [true, false], count: 7).flatMap { $0 })
        }
    }

    @Test("the documentation's words of events and failures are short")
    func meanings() {
        #expect(SyncError.Code.allCases.allSatisfy { $0.meaning.split(separator: " ").count <= 20 })
        #expect(EventName.allCases.allSatisfy { $0.meaning.split(separator: " ").count <= 20 && !$0.members.isEmpty })
    }

    @Test("over HTTP: the greeting, what happens, an id to come back with, and an end when the server drains")
    func http() async throws {
        try await withWorld { world in
            let hub = world.application.events
            #expect(try await world.get("/events?flight=F1").status == .unauthorized)
            async let answer = world.get("/events")
            try await eventually("somebody listens") { hub.listeners > 0 }
            hub.publish("alert", ["flight": "F1"], to: .flight("F1"))
            hub.publish("reachable", ["on": "false"])
            hub.close()
            let response = try await answer
            #expect(response.status == .ok && response.headers[.contentType] == "text/event-stream")
            #expect(response.headers[.cacheControl] == "no-store")
            let heard = try Heard.read(response.text)
            #expect(heard.map(\.name) == ["data", "reachable"])
            #expect(heard[0].data["area"]?.string == "all" && heard[0].data["version"]?.double == 0)
            #expect(try await world.get("/events").status == .serviceUnavailable)
            #expect(try await world.get("/events?zzz=1").status == .badRequest)
        }
    }
}
