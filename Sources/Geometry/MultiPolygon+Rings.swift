extension MultiPolygon {
    /// Makes the area of polygons from any source: exterior first, then holes, of any winding and longitude convention.
    /// Rings across the antimeridian are split there.
    ///
    /// Returns nil if there is no polygon, if a ring has no area, or if a polygon with holes crosses the antimeridian.
    package init?(rings polygons: [[[LonLat]]]) {
        var parts: [[[LonLat]]] = []
        for rings in polygons {
            let areas = rings.compactMap { MultiPolygon(outline: $0)?.polygons }
            guard let exterior = areas.first, areas.count == rings.count,
                areas.count == 1 || areas.allSatisfy({ $0.count == 1 })
            else { return nil }
            let holes = areas.dropFirst().flatMap { $0.joined() }.map { Array($0.reversed()) }
            parts += exterior.map { $0 + holes }
        }
        guard !parts.isEmpty else { return nil }
        self.init(polygons: parts)
    }
}
