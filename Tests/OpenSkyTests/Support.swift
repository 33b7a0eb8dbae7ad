import AsyncHTTPClient
import Foundation
import OpenSky
import Synchronization
import Testing
import UpstreamSimulator

/// A clock that a test turns.
final class ManualClock: Sendable {
    private let seconds: Mutex<Int>

    init(_ seconds: Int) { self.seconds = Mutex(seconds) }

    var now: Int { seconds.withLock { $0 } }
    func advance(_ by: Int) { seconds.withLock { $0 += by } }
}

/// 2026-11-20T22:40:00Z.
let testTime = 1_795_214_400

func date(_ seconds: Int) -> Date { Date(timeIntervalSince1970: Double(seconds)) }

func address(_ text: String) throws -> TransponderAddress { try #require(TransponderAddress(text)) }

/// A simulator and a client of it over loopback.
struct Rig: Sendable {
    let simulator: UpstreamSimulator
    let client: OpenSkyClient
    let clock: ManualClock

    /// The two hours up to now.
    var lastHours: ClosedRange<Date> { date(clock.now - 7_200)...date(clock.now) }
}

func withRig(
    flights: Int = 60, withCredentials: Bool = false, secret: String = "demo", allowance: CreditAllowance? = nil,
    simulatedCredits: Int? = nil, replay: Replay? = nil, fault: Fault? = nil,
    clock: ManualClock = ManualClock(testTime), configure: @Sendable (inout OpenSkyConfiguration) -> Void = { _ in },
    _ body: @Sendable (Rig) async throws -> Void
) async throws {
    let configuration = UpstreamSimulator.Configuration(
        seed: 7, flights: flights, dripInterval: .milliseconds(20), fault: fault, replay: replay,
        openSkyCredits: simulatedCredits, openSkyAnonymousCredits: simulatedCredits, clock: { clock.now })
    try await UpstreamSimulator.withRunning(configuration) { simulator, baseURL in
        let credentials = try OpenSkyConfiguration.Credentials(
            clientID: "demo", clientSecret: #require(Secret(secret)))
        var settings = OpenSkyConfiguration(
            baseURL: baseURL, credentials: withCredentials ? credentials : nil, allowance: .some(allowance),
            timeout: .seconds(120))
        configure(&settings)
        let http = HTTPClient(configuration: OpenSkyClient.recommendedHTTPConfiguration)
        do {
            let client = try OpenSkyClient(configuration: settings, httpClient: http, now: { clock.now })
            try await body(Rig(simulator: simulator, client: client, clock: clock))
        } catch {
            try await http.shutdown()
            throw error
        }
        try await http.shutdown()
    }
}

/// The error that a call ends with; nil where it ends well.
func failure<Value>(of body: () async throws -> Value) async throws -> UpstreamError? {
    do {
        _ = try await body()
        return nil
    } catch let error as UpstreamError {
        return error
    }
}
