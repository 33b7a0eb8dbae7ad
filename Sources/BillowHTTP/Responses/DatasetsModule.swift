import BillowExchange
import Datasets

/// The layers for the viewer, as a JavaScript module. It is generated from the catalogue, so that the viewer needs no
/// list of its own.
enum DatasetsModule {
    /// The path under which the viewer's modules import it.
    static let path = "/js/datasets.js"

    /// The module's text. `LAYERS` has the layers from bottom to top: `id`; `name`; `shape`, its drawing style
    /// (`cells`, `field`, `polygons`, `reports`, `areas`, `aircraft`, `tracks`); `isShownAtFirst`. `AREA_KINDS` maps
    /// the `kind` of areas to names.
    static var text: String {
        var layers = JSONWriter()
        layers.openArray()
        for dataset in Catalogue.menu {
            layers.openObject()
            layers.name("id")
            layers.value(dataset.id)
            layers.name("name")
            layers.value(dataset.shortTitle)
            layers.name("shape")
            layers.value(dataset.shape)
            layers.name("isShownAtFirst")
            layers.value(dataset.isShownAtFirst)
            layers.closeObject()
        }
        layers.closeArray()
        var kinds = JSONWriter()
        kinds.openArray()
        for kind in Catalogue.areaKinds {
            kinds.openArray()
            kinds.value(kind.id)
            kinds.value(kind.title)
            kinds.closeArray()
        }
        kinds.closeArray()
        return """
            // Made by the server of its catalogue of datasets.
            export const LAYERS = \(String(decoding: layers.bytes, as: UTF8.self));
            export const AREA_KINDS = new Map(\(String(decoding: kinds.bytes, as: UTF8.self)));

            """
    }
}

extension Dataset {
    fileprivate var shape: String {
        switch drawing {
        case nil: ""
        case .cells: "cells"
        case .field: "field"
        case .polygons: "polygons"
        case .reports: "reports"
        case .areas: "areas"
        case .aircraft: "aircraft"
        case .tracks: "tracks"
        }
    }
}
