import Foundation
import OpenSky
import Turbulence
import UpstreamKit

/// A source of kind `opensky`.
struct OpenSkySettings: Sendable, Hashable {
    var configuration: OpenSkyConfiguration
    /// The requested boxes; empty for the world.
    var boxes: [GeographicBox]
}

extension OpenSkySettings {
    /// nil if the section is invalid.
    init?(_ section: SettingsReader.Section) {
        let allowsPlainHTTP = section.flag("allowsPlainHTTP") ?? false
        // Without credentials, plain HTTP reveals nothing.
        let isOpen = allowsPlainHTTP || !section.has("clientId") && !section.has("clientSecret")
        let baseURL = section.address("baseURL", allowsPlainHTTP: isOpen)
        let tokenURL = section.address("tokenURL", allowsPlainHTTP: isOpen)
        let clientID = section.value("clientId", expected: "1 to 1000 characters") {
            (1...1_000).contains($0.utf8.count) ? $0 : nil
        }
        let clientSecret = section.value("clientSecret", expected: "1 or more printable ASCII characters", secret: true)
        {
            Secret($0)
        }
        if section.has("clientId") != section.has("clientSecret") {
            let (given, missing) =
                section.has("clientId") ? ("clientId", "clientSecret") : ("clientSecret", "clientId")
            section.problem(missing, "is missing, where \(given) is given")
        }
        let credits = section.value("credits", expected: "a day's credits, 1 or more") {
            Int($0).flatMap { CreditAllowance(credits: $0, periodSeconds: 86_400) }
        }
        let timeout = section.timeout()
        let boxes = section.boxes("bbox")?.compactMap {
            GeographicBox(west: $0.west, south: $0.south, east: $0.east, north: $0.north)
        }
        guard !section.hasProblems else { return nil }
        let credentials = clientID.flatMap { id in
            clientSecret.map { OpenSkyConfiguration.Credentials(clientID: id, clientSecret: $0) }
        }
        var configuration = OpenSkyConfiguration(
            baseURL: baseURL ?? OpenSkyConfiguration.publicBaseURL, tokenURL: tokenURL, credentials: credentials,
            allowance: credits.map { .some($0) } ?? .none, allowsPlainHTTP: allowsPlainHTTP)
        configuration.timeout = timeout ?? configuration.timeout
        self.init(configuration: configuration, boxes: boxes ?? [])
    }
}

extension SettingsReader.Section {
    /// The URL of an upstream.
    ///
    /// - Parameter allowsPlainHTTP: whether plain HTTP to another machine is permitted.
    func address(_ key: String, allowsPlainHTTP: Bool) -> String? {
        guard let text = text(key, expected: "an https address") else { return nil }
        let problems = BaseURL.problems(text, allowsPlainHTTP: allowsPlainHTTP)
        for text in problems { problem(key, "can't be used: \(text)") }
        return problems.isEmpty ? text : nil
    }
}
