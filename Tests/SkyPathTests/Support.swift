import AsyncHTTPClient
import Geometry
import SkyPath
import Synchronization
import UpstreamSimulator

/// A clock that a test turns.
final class ManualClock: Sendable {
    private let seconds: Mutex<Int>

    init(_ seconds: Int) { self.seconds = Mutex(seconds) }

    var now: Int { seconds.withLock { $0 } }
    func advance(_ by: Int) { seconds.withLock { $0 += by } }
}

/// 2026-11-20T22:40:00Z, in the middle of nothing.
let testTime = 1_795_214_400

struct Missing: Error {
    let what: String
}

func unwrap<Value>(_ value: Value?, _ what: String = "value") throws -> Value {
    guard let value else { throw Missing(what: what) }
    return value
}

/// A simulator and a client of it over loopback. No area limit on either side unless asked.
struct Rig: Sendable {
    let simulator: UpstreamSimulator
    let client: SkyPathClient
    let clock: ManualClock
    let baseURL: String
}

func withRig(
    seed: UInt64 = 7, flights: Int = 40, key: String = "demo", areaLimitKm2: Double? = nil,
    identicalCallsPerMinute: Int? = nil, fault: Fault? = nil,
    dripInterval: Duration = .milliseconds(20),
    clock: ManualClock = ManualClock(testTime),
    configure: @Sendable (inout SkyPathConfiguration) -> Void = { _ in },
    _ body: @Sendable (Rig) async throws -> Void
) async throws {
    let configuration = UpstreamSimulator.Configuration(
        seed: seed, flights: flights, areaLimitKm2: areaLimitKm2,
        identicalCallsPerMinute: identicalCallsPerMinute,
        dripInterval: dripInterval, fault: fault, clock: { clock.now })
    try await UpstreamSimulator.withRunning(configuration) { simulator, baseURL in
        var settings = SkyPathConfiguration(
            environment: .custom(baseURL), apiKey: try unwrap(Secret(key)), timeout: .seconds(120))
        settings.limits.corridorAreaKm2 = areaLimitKm2
        configure(&settings)
        let http = HTTPClient(configuration: SkyPathClient.recommendedHTTPConfiguration)
        do {
            let client = try SkyPathClient(configuration: settings, httpClient: http, now: { clock.now })
            try await body(Rig(simulator: simulator, client: client, clock: clock, baseURL: baseURL))
        } catch {
            try await http.shutdown()
            throw error
        }
        try await http.shutdown()
    }
}

/// A closed box; east may be beyond 180.
func box(west: Double, south: Double, east: Double, north: Double) throws -> [LonLat] {
    let corners = [(west, south), (east, south), (east, north), (west, north), (west, south)]
    return try corners.map { try unwrap(LonLat(longitude: $0.0, latitude: $0.1), "place") }
}

/// Europe and the North Atlantic, where most of a small world flies.
func atlantic() throws -> [LonLat] { try box(west: -80, south: 25, east: 40, north: 70) }

struct Place: Hashable {
    let cell: Cell
    let altitude: Int
}

/// A picture: the newest record of each place, by the merge rule of computed values.
func picture(_ records: [SkyPathRecord]) -> [Place: SkyPathRecord] {
    Dictionary(
        records.map { (Place(cell: $0.cell, altitude: $0.altitudeThousands), $0) },
        uniquingKeysWith: { $1.observedAt >= $0.observedAt ? $1 : $0 })
}

/// The picture without EDR, which only the corridor call gives.
func severities(_ records: [SkyPathRecord]) -> [Place: [Int]] {
    picture(records).mapValues { [Int($0.severity), $0.observedAt] }
}
