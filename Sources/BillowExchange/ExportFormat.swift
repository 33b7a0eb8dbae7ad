package import Geometry
package import Turbulence

/// The text forms that features are written in.
package enum ExportFormat: String, Sendable, Hashable, CaseIterable {
    /// One FeatureCollection (RFC 7946), one feature a line.
    case geojson
    /// One feature a line and nothing else.
    case geojsonl
    /// A JSON text sequence (RFC 8142): a record separator before and a newline behind each feature.
    case geojsons
    /// RFC 4180, with a header.
    case csv

    /// Source: RFC 7946 section 12; RFC 8142 section 4; RFC 7111 section 5
    package var mediaType: String {
        switch self {
        case .geojson: "application/geo+json"
        case .geojsonl: "application/x-ndjson"
        case .geojsons: "application/geo+json-seq"
        case .csv: "text/csv; charset=utf-8; header=present"
        }
    }
}

/// The shape of a feature. Rings are closed, the exterior one first and counter-clockwise (RFC 7946 section 3.1.6).
package enum FeatureGeometry: Sendable, Hashable {
    case point(LonLat)
    case polygon([[LonLat]])
    /// What the antimeridian cuts in two.
    case multiPolygon([[[LonLat]]])
    case lineString([LonLat])
    /// What the antimeridian cuts.
    case multiLineString([[LonLat]])
    /// The JSON of a geometry, made once by `FeatureWriter.encoded`.
    case encoded([UInt8])
}

/// What a FeatureCollection says of itself beside its features. Members that are not known are null.
package struct CollectionMembers: Sendable, Hashable {
    package var version: Version
    /// The instant of the picture.
    package var time: Instant
    /// Written as hours.
    package var history: History?
    /// The last successful fetch of the quietest source.
    package var dataTime: Instant?
    package var stale: Bool
    package var simulated: Bool
    /// From when on the log covers the asked history.
    package var completeSince: Instant?
    /// Whether the log lacks some of what is asked for.
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
