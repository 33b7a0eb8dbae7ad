extension GridDefinition {
    /// The number of pieces of each side of the domain. On GTG's grid a piece is 110 km long, and its chord is less
    /// than half a cell from the side.
    private static let piecesOfSide = 48

    /// The ring around the outermost points; nil if the grid covers the whole world. The ring lies completely within
    /// the grid: around a pole it follows the outermost parallel that the grid covers completely.
    package var domain: AreaRing? {
        let projection = GridProjection(self)
        let (east, north) = (Double(columns - 1), Double(rows - 1))
        if projection.wrapsAround {
            guard let south = projection.lonLat(GridPosition(x: 0, y: 0))?.latitude,
                let top = projection.lonLat(GridPosition(x: 0, y: north))?.latitude
            else { return nil }
            let step = (top - south) / max(1, north)
            let isWhole = south - step < -90 && top + step > 90
            return isWhole ? nil : AreaRing.band(south: south, north: top)
        }
        var corners: [Double] = []
        var latitudes: [Double] = []
        for (x, y, dx, dy) in [(0, 0, east, 0), (east, 0, 0, north), (east, north, -east, 0), (0, north, 0, -north)] {
            for piece in 0..<Self.piecesOfSide {
                let share = Double(piece) / Double(Self.piecesOfSide)
                guard let place = projection.lonLat(GridPosition(x: x + dx * share, y: y + dy * share)) else {
                    continue
                }
                // Longitudes continue without wrapping, so that no edge crosses the whole map.
                let before = corners.isEmpty ? place.longitude : corners[corners.count - 2]
                corners.append(before + (place.longitude - before).remainder(dividingBy: 360))
                corners.append(place.latitude)
                latitudes.append(place.latitude)
            }
        }
        // A ring around a pole ends 360° from its start.
        if corners.count >= 4 {
            let last = corners[corners.count - 2]
            let end = last + (corners[0] - last).remainder(dividingBy: 360)
            if abs(end - corners[0]) > 180 {
                let isNorth = (latitudes.first ?? 0) > 0
                return isNorth
                    ? AreaRing.band(south: latitudes.max() ?? 90, north: 90)
                    : AreaRing.band(south: -90, north: latitudes.min() ?? -90)
            }
        }
        return AreaRing(coordinates: corners)
    }
}

extension AreaRing {
    /// All longitudes between two parallels. The ring spans 720°, so that it contains a box across any meridian.
    fileprivate static func band(south: Double, north: Double) -> AreaRing? {
        AreaRing(coordinates: [-360, south, 360, south, 360, north, -360, north])
    }
}
