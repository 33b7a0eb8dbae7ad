public import BillowRaster
public import Datasets
public import Turbulence

/// One to ten different layers, from bottom to top.
public struct LayerList: Sendable, Hashable, CustomStringConvertible {
    /// The datasets, from bottom to top.
    public let layers: [Dataset]

    /// The maximum number of layers in a picture.
    public static let longest = 10

    /// - Parameter layer: one of `Catalogue.layers`.
    public init(_ layer: Dataset) { layers = [layer] }

    /// The layers that meet a condition, in the same order; nil if there are none.
    package func filter(_ isWanted: (Dataset) -> Bool) -> LayerList? { LayerList(layers.filter(isWanted)) }

    private init?(_ layers: [Dataset]) {
        guard !layers.isEmpty else { return nil }
        self.layers = layers
    }

    /// Parses ids separated by commas.
    /// - Throws: `unknown` for an id that is no layer; `unusable` for a repeated layer, or too many.
    public init(_ text: some StringProtocol) throws(Failure) {
        var layers: [Dataset] = []
        let names = text.split(separator: ",", maxSplits: LayerList.longest, omittingEmptySubsequences: false)
        for name in names.prefix(LayerList.longest) {
            guard let layer = Catalogue.layer(name) else { throw .unknown(String(name.prefix(100))) }
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
        /// An id that is no layer.
        case unknown(String)
        /// A repeated layer, or too many layers.
        case unusable(ParameterError)
    }

    /// The ids separated by commas, as in URLs.
    public var description: String { layers.map(\.id).joined(separator: ",") }

    /// The titles of the layers, separated by commas.
    public var title: String { layers.map(\.title).joined(separator: ", ") }
}

extension Dataset {
    /// The entry that explains the layer in a legend; nil if the layer isn't drawn.
    private var subject: Legend.Subject? {
        switch drawing {
        case nil: nil
        case .cells, .polygons: .severities
        case .field: .field
        case .reports: .reports
        case .areas(let areas): .areas(areas.legend)
        case .aircraft: .traffic
        case .tracks: .tracks
        }
    }

    fileprivate func add(to subjects: inout [Legend.Subject]) {
        if let subject, !subjects.contains(subject) { subjects.append(subject) }
    }
}

extension LayerList {
    /// The legend of a picture of these layers.
    public func legend(
        style: Style, severities: SeveritySet = .all, simulated: Bool = false, notes: [String] = []
    ) -> Legend {
        var subjects: [Legend.Subject] = []
        for layer in layers { layer.add(to: &subjects) }
        // All severities in their order come before the subset that a field shows.
        if let severities = subjects.firstIndex(of: .severities) {
            subjects.insert(subjects.remove(at: severities), at: 0)
        }
        let title = subjects.contains(.severities) ? Dataset.turbulence.title : title
        return Legend(
            style: style, layer: description, subjects: subjects, severities: severities, title: title,
            simulated: simulated, notes: notes)
    }
}
