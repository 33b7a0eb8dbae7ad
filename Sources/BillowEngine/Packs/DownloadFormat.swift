package import BillowExchange

/// All formats of `/export`. The route, the command line, links and the description of the interface are derived from
/// this list.
package enum DownloadFormat: Sendable, Hashable, CaseIterable {
    /// Features as text.
    case text(ExportFormat)
    /// Features in a table.
    case geoPackage
    /// A KML document in an archive.
    case kmz
    /// A tileset of one instant.
    case tileset(TilesetFormat)
    /// Tilesets of several instants, or a content pack.
    case archive

    package static let allCases: [DownloadFormat] =
        ExportFormat.allCases.map { .text($0) } + [.kmz, .geoPackage] + TilesetFormat.allCases.map { .tileset($0) } + [
            .archive
        ]

    /// The formats with the features of a collection.
    package static let ofFeatures = allCases.filter { !$0.isPack }

    /// The ending of addresses and file names.
    package var ending: String {
        switch self {
        case .text(let format): format.rawValue
        case .geoPackage: "gpkg"
        case .kmz: "kmz"
        case .tileset(let format): format.rawValue
        case .archive: "zip"
        }
    }

    /// Source: PMTiles 3 section 2; OGC 12-128r19 section 1.1.1.1.1; IANA media types
    package var mediaType: String {
        switch self {
        case .text(let format): format.mediaType
        case .geoPackage: "application/geopackage+sqlite3"
        case .kmz: "application/vnd.google-earth.kmz"
        case .tileset(.mbtiles): "application/vnd.sqlite3"
        case .tileset(.pmtiles): "application/vnd.pmtiles"
        case .archive: "application/zip"
        }
    }

    /// Whether it contains pictures or vector tiles of layers, instead of the features of a collection.
    package var isPack: Bool {
        switch self {
        case .text, .geoPackage, .kmz: false
        case .tileset, .archive: true
        }
    }

    /// nil for an unknown ending.
    package init?(ending: some StringProtocol) {
        guard let format = Self.allCases.first(where: { $0.ending == ending }) else { return nil }
        self = format
    }
}
