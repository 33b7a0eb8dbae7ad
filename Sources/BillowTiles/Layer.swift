public import BillowRaster
public import Turbulence

/// Something that can be drawn; its name is its id in addresses. The one place that lists them.
public enum Layer: String, Sendable, Hashable, CaseIterable {
    case turbulence
    case hexagons
    case polygons
    case pireps
    case hazards
    case forecast
    case traffic
    case tracks

    /// The zoom from which `turbulence` shows hexagons, and below which polygons; the same at every scale, so that no
    /// picture shows both.
    ///
    /// Source: docs/upstreams/skypath.md, "Colours" (3,320 m a point, 1,660 m a pixel of a 2x screen)
    public static let firstHexagonZoom = 6

    /// For people.
    public var title: String {
        switch self {
        case .turbulence: "Turbulence"
        case .hexagons: "Turbulence hexagons"
        case .polygons: "Turbulence polygons"
        case .pireps: "Pilot reports"
        case .hazards: "Hazards"
        case .forecast: "Forecast"
        case .traffic: "Traffic"
        case .tracks: "Tracks"
        }
    }

    /// A sentence for lists of layers.
    public var summary: String {
        switch self {
        case .turbulence: "Turbulence as polygons up to zoom 5 and as hexagons from zoom 6 on."
        case .hexagons: "Turbulence by H3 cell, the most severe standing record."
        case .polygons: "Areas of one severity, made of the same cells, or as a source that is named issued them."
        case .pireps: "Pilot reports of turbulence, by intensity."
        case .hazards: "SIGMETs and G-AIRMETs that are valid."
        case .forecast: "Forecast and nowcast areas of turbulence, which are no observations."
        case .traffic: "Aircraft where they were seen last, turned to their heading."
        case .tracks: "Where aircraft came from."
        }
    }

    /// What it is made of. The sources of that kind determine how fresh it is.
    public var kind: DataKind {
        switch self {
        case .turbulence, .hexagons, .polygons: .observations
        case .pireps: .reports
        case .hazards: .hazards
        case .forecast: .forecasts
        case .traffic, .tracks: .positions
        }
    }

    /// Whether it shows the cells of the turbulence picture.
    public var showsCells: Bool { kind == .observations }
}

/// One to ten different layers, the lowest first.
public struct LayerList: Sendable, Hashable, CustomStringConvertible {
    public let layers: [Layer]

    public static let longest = 10

    public init(_ layer: Layer) { layers = [layer] }

    /// Those of them that are wanted, in their order; nil for none.
    public func filter(_ isWanted: (Layer) -> Bool) -> LayerList? { LayerList(layers.filter(isWanted)) }

    private init?(_ layers: [Layer]) {
        guard !layers.isEmpty else { return nil }
        self.layers = layers
    }

    /// Ids by comma.
    /// - Throws: `unknown` for an id that is no layer; `unusable` for a repeat, or too many.
    public init(_ text: some StringProtocol) throws(Failure) {
        var layers: [Layer] = []
        let names = text.split(separator: ",", maxSplits: LayerList.longest, omittingEmptySubsequences: false)
        for name in names.prefix(LayerList.longest) {
            guard let layer = Layer(rawValue: String(name)) else { throw .unknown(String(name.prefix(100))) }
            guard !layers.contains(layer) else {
                throw .unusable(
                    ParameterError(parameter: "layers", value: String(text), expected: "a list without repeats"))
            }
            layers.append(layer)
        }
        guard names.count <= LayerList.longest else {
            throw .unusable(
                ParameterError(
                    parameter: "layers", value: String(text), expected: "a list of at most \(LayerList.longest) layers")
            )
        }
        self.layers = layers
    }

    /// Why a list can't be used.
    public enum Failure: Error, Sendable, Hashable {
        case unknown(String)
        case unusable(ParameterError)
    }

    /// As addresses write it.
    public var description: String { layers.map(\.rawValue).joined(separator: ",") }

    public var title: String { layers.map(\.title).joined(separator: ", ") }
}

extension Layer {
    /// What its legend explains.
    private var subject: Legend.Subject {
        switch self {
        case .turbulence, .hexagons, .polygons: .severities
        case .pireps: .reports
        case .hazards: .hazards
        case .forecast: .forecast
        case .traffic: .traffic
        case .tracks: .tracks
        }
    }

    fileprivate func add(to subjects: inout [Legend.Subject]) {
        if !subjects.contains(subject) { subjects.append(subject) }
    }
}

extension LayerList {
    /// The legend of a picture of these layers.
    public func legend(
        style: Style, severities: SeveritySet = .all, simulated: Bool = false, notes: [String] = []
    ) -> Legend {
        var subjects: [Legend.Subject] = []
        for layer in layers { layer.add(to: &subjects) }
        let title = subjects.contains(.severities) ? Layer.turbulence.title : title
        return Legend(
            style: style, layer: description, subjects: subjects, severities: severities, title: title,
            simulated: simulated, notes: notes)
    }
}
