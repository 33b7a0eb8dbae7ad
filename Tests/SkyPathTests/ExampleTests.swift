import AsyncHTTPClient
import SkyPath
import Testing
import UpstreamSimulator

/// The example of `SkyPathClient`'s documentation, against the simulator.
private func printTurbulence(_ environment: SkyPathEnvironment, key: String) async throws -> [String] {
    var lines: [String] = []
    let http = HTTPClient(configuration: SkyPathClient.recommendedHTTPConfiguration)
    defer { http.shutdown { _ in } }
    guard let key = Secret(key) else { return [] }
    let client = try SkyPathClient(
        configuration: SkyPathConfiguration(environment: environment, apiKey: key), httpClient: http)
    do throws(UpstreamError) {
        let reply = try await client.map(SkyPathMapQuery(.hours(2)))
        for record in reply.records { lines.append("\(record.cell) \(record.altitudeThousands) \(record.severity)") }
    } catch {
        lines.append("\(error.code.rawValue): \(error), again in \(error.retryAfterSeconds ?? 60) s")
    }
    return lines
}

@Suite("The example of SkyPath")
struct ExampleTests {
    @Test("it reads records, or says why there are none") func example() async throws {
        try await UpstreamSimulator.withRunning(UpstreamSimulator.Configuration(seed: 7, flights: 40)) { _, address in
            #expect(try await printTurbulence(.custom(address), key: "demo").count > 10)
            let refused = try await printTurbulence(.custom(address), key: "wrong")
            #expect(refused.count == 1 && refused.first?.hasPrefix("unauthorized: ") == true)
        }
    }
}
