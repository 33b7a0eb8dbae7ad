import AsyncHTTPClient
import Foundation
import OpenSky
import Testing
import UpstreamSimulator

/// Invented answers with all oddities that OpenSky's own answers were seen to have. These are nulls, blanks, negative
/// tracks, whole numbers where the documentation says float, an impossible speed, old positions, and times with an
/// exponent. OpenSky's real data may not be stored here.
///
/// Source: docs/upstreams/opensky.md, "State vectors" and "Flights and tracks"
private enum OddAnswers {
    static let vectors = 240
    static let flights = 30
    private static let captured = 1_693_234_261

    static func withReplay(_ body: (Replay) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("odd-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }  // Only tidiness.
        for (name, text) in [("states_all_odd", states), ("flights_all_odd", flightList), ("tracks_all_odd", track)] {
            try Data(text.utf8).write(to: folder.appendingPathComponent("\(name).json"))
        }
        try await body(try Replay(folder: folder.path))
    }

    private static var states: String {
        let rows = (0..<vectors).map { index in
            let seen = captured - (index == 17 ? 314 : index % 15)
            let callsign = index % 40 == 3 ? "        " : index % 40 == 7 ? "" : "TST\(1_000 + index) "
            let place = index % 60 == 5 ? "null,null" : "\(Double(index) / 2 - 60),\(index % 2 == 0 ? "48" : "47.25")"
            let altitude = index % 20 == 9 ? "null" : index % 2 == 0 ? "10972.8" : "3048"
            let speed = index == 50 ? "2443" : index % 3 == 0 ? "0" : "231.5"
            let heading = index % 80 == 2 ? "-12.5" : "\(index)"
            let climb = index % 30 == 4 ? "null" : "-0.33"
            let squawk = index % 2 == 0 ? "null" : "\"1000\""
            return """
                ["\(String(0x4b0000 + index, radix: 16))","\(callsign)","Nowhere",\(seen),\(seen),\(place),\(altitude),\
                \(index % 24 == 1),\(speed),\(heading),\(climb),null,\(altitude),\(squawk),false,\
                \(index % 48 == 6 ? 3 : 0)]
                """
        }
        return "{\"time\":\(captured),\"states\":[\(rows.joined(separator: ","))]}"
    }

    private static var flightList: String {
        let rows = (0..<flights).map { index in
            let landed = captured - 60 * index
            let departure = index % 3 == 0 ? "null" : "\"EDDF\""
            let arrival = index % 5 == 0 ? "null" : "\"LSZH\""
            let callsign = index % 10 == 4 ? "null" : index == 6 ? "\"        \"" : "\"TST\(1_000 + index) \""
            return """
                {"icao24":"\(String(0x4b0000 + index, radix: 16))","firstSeen":\(landed - 1_200),"lastSeen":\(landed),\
                "estDepartureAirport":\(departure),"estArrivalAirport":\(arrival),"callsign":\(callsign),\
                "estDepartureAirportHorizDistance":\(index % 3 == 0 ? "null" : "812"),\
                "estDepartureAirportVertDistance":\(index % 3 == 0 ? "null" : "30"),\
                "estArrivalAirportHorizDistance":\(index % 5 == 0 ? "null" : "640"),\
                "estArrivalAirportVertDistance":\(index % 5 == 0 ? "null" : "12"),\
                "departureAirportCandidatesCount":0,"arrivalAirportCandidatesCount":1}
                """
        }
        return "[\(rows.joined(separator: ","))]"
    }

    private static var track: String {
        let points = (0..<40).map { index in
            "[\(captured - 624 + 16 * index),\(47 + Double(index) / 100),8.5,\(3_048 - index),\(index),false]"
        }
        return """
            {"icao24":"4b0007","callsign":"TST1007 ","startTime":1.693233637E9,"endTime":1.693234261E9,\
            "path":[\(points.joined(separator: ","))]}
            """
    }
}

@Suite("Odd answers, replayed")
struct OddAnswerTests {
    @Test("a snapshot loses nothing but an impossible value, and is as new at every call")
    func snapshot() async throws {
        try await OddAnswers.withReplay { replay in
            try await withRig(replay: replay) { rig in
                let answer = try await rig.client.states()
                #expect(answer.vectors.count == OddAnswers.vectors && answer.counts.skipped.isEmpty)
                // One says that it flies 2,443 m/s. Three have negative tracks, which are brought to 0 ..< 360.
                #expect(answer.counts.droppedValues == 1)
                #expect(answer.time == date(testTime))
                #expect(answer.vectors.count { $0.longitude == nil } == 4)
                #expect(answer.vectors.count { $0.barometricAltitude == nil } == 12)
                #expect(answer.vectors.count { $0.verticalRate == nil } == 8)
                #expect(answer.vectors.count { $0.squawk == nil } == 120)
                #expect(answer.vectors.count { $0.callsign == nil } == 12)
                #expect(answer.vectors.count { $0.isOnGround } == 10)
                #expect(answer.vectors.count { $0.positionSource == .flarm } == 5)
                #expect(answer.vectors.map(\.lastContact).min() == date(testTime - 314))
                rig.clock.advance(600)
                #expect(try await rig.client.states().time == date(testTime + 600))
            }
        }
    }

