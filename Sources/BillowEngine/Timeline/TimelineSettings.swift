package import BillowTimeline
package import Datasets

/// The server's settings of timelines.
package struct TimelineSettings: Sendable {
    package var defaults: TimelineDefaults
    /// When a layer is new, by its id; every minute where nothing is said.
    package var updates: [String: UpdateRule]
    /// The layers that have such a rule, and of them those that may be new at their changes: areas and fields.
    package static let layers = Catalogue.layers.map(\.id)
    package static let layersWithChanges = Catalogue.layers.filter { $0.areas != nil || $0.content == .field }
        .map(\.id)

    package init(
        defaults: TimelineDefaults = TimelineDefaults(),
        updates: [String: UpdateRule] = Dictionary(
            uniqueKeysWithValues: Catalogue.layers.map { ($0.id, UpdateRule($0.updates)) })
    ) {
        self.defaults = defaults
        self.updates = updates
    }

    package func update(of layer: Dataset) -> UpdateRule { updates[layer.id] ?? UpdateRule(layer.updates) }
}

extension UpdateRule {
    fileprivate init(_ updates: Dataset.Updates) {
        self =
            switch updates {
            case .every(let seconds): .every(seconds: seconds)
            case .changes: .changes
            }
    }
}
