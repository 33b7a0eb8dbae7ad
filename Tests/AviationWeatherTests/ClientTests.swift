import AsyncHTTPClient
import Foundation
import Testing
import UpstreamSimulator

@testable import AviationWeather

private struct Missing: Error {}

/// 2026-11-20T22:40:00Z.
private let testTime = 1_795_214_400

/// The contiguous US.
private func conus() throws -> GeographicBox {
    guard let box = GeographicBox(west: -130, south: 20, east: -60, north: 55) else { throw Missing() }
    return box
}

private func world() throws -> GeographicBox {
    guard let box = GeographicBox(west: -180, south: -90, east: 180, north: 90) else { throw Missing() }
    return box
}

private func withClient(
    flights: Int = 30, form: AviationWeatherConfiguration.Form = .json, timeout: Duration = .seconds(120),
    maximumBodyBytes: Int = 64 << 20, replay: Replay? = nil,
    _ body: @Sendable (AviationWeatherClient, UpstreamSimulator) async throws -> Void
) async throws {
    let configuration = UpstreamSimulator.Configuration(
        seed: 7, flights: flights, dripInterval: .seconds(5), replay: replay, clock: { testTime })
    try await UpstreamSimulator.withRunning(configuration) { simulator, baseURL in
        let http = HTTPClient(configuration: AviationWeatherClient.recommendedHTTPConfiguration)
        do {
            let client = try AviationWeatherClient(
                configuration: AviationWeatherConfiguration(
                    baseURL: baseURL + "/", form: form, timeout: timeout, maximumBodyBytes: maximumBodyBytes),
                httpClient: http, now: { testTime })
            try await body(client, simulator)
        } catch {
            try await http.shutdown()
            throw error
        }
        try await http.shutdown()
    }
}

@Suite("Requests of the client of aviationweather.gov")
struct ClientRequestTests {
    @Test("an area goes south, west, north, east, and limits are checked before it goes")
    func anAreaGoesSouthWestNorth() throws {
        #expect(
            try AviationWeatherQuery.pilotReports(conus(), ageHours: 2).target()
                == "/api/data/pirep?bbox=20.0,-130.0,55.0,-60.0&age=2")
        #expect(try AviationWeatherQuery.gairmets(forecastHour: 9).target() == "/api/data/gairmet?fore=9")
        for hours in [0, 361] {
            #expect(throws: UpstreamError.self) {
                try AviationWeatherQuery.pilotReports(conus(), ageHours: hours).target()
            }
        }
        #expect(throws: UpstreamError.invalidQuery("the forecast hour is 4; it must be 0, 3, 6, 9 or 12")) {
            try AviationWeatherQuery.gairmets(forecastHour: 4).target()
        }
    }

    @Test(
        "a box that can't be meant is none",
        arguments: [
            (10.0, 0.0, 10.0, 5.0), (-181, 0, 0, 5), (0, 0, 181, 5), (0, 5, 10, 5), (0, -91, 10, 5), (0, 0, 10, 91),
            (.nan, 0, 10, 5),
        ])
    func aBoxThatCantBeMeant(west: Double, south: Double, east: Double, north: Double) {
        #expect(GeographicBox(west: west, south: south, east: east, north: north) == nil)
    }

    @Test("quarters cover their box and nothing else")
    func quartersCoverTheirBoxAndNothing() throws {
        let quarters = try conus().quarters
        #expect(quarters.map { ($0.east - $0.west) * ($0.north - $0.south) }.reduce(0, +) == 70 * 35)
        #expect(Set(quarters.map(\.description)).count == 4)
        #expect(quarters.map(\.west).min() == -130 && quarters.map(\.north).max() == 55)
    }

    @Test("a configuration that can't be used is refused with every reason")
    func aConfigurationThatCantBeUsed() {
        let http = HTTPClient.shared
        #expect(throws: UpstreamError.self) {
            try AviationWeatherClient(
                configuration: AviationWeatherConfiguration(
                    baseURL: "ftp://x", userAgent: "", timeout: .zero, maximumBodyBytes: 0), httpClient: http)
        }
        #expect(
            AviationWeatherConfiguration(baseURL: "ftp://x", userAgent: "", timeout: .zero, maximumBodyBytes: 0)
                .problems.count == 4)
        #expect(AviationWeatherConfiguration().problems.isEmpty)
    }
}

@Suite("Answers to the client of aviationweather.gov")
struct ClientReplyTests {
    @Test("both forms give the same reports and hazards")
    func bothFormsGiveTheSameReports() async throws {
        let found = Findings()
        for form in AviationWeatherConfiguration.Form.allCases {
            try await withClient(form: form) { client, _ in
                let reports = try #require(try await client.pilotReports(in: world(), ageHours: 3).content)
                #expect(reports.refused.isEmpty && reports.unknownWords.isEmpty)
                #expect(reports.reports.contains { $0.turbulence.isEmpty })
                #expect(reports.reports.contains { $0.kind.rawValue == "AIREP" })
                var hazards: [HazardReport] = []
                for query in [AviationWeatherQuery.sigmets, .internationalSigmets]
                    + AviationWeatherQuery.forecastHours
                    .map({ .gairmets(forecastHour: $0) })
                {
                    let content = try #require(try await client.hazards(query).content)
                    #expect(content.refused.keys.allSatisfy { $0.isHarmless })
                    hazards += content.reports
                }
                #expect(hazards.contains { $0.product == .sigmet } && hazards.contains { $0.hazard == "TURB-HI" })
                await found.add(Set(reports.reports.map(\.id)), Set(hazards))
            }
        }
        let (reports, hazards) = await (found.reports, found.hazards)
        #expect(reports.count == 2 && reports[0] == reports[1] && !reports[0].isEmpty)
        #expect(hazards.count == 2 && hazards[0] == hazards[1] && !hazards[0].isEmpty)
    }

