extension MultiPolygon {
    /// The area of polygons as anybody may write them: exterior first, then holes, of any winding and convention of
    /// longitude. What crosses the antimeridian is split there.
    ///
    /// nil where there is no polygon, where a ring has no area, or where one with holes crosses the antimeridian
    /// unsplit.
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
