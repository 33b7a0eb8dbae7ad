import BillowSync
import BillowTimeline
import Datasets
import Geometry
import Turbulence
import UpstreamKit

/// A source of kind `billow`: a server that is mirrored.
struct BillowSettings: Sendable, Hashable {
    var configuration: BillowConfiguration
    /// The mirrored datasets, in the order of the catalogue.
    var datasets: [Dataset]
    /// The shortest time between two rounds that events of the server cause; nil listens for none.
    var eventSpacing: Duration?

    /// Few servers publish more often, so that rounds are hardly more than those of polls.
    static let defaultEventSpacing = Duration.seconds(30)
}

extension BillowSettings {
    /// nil if the section is invalid.
    init?(_ section: SettingsReader.Section) {
        let allowsPlainHTTP = section.flag("allowsPlainHTTP") ?? false
        // Without a key, plain HTTP reveals nothing.
        let baseURL = section.address("baseURL", allowsPlainHTTP: allowsPlainHTTP || !section.has("apiKey"))
        section.require("baseURL")
        let key = section.value("apiKey", expected: "1 or more printable ASCII characters", secret: true) {
            Secret($0)
        }
        let names = Catalogue.mirrored.map(\.id).joined(separator: ", ")
        let collections = section.list("collections", expected: "some of \(names)") { name in
            Catalogue.mirrored.first { $0.id == name }
        }
        if collections?.isEmpty == true { section.problem("collections", "must name a collection") }
        let boxes = section.boxes("bbox")
        let events = section.value("events", expected: "none, or an ISO 8601 duration of 1 second or more") { text in
            // The outer optional is nil for an invalid text, the inner one for `none`.
            if text == "none" { return Duration??.some(nil) }
            guard let seconds = ISODuration.seconds(text), seconds >= 1 else { return nil }
            return .some(.seconds(seconds))
        }
        let timeout = section.timeout()
        guard !section.hasProblems, let baseURL else { return nil }
        var configuration = BillowConfiguration(baseURL: baseURL, apiKey: key, allowsPlainHTTP: allowsPlainHTTP)
        if let first = boxes?.first, let last = boxes?.last {
            configuration.box = BoundingBox(west: first.west, south: first.south, east: last.east, north: last.north)
        }
        configuration.timeout = timeout ?? configuration.timeout
        guard configuration.problems.isEmpty else {
            section.problem("bbox", "can't be used: \(configuration.problems.joined(separator: "; "))")
            return nil
        }
        self.init(
            configuration: configuration,
            datasets: collections.map { wanted in Catalogue.mirrored.filter(wanted.contains) } ?? Catalogue.mirrored,
            eventSpacing: events ?? Self.defaultEventSpacing)
    }
}
