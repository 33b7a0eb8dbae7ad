import BillowSync
import Datasets
import Geometry
import Turbulence
import UpstreamKit

/// A source of kind `billow`: a server that is mirrored.
struct BillowSettings: Sendable, Hashable {
    var configuration: BillowConfiguration
    /// The mirrored datasets, in the order of the catalogue.
    var datasets: [Dataset]
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
            datasets: collections.map { wanted in Catalogue.mirrored.filter(wanted.contains) } ?? Catalogue.mirrored)
    }
}
