import Foundation

/// An aircraft from above, about 16 points wide, turned to its heading; a disc if the heading is unknown.
package struct AircraftSymbol: Sendable, Hashable {
    /// The heading in degrees clockwise from north; nil if unknown.
    package let headingDegrees: Int?
    /// A factor; 1 is the full size.
    package let size: Double

    package init(headingDegrees: Int?, size: Double = 1) {
        self.headingDegrees = headingDegrees
        self.size = size
    }

    /// The right half of the outline from nose to tail, in points from the middle; north is up.
    private static let half: [(Double, Double)] = [
        (0, -8), (1, -6.6), (1.2, -2.4), (8, 2.2), (8, 3.8), (1.2, 1.6), (0.9, 5.2), (3.2, 7), (3.2, 8.2), (0, 7.2),
    ]

    package func drawing(_ marks: MarkColours) -> Drawing {
        let outline: [Point]
        if let headingDegrees {
            let turn = Double(headingDegrees) * .pi / 180
            let (sine, cosine) = (sin(turn), cos(turn))
            let half = AircraftSymbol.half
            let whole = half + half.dropFirst().dropLast().reversed().map { (-$0.0, $0.1) }
            outline = whole.map { x, y in
                Point(x: (x * cosine - y * sine) * size, y: (x * sine + y * cosine) * size)
            }
        } else {
            outline = Point.circle(centre: Point(x: 0, y: 0), radius: 3.5 * size)
        }
        var drawing = Drawing()
        drawing.stroke(outline, isClosed: true, with: Stroke(width: 2.4), colour: marks.halo)
        drawing.fill([outline], with: marks.aircraft)
        return drawing
    }
}

/// A piece of the track behind an aircraft, for legends.
enum TrackSymbol {
    static func drawing(_ marks: MarkColours) -> Drawing {
        let line = [(-10.0, 5.0), (-4, 1), (3, 0), (10, -5)].map { Point(x: $0.0, y: $0.1) }
        var drawing = Drawing()
        drawing.stroke(line, with: Stroke(width: 3.2), colour: marks.halo)
        drawing.stroke(line, with: Stroke(width: 1.5), colour: marks.track)
        return drawing
    }
}
