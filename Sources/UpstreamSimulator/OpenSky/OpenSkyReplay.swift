import Foundation
import JSONKit

/// Captured responses of OpenSky: the largest snapshot (`states_all…`), the flights of all `flights…` and the tracks of
/// all `tracks…`.
struct OpenSkyReplay: Sendable {
    /// The vectors; nil without a snapshot.
    private let vectors: [OpenSkyVector]?
    private let snapshotShift: ReplayShift
    let flights: [OpenSkyFlight]?
    private let tracks: [OpenSkyTrack]

    /// - Throws: `ReplayError` with the file's name.
    init(_ replay: Replay, startedAt: Int) throws(ReplayError) {
        var largest: (time: Int, vectors: [OpenSkyVector])?
        for file in replay.files(named: "states_all") where file.name.hasSuffix(".json") {
            let snapshot = try Self.reading(file) { (bytes) throws(JSONScanner.Malformed) in try Self.snapshot(bytes) }
            if !snapshot.vectors.isEmpty, snapshot.vectors.count > largest?.vectors.count ?? 0 { largest = snapshot }
        }
        vectors = largest?.vectors
        snapshotShift = ReplayShift(newest: largest?.time ?? startedAt, startedAt: startedAt)

        var flights: [OpenSkyFlight] = []
        let flightFiles = replay.files(named: "flights").filter { $0.name.hasSuffix(".json") }
        for file in flightFiles {
            do { flights += try JSONDecoder().decode([OpenSkyFlight].self, from: Data(file.bytes())) } catch {
                throw .unreadable(path: file.path, reason: "\(error)")
            }
        }
        let newestFlight = flights.map(\.lastSeen).max() ?? startedAt
        let flightShift = ReplayShift(newest: newestFlight, startedAt: startedAt).fixed
        self.flights = flightFiles.isEmpty ? nil : flights.map { $0.moved(by: flightShift) }

        var tracks: [OpenSkyTrack] = []
        for file in replay.files(named: "tracks") where file.name.hasSuffix(".json") {
            let track = try Self.reading(file) { (bytes) throws(JSONScanner.Malformed) in try Self.track(bytes) }
            guard let newest = track.path.last?.time else { continue }
            tracks.append(track.moved(by: ReplayShift(newest: newest, startedAt: startedAt).fixed))
        }
        self.tracks = tracks
    }

    /// The snapshot with its times shifted to `time`; nil without a snapshot.
    func vectors(at time: Int) -> [OpenSkyVector]? {
        let shift = snapshotShift.live(now: time)
        return vectors?.map { $0.moved(by: shift) }
    }

    func track(of icao24: String) -> OpenSkyTrack? { tracks.first { $0.icao24 == icao24 } }

    // MARK: Reading

    private static func reading<Value>(
        _ file: Replay.File, _ body: ([UInt8]) throws(JSONScanner.Malformed) -> Value
    ) throws(ReplayError) -> Value {
        let bytes = try file.bytes()
        do { return try body(bytes) } catch {
            throw .unreadable(path: file.path, reason: "it isn't JSON of that product at byte \(error.atByte)")
        }
    }

    /// Parses the next array: the text and the value of each element.
    private static func row(
        _ scanner: inout JSONScanner, of bytes: [UInt8]
    ) throws(JSONScanner.Malformed) -> [(text: String, value: JSONScanner.Value)] {
        var elements: [(String, JSONScanner.Value)] = []
        try scanner.array { (scanner) throws(JSONScanner.Malformed) in
            _ = scanner.peek()
            let start = scanner.position
            let value = try scanner.value()
            elements.append((String(decoding: bytes[start..<scanner.position], as: UTF8.self), value))
        }
        return elements
    }

    private static func snapshot(
        _ bytes: [UInt8]
    ) throws(JSONScanner.Malformed) -> (time: Int, vectors: [OpenSkyVector]) {
        var scanner = JSONScanner(bytes)
        var time = 0
        var vectors: [OpenSkyVector] = []
        try scanner.object { (scanner, key) throws(JSONScanner.Malformed) in
            if scanner.matches(key, Array("states".utf8)), scanner.peek() == UInt8(ascii: "[") {
                try scanner.array { (scanner) throws(JSONScanner.Malformed) in
                    let row = try row(&scanner, of: bytes)
                    guard row.count >= 17, let contact = row[4].value.integer else { return }
                    vectors.append(
                        OpenSkyVector(
                            icao24: String(row[0].text.dropFirst().dropLast()),
                            head: row[..<3].map(\.text).joined(separator: ","), timePosition: row[3].value.integer,
                            lastContact: contact, longitude: row[5].value.double, latitude: row[6].value.double,
                            tail: row[5..<17].map(\.text).joined(separator: ","),
                            category: row.count > 17 ? row[17].value.integer ?? 0 : 0))
                }
            } else {
                let isTime = scanner.matches(key, Array("time".utf8))
                let value = try scanner.value()
                if isTime { time = value.integer ?? 0 }
            }
        }
        return (time, vectors)
    }

    private static func track(_ bytes: [UInt8]) throws(JSONScanner.Malformed) -> OpenSkyTrack {
        var scanner = JSONScanner(bytes)
        var track = OpenSkyTrack(icao24: "", path: [])
        try scanner.object { (scanner, key) throws(JSONScanner.Malformed) in
            if scanner.matches(key, Array("path".utf8)), scanner.peek() == UInt8(ascii: "[") {
                try scanner.array { (scanner) throws(JSONScanner.Malformed) in
                    let row = try row(&scanner, of: bytes)
                    guard row.count > 1, let time = row[0].value.integer else { return }
                    track.path.append(
                        OpenSkyTrack.Waypoint(time: time, tail: row[1...].map(\.text).joined(separator: ",")))
                }
            } else {
                let isAddress = scanner.matches(key, Array("icao24".utf8))
                let isCallsign = scanner.matches(key, Array("callsign".utf8))
                if case .string(let range, let escaped) = try scanner.value() {
                    let text = scanner.text(range, escaped: escaped)
                    if isAddress { track.icao24 = text }
                    if isCallsign { track.callsign = text }
                }
            }
        }
        return track
    }
}
