import Datasets

/// How a turbulence field is drawn: in the colours of the severities, or by a separate scale of EDR.
package struct FieldPaint: Sendable, Hashable {
    /// A colour of the scale.
    package struct Stop: Sendable, Hashable {
        /// The EDR at which the colour begins, in hundredths of m^(2/3)/s: 0…200.
        package let hundredths: Int
        package let paint: Paint

        /// Returns nil for an EDR outside 0…2 m^(2/3)/s.
        package init?(edr: Double, _ paint: Paint) {
            guard edr >= 0, edr <= 2 else { return nil }
            hundredths = Int((edr * 100).rounded())
            self.paint = paint
        }

        fileprivate init(_ hundredths: Int, _ paint: Paint) {
            self.hundredths = hundredths
            self.paint = paint
        }
    }

    /// The stops by ascending EDR; colours between two stops are interpolated. It is empty if the severities' colours
    /// are used.
    package let scale: [Stop]
    /// Whether pixels without a value are hatched, also outside the grid. Otherwise they stay transparent, and a line
    /// marks their border.
    package let isMissingHatched: Bool

    /// Colours by severity, with hatches where data is missing.
    package static let standard = FieldPaint(unchecked: [], true)

    /// - Parameter scale: strictly ascending, with at least two stops; or empty.
    package init?(scale: [Stop], isMissingHatched: Bool) {
        let isRising = zip(scale, scale.dropFirst()).allSatisfy { $0.hundredths < $1.hundredths }
        guard isRising, scale.count != 1 else { return nil }
        self.scale = scale
        self.isMissingHatched = isMissingHatched
    }

    private init(unchecked scale: [Stop], _ isMissingHatched: Bool) {
        self.scale = scale
        self.isMissingHatched = isMissingHatched
    }

    package var isByScale: Bool { !scale.isEmpty }

    // MARK: Steps

    /// The most steps above the first: with the hatches and the line where values end, they fit into a palette.
    private static let maximumSteps = 236

    /// The scale's range in hundredths.
    private var range: (first: Int, last: Int) { (scale.first?.hundredths ?? 0, scale.last?.hundredths ?? 0) }

    /// The number of steps in a hundredth of EDR: as many as fit. An interpolated field has colours between those of
    /// two hundredths, and each whole hundredth has a step.
    private var stepsPerHundredth: Int {
        min(max(Self.maximumSteps / max(range.last - range.first, 1), 1), 100)
    }

    /// The number of steps from the first stop to the last; 0 without a scale.
    package var stepCount: Int { isByScale ? (range.last - range.first) * stepsPerHundredth + 1 : 0 }

    /// The nearest step of an EDR in ten-thousandths; the last one above the scale, and nil below it.
    package func step(tenThousandths edr: Int) -> Int? {
        let above = edr - range.first * 100
        guard isByScale, above >= 0 else { return nil }
        return min((above * stepsPerHundredth + 50) / 100, stepCount - 1)
    }

    /// The colour of a step below `stepCount`.
    package func colour(step: Int) -> StraightColour {
        let hundredths = Double(range.first) + Double(step) / Double(stepsPerHundredth)
        guard let above = scale.firstIndex(where: { Double($0.hundredths) > hundredths }), above > 0 else {
            return scale.last?.paint.colour ?? .clear
        }
        let (low, high) = (scale[above - 1], scale[above])
        let share = (hundredths - Double(low.hundredths)) / Double(high.hundredths - low.hundredths)
        func mixed(_ channel: (StraightColour) -> UInt8) -> UInt8 {
            let (from, to) = (Double(channel(low.paint.colour)), Double(channel(high.paint.colour)))
            return UInt8((from + (to - from) * share).rounded())
        }
        return StraightColour(red: mixed(\.red), green: mixed(\.green), blue: mixed(\.blue), alpha: mixed(\.alpha))
    }

    func faded(by factor: Double) -> FieldPaint {
        FieldPaint(unchecked: scale.map { Stop($0.hundredths, $0.paint.faded(by: factor)) }, isMissingHatched)
    }
}

