import AsyncHTTPClient
import AviationWeather

/// Returns the international SIGMETs. Adds "unchanged" if a second request finds no change.
public func internationalSigmets(
    _ configuration: AviationWeatherConfiguration = AviationWeatherConfiguration()
) async throws -> [String] {
    let http = HTTPClient(configuration: AviationWeatherClient.recommendedHTTPConfiguration)
    defer { http.shutdown { _ in } }
    let client = try AviationWeatherClient(configuration: configuration, httpClient: http)
    do throws(UpstreamError) {
        let reply = try await client.hazards(.internationalSigmets)
        let lines = (reply.content?.reports ?? []).map { "\($0.series) until \($0.validTo)" }
        // With the validators of the last reply, the server sends no body if nothing changed.
        let again = try await client.hazards(.internationalSigmets, since: reply.validators)
        return lines + (again.content == nil ? ["unchanged"] : [])
    } catch {
        return ["\(error.code.rawValue): \(error), again in \(error.retryAfterSeconds ?? 60) s"]
    }
}
