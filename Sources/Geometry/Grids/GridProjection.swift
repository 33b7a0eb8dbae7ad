internal import CVector

/// A position on a grid in fractions of a cell. (0, 0) is the south-western point, x grows eastward along a row, y
/// northward along a column. Whole numbers are points of the grid. "East" and "north" are the axes of the plane.
package struct GridPosition: Sendable, Hashable {
    package var x: Double
    package var y: Double

    package init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }
}

/// The part of a place's position that depends on its longitude; see `GridProjection`. Its memory is a pair of numbers,
/// as `billow_nearest_cells` reads it.
package struct GridColumn: Sendable, Hashable {
    @usableFromInline let sine: Double
    @usableFromInline let cosine: Double
}

/// The part of a place's position that depends on its latitude; see `GridProjection`.
package struct GridRow: Sendable, Hashable {
    @usableFromInline let radius: Double
    @usableFromInline let origin: Double
}

/// Converts longitudes and latitudes to positions on a grid, and back.
///
/// The three projections are separable. A latitude gives the distance from the projection's pole (ρ), and a longitude
/// gives the angle there (θ). In web mercator a row of pixels is a latitude and a column a longitude. So a tile of 256
/// × 256 pixels takes 512 evaluations of powers and sines, and two products and two sums per pixel:
///
///     x = x₀ + ρ · sin θ / Δx,    y = y₀ − ρ · cos θ / Δy
///
/// `column(longitude:)` is (sin θ / Δx, cos θ / Δy), `row(latitude:)` is (ρ, y₀), and `position(_:_:)` combines them.
/// On a grid of longitudes and latitudes ρ is 1, the sine is x, the cosine 0, and the row's y₀ is y.
///
/// Source: J. P. Snyder, "Map Projections: A Working Manual", USGS Professional Paper 1395 (1987), equations 15-1 to
/// 15-11 (Lambert conformal conic) and 21-1 to 21-40 (polar stereographic), DOI 10.3133/pp1395
package struct GridProjection: Sendable, Hashable {
    package let columns: Int
    package let rows: Int
    private let form: Form
    @usableFromInline let originX: Double

    private enum Form: Sendable, Hashable {
        case plane(RegularPlane)
        case cone(ProjectionCone)
    }

    package let definition: GridDefinition

    package init(_ grid: GridDefinition) {
        definition = grid
        columns = grid.columns
        rows = grid.rows
        if let cone = ProjectionCone(grid) {
            form = .cone(cone)
            originX = cone.originX
        } else if case .lonLat(let west, let south, let dx, let dy) = grid.projection {
            form = .plane(RegularPlane(west: west, south: south, dx: dx, dy: dy, columns: grid.columns))
            originX = 0
        } else {
            preconditionFailure("a projection without a form")
        }
    }

    /// Whether the last column is one step west of the first, so that a place between them lies between these columns.
    /// Such a place has an x above `columns − 1` or below 0.
    package var wrapsAround: Bool {
        guard case .plane(let plane) = form else { return false }
        return plane.wrapsAround
    }

    // MARK: One place

    /// The position of a place, which may lie outside the grid.
    package func position(of place: LonLat) -> GridPosition {
        position(column(longitude: place.longitude), row(latitude: place.latitude))
    }

    /// The position of a place that has a nearest point, at most half a cell beyond the outermost points. Otherwise
    /// nil.
    package func index(of place: LonLat) -> GridPosition? {
        let position = position(of: place)
        return contains(position) ? position : nil
    }

    /// Whether the position has a nearest point.
    package func contains(_ position: GridPosition) -> Bool {
        position.x >= -0.5 && position.x < Double(columns) - 0.5 && position.y >= -0.5
            && position.y < Double(rows) - 0.5
    }

    /// The place at a position; nil if the projection has none, which can't happen inside a grid of the Earth.
    package func lonLat(_ position: GridPosition) -> LonLat? {
        switch form {
        case .plane(let plane): plane.lonLat(position)
        case .cone(let cone): cone.lonLat(position)
        }
    }

    // MARK: The separable form

    /// - Parameter longitude: degrees, in either convention.
    package func column(longitude: Double) -> GridColumn {
        switch form {
        case .plane(let plane): GridColumn(sine: plane.x(longitude: longitude), cosine: 0)
        case .cone(let cone): cone.column(longitude: longitude)
        }
    }

    /// - Parameter latitude: degrees, −90…90.
    package func row(latitude: Double) -> GridRow {
        switch form {
        case .plane(let plane): GridRow(radius: 1, origin: plane.y(latitude: latitude))
        case .cone(let cone): GridRow(radius: cone.radius(latitude: latitude), origin: cone.originY)
        }
    }

    /// The columns of longitudes, computed once for all pixel columns of a tile.
    package func columns(longitudes: [Double]) -> [GridColumn] { longitudes.map { column(longitude: $0) } }

    /// The rows of latitudes, computed once for all pixel rows of a tile.
    package func rows(latitudes: [Double]) -> [GridRow] { latitudes.map { row(latitude: $0) } }

    @inlinable
    package func position(_ column: GridColumn, _ row: GridRow) -> GridPosition {
        GridPosition(x: originX + row.radius * column.sine, y: row.origin - row.radius * column.cosine)
    }

    /// Finds the nearest point of each pixel of a row, as an index in the normalised order (row by row from the
    /// south-west); −1 outside the grid.
    ///
    /// - Parameter cells: as many as columns. Nothing is allocated.
    package func nearestCells(_ row: GridRow, _ columns: [GridColumn], into cells: UnsafeMutableBufferPointer<Int32>) {
        precondition(cells.count == columns.count, "\(cells.count) cells for \(columns.count) columns")
        guard let first = cells.baseAddress else { return }
        columns.withUnsafeBytes { bytes in
            guard let pairs = bytes.baseAddress?.assumingMemoryBound(to: Double.self) else { return }
            // Half a cell is added once, so that truncating gives the nearest point.
            billow_nearest_cells(
                originX + 0.5, row.origin + 0.5, row.radius, pairs, columns.count, Int32(self.columns), Int32(rows),
                first)
        }
    }

    /// Computes the positions of each pixel of a row, for interpolation.
    ///
    /// - Parameter positions: as many as columns. Nothing is allocated.
    package func positions(
        _ row: GridRow, _ columns: [GridColumn], into positions: UnsafeMutableBufferPointer<GridPosition>
    ) {
        precondition(positions.count == columns.count, "\(positions.count) positions for \(columns.count) columns")
        for (place, column) in columns.enumerated() { positions[place] = position(column, row) }
    }
}
