package import Geometry
package import Turbulence

/// The text formats for features.
package enum ExportFormat: String, Sendable, Hashable, CaseIterable {
    /// One FeatureCollection (RFC 7946), with one feature per line.
    case geojson
    /// One feature per line, without a collection.
    case geojsonl
    /// A JSON text sequence (RFC 8142): each feature has a record separator before and a newline after it.
    case geojsons
    /// RFC 4180, with a header.
    case csv
    /// A document for Google Earth and the like, in the colours of a style.
    case kml

    /// The formats that an import reads. KML is a format for display only.
    package static let imported = allCases.filter { $0 != .kml }

    /// Source: RFC 7946 section 12; RFC 8142 section 4; RFC 7111 section 5; OGC 07-147r2 annex B
    package var mediaType: String {
        switch self {
        case .geojson: "application/geo+json"
        case .geojsonl: "application/x-ndjson"
        case .geojsons: "application/geo+json-seq"
        case .csv: "text/csv; charset=utf-8; header=present"
        case .kml: "application/vnd.google-earth.kml+xml"
        }
    }
}

/// The geometry of a feature. Rings are closed, exterior first and counter-clockwise (RFC 7946 section 3.1.6).
package enum FeatureGeometry: Sendable, Hashable {
    case point(LonLat)
    case polygon([[LonLat]])
    /// A polygon that the antimeridian cuts.
    case multiPolygon([[[LonLat]]])
    case lineString([LonLat])
    /// A line that the antimeridian cuts.
    case multiLineString([[LonLat]])
    /// The JSON text of a geometry from `FeatureWriter.encoded`.
    case encoded([UInt8])
}

/// The members of a FeatureCollection besides its features. Unknown members are null.
package struct CollectionMembers: Sendable, Hashable {
    package var version: Version
    /// The instant of the frame.
    package var time: Instant
    /// Encoded as hours.
    package var history: History?
    /// The oldest of the sources' last successful fetches.
    package var dataTime: Instant?
    package var stale: Bool
    package var simulated: Bool
    /// The time from which the log covers the requested history.
    package var completeSince: Instant?
    /// Whether the log lacks some of the requested data.
    package var incomplete: Bool

    package init(
        version: Version, time: Instant, history: History?, dataTime: Instant?, stale: Bool, simulated: Bool,
        completeSince: Instant?, incomplete: Bool
    ) {
        self.version = version
        self.time = time
        self.history = history
        self.dataTime = dataTime
        self.stale = stale
        self.simulated = simulated
        self.completeSince = completeSince
        self.incomplete = incomplete
    }
}
