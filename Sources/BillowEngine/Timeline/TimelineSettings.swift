package import BillowTimeline
package import Datasets

/// The server's settings of timelines.
package struct TimelineSettings: Sendable {
    package var defaults: TimelineDefaults
    /// The update rule of each layer, by its id; a layer without one has a new frame every minute.
    package var updates: [String: UpdateRule]
    /// The layers that can have an update rule. Areas and fields may also be updated at their changes.
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
