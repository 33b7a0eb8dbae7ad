/// The turbulence of one level, or the maximum of several: an EDR for each point of a grid, in hundredths.
///
/// Values are in row-major order, in the order of the grid's rows and columns. A point without a value is `missing`.
package struct FieldPlane: Sendable, Hashable {
    /// The value of a point without data. It does not mean smooth air.
    package static let missing: UInt8 = 255
    /// The maximum value, 2.54 m^(2/3)/s, which no air exceeds. Larger values are clamped to it.
    package static let largest: UInt8 = 254

    /// The number of points in a row: 1…65,535.
    package let width: Int
    /// The number of rows: 1…65,535.
    package let height: Int
    /// `width` × `height` values: EDR in hundredths of m^(2/3)/s, or `missing`.
    package private(set) var values: [UInt8]

    /// The maximum number of points; no published grid has more. The limit prevents a file from exhausting memory.
    package static let maximumPoints = 1 << 24

    /// - Returns: nil unless the sides are in range, their product is at most `maximumPoints`, and it is the number of
    ///   values.
    package init?(width: Int, height: Int, values: [UInt8]) {
        guard (1...65_535).contains(width), (1...65_535).contains(height), width * height <= Self.maximumPoints,
            values.count == width * height
        else { return nil }
        self.width = width
        self.height = height
        self.values = values
    }

    /// Makes a plane from EDRs, rounded to the nearest hundredth.
    ///
    /// Rounding changes a value by at most half a hundredth. At a threshold of whole hundredths, it never makes air
    /// smoother.
    ///
    /// - Parameter edrs: in m^(2/3)/s. A value that is negative or not finite becomes missing.
    /// - Returns: nil unless the sides are in range and their product is the number of values.
    package init?(width: Int, height: Int, edrs: [Float]) {
        let values = [UInt8](unsafeUninitializedCapacity: edrs.count) { values, count in
            for place in edrs.indices { values[place] = Self.hundredths(edrs[place]) }
            count = edrs.count
        }
        self.init(width: width, height: height, values: values)
    }

    /// An EDR in hundredths; `missing` for a value that is negative or not finite.
    @inline(__always)
    package static func hundredths(_ edr: Float) -> UInt8 {
        // The offset corrects values that are halfway in decimal but slightly less in binary. After the sum the last
        // bits are the value, rounded: a conversion would check its range, and `rounded()` is a call.
        let bits = (min(edr * 100 + 1e-4, Float(largest)) + wholeNumbers).bitPattern
        return edr >= 0 && edr < .infinity ? UInt8(truncatingIfNeeded: bits) : missing
    }

    /// 2²³: between it and its double a `Float` has no fraction.
    private static let wholeNumbers: Float = 8_388_608

    /// Takes the maximum at each point. If only one plane has a value, it is that one.
    ///
    /// - Precondition: the planes have the same size.
    package mutating func formMaximum(with other: FieldPlane) {
        precondition(width == other.width && height == other.height, "planes of different grids")
        values.withUnsafeMutableBufferPointer { values in
            other.values.withUnsafeBufferPointer { others in
                for point in values.indices {
                    // Adding one makes `missing` the smallest value.
                    values[point] = max(values[point] &+ 1, others[point] &+ 1) &- 1
                }
            }
        }
    }

    /// The number of points with a value.
    package var presentCount: Int { values.count { $0 != Self.missing } }
}
