import BillowAreas
import BillowFields
import BillowRaster
import BillowTiles
import Turbulence

/// Computed turbulence in the picture of a profile.
package struct FieldLayer {
    package let profile: FieldProfile
    let showsSmoothAir: Bool
    let isStale: Bool

    package init(_ profile: FieldProfile, showsSmoothAir: Bool, isStale: Bool) {
        self.profile = profile
        self.showsSmoothAir = showsSmoothAir
        self.isStale = isStale
    }
}

/// The field lies below the reports, which have outlines then. Hatches are where nothing is known; a line is the way of
/// the aircraft, thick along its worst stretch.
extension ProfilePicture {
    /// An entry of the legend.
    enum Sign {
        case severity(Severity)
        /// What was reported, over a field.
        case report
        /// What isn't known of a field.
        case unknown

        var label: String {
            switch self {
            case .severity(let severity): severity.label
            case .report: "Reported"
            case .unknown: "Not known"
            }
        }
    }

    var fieldSigns: [Sign] { field == nil ? [] : [.report, .unknown] }

    /// Whether the aircraft is elsewhere at another time.
    var hasTimes: Bool { field?.profile.flight.groundSpeed != nil }

    func fill(_ ring: [Point], _ sign: Sign, on canvas: inout Canvas) {
        switch sign {
        case .severity(let severity): fill(ring, severity, on: &canvas)
        case .report: outline(ring, on: &canvas)
        case .unknown: hatch(ring, on: &canvas)
        }
    }

    func outline(_ ring: [Point], on canvas: inout Canvas) {
        canvas.stroke(ring, isClosed: true, with: Stroke(width: 1), colour: style.marks.ink)
    }

    /// Denser than on maps, so that a stretch of some pixels has a line.
    private func hatch(_ ring: [Point], on canvas: inout Canvas) {
        let pattern = PlacedPattern(Pattern(.backHatch, period: 8, width: 1), originX: 0, originY: 0)
        canvas.fill([ring], with: style.marks.fieldHatch, pattern: pattern)
    }

    /// By row; stretches that look alike are one shape.
    func drawField(_ plot: Plot, on canvas: inout Canvas) {
        guard let field else { return }
        for (row, values) in zip(field.profile.rows, field.profile.values) where rows.contains(row) {
            let looks = values.map { look($0, field) }
            var column = 0
            while column < looks.count {
                var end = column + 1
                while end < looks.count, looks[end] == looks[column] { end += 1 }
                let right = end == looks.count ? profile.length : Double(end) * field.profile.stretch
                let cells = Self.rectangle(
                    plot.x(metres: Double(column) * field.profile.stretch), plot.y(block: row + 1),
                    plot.x(metres: right), plot.y(block: row))
                switch looks[column] {
                case .severity(let severity): fill(cells, severity, on: &canvas)
                case .unknown: hatch(cells, on: &canvas)
                case .nothing: break
                }
                column = end
            }
        }
    }

    private enum Look: Equatable {
        case severity(Severity)
        case unknown
        case nothing
    }

    private func look(_ value: Int?, _ field: FieldLayer) -> Look {
        guard let value else { return .unknown }
        let severity = field.profile.severity(value)
        guard severities.contains(severity), severity != .smooth || field.showsSmoothAir else { return .nothing }
        return .severity(severity)
    }

    /// Pixels across the line, and along the worst stretch.
    private static let (wayWidth, worstWidth) = (2.0, 6.0)

    func drawWay(_ plot: Plot, on canvas: inout Canvas) {
        guard let flight = field?.profile.flight, flight.levelFeet != nil else { return }
        let (left, right) = (Int(plot.left.rounded()), Int(plot.right.rounded()))
        // From the climb to the descent the part within the picture is one.
        func points(_ distance: ClosedRange<Double>) -> [Point] {
            (left...max(left, right)).compactMap { column in
                let metres = (Double(column) - plot.left) / max(plot.right - plot.left, 1) * plot.length
                guard distance.contains(metres), let feet = flight.altitudeFeet(at: metres),
                    (Double(rows.lowerBound)...Double(rows.upperBound)).contains(feet / 1_000)
                else { return nil }
                return Point(x: Double(column), y: plot.y(thousands: feet / 1_000))
            }
        }
        let way = points(0...max(plot.length, 0))
        canvas.stroke(way, with: Stroke(width: Self.wayWidth + 2), colour: style.marks.halo)
        canvas.stroke(way, with: Stroke(width: Self.wayWidth), colour: style.marks.ink)
        guard let worst = field?.profile.worst, let severity = field?.profile.severity(worst.tenThousandths),
            severity != .smooth
        else { return }
        canvas.stroke(points(worst.distance), with: Stroke(width: Self.worstWidth), colour: style.marks.ink)
    }

    /// What the field is.
    var fieldCaption: [String] {
        guard let field, let newest = field.profile.parts.last?.frame.identity else { return [] }
        let products = Set(field.profile.parts.map(\.frame.identity.product)).map { $0.name.uppercased() }.sorted()
        let stale = field.isStale ? " STALE" : ""
        return ["\(products.joined(separator: " and "))\(stale), run of \(newest.run.displayText)"]
    }

    /// The answer for people, cut where it finds no room.
    func drawAnswer(on canvas: inout Canvas, _ text: TextRenderer, _ ink: Ink) throws {
        guard let field else { return }
        let room = Double(width) - 2 * Self.inset
        var words = field.profile.text
        if try text.width(of: words, size: Self.textSize) > room {
            while !words.isEmpty, try text.width(of: words + "…", size: Self.textSize) > room { words.removeLast() }
            words += "…"
        }
        try text.draw(
            words, at: Point(x: Self.inset, y: 60), size: Self.textSize, colour: ink.word, on: &canvas)
    }
}
