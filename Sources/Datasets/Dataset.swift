package import AviationFormats
package import Turbulence

/// A dataset that Billow serves under one id: as features and, unless `drawing` is nil, as a layer of pictures.
///
/// `Catalogue.all` has one object of each. Every difference between datasets is a member here. So a new dataset only
/// needs an entry in the catalogue.
public final class Dataset: Sendable {
    /// The id in URLs: `/tiles/{id}/…`, `/collections/{id}`.
    public let id: String
    /// The title for headings.
    public let title: String
    /// A short title for menus.
    public let shortTitle: String
    /// A sentence for lists of layers and collections.
    public let summary: String
    /// The source's name, required wherever the data is shown, and its disclaimer; nil if the source requires neither.
    package let attribution: String?
    /// The kind of its data. The sources of that kind determine its freshness.
    package let kind: FeedKind
    package let geometry: GeometryType
    /// The part of the log that a picture of an instant shows.
    package let content: Content
    /// The features that the time of a query selects.
    package let selection: TimeSelection
    /// The property with a feature's own time; nil if features have none.
    package let timeProperty: String?
    /// The update interval of a timeline's frames, unless a setting overrides it.
    package let updates: Updates
    /// How the layer is drawn; nil for a dataset that isn't a layer.
    package let drawing: Drawing?
    /// The properties of its features, in the order of the columns.
    package let properties: [Property]
    /// The properties of its values at a position and along a route; empty if it has none.
    package let sampleProperties: [Property]
    /// The types of upstream data that are converted to its features; empty if it is only imported or derived.
    package let origins: [Origin]
    /// The kinds of its areas; empty for a dataset without areas.
    package let areaKinds: [AreaKind]
    /// Whether its areas are warnings in force: alerts and profiles name them beside reports of turbulence.
    package let isWarning: Bool
    /// Its position in a picture of all layers, from bottom to top: fields, areas, polygons, cells, and signs above
    /// them, so that the tint of an area never lies over a cell.
    package let stacking: Int
    /// The ids of the layers that it combines, one for high zooms and one for low ones; usually empty.
    package let parts: [String]
    /// Whether a map shows it initially.
    package let isShownAtFirst: Bool

    package init(
        id: String, title: String, shortTitle: String, summary: String, kind: FeedKind, geometry: GeometryType,
        content: Content,
        selection: TimeSelection, timeProperty: String? = nil, updates: Updates = .every(seconds: 60),
        drawing: Drawing?, properties: [Property], sampleProperties: [Property] = [], origins: [Origin] = [],
        areaKinds: [AreaKind] = [], isWarning: Bool = false, stacking: Int = 0, parts: [String] = [],
        isShownAtFirst: Bool = false, attribution: String? = nil
    ) {
        self.id = id
        self.title = title
        self.shortTitle = shortTitle
        self.summary = summary
        self.attribution = attribution
        self.kind = kind
        self.geometry = geometry
        self.content = content
        self.selection = selection
        self.timeProperty = timeProperty
        self.updates = updates
        self.drawing = drawing
        self.properties = properties
        self.sampleProperties = sampleProperties
        self.origins = origins
        self.areaKinds = areaKinds
        self.isWarning = isWarning
        self.stacking = stacking
        self.parts = parts
        self.isShownAtFirst = isShownAtFirst
    }
}

/// Equality is identity, because there is one object of each dataset.
extension Dataset: Hashable, CustomStringConvertible {
    public static func == (a: Dataset, b: Dataset) -> Bool { a === b }
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
    public var description: String { id }
}

extension Dataset {
    package enum GeometryType: String, Sendable, Hashable {
        case point = "Point"
        case polygon = "Polygon"
        case line = "LineString"
    }

    /// A type of data of an upstream service, by the names of both in settings.
    package struct Origin: Sendable, Hashable {
        package let service: String
        package let type: String

        package init(_ service: String, _ type: String) {
            self.service = service
            self.type = type
        }

        /// Files: an inbox, or `billow import`.
        package static let file = Origin("inbox", "file")

        /// The aircraft reports of aviationweather.gov.
        package static let aircraftReports = Origin("aviationweather", "pirep")

        /// A product of hazards of aviationweather.gov.
        package static func aviationWeather(_ product: HazardProduct) -> Origin {
            Origin("aviationweather", product.endpoint)
        }
    }

