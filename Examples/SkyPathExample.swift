import AsyncHTTPClient
import SkyPath

/// Returns a line for each turbulence record of the last two hours, or one line with the reason for a failure.
public func recentTurbulence(_ environment: SkyPathEnvironment, key: Secret) async throws -> [String] {
    let http = HTTPClient(configuration: SkyPathClient.recommendedHTTPConfiguration)
    defer { http.shutdown { _ in } }
    let client = try SkyPathClient(
        configuration: SkyPathConfiguration(environment: environment, apiKey: key), httpClient: http)
    do throws(UpstreamError) {
        let reply = try await client.map(SkyPathMapQuery(.hours(2)))
        return reply.records.map { "\($0.cell.h3String) \($0.altitudeThousands),000 ft, severity \($0.severity)" }
    } catch {
        return ["\(error.code.rawValue): \(error), again in \(error.retryAfterSeconds ?? 60) s"]
    }
}
