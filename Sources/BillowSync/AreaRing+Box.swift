import Geometry
import UpstreamKit

extension AreaRing {
    /// The outline of a box in degrees. Its edges are split, so that each is less than half way around the globe.
    init?(west: Double, south: Double, east: Double, north: Double) {
        let parts = Int(((east - west) / 90).rounded(.up))
        let longitudes = (0...parts).map { west + (east - west) * Double($0) / Double(parts) }
        let corners = longitudes.map { ($0, south) } + longitudes.reversed().map { ($0, north) }
        self.init(coordinates: corners.flatMap { [$0.0, $0.1] })
    }
}

extension GeographicBox {
    var ring: AreaRing? { AreaRing(west: west, south: south, east: east, north: north) }
}