    /// A product with areas in a dataset.
    package struct AreaKind: Sendable, Hashable {
        /// The value of the property `kind` of features.
        package let id: String
        /// The title for users.
        package let title: String
        /// The type of the upstream's data; nil if it is only imported.
        package let origin: Origin?
        /// How its records are parsed, in responses and in files; nil if they are no hazards of aviationweather.gov.
        package let product: HazardProduct?
        /// The hazards whose records are used; nil for all.
        package let hazards: Set<String>?
        /// The severities that a record's words for hazard and intensity mean, such as `TURB SEV`. Other words mean
        /// something else.
        package let severities: [String: Severity]
        /// The sign of its areas on maps; nil for areas without one.
        package let sign: AreaSign?

        package init(_ id: String, _ title: String, from origin: Origin?, sign: AreaSign? = nil) {
            self.id = id
            self.title = title
            self.sign = sign
            self.origin = origin
            product = nil
            hazards = nil
            severities = [:]
        }

        /// A product of hazards of aviationweather.gov.
        package init(
            _ product: HazardProduct, _ title: String, sign: AreaSign, hazards: Set<String>? = nil,
            severities: [String: Severity] = [:]
        ) {
            id = product.id
            self.title = title
            self.sign = sign
            origin = .aviationWeather(product)
            self.product = product
            self.hazards = hazards
            self.severities = severities
        }
    }

    /// The data of a picture of an instant.
    package enum Content: Sendable, Hashable {
        /// The observations in the history before the instant.
        case history(ObservedTable)
        /// The recently seen aircraft, and their tracks of the given length.
        case positions(trackSeconds: Int)
        /// The areas valid at the instant.
        case areas(IssuedArea.DatasetNumber)
        /// Turbulence polygons: dissolved from observations, or issued ones if they are requested.
        case polygons
        /// The turbulence field shown at the instant.
        case field
    }

    /// The features that the time of a query selects.
    package enum TimeSelection: Sendable, Hashable {
        /// The picture at an instant, over the history before it.
        case picture
        /// The features observed in an interval; all if none is given.
        case observed
        /// The features valid or last seen at an instant, or at any time of an interval.
        case standing
        /// The tracks of aircraft over the history before an instant, or over an interval.
        case tracks
    }

    /// When a timeline has a new frame.
    package enum Updates: Sendable, Hashable {
        case every(seconds: Int)
        /// Whenever an area begins or ends, or a field has another valid time.
        case changes
    }

    /// How a layer is drawn.
    package enum Drawing: Sendable {
        /// H3 cells, with a border from a zoom on.
        case cells(borderedFromZoom: Int)
        case polygons
        /// The value of the nearest grid point at each pixel.
        case field
        case reports
        case areas(AreaDrawing)
        case aircraft
        case tracks
    }

    /// How the areas of a layer are drawn, and their legend.
    package struct AreaDrawing: Sendable {
        package struct LegendEntry: Sendable, Hashable {
            package let label: String
            package let sign: AreaSign
            /// Whether the area is about turbulence, not about other weather.
            package let isOfTurbulence: Bool
            /// Whether the area is a step ahead of its issue, or ends soon.
            package let isFaint: Bool

            package init(_ label: String, _ sign: AreaSign, isOfTurbulence: Bool = true, isFaint: Bool = false) {
                self.label = label
                self.sign = sign
                self.isOfTurbulence = isOfTurbulence
                self.isFaint = isFaint
            }
        }

        private let signs: [String: AreaSign]
        /// Whether an area without a named hazard counts as turbulence.
        package let isUnnamedTurbulence: Bool
        package let legend: [LegendEntry]

        /// - Parameter kinds: the kinds of the areas, with their signs.
        package init(of kinds: [AreaKind], legend: [LegendEntry], isUnnamedTurbulence: Bool = true) {
            signs = kinds.reduce(into: [:]) { $0[$1.id] = $1.sign }
            self.isUnnamedTurbulence = isUnnamedTurbulence
            self.legend = legend
        }

        /// The sign of an area. An area of an unknown kind has the sign of an advisory.
        package func sign(_ area: IssuedArea) -> AreaSign { signs[area.kind] ?? .advisory }
    }