    @Test("flights and tracks are moved to the start")
    func flightsAndTracks() async throws {
        try await OddAnswers.withReplay { replay in
            try await withRig(replay: replay) { rig in
                let flights = try await rig.client.flights(during: rig.lastHours)
                #expect(flights.flights.count == OddAnswers.flights && flights.counts.skipped.isEmpty)
                #expect(flights.flights.map(\.lastSeen).max() == date(testTime))
                #expect(flights.flights.count { $0.departure == nil } == 10)
                #expect(flights.flights.count { $0.arrival == nil } == 6)
                // Three are null, one is blank.
                #expect(flights.flights.count { $0.callsign == nil } == 4)
                let track = try #require(try await rig.client.track(of: address("4b0007")))
                #expect(track.path.count == 40 && track.counts.skipped.isEmpty && track.end == date(testTime))
            }
        }
    }
}

@Suite("A replay's folder")
struct ReplayTests {
    @Test("a folder that is not there or a file that is no answer says so")
    func aFolderThatIsNotThereOrAFileThatIsNoAnswerSaysSo() async throws {
        #expect(throws: ReplayError.noFolder("/nonexistent")) { try Replay(folder: "/nonexistent") }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("replay-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }  // Only tidiness.
        try Data(#"{"time":1,"states":[["#.utf8).write(to: folder.appendingPathComponent("states_all_cut.json"))
        let replay = try Replay(folder: folder.path)
        #expect(replay.files.map(\.path) == ["states_all_cut.json"])
        await #expect(throws: ReplayError.self) { try await withRig(replay: replay) { _ in } }
    }
}

@Suite(
    "The real service",
    .enabled(
        if: ProcessInfo.processInfo.environment["OPENSKY_CLIENT_ID"] != nil,
        "OPENSKY_CLIENT_ID and OPENSKY_CLIENT_SECRET are not set"))
struct LiveTests {
    @Test("a small box of state vectors is read as the service gave it")
    func aSmallBoxOfStateVectors() async throws {
        let environment = ProcessInfo.processInfo.environment
        let credentials = try OpenSkyConfiguration.Credentials(
            clientID: #require(environment["OPENSKY_CLIENT_ID"]),
            clientSecret: #require(environment["OPENSKY_CLIENT_SECRET"].flatMap { Secret($0) }))
        let http = HTTPClient(configuration: OpenSkyClient.recommendedHTTPConfiguration)
        let client = try OpenSkyClient(configuration: .init(credentials: credentials), httpClient: http)
        do {
            let answer = try await client.states(
                in: GeographicBox(west: 5, south: 46, east: 10, north: 51), includesCategory: true)
            #expect(answer.counts.skipped.isEmpty && !answer.isSimulated)
        } catch {
            try await http.shutdown()
            throw error
        }
        try await http.shutdown()
    }
}
