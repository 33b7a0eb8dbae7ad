internal import CDeflate

/// A plane as bytes: a header, then each value by what its neighbours before it let expect.
///
/// | bytes | what |
/// | --- | --- |
/// | 4 | the format, `FieldPlane.packedFormat` |
/// | 4 | CRC-32 of width, height and the values, row by row |
/// | 2, 2 | width and height |
/// | the rest | the values by a range coder |
///
/// Integers are little-endian. A value is predicted from the ones at its left, above it and above left (the median edge
/// detector of JPEG-LS); the difference is coded under a context made of how these and the one above right differ.
/// Turbulence varies slowly over kilometres, so most differences are zero and cost a tenth of a bit.
///
/// Source: ITU-T T.87 (JPEG-LS), section 4.2 (prediction), annex A.3 (contexts)
extension FieldPlane {
    /// `BFP1`.
    static let packedFormat: UInt32 = 0x3150_4642
    private static let headerBytes = 12

    /// - Complexity: O(points); docs/architecture names the figure.
    package func packed() -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: Self.packedFormat)
        bytes.append(littleEndian: checksum)
        bytes.append(littleEndian: UInt16(width))
        bytes.append(littleEndian: UInt16(height))
        // The model writes what it codes to where it came from.
        var copy = values
        return copy.withUnsafeMutableBufferPointer { values in
            withUnsafeTemporaryAllocation(
                of: BitProbability.self, capacity: FieldModel<RangeEncoder>.probabilityCount
            ) { probabilities in
                var model = FieldModel(RangeEncoder(after: bytes), probabilities)
                model.code(values, width: width)
                return model.coder.finish()
            }
        }
    }

    /// Reads `packed()` back.
    /// - Throws: for bytes that it never gives. No bytes make it trap, or ask for more memory than `mostPoints`.
    package init(packed bytes: [UInt8]) throws(FieldDamage) {
        guard bytes.count >= Self.headerBytes else { throw .length(bytes.count) }
        func integer(_ place: Int, _ count: Int) -> Int {
            (0..<count).reduce(0) { $0 | Int(bytes[place + $1]) << ($1 * 8) }
        }
        guard integer(0, 4) == Int(Self.packedFormat) else { throw .format(UInt32(integer(0, 4))) }
        let (width, height) = (integer(8, 2), integer(10, 2))
        let isPossible = width > 0 && height > 0 && width * height <= Self.mostPoints
        guard isPossible else { throw .size(width: width, height: height) }
        let values = [UInt8](unsafeUninitializedCapacity: width * height) { values, count in
            values.initialize(repeating: 0)
            bytes.withUnsafeBytes { bytes in
                withUnsafeTemporaryAllocation(
                    of: BitProbability.self, capacity: FieldModel<RangeDecoder>.probabilityCount
                ) { probabilities in
                    var model = FieldModel(RangeDecoder(bytes, from: Self.headerBytes), probabilities)
                    model.code(values, width: width)
                }
            }
            count = width * height
        }
        guard let plane = FieldPlane(width: width, height: height, values: values) else {
            throw .size(width: width, height: height)
        }
        guard plane.checksum == UInt32(integer(4, 4)) else { throw .checksum }
        self = plane
    }

    private var checksum: UInt32 {
        let size: [UInt8] = [
            UInt8(width & 255), UInt8(width >> 8), UInt8(height & 255), UInt8(height >> 8),
        ]
        return values.withUnsafeBytes { libdeflate_crc32(libdeflate_crc32(0, size, 4), $0.baseAddress, $0.count) }
    }
}

/// What is wrong with the bytes of a plane.
package enum FieldDamage: Error, Sendable, Hashable, CustomStringConvertible {
    /// Fewer bytes than a header has.
    case length(Int)
    case format(UInt32)
    case size(width: Int, height: Int)
    case checksum

    package var description: String {
        switch self {
        case .length(let count): "\(count) bytes are too few for a plane"
        case .format(let format): "format \(format) is not \(FieldPlane.packedFormat)"
        case .size(let width, let height): "a plane can't be \(width) by \(height) points"
        case .checksum: "the checksum of the values is another"
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(littleEndian value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }
}
