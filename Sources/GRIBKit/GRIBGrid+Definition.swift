package import Geometry

extension GRIBGrid {
    /// The grid without the order of points in the message.
    ///
    /// - Throws: `invalid` if the message's values don't give a grid.
    package func definition() throws(GRIBError) -> GridDefinition {
        do { return try GridDefinition(shape: shape, columns: columns, rows: rows, projection: try projection()) } catch
        {
            throw .invalid(error.description)
        }
    }

    private func projection() throws(GridError) -> GridDefinition.Projection {
        func mesh(_ first: LonLat, _ dx: Double, _ dy: Double) -> GridDefinition.Mesh {
            let corner = GridDefinition.Corner(isEast: scanning.isNegativeI, isNorth: !scanning.isPositiveJ)
            return GridDefinition.Mesh(
                longitude: first.longitude, latitude: first.latitude, corner: corner, dx: dx, dy: dy)
        }
        switch template {
        case .lonLat(let first, let last): return try plane(first, last)
        case .polarStereographic(let first, let orientation, let trueLatitude, let south, let dx, let dy):
            return .polarStereographic(
                orientation: orientation, trueLatitude: trueLatitude, isSouth: south, mesh: mesh(first, dx, dy))
        case .lambertConformal(let first, let orientation, let parallels, let dx, let dy):
            return .lambertConformal(
                orientation: orientation, firstParallel: parallels.first, secondParallel: parallels.second,
                mesh: mesh(first, dx, dy))
        }
    }

    /// The steps are computed from the corners, as by ecCodes, because those of the message are rounded to its unit.
    private func plane(_ first: LonLat, _ last: LonLat) throws(GridError) -> GridDefinition.Projection {
        let (westmost, eastmost) = scanning.isNegativeI ? (last, first) : (first, last)
        let (lowest, highest) = scanning.isPositiveJ ? (first, last) : (last, first)
        // Equal meridians at both ends mean a full circle.
        let span = eastmost.longitude - westmost.longitude
        let dx = columns == 1 ? 1 : (span <= 0 ? span + 360 : span) / Double(columns - 1)
        let dy = rows == 1 ? 1 : (highest.latitude - lowest.latitude) / Double(rows - 1)
        guard dy > 0 else { throw GridError("the first row at \(first.latitude)°, the last at \(last.latitude)°") }
        return .lonLat(west: westmost.longitude, south: lowest.latitude, dx: dx, dy: dy)
    }
}

extension GridProjection {
    /// - Throws: `invalid` if the definition doesn't give a grid.
    package init(_ grid: GRIBGrid) throws(GRIBError) { self.init(try grid.definition()) }
}
