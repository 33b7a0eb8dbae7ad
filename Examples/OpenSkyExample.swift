import AsyncHTTPClient
import OpenSky

/// Returns a line for each aircraft over Europe, or one line with the reason for a failure.
public func aircraftOverEurope(baseURL: String = OpenSkyConfiguration.publicBaseURL) async throws -> [String] {
    let http = HTTPClient(configuration: OpenSkyClient.recommendedHTTPConfiguration)
    defer { http.shutdown { _ in } }
    let client = try OpenSkyClient(configuration: OpenSkyConfiguration(baseURL: baseURL), httpClient: http)
    do throws(UpstreamError) {
        let states = try await client.states(in: GeographicBox(west: -10, south: 35, east: 30, north: 60))
        return states.vectors.map { "\($0.address) \($0.callsign ?? "–")" }
    } catch {
        return ["\(error.code.rawValue): \(error), again in \(error.retryAfterSeconds ?? 60) s"]
    }
}
