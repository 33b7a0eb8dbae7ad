public import BillowRaster
public import Datasets
public import Turbulence

/// One to ten different layers, the lowest first.
public struct LayerList: Sendable, Hashable, CustomStringConvertible {
    /// The datasets, the lowest first.
    public let layers: [Dataset]

    /// Layers that a picture may have.
    public static let longest = 10

    /// - Parameter layer: one of `Catalogue.layers`.
    public init(_ layer: Dataset) { layers = [layer] }

    /// Those of them that are wanted, in their order; nil for none.
    package func filter(_ isWanted: (Dataset) -> Bool) -> LayerList? { LayerList(layers.filter(isWanted)) }

    private init?(_ layers: [Dataset]) {
        guard !layers.isEmpty else { return nil }
        self.layers = layers
    }

    /// Ids by comma.
    /// - Throws: `unknown` for an id that is no layer; `unusable` for a repeat, or too many.
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
        /// A repeat, or too many layers.
        case unusable(ParameterError)
    }

    /// As addresses write it.
    public var description: String { layers.map(\.id).joined(separator: ",") }

    /// The titles of its layers, by comma.
    public var title: String { layers.map(\.title).joined(separator: ", ") }
}

extension Dataset {
    /// What its legend explains; nil for what is not drawn.
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
        // All severities in their order, before those that a field shows of them.
        if let severities = subjects.firstIndex(of: .severities) {
            subjects.insert(subjects.remove(at: severities), at: 0)
        }
        let title = subjects.contains(.severities) ? Dataset.turbulence.title : title
        return Legend(
            style: style, layer: description, subjects: subjects, severities: severities, title: title,
            simulated: simulated, notes: notes)
    }
}
