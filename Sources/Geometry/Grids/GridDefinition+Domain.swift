extension GridDefinition {
    /// How many pieces each side of the domain is cut into: on GTG's grid 110 km, whose chord leaves the side by less
    /// than half a cell.
    private static let piecesOfSide = 48

    /// The ring around the outermost points; nil where the grid goes around the whole world. All of it lies within the
    /// grid: around a pole it ends at the parallel that the grid has all of.
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
                // Longitudes run on, so that no edge jumps.
                let before = corners.isEmpty ? place.longitude : corners[corners.count - 2]
                corners.append(before + (place.longitude - before).remainder(dividingBy: 360))
                corners.append(place.latitude)
                latitudes.append(place.latitude)
            }
        }
        // Once around a pole, the ring ends a whole turn from where it began.
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
    /// All longitudes between two parallels: twice around, so that a box across any meridian lies inside.
    fileprivate static func band(south: Double, north: Double) -> AreaRing? {
        AreaRing(coordinates: [-360, south, 360, south, 360, north, -360, north])
    }
}
