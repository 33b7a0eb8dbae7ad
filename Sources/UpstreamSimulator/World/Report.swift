import Geometry

/// A report of an aircraft from one cell and level, or of a test.
struct Report: Sendable, Hashable {
    /// The cell and the level in one number: dense cell × 64 + thousands of feet.
    let key: UInt32
    /// The time of observation in Unix seconds.
    let observedAt: Int
    /// The time of arrival at the server in Unix seconds; some reports arrive minutes late.
    let changedAt: Int
    /// The EDR in ten-thousandths, 0…10,000.
    let edr: UInt16
    /// Decides which of two reports of the same second counts.
    let flight: Int

    static let levels = 5...52

    static func key(cell: Cell, level: Int) -> UInt32 {
        cell.dense << 6 | UInt32(truncatingIfNeeded: level & 63)
    }

    /// The report at the time of a clock that is slower than the world's. It arrives as late as it did.
    ///
    /// - Parameter speed: the seconds of the world in a second of the clock.
    func observed(_ speed: Int) -> Report {
        guard speed != 1 else { return self }
        let time = observedAt / speed
        return Report(key: key, observedAt: time, changedAt: time + changedAt - observedAt, edr: edr, flight: flight)
    }

    /// Whether this report replaces another with the same key. It is a total order, so the order of arrival doesn't
    /// matter.
    func replaces(_ other: Report) -> Bool { (observedAt, flight) > (other.observedAt, other.flight) }
}

/// The newest report of a cell and level in the simulated server, with the cell's position.
struct PlacedReport: Sendable {
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
    /// The level in thousands of feet.
    var level: Int { Int(report.key & 63) }
}
