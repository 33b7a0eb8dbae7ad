import Foundation

extension MultiPolygon {
    /// The area in km² on the sphere of mean radius; edges are straight in degrees.
    ///
    /// Source: R. Chamberlain, W. Duquette, "Some algorithms for polygons on a sphere", JPL 07-03 (2007)
    public var areaKm2: Double {
        let radiusKm = 6_371.008_8
        var sum = 0.0
        for ring in polygons.joined() {
            for (a, b) in zip(ring, ring.dropFirst()) {
                // Exteriors are counter-clockwise and add to the area; holes are clockwise and subtract from it.
                sum +=
                    (a.longitude - b.longitude) * .pi / 180
                    * (2 + sin(a.latitude * .pi / 180) + sin(b.latitude * .pi / 180)) / 2
            }
        }
        return sum * radiusKm * radiusKm
    }
}
