import AsyncHTTPClient
import AviationWeather
import BillowSync
import Foundation
import NIOHTTP1
import NOAAGuidance
import OpenSky
import SkyPath
import Turbulence
import UpstreamKit

/// Sends a minimal request to an upstream. It checks whether the upstream is reachable and accepts the key, and reads
/// its clock. It stores nothing.
struct UpstreamCheck: Sendable {
    let clients: UpstreamClients
    /// The time limit of each request.
    let limit: Duration

    struct Outcome: Sendable {
        var findings: [Finding]
        /// The name of the source and its clock.
        var clock: (source: String, time: Instant)?
    }

    /// nil for a source that isn't fetched over HTTP.
    func check(_ source: Settings.Source) async -> Outcome? {
        guard let baseURL = source.kind.baseURL else { return nil }
        let name = "\(source.id) (\(source.kind.name))"
        let time: Instant?
        do throws(UpstreamError) { time = try await serverTime(at: baseURL) } catch {
            return Outcome(findings: [.failure(.upstream, Failure.Kind(of: error), "\(name): \(error.description)")])
        }
        let clock = time.map { (source: source.id.name, time: $0) }
        do throws(UpstreamError) {
            try await request(source.kind)
            let key = source.kind.hasKey ? "accepts the key" : "answers"
            return Outcome(
                findings: [.ok(.upstream, "\(name) \(key)")] + (await events(source.kind, name)), clock: clock)
        } catch {
            // The upstream limits requests for now. No setting needs to change.
            let isBusy = error.code == .rateLimited || error.code == .creditsSpent
            return Outcome(
                findings: [
                    isBusy
                        ? .warning(.upstream, "\(name): \(error.description)")
                        : .failure(.upstream, Failure.Kind(of: error), "\(name): \(error.description)")
                ], clock: clock)
        }
    }

    /// Whether the events of a mirrored server arrive; nothing for other sources. Without them the mirror polls.
    private func events(_ kind: Settings.Source.Kind, _ name: String) async -> [Finding] {
        guard case .billow(let settings) = kind, let spacing = settings.eventSpacing else { return [] }
        var configuration = settings.configuration
        configuration.timeout = min(configuration.timeout, limit)
        do throws(UpstreamError) {
            try await MirrorListener(
                configuration: configuration, datasets: settings.datasets, spacing: spacing, httpClient: clients.events
            ).check()
            return [.ok(.upstream, "\(name) sends events")]
        } catch {
            return [.warning(.upstream, "\(name): its events don't arrive, so it is only polled: \(error.description)")]
        }
    }

    /// The upstream's time, from a response of any status to a request without a key.
    private func serverTime(at baseURL: String) async throws(UpstreamError) -> Instant? {
        var request = HTTPClientRequest(url: baseURL)
        request.method = .HEAD
        let exchange = Exchange(
            httpClient: clients.guidance, timeout: limit, maximumBodyBytes: 64 << 10, secrets: [],
            now: UnixClock.seconds)
        let answer = try await exchange.answer(to: request)
        return answer.headers.first(name: "date").flatMap { RetryAfter.date($0) }.flatMap { Instant(seconds: $0) }
    }

    private func request(_ kind: Settings.Source.Kind) async throws(UpstreamError) {
        switch kind {
        case .skyPath(let settings):
            var configuration = settings.configuration
            configuration.timeout = min(configuration.timeout, limit)
            let client = try SkyPathClient(configuration: configuration, httpClient: clients.standard)
            switch settings.api {
            case .v4: _ = try await client.map(SkyPathMapQuery(.hours(2), ring: Self.smallRing, severities: [4]))
            case .v5 where settings.query.polygon != nil:
                _ = try await client.corridor(SkyPathCorridorQuery(ring: Self.smallRing))
            case .v5: _ = try await client.hexagons(SkyPathHexagonsQuery(parent: Self.coarseCell, minSeverity: 4))
            }
        case .aviationWeather(let settings):
            var configuration = settings.configuration
            configuration.timeout = min(configuration.timeout, limit)
            let client = try AviationWeatherClient(configuration: configuration, httpClient: clients.standard)
            guard let box = GeographicBox(west: -96, south: 40, east: -95, north: 41) else { return }
            _ = try await client.pilotReports(in: box, ageHours: 1)
        case .openSky(let settings):
            var configuration = settings.configuration
            configuration.timeout = min(configuration.timeout, limit)
            let client = try OpenSkyClient(configuration: configuration, httpClient: clients.standard)
            // One credit of some hundreds per day.
            _ = try await client.states(in: GeographicBox(west: 7, south: 47, east: 8, north: 48))
        case .noaa(let settings):
            var configuration = settings.configuration
            configuration.timeout = min(configuration.timeout, limit)
            let client = try GuidanceClient(configuration: configuration, httpClient: clients.guidance)
            // Requests only the length. The file may not exist yet.
            for file in GuidanceProduct.gtgn.candidates(nowSeconds: UnixClock.seconds()).prefix(1) {
                _ = try await client.state(of: file)
            }
        case .billow(let settings):
            var configuration = settings.configuration
            configuration.timeout = min(configuration.timeout, limit)
            let client = try BillowClient(configuration: configuration, httpClient: clients.mirrors)
            // The smallest datasets come last.
            if let dataset = settings.datasets.last { _ = try await client.changes(of: dataset, since: nil) }
        case .inbox: break
        }
    }

    /// One degree over the North Atlantic.
    private static let smallRing = [(-30.0, 50.0), (-29, 50), (-29, 51), (-30, 51)].compactMap {
        LonLat(longitude: $0.0, latitude: $0.1)
    }
    /// An H3 cell of resolution 0.
    private static let coarseCell: UInt64 = 0x0800_1fff_ffff_ffff
}

extension Settings.Source.Kind {
    /// The address of the upstream's HTTP interface.
    fileprivate var baseURL: String? {
        switch self {
        case .skyPath(let settings): settings.configuration.environment.baseURL
        case .aviationWeather(let settings): settings.configuration.baseURL
        case .openSky(let settings): settings.configuration.baseURL
        case .noaa(let settings): settings.configuration.baseURL
        case .billow(let settings): settings.configuration.baseURL
        case .inbox: nil
        }
    }

    fileprivate var hasKey: Bool {
        switch self {
        case .skyPath: true
        case .openSky(let settings): settings.configuration.credentials != nil
        case .billow(let settings): settings.configuration.apiKey != nil
        case .aviationWeather, .noaa, .inbox: false
        }
    }
}
