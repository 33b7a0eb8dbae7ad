import Datasets

/// Describes a collection as a map layer: the member `layer` of the collection's document. So clients that list layers,
/// such as the viewer, need no separate list.
struct LayerDescription: Encodable, Sendable {
    /// The short title.
    var name: String
    /// The drawing style: `cells`, `field`, `polygons`, `reports`, `areas`, `aircraft` or `tracks`.
    var shape: String
    /// The position among layers: those with a lower number lie below.
    var order: Int
    var isShownAtFirst: Bool
    /// Whether its areas are warnings in force, which profiles and alerts name.
    var isWarning: Bool
    /// The ids of the layers that it combines.
    var parts: [String]

    /// nil for a dataset that isn't drawn.
    init?(_ dataset: Dataset) {
        switch dataset.drawing {
        case nil: return nil
        case .cells: shape = "cells"
        case .field: shape = "field"
        case .polygons: shape = "polygons"
        case .reports: shape = "reports"
        case .areas: shape = "areas"
        case .aircraft: shape = "aircraft"
        case .tracks: shape = "tracks"
        }
        name = dataset.shortTitle
        order = dataset.stacking
        isShownAtFirst = dataset.isShownAtFirst
        isWarning = dataset.isWarning
        parts = dataset.parts
    }
}
