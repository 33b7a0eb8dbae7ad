package import BillowFields
package import BillowSnapshot
package import Geometry
package import Turbulence

/// A turbulence field as pictures need it: its values at some altitudes, its projection, and how it is drawn.
package struct FieldPicture: Sendable {
    /// The largest value of all levels that are shown.
    package let plane: FieldPlane
    package let projection: GridProjection
    package let appearance: FieldAppearance

    /// Returns nil unless the plane is as wide and as high as the grid.
    package init?(plane: FieldPlane, projection: GridProjection, appearance: FieldAppearance) {
        guard plane.width == projection.columns, plane.height == projection.rows else { return nil }
        self.plane = plane
        self.projection = projection
        self.appearance = appearance
    }
}

/// How the values of a field become a picture.
package struct FieldAppearance: Sendable, Hashable {
    package let thresholds: SeverityThresholds
    package let severities: SeveritySet
    /// Whether smooth air is drawn in its severity's colour. In a style by scale, the scale itself says where colours
    /// begin.
    package let showsSmoothAir: Bool
    /// Whether a pixel interpolates between the four points around it, instead of using the nearest one.
    package let isSmoothed: Bool

    package init(_ filter: Filter, thresholds: SeverityThresholds) {
        self.thresholds = thresholds
        severities = filter.severities
        showsSmoothAir = filter.field.showsSmoothAir
        isSmoothed = filter.field.isSmoothed
    }

    package init(
        thresholds: SeverityThresholds = .medium, severities: SeveritySet = .all, showsSmoothAir: Bool = false,
        isSmoothed: Bool = false
    ) {
        self.thresholds = thresholds
        self.severities = severities
        self.showsSmoothAir = showsSmoothAir
        self.isSmoothed = isSmoothed
    }

    /// The severity of an EDR in ten-thousandths of m^(2/3)/s, at least 0; nil if that severity isn't shown.
    package func severity(tenThousandths: Int) -> Severity? {
        guard let edr = EDR(tenThousandths: min(tenThousandths, 10_000)) else { return nil }
        let severity = thresholds.severity(of: edr)
        return severities.contains(severity) ? severity : nil
    }
}

extension FieldPicture {
    /// The EDR at a position, interpolated between the four points around it, in ten-thousandths of m^(2/3)/s. It is
    /// nil if the nearest point has no value. Other points without a value get no weight.
    ///
    /// - Parameter position: must have a nearest point (`GridProjection.contains`).
    package func tenThousandths(at position: GridPosition) -> Int? {
        FieldSurroundings(position, on: projection).tenThousandths { plane.values[$0] }
    }

    /// The EDR of the nearest point, in ten-thousandths of m^(2/3)/s; nil if it has no value.
    ///
    /// - Parameter position: must have a nearest point (`GridProjection.contains`).
    package func nearest(to position: GridPosition) -> Int? {
        let value = value(Int((position.x + 0.5).rounded(.down)), Int((position.y + 0.5).rounded(.down)))
        return value == FieldPlane.missing ? nil : Int(value) * 100
    }

    private func value(_ column: Int, _ row: Int) -> UInt8 { plane.values[row * plane.width + column] }
}

/// The four points of a grid around a position.
package struct FieldSurroundings: Sendable {
    /// The indices of the points, in row-major order.
    private let southWest: Int
    private let southEast: Int
    private let northWest: Int
    private let northEast: Int
    /// The distance of the position from the south-western point, in grid cells: 0..<1.
    private let east: Double
    private let north: Double

    /// - Parameter position: must have a nearest point (`GridProjection.contains`).
    @inline(__always)
    package init(_ position: GridPosition, on projection: GridProjection) {
        let (left, low) = (position.x.rounded(.down), position.y.rounded(.down))
        (east, north) = (position.x - left, position.y - low)
        let (width, height) = (projection.columns, projection.rows)
        // The outermost points are valid for half a cell beyond the grid. A grid around the world continues with its
        // first column.
        func column(_ number: Int) -> Int {
            projection.wrapsAround ? (number + width) % width : min(max(number, 0), width - 1)
        }
        let columns = (column(Int(left)), column(Int(left) + 1))
        let south = min(max(Int(low), 0), height - 1) * width
        let north = min(max(Int(low) + 1, 0), height - 1) * width
        (southWest, southEast) = (south + columns.0, south + columns.1)
        (northWest, northEast) = (north + columns.0, north + columns.1)
    }

    package var points: [Int] { [southWest, southEast, northWest, northEast] }

    package var nearest: Int {
        north < 0.5 ? (east < 0.5 ? southWest : southEast) : (east < 0.5 ? northWest : northEast)
    }

    /// The interpolated EDR at the position, in ten-thousandths of m^(2/3)/s; nil if the nearest point has no value.
    /// Other points without a value get no weight.
    ///
    /// - Parameter value: returns a point's value in hundredths, or `FieldPlane.missing`.
    @inline(__always)
    package func tenThousandths(_ value: (Int) -> UInt8) -> Int? {
        guard value(nearest) != FieldPlane.missing else { return nil }
        var (sum, weights) = (0.0, 0.0)
        func add(_ value: UInt8, _ weight: Double) {
            guard value != FieldPlane.missing else { return }
            sum += Double(value) * weight
            weights += weight
        }
        add(value(southWest), (1 - east) * (1 - north))
        add(value(southEast), east * (1 - north))
        add(value(northWest), (1 - east) * north)
        add(value(northEast), east * north)
        return Int((sum / weights * 100).rounded())
    }
}