extension FieldPaint.Stop {
    /// The EDR in m^(2/3)/s.
    var edr: Double { Double(hundredths) / 100 }
    /// The EDR with two decimals: `0.20`.
    var text: String { "\(hundredths / 100).\(hundredths % 100 < 10 ? "0" : "")\(hundredths % 100)" }
}

/// Samples of a field for legends, 22 × 15 points.
enum FieldSwatch {
    private static let (right, bottom) = (11.0, 7.5)
    private static let corners = [(-right, -bottom), (right, -bottom), (right, bottom), (-right, bottom)].map {
        Point(x: $0.0, y: $0.1)
    }

    /// A sample of one colour.
    static func drawing(_ fill: StraightColour, _ marks: MarkColours) -> Drawing {
        var drawing = Drawing()
        drawing.fill([corners], with: fill)
        drawing.stroke(corners, isClosed: true, with: Stroke(width: 0.8), colour: marks.fieldHatch)
        return drawing
    }

    /// The steps of a bar between two stops.
    private static let barSteps = 13

    /// The scale as a bar downwards from its first stop, which is at the origin. A line marks each stop. The last
    /// colour goes beyond the last stop, because it means that EDR and more.
    ///
    /// - Parameters:
    ///   - stops: EDR in m^(2/3)/s, ascending.
    ///   - distance: the points between two stops.
    static func bar(_ stops: [Double], every distance: Double, _ style: Style) -> Drawing {
        var drawing = Drawing()
        func rectangle(_ top: Double, _ bottom: Double) -> [Point] {
            [(-right, top), (right, top), (right, bottom), (-right, bottom)].map { Point(x: $0.0, y: $0.1) }
        }
        func colour(_ edr: Double) -> StraightColour {
            let step = style.field.step(tenThousandths: Int((edr * 10_000).rounded()))
            return step.map(style.field.colour(step:)) ?? .clear
        }
        let height = distance / Double(barSteps)
        for (row, (low, high)) in zip(stops, stops.dropFirst()).enumerated() {
            for step in 0..<barSteps {
                let top = Double(row) * distance + Double(step) * height
                let share = (Double(step) + 0.5) / Double(barSteps)
                drawing.fill([rectangle(top, top + height)], with: colour(low + (high - low) * share))
            }
        }
        let end = Double(stops.count - 1) * distance
        if let last = stops.last { drawing.fill([rectangle(end, end + bottom)], with: colour(last)) }
        let (edge, marks) = (Stroke(width: 0.8), style.marks.fieldHatch)
        drawing.stroke(rectangle(0, end + bottom), isClosed: true, with: edge, colour: marks)
        for row in stops.indices.dropFirst() {
            let y = Double(row) * distance
            drawing.stroke([Point(x: right - 5, y: y), Point(x: right, y: y)], with: edge, colour: marks)
        }
        return drawing
    }

    /// A sample of a field without a value.
    static func missing(_ style: Style) -> Drawing {
        var drawing = Drawing()
        if style.field.isMissingHatched {
            for way in stride(from: -24.0, through: 24, by: 7) {
                guard let line = AreaAppearance.swatchLine(.advisory, at: way, right: right, bottom: bottom) else {
                    continue
                }
                drawing.stroke(line, with: Stroke(width: 1), colour: style.marks.fieldHatch)
            }
        }
        drawing.stroke(corners, isClosed: true, with: Stroke(width: 1), colour: style.marks.fieldEdge)
        return drawing
    }
}

extension MarkColours {
    /// The colour of the line where a field's values end.
    package var fieldEdge: StraightColour { ink.withAlpha(150) }
    /// The colour of the hatches where a field has no value.
    package var fieldHatch: StraightColour { ink.withAlpha(80) }
}

extension StraightColour {
    /// The colour with its opacity multiplied by `alpha` / 255.
    fileprivate func withAlpha(_ alpha: Int) -> StraightColour {
        var colour = self
        colour.alpha = UInt8((Int(self.alpha) * alpha + 127) / 255)
        return colour
    }
}
