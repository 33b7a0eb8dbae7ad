import Datasets
import Foundation
package import Geometry
import Turbulence
package import UpstreamKit

/// The address of a mirrored server, and the part of its data that is mirrored.
package struct BillowConfiguration: Sendable, Hashable {
    /// `https://host[:port][/path]`, without a trailing slash.
    package var baseURL: String
    /// A key of that server with permission to read; nil if it needs none.
    package var apiKey: Secret?
    /// Whether the key may go over plain HTTP to another machine.
    package var allowsPlainHTTP: Bool
    /// The mirrored area; nil for the world.
    package var box: BoundingBox?
    /// The time limit of one call, from connecting to the last byte.
    package var timeout = Duration.seconds(60)
    /// The longest body in bytes, after decompression.
    package var maximumBodyBytes = 128 << 20

    package init(baseURL: String, apiKey: Secret? = nil, allowsPlainHTTP: Bool = false, box: BoundingBox? = nil) {
        self.baseURL = BaseURL.trimmed(baseURL)
        self.apiKey = apiKey
        self.allowsPlainHTTP = allowsPlainHTTP
        self.box = box
    }

    /// All problems of the configuration, one sentence each; empty if it is usable.
    package var problems: [String] {
        var problems = BaseURL.problems(baseURL, allowsPlainHTTP: allowsPlainHTTP || apiKey == nil)
        if timeout <= .zero { problems.append("the timeout must be above 0: \(timeout)") }
        if maximumBodyBytes < 1 { problems.append("the maximum body must be at least 1 byte: \(maximumBodyBytes)") }
        if rings.isEmpty { problems.append("the box encloses no area") }
        return problems
    }

    /// The mirrored area as rings, two if it crosses the antimeridian; nil stands for the world.
    var rings: [AreaRing?] {
        guard let box else { return [nil] }
        let parts: [(west: Double, east: Double)] =
            box.west > box.east ? [(box.west, 180), (-180, box.east)] : [(box.west, box.east)]
        let rings = parts.filter { $0.west < $0.east }.map { part in
            AreaRing(west: part.west, south: box.south, east: part.east, north: box.north)
        }
        return rings.contains { $0 == nil } ? [] : rings
    }

    /// The requested area. The server finds an observation by the centre of its cell, so the box is wider than the
    /// mirrored one: each cell that reaches into the mirrored area is complete.
    var requestedBox: BoundingBox? {
        guard let box else { return nil }
        let (south, north) = (max(box.south - Self.margin, -90), min(box.north + Self.margin, 90))
        let widest = max(abs(south), abs(north))
        let wide = box.west > box.east ? box.east + 360 - box.west : box.east - box.west
        let margin = widest < Self.polarLatitude ? Self.margin / cos(widest * .pi / 180) : 180
        guard wide + 2 * margin < 360 else { return BoundingBox(west: -180, south: south, east: 180, north: north) }
        return BoundingBox(west: box.west - margin, south: south, east: box.east + margin, north: north)
    }

    /// Degrees of latitude: more than the radius of any cell of resolution 5, some 12 km.
    private static let margin = 0.15
    /// Nearer to a pole, all longitudes are requested.
    private static let polarLatitude = 85.0
}

extension BillowConfiguration {
    /// The requested history of observations and pilot reports: the longest that pictures show.
    static let history = History.sixHours

    /// The path and query for a dataset. Cursors are valid for one of them, without a cursor.
    func path(of dataset: Dataset, since cursor: String? = nil) -> String {
        var path = "/changes/\(dataset.id)?mirror=true"
        if dataset.areas == nil { path += "&hours=\(Self.history.text)" }
        path += placeQuery
        return cursor.map { "\(path)&since=\($0)" } ?? path
    }

    /// The path and query for the events of some datasets.
    func path(ofEvents datasets: [Dataset]) -> String {
        "/events?collections=\(datasets.map(\.id).joined(separator: ","))\(placeQuery)"
    }

    /// The parameter of the requested box; empty for the world.
    private var placeQuery: String {
        guard let box = requestedBox else { return "" }
        let sides = [box.west, box.south, box.east, box.north].map { String(format: "%.4f", $0) }
        return "&bbox=\(sides.joined(separator: ","))"
    }
}
