/// Turbulence of one level, or the most severe of several: an EDR for each point of a grid, in hundredths.
///
/// Row by row, the first row first; within a row in the order of the grid's columns. A point without a value is `missing`.
package struct FieldPlane: Sendable, Hashable {
    /// Stands for a point without a value. It is not smooth air.
    package static let missing: UInt8 = 255
    /// The largest value: 2.54 m^(2/3)/s, more than any air has. What is larger counts as this.
    package static let largest: UInt8 = 254

    /// Points of a row: 1…65,535.
    package let width: Int
    /// Rows: 1…65,535.
    package let height: Int
    /// `width` × `height` values: EDR in hundredths of m^(2/3)/s, or `missing`.
    package private(set) var values: [UInt8]

    /// More points than any published grid has; more are refused, so that no file asks for all of the memory.
    package static let mostPoints = 1 << 24

    /// - Returns: nil unless the sides are within their ranges, there are at most `mostPoints`, and as many values.
    package init?(width: Int, height: Int, values: [UInt8]) {
        guard (1...65_535).contains(width), (1...65_535).contains(height), width * height <= Self.mostPoints,
            values.count == width * height
        else { return nil }
        self.width = width
        self.height = height
        self.values = values
    }

    /// EDRs as a file gives them, to the nearest hundredth.
    ///
    /// Rounding moves a value by half a hundredth at most. At a threshold of whole hundredths it never makes air look
    /// smoother than it was given.
    ///
    /// - Parameter edrs: in m^(2/3)/s. What isn't finite or is negative counts as missing.
    /// - Returns: nil unless the sides are within their ranges and there are as many values.
    package init?(width: Int, height: Int, edrs: [Float]) {
        self.init(width: width, height: height, values: edrs.map(Self.hundredths))
    }

    /// An EDR in hundredths; `missing` for what isn't finite or is negative.
    package static func hundredths(_ edr: Float) -> UInt8 {
        guard edr.isFinite, edr >= 0 else { return missing }
        // Before rounding: what lies half a step below a hundredth in decimal is not exact in binary.
        return UInt8(min((edr * 100 + 1e-4).rounded(), Float(largest)))
    }

    /// Takes the larger value at each point; where only one has a value, that one.
    ///
    /// - Precondition: the planes are of one size.
    package mutating func formMaximum(with other: FieldPlane) {
        precondition(width == other.width && height == other.height, "planes of different grids")
        values.withUnsafeMutableBufferPointer { values in
            other.values.withUnsafeBufferPointer { others in
                for point in values.indices {
                    // `missing` comes out as the smallest of all.
                    values[point] = max(values[point] &+ 1, others[point] &+ 1) &- 1
                }
            }
        }
    }

    /// How many points have a value.
    package var presentCount: Int { values.count { $0 != Self.missing } }
}