    private actor Findings {
        var reports: [Set<String>] = []
        var hazards: [Set<HazardReport>] = []

        func add(_ reports: Set<String>, _ hazards: Set<HazardReport>) {
            self.reports.append(reports)
            self.hazards.append(hazards)
        }
    }

    @Test("an unchanged response has no body")
    func whatHasntChangedNeedsNoBody() async throws {
        try await withClient { client, simulator in
            let first = try await client.hazards(.gairmets(forecastHour: 0))
            #expect(first.content != nil && first.validators.entityTag != nil && first.isSimulated)
            let again = try await client.hazards(.gairmets(forecastHour: 0), since: first.validators)
            #expect(again.content == nil && again.validators == first.validators)
            let other = try await client.hazards(.gairmets(forecastHour: 3), since: first.validators)
            #expect(other.content != nil)
        }
    }

    @Test("nothing at all is an empty list")
    func nothingAtAllIsAnEmpty() async throws {
        try await withClient { client, simulator in
            simulator.setFault(.empty)
            let reports = try await client.pilotReports(in: conus(), ageHours: 1)
            #expect(reports.content?.reports.isEmpty == true)
            let hazards = try await client.hazards(.sigmets)
            #expect(hazards.content?.count == 0)
        }
    }

    @Test("the service gives 400 at most")
    func theServiceGives400AtMost() async throws {
        try await withClient(flights: 3_000) { client, _ in
            let reports = try #require(try await client.pilotReports(in: world(), ageHours: 6).content)
            #expect(reports.reports.count == AviationWeatherQuery.maximumResults)
        }
    }

    @Test("captured answers are replayed with their newest record now")
    func capturedAnswersAreReplayedWithTheir() async throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "BillowExchangeTests/Fixtures").path
        try await withClient(replay: try Replay(folder: folder)) { client, _ in
            let reports = try #require(try await client.pilotReports(in: conus(), ageHours: 360).content).reports
            #expect(reports.count == 57 + 16 + 3)
            #expect(reports.map(\.observedAt.timeIntervalSince1970).max() ?? 0 <= Double(testTime))
            let sigmets = try #require(try await client.hazards(.sigmets).content).reports
            #expect(sigmets.count == 17)
            #expect(sigmets.map(\.validFrom.timeIntervalSince1970).max() == Double(testTime))
            for (query, count) in [
                (AviationWeatherQuery.gairmets(forecastHour: 0), 12), (.gairmets(forecastHour: 3), 0),
                (.internationalSigmets, 2),
            ] {
                let reply = try await client.hazards(query)
                #expect(reply.content?.reports.count == count)
            }
        }
    }
}

@Suite("Failures of the client of aviationweather.gov")
struct ClientFailureTests {
    private static let faults: [(Fault, UpstreamError)] = [
        (.forbidden, .forbidden(UpstreamProblem(status: 403, message: "Blocked"))),
        (
            .rateLimited,
            .rateLimited(UpstreamProblem(status: 429, message: "Too many requests"), retryAfterSeconds: 60)
        ),
        (.upgradeRequired, .invalidRequest(UpstreamProblem(status: 410, message: "This path is retired"))),
        (
            .serverError,
            .server(UpstreamProblem(status: 500, message: "Something went wrong"), retryAfterSeconds: nil)
        ),
        (
            .unavailable,
            .server(UpstreamProblem(status: 503, message: "Down for maintenance"), retryAfterSeconds: 120)
        ),
        (.truncatedBody, .unreadable(.truncated)), (.emptyBody, .unreadable(.empty)), (.htmlPage, .unreadable(.html)),
    ]

    @Test("each is one typed error, and passes")
    func eachIsOneTypedErrorAnd() async throws {
        try await withClient(flights: 5) { client, simulator in
            for (fault, expected) in Self.faults {
                simulator.setFault(fault)
                await #expect(throws: expected, "\(fault)") { try await client.hazards(.sigmets) }
            }
            simulator.setFault(nil)
            _ = try await client.hazards(.sigmets)
        }
    }

    @Test("a body that drips is a timeout")
    func aBodyThatDripsIsA() async throws {
        try await withClient(flights: 5, timeout: .milliseconds(300)) { client, simulator in
            simulator.setFault(.slowBody)
            await #expect(throws: UpstreamError.timeout) { try await client.hazards(.sigmets) }
        }
    }

    @Test("truncated JSON, an oversized body and a closed connection are different errors")
    func jsonThatStopsABodyToo() async throws {
        try await withClient(flights: 10, maximumBodyBytes: 200) { client, simulator in
            await #expect(throws: UpstreamError.tooLarge(limitBytes: 200)) { try await client.hazards(.sigmets) }
        }
        try await withClient(flights: 10) { client, simulator in
            simulator.setFault(.cutJSON)
            await #expect { try await client.hazards(.sigmets) } throws: {
                if case .unreadable(.notJSON) = $0 as? UpstreamError { true } else { false }
            }
            simulator.setFault(.connectionReset)
            await #expect { try await client.hazards(.sigmets) } throws: {
                if case .unreachable = $0 as? UpstreamError { true } else { false }
            }
        }
    }
}
