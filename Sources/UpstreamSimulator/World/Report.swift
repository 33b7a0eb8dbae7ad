import Geometry

/// What one aircraft reported from one cell and level, or what a test put in its stead.
struct Report: Sendable, Hashable {
    /// The cell and the level in one number: dense cell × 64 + thousands of feet.
    let key: UInt32
    /// Unix seconds of the observation.
    let observedAt: Int
    /// Unix seconds when it reached the server: some come minutes late.
    let changedAt: Int
    /// Ten-thousandths, 0…10,000.
    let edr: UInt16
    /// Settles which of two reports of the same second counts.
    let flight: Int

    static let levels = 5...52

    static func key(cell: Cell, level: Int) -> UInt32 {
        cell.dense << 6 | UInt32(truncatingIfNeeded: level & 63)
    }

    /// Whether this one replaces another of the same key. A total order, so that the order of arrival can't matter.
    func replaces(_ other: Report) -> Bool { (observedAt, flight) > (other.observedAt, other.flight) }
}

/// What the simulated server holds for a cell and level: its newest report, and where the cell lies.
struct Held: Sendable {
    let report: Report
    let longitude: Double
    let latitude: Double

    init(_ report: Report) {
        self.report = report
        let center = H3.center(of: Cell(uncheckedDense: report.key >> 6))
        longitude = center.longitude
        latitude = center.latitude
    }

    var cell: Cell { Cell(uncheckedDense: report.key >> 6) }
    /// Thousands of feet.
    var level: Int { Int(report.key & 63) }
}
