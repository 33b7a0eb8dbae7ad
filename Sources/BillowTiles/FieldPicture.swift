package import BillowFields
package import BillowSnapshot
package import Geometry
package import Turbulence

/// A turbulence field as pictures of it need it: the values at some altitudes, where they lie, and how they are looked
/// at.
package struct FieldPicture: Sendable {
    /// The largest of the levels that are shown.
    package let plane: FieldPlane
    package let projection: GridProjection
    package let look: FieldLook

    /// nil unless the plane is as wide and as high as the grid.
    package init?(plane: FieldPlane, projection: GridProjection, look: FieldLook) {
        guard plane.width == projection.columns, plane.height == projection.rows else { return nil }
        self.plane = plane
        self.projection = projection
        self.look = look
    }
}

/// How the values of a field become a picture.
package struct FieldLook: Sendable, Hashable {
    package let thresholds: SeverityThresholds
    package let severities: SeveritySet
    /// Whether smooth air is drawn in its severity's colour. A scale of EDR has its own begin.
    package let showsSmoothAir: Bool
    /// Whether a pixel shows the EDR between the four points around it, and not that of the nearest.
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

    /// The severity of an EDR in ten-thousandths of m^(2/3)/s, not below 0; nil where it isn't shown.
    package func severity(tenThousandths: Int) -> Severity? {
        guard let edr = EDR(tenThousandths: min(tenThousandths, 10_000)) else { return nil }
        let severity = thresholds.severity(of: edr)
        return severities.contains(severity) ? severity : nil
    }
}

extension FieldPicture {
    /// The EDR between the four points around a position, in ten-thousandths of m^(2/3)/s; nil where the nearest has
    /// no value. Of the others those without a value have no weight.
    ///
    /// - Parameter position: one that has a nearest point (`GridProjection.contains`).
    package func tenThousandths(at position: GridPosition) -> Int? {
        let (left, low) = (position.x.rounded(.down), position.y.rounded(.down))
        let (east, north) = (position.x - left, position.y - low)
        let columns = (column(Int(left)), column(Int(left) + 1))
        let rows = (row(Int(low)), row(Int(low) + 1))
        let nearest = value(east < 0.5 ? columns.0 : columns.1, north < 0.5 ? rows.0 : rows.1)
        guard nearest != FieldPlane.missing else { return nil }
        var (sum, weights) = (0.0, 0.0)
        func add(_ value: UInt8, _ weight: Double) {
            guard value != FieldPlane.missing else { return }
            sum += Double(value) * weight
            weights += weight
        }
        add(value(columns.0, rows.0), (1 - east) * (1 - north))
        add(value(columns.1, rows.0), east * (1 - north))
        add(value(columns.0, rows.1), (1 - east) * north)
        add(value(columns.1, rows.1), east * north)
        return Int((sum / weights * 100).rounded())
    }

    /// The EDR of the nearest point, in ten-thousandths of m^(2/3)/s; nil where it has no value.
    ///
    /// - Parameter position: one that has a nearest point (`GridProjection.contains`).
    package func nearest(to position: GridPosition) -> Int? {
        let value = value(Int((position.x + 0.5).rounded(.down)), Int((position.y + 0.5).rounded(.down)))
        return value == FieldPlane.missing ? nil : Int(value) * 100
    }

    private func value(_ column: Int, _ row: Int) -> UInt8 { plane.values[row * plane.width + column] }

    /// Half a cell beyond the grid the outermost points go on; around the world the first follows the last.
    private func column(_ number: Int) -> Int {
        if projection.wrapsAround { return (number + plane.width) % plane.width }
        return min(max(number, 0), plane.width - 1)
    }

    private func row(_ number: Int) -> Int { min(max(number, 0), plane.height - 1) }
}
