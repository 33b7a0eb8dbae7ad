import AsyncHTTPClient
import AviationWeather
import Foundation
import Testing
import UpstreamSimulator

/// The example of `AviationWeatherClient`'s documentation, against the simulator.
private func hazards(_ baseURL: String) async throws -> [String] {
    var lines: [String] = []
    let http = HTTPClient(configuration: AviationWeatherClient.recommendedHTTPConfiguration)
    defer { http.shutdown { _ in } }
    let client = try AviationWeatherClient(
        configuration: AviationWeatherConfiguration(baseURL: baseURL), httpClient: http)
    do throws(UpstreamError) {
        let reply = try await client.hazards(.internationalSigmets)
        for report in reply.content?.reports ?? [] { lines.append("\(report.series) until \(report.validTo)") }
        // With the validators of the last reply, an unchanged answer costs no body.
        let again = try await client.hazards(.internationalSigmets, since: reply.validators)
        if again.content == nil { lines.append("unchanged") }
    } catch {
        lines.append("\(error.code.rawValue): \(error), again in \(error.retryAfterSeconds ?? 60) s")
    }
    return lines
}

/// The example of `PilotReportDecoder`'s documentation.
private func turbulence(_ answer: [UInt8]) throws -> [String] {
    let outcome = try PilotReportDecoder.decode(Data(answer))
    return outcome.reports.map { "\($0.text)" } + outcome.refused.map { "\($0.value) × \($0.key)" }
}

@Suite("The examples of AviationWeather and AviationFormats")
struct ExampleTests {
    @Test("the client reads hazards, and what hasn't changed once") func client() async throws {
        let configuration = UpstreamSimulator.Configuration(seed: 7, flights: 30)
        try await UpstreamSimulator.withRunning(configuration) { _, address in
            let lines = try await hazards(address)
            #expect(lines.count > 1 && lines.last == "unchanged")
        }
    }

    @Test("the decoder reads reports and counts what it refuses") func decoder() throws {
        let answer =
            (#"[{"icaoId":"KWBC","obsTime":1784662980,"acType":"B738","lat":30.1,"lon":-85.2,"#
                + #""fltLvl":340,"pirepType":"PIREP","#)
            + #""tbInt1":"MOD","rawOb":"UA /OV PFN/TM 1943/FL340/TP B738/TB MOD"},{"acType":"B738"}]"#
        #expect(
            try turbulence(Array(answer.utf8)) == ["UA /OV PFN/TM 1943/FL340/TP B738/TB MOD", "1 × missing lon"])
    }
}
