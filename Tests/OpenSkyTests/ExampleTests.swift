import AsyncHTTPClient
import OpenSky
import Testing
import UpstreamSimulator

/// The example of `OpenSkyClient`'s documentation, against the simulator.
private func aircraftOverEurope(_ baseURL: String) async throws -> [String] {
    var lines: [String] = []
    let http = HTTPClient(configuration: OpenSkyClient.recommendedHTTPConfiguration)
    defer { http.shutdown { _ in } }
    let client = try OpenSkyClient(configuration: OpenSkyConfiguration(baseURL: baseURL), httpClient: http)
    do throws(UpstreamError) {
        let states = try await client.states(in: GeographicBox(west: -10, south: 35, east: 30, north: 60))
        for vector in states.vectors { lines.append("\(vector.address) \(vector.callsign ?? "–")") }
    } catch {
        lines.append("\(error.code.rawValue): \(error), again in \(error.retryAfterSeconds ?? 60) s")
    }
    return lines
}

@Suite("The example of OpenSky")
struct ExampleTests {
    @Test("it reads state vectors, or says why there are none") func example() async throws {
        let configuration = UpstreamSimulator.Configuration(seed: 7, flights: 200)
        try await UpstreamSimulator.withRunning(configuration) { simulator, address in
            #expect(try await !aircraftOverEurope(address).isEmpty)
            simulator.setFault(.serverError)
            let failed = try await aircraftOverEurope(address)
            #expect(failed.count == 1 && failed.first?.hasPrefix("upstream-error: ") == true)
        }
    }
}
