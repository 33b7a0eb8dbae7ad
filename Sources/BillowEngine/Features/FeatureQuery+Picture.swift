package import BillowSnapshot
package import Datasets
package import Geometry
package import Turbulence

extension FeatureQuery {
    /// The features from which a layer's frame at an instant is drawn, within a box.
    package init(picturing layer: Dataset, at instant: Instant, filter: Filter, in box: BoundingBox) {
        self.init(layer, at: instant, filter: filter)
        self.box = box
        switch layer.selection {
        case .picture, .standing: break
        case .observed, .tracks:
            to = instant.advanced(by: 1)
            from = to.advanced(by: -filter.lookBackSeconds)
        }
        // A frame shows either Billow's polygons or issued ones, never both.
        if layer.isPolygons, !filter.prefersIssuedPolygons {
            issuers = SourceID(Filter.ownSource).map { [$0] }
            self.filter = filter.ofOwnPolygons
        }
    }
}
