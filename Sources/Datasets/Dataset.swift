package import Turbulence

/// Something that Billow serves under one id: as features, and unless `drawing` is nil as a layer of pictures.
///
/// `Catalogue.all` has one of each. Whatever differs from dataset to dataset is a member here, so that a new one is an
/// entry of the catalogue and nothing else has to know it.
public final class Dataset: Sendable {
    /// In addresses: `/tiles/{id}/…`, `/collections/{id}`.
    public let id: String
    /// A heading.
    public let title: String
    /// A word for menus.
    public let shortTitle: String
    /// A sentence for lists of layers and collections.
    public let summary: String
    /// Who is to be named wherever it is shown, and what it doesn't replace; nil where nobody asks for that.
    package let attribution: String?
    /// What it is made of. The sources of that kind determine how fresh it is.
    package let kind: DataKind
    package let geometry: GeometryType
    /// What a picture of an instant shows of the log.
    package let content: Content
    /// What the time of a query selects.
    package let selection: TimeSelection
    /// The property with a feature's own time; nil where features have none.
    package let timeProperty: String?
    /// How often a timeline has a new frame, unless a setting says otherwise.
    package let updates: Updates
    /// How it is drawn; nil for what is no layer.
    package let drawing: Drawing?
    /// The properties of its features, in the order of the columns.
    package let properties: [Property]
    /// The types of upstream data that become its features; empty for what is only imported or derived.
    package let origins: [Origin]
    /// The kinds of its areas; empty for what isn't made of areas.
    package let areaKinds: [AreaKind]
    /// Its place in a picture of all layers, the lowest first.
    package let stacking: Int
    /// The ids of the layers that it shows, one near and the other far out; empty for most.
    package let parts: [String]
    /// Whether a map shows it before anybody chose.
    package let isShownAtFirst: Bool

    package init(
        id: String, title: String, shortTitle: String, summary: String, kind: DataKind, geometry: GeometryType,
        content: Content,
        selection: TimeSelection, timeProperty: String? = nil, updates: Updates = .every(seconds: 60),
        drawing: Drawing?, properties: [Property], origins: [Origin] = [],
        areaKinds: [AreaKind] = [], stacking: Int = 0, parts: [String] = [], isShownAtFirst: Bool = false,
        attribution: String? = nil
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
        self.origins = origins
        self.areaKinds = areaKinds
        self.stacking = stacking
        self.parts = parts
        self.isShownAtFirst = isShownAtFirst
    }
}

/// There is one object of each dataset.
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

    /// A type of data of an upstream service, by the names that settings have for both.
    package struct Origin: Sendable, Hashable {
        package let service: String
        package let type: String

        package init(_ service: String, _ type: String) {
            self.service = service
            self.type = type
        }

        /// Files: an inbox, or `billow import`.
        package static let file = Origin("inbox", "file")
    }

    /// A product whose areas a dataset has.
    package struct AreaKind: Sendable, Hashable {
        /// The value of the features' `kind`.
        package let id: String
        /// For people.
        package let title: String
        /// The type of the upstream's data; nil for what is only imported.
        package let origin: Origin?

        package init(_ id: String, _ title: String, from origin: Origin?) {
            self.id = id
            self.title = title
            self.origin = origin
        }
    }

    /// What a picture of an instant is made of.
    package enum Content: Sendable, Hashable {
        /// What was observed in the history before it.
        case history(ObservedKind)
        /// The aircraft seen lately, and their tracks of so many seconds.
        case positions(trackSeconds: Int)
        /// The areas that hold at it.
        case areas(IssuedArea.Collection)
        /// Turbulence polygons: dissolved from observations, or where they are asked for issued ones.
        case polygons
        /// The turbulence field that is shown at it.
        case field
    }

    /// What the time of a query selects of the features.
    package enum TimeSelection: Sendable, Hashable {
        /// The picture at an instant, over the history before it.
        case picture
        /// What was observed in an interval; everything where none is given.
        case observed
        /// What holds or was seen last at an instant, or at some time of an interval.
        case standing
        /// The ways of aircraft over the history before an instant, or over an interval.
        case tracks
    }

    /// When a timeline has a new frame.
    package enum Updates: Sendable, Hashable {
        case every(seconds: Int)
        /// Whenever an area begins or ends, or a field is about another time.
        case changes
    }

    /// How a layer is drawn.
    package enum Drawing: Sendable {
        /// H3 cells with a border, or without one below a zoom.
        case cells(borderedFromZoom: Int)
        case polygons
        /// Each pixel by the point of a grid that is nearest to it.
        case field
        case reports
        case areas(AreaDrawing)
        case aircraft
        case tracks
    }

    /// How the areas of a layer are drawn and explained.
    package struct AreaDrawing: Sendable {
        package struct LegendEntry: Sendable, Hashable {
            package let label: String
            package let sign: AreaSign
            /// Whether the area is about turbulence, and not about other weather.
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

        /// The sign of an area.
        package let sign: @Sendable (IssuedArea) -> AreaSign
        /// Whether an area without a hazard's name is taken to be about turbulence.
        package let isUnnamedTurbulence: Bool
        package let legend: [LegendEntry]

        package init(
            legend: [LegendEntry], isUnnamedTurbulence: Bool = true,
            sign: @escaping @Sendable (IssuedArea) -> AreaSign
        ) {
            self.sign = sign
            self.isUnnamedTurbulence = isUnnamedTurbulence
            self.legend = legend
        }
    }

    /// The zoom from which `turbulence` shows hexagons, and below which polygons; the same at every scale, so that no
    /// picture shows both.
    ///
    /// Source: docs/upstreams/skypath.md, "Colours": SkyPath's advice of 3,320 m a point
    package static let firstHexagonZoom = 6

    /// The kinds of data that it is made of.
    package var kinds: [DataKind] { kindOfAreas.map { $0 == kind ? [kind] : [kind, $0] } ?? [kind] }
    /// The kind of data that its issued areas are; nil for what has none. Issued polygons are not of the kind of ours.
    package var kindOfAreas: DataKind? {
        switch content {
        case .areas: kind
        case .polygons: .polygons
        case .history, .positions, .field: nil
        }
    }

    /// The kind of data that one of its origins brings.
    func kind(of origin: Origin) -> DataKind {
        areaKinds.contains { $0.origin == origin } ? kindOfAreas ?? kind : kind
    }

    /// Whether its features are H3 cells.
    package var isHexagons: Bool { if case .cells = drawing { true } else { false } }
    /// Whether it shows the cells of the turbulence picture, or what they are dissolved into.
    package var showsCells: Bool { drawing != nil && kind == .observations }
    /// Whether it is shown as it stands at an instant, unless an interval is asked for.
    package var isPicture: Bool { selection != .observed }
    /// The collection of its areas; nil for what isn't made of areas.
    package var areas: IssuedArea.Collection? { if case .areas(let collection) = content { collection } else { nil } }
}

/// The signs of areas: told apart by line and pattern, not by colour alone.
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