    /// The lowest zoom at which `turbulence` shows hexagons; below it shows polygons. It is the same at every scale, so
    /// no picture shows both.
    ///
    /// Source: docs/upstreams/skypath.md, "Colours": SkyPath's advice of 3,320 m a point
    package static let firstHexagonZoom = 6

    /// The kinds of its data.
    package var kinds: [FeedKind] { kindOfAreas.map { $0 == kind ? [kind] : [kind, $0] } ?? [kind] }
    /// The kind of data of its issued areas; nil if it has none. Issued polygons have another kind than Billow's own.
    package var kindOfAreas: FeedKind? {
        switch content {
        case .areas: kind
        case .polygons: .polygons
        case .history, .positions, .field: nil
        }
    }

    /// The collection of its issued areas, and of issued polygons; nil if it has none.
    package var issuedAreas: IssuedArea.DatasetNumber? {
        switch content {
        case .areas(let collection): collection
        case .polygons: .polygons
        case .history, .positions, .field: nil
        }
    }

    /// The kind of data that one of its origins provides.
    func kind(of origin: Origin) -> FeedKind {
        areaKinds.contains { $0.origin == origin } ? kindOfAreas ?? kind : kind
    }

    /// Whether each feature is the row of an observation, independent of pictures.
    package var isOfRows: Bool { content == .history(.observations) && !isHexagons }
    /// Whether its features come from the records of another dataset, so that it has no origins of its own.
    package var isDerived: Bool { origins.isEmpty }
    /// Whether its features are turbulence polygons: Billow's own, or issued ones.
    package var isPolygons: Bool { content == .polygons }

    /// Whether a picture shows it as polygons at a zoom: always, or below the zoom at which its cells have borders.
    package func showsPolygons(atZoom zoom: Int) -> Bool {
        switch drawing {
        case .polygons: true
        case .cells(let borderedFromZoom): zoom < borderedFromZoom
        case nil, .field, .reports, .areas, .aircraft, .tracks: false
        }
    }

    /// The properties of its features in vector tiles. A layer that combines others has theirs at some zooms.
    package var tileProperties: [Property] {
        (properties + parts.compactMap { Catalogue.dataset($0) }.flatMap(\.properties)).filter(\.isInTiles)
    }

    /// Whether its features are H3 cells.
    package var isHexagons: Bool { if case .cells = drawing { true } else { false } }
    /// Whether it shows the cells of the turbulence picture, or polygons dissolved from them.
    package var showsCells: Bool { drawing != nil && kind == .observations }
    /// Whether it shows the state at an instant, unless an interval is requested.
    package var isPicture: Bool { selection != .observed }
    /// The names of the properties of its features, and of its values at positions, without repeats.
    package var propertyNames: [String] { featureProperties.map { "\($0.name)" } }
    /// The properties of its features, and of its values at positions, each name once.
    package var featureProperties: [Property] {
        var names: Set<String> = []
        return (properties.filter { !$0.isOfTilesOnly } + sampleProperties).filter {
            names.insert("\($0.name)").inserted
        }
    }
    /// The property of its features with a role; nil if they have none.
    package func property(_ role: Property.Role) -> Property? { featureProperties.first { $0.role == role } }
    /// The altitudes in feet that its features may have; nil if features have none, or without limits.
    package var altitudeRange: ClosedRange<Double>? {
        featureProperties.first { property in
            [.altitude, .lowerAltitude, .upperAltitude].contains(property.role) && property.range != nil
        }?.range
    }
    /// The collection of its areas; nil for a dataset without areas.
    package var areas: IssuedArea.DatasetNumber? {
        if case .areas(let collection) = content { collection } else { nil }
    }
}

/// The signs of areas. They differ in line and pattern, not only in colour.
package enum AreaSign: UInt8, Sendable, Hashable, CaseIterable {
    case warning = 0
    case advisory = 1
    case forecast = 2

    package var name: String {
        switch self {
        case .warning: "warning"
        case .advisory: "advisory"
        case .forecast: "forecast"
        }
    }
}
