import AsyncHTTPClient
import Foundation
import OpenSky
import Testing
import UpstreamSimulator

/// OpenSky's data may not be kept here. Where it lies beside the project, it is replayed over real HTTP.
private enum Samples {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("../shared/samples/opensky").standardizedFileURL.path

    static var isThere: Bool { FileManager.default.fileExists(atPath: folder) }
}

@Suite("Real answers, replayed", .enabled(if: Samples.isThere, "no samples at ../shared/samples/opensky"))
struct SampleTests {
    @Test func aGlobalSnapshotLosesNothing() async throws {
        try await withRig(replay: try Replay(folder: Samples.folder)) { rig in
            let answer = try await rig.client.states()
            #expect(answer.vectors.count == 9_810 && answer.counts.skipped.isEmpty)
            // One says that it flies 2,443 m/s. Seven have negative tracks, which are brought to 0 ..< 360.
            #expect(answer.counts.droppedValues == 1)
            #expect(answer.time == date(testTime))
            // As facts/opensky.md has measured them.
            #expect(answer.vectors.count { $0.longitude == nil } == 126)
            #expect(answer.vectors.count { $0.barometricAltitude == nil } == 710)
            #expect(answer.vectors.count { $0.verticalRate == nil } == 640)
            #expect(answer.vectors.count { $0.squawk == nil } == 4_791)
            #expect(answer.vectors.count { $0.callsign == nil } == 229)
            #expect(answer.vectors.count { $0.isOnGround } == 611)
            #expect(answer.vectors.count { $0.positionSource == .flarm } == 23)
            #expect(answer.vectors.map(\.lastContact).min() == date(testTime - 314))
            rig.clock.advance(600)
            #expect(try await rig.client.states().time == date(testTime + 600))
        }
    }

    @Test func flightsAndTracksAreMovedToTheStart() async throws {
        try await withRig(replay: try Replay(folder: Samples.folder)) { rig in
            let flights = try await rig.client.flights(during: rig.lastHours)
            #expect(flights.flights.count == 472 && flights.counts.skipped.isEmpty)
            #expect(flights.flights.map(\.lastSeen).max() == date(testTime))
            #expect(flights.flights.count { $0.departure == nil } == 251)
            #expect(flights.flights.count { $0.arrival == nil } == 238)
            // 107 are null, one is blank.
            #expect(flights.flights.count { $0.callsign == nil } == 108)
            let track = try #require(try await rig.client.track(of: address("0ac382")))
            #expect(track.path.count == 40 && track.counts.skipped.isEmpty && track.end == date(testTime))
        }
    }
}

@Suite("A replay's folder")
struct ReplayTests {
    @Test func aFolderThatIsNotThereOrAFileThatIsNoAnswerSaysSo() async throws {
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
    @Test func aSmallBoxOfStateVectors() async throws {
        let environment = ProcessInfo.processInfo.environment
        let credentials = try OpenSkyConfiguration.Credentials(
            clientID: #require(environment["OPENSKY_CLIENT_ID"]),
            clientSecret: #require(environment["OPENSKY_CLIENT_SECRET"].flatMap { Secret($0) }))
        let http = HTTPClient(configuration: OpenSkyClient.recommendedHTTPConfiguration)
        let client = try OpenSkyClient(configuration: .init(credentials: credentials), httpClient: http)
        do {
            let answer = try await client.states(
                in: #require(GeographicBox(west: 5, south: 46, east: 10, north: 51)), includesCategory: true)
            #expect(answer.counts.skipped.isEmpty && !answer.isSimulated)
        } catch {
            try await http.shutdown()
            throw error
        }
        try await http.shutdown()
    }
}
