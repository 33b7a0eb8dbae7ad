/// A small drawing of filled shapes, in points from its middle. It is drawn onto pictures and written into SVG legends.
package struct Drawing: Sendable, Hashable {
    /// Rings that are filled as one. Where two rings of the same winding overlap, the place is covered once.
    package struct Shape: Sendable, Hashable {
        package var rings: [[Point]]
        package var colour: StraightColour
    }

    /// The shapes from bottom to top.
    package private(set) var shapes: [Shape] = []

    package init() {}

    package mutating func fill(_ rings: [[Point]], with colour: StraightColour) {
        shapes.append(Shape(rings: rings, colour: colour))
    }

    package mutating func stroke(
        _ points: [Point], isClosed: Bool = false, with stroke: Stroke, colour: StraightColour
    ) {
        fill(stroke.rings(points, isClosed: isClosed), with: colour)
    }
}

extension Canvas {
    /// Draws a drawing over the picture.
    /// - Parameters:
    ///   - scale: pixels per point.
    ///   - drawing: the drawing.
    ///   - centre: the position of its origin, in pixels.
    package mutating func draw(_ drawing: Drawing, at centre: Point, scale: Double) {
        for shape in drawing.shapes {
            let rings = shape.rings.map { ring in
                ring.map { Point(x: centre.x + $0.x * scale, y: centre.y + $0.y * scale) }
            }
            fill(rings, with: shape.colour)
        }
    }
}
