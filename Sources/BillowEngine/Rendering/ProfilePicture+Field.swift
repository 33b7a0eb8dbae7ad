import BillowAreas
import BillowFields
import BillowRaster
import BillowTiles
import Turbulence

/// Computed turbulence in a profile image.
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

/// The field lies below the reports, which then have outlines. Hatching marks unknown values. A line is the path of the
/// aircraft, thick along its worst stretch.
extension ProfilePicture {
    /// An entry of the legend.
    enum Sign {
        case severity(Severity)
        /// A report over a field.
        case report
        /// An unknown value of a field.
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

    /// Whether the aircraft's position depends on time.
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

    /// Denser than on maps, so that a stretch of a few pixels contains a line.
    private func hatch(_ ring: [Point], on canvas: inout Canvas) {
        let pattern = PlacedPattern(Pattern(.backHatch, period: 8, width: 1), originX: 0, originY: 0)
        canvas.fill([ring], with: style.marks.fieldHatch, pattern: pattern)
    }

    /// Draws row by row. Adjacent stretches of equal appearance are one shape.
    func drawField(_ plot: Plot, on canvas: inout Canvas) {
        guard let field else { return }
        for (row, values) in zip(field.profile.rows, field.profile.values) where rows.contains(row) {
            let fills = values.map { cellFill($0, field) }
            var column = 0
            while column < fills.count {
                var end = column + 1
                while end < fills.count, fills[end] == fills[column] { end += 1 }
                let right = end == fills.count ? profile.length : Double(end) * field.profile.stretch
                let cells = Self.rectangle(
                    plot.x(metres: Double(column) * field.profile.stretch), plot.y(block: row + 1),
                    plot.x(metres: right), plot.y(block: row))
                switch fills[column] {
                case .severity(let severity): fill(cells, severity, on: &canvas)
                case .unknown: hatch(cells, on: &canvas)
                case .nothing: break
                }
                column = end
            }
        }
    }

    private enum CellFill: Equatable {
        case severity(Severity)
        case unknown
        case nothing
    }

    private func cellFill(_ value: Int?, _ field: FieldLayer) -> CellFill {
        guard let value else { return .unknown }
        let severity = field.profile.severity(value)
        guard severities.contains(severity), severity != .smooth || field.showsSmoothAir else { return .nothing }
        return .severity(severity)
    }

    /// The line widths in pixels: normal, and along the worst stretch.
    private static let (pathWidth, worstWidth) = (2.0, 6.0)

    func drawPath(_ plot: Plot, on canvas: inout Canvas) {
        guard let flight = field?.profile.flight, flight.levelFeet != nil else { return }
        let (left, right) = (Int(plot.left.rounded()), Int(plot.right.rounded()))
        // A single line, although the parts below and above the image are missing.
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
        canvas.stroke(way, with: Stroke(width: Self.pathWidth + 2), colour: style.marks.halo)
        canvas.stroke(way, with: Stroke(width: Self.pathWidth), colour: style.marks.ink)
        guard let worst = field?.profile.worst, let severity = field?.profile.severity(worst.tenThousandths),
            severity != .smooth
        else { return }
        canvas.stroke(points(worst.distance), with: Stroke(width: Self.worstWidth), colour: style.marks.ink)
    }

    /// The caption that describes the field.
    var fieldCaption: [String] {
        guard let field, let newest = field.profile.parts.last?.frame.identity else { return [] }
        let products = Set(field.profile.parts.map(\.frame.identity.product)).map { $0.name.uppercased() }.sorted()
        let stale = field.isStale ? " STALE" : ""
        let oldest = field.profile.parts.map(\.frame.identity.run).min() ?? newest.run
        let latest = field.profile.parts.map(\.frame.identity.run).max() ?? newest.run
        let runs =
            oldest == latest ? "run of \(latest.displayText)" : "runs of \(oldest.displayText) to \(latest.displayText)"
        return ["\(products.joined(separator: " and "))\(stale), \(runs)"]
    }

    /// The maximum number of lines of the answer's text. They reduce the height of the plot.
    private static let maximumAnswerLines = 4

    /// Wraps the text of the answer into lines that fit the picture. A longer text is cut and ends with three dots.
    func answerLines(_ text: TextRenderer) throws(TextError) -> [String] {
        guard let field else { return [] }
        let room = Double(width) - 2 * Self.inset
        func fits(_ words: String) throws(TextError) -> Bool { try text.width(of: words, size: Self.textSize) <= room }
        var lines: [String] = []
        for word in field.profile.text.split(separator: " ") {
            let longer = lines.last.map { "\($0) \(word)" } ?? String(word)
            if lines.isEmpty {
                lines = [longer]
            } else if try fits(longer) {
                lines[lines.count - 1] = longer
            } else if lines.count < Self.maximumAnswerLines {
                lines.append(String(word))
            } else {
                var last = longer
                while !last.isEmpty, try !fits(last + "…") { last.removeLast() }
                lines[lines.count - 1] = last + "…"
                break
            }
        }
        return lines
    }

    func drawAnswer(_ lines: [String], on canvas: inout Canvas, _ text: TextRenderer, _ ink: Ink) throws(TextError) {
        for (number, line) in lines.enumerated() {
            try text.draw(
                line, at: Point(x: Self.inset, y: 60 + Double(number) * Self.answerLine), size: Self.textSize,
                colour: ink.word, on: &canvas)
        }
    }

    /// The distance between two lines of the answer, in pixels.
    static let answerLine = 16.0
}
