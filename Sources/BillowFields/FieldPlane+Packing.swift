internal import CDeflate

/// A plane in bytes, in blocks that can be decoded separately: a route needs a tenth of them.
///
/// | bytes | content |
/// | --- | --- |
/// | 4 | the format, `PackedFieldPlane.format` |
/// | 2, 2 | width and height |
/// | `FieldModel.contextCount` | by context, the initial share of zeros in each block (`BitCount.share`) |
/// | 4, 4 by block | the end of its bytes with `fullMark`, counted from the first block's; CRC-32, as below |
/// | the rest | the values by a range coder, block by block |
///
/// Integers are little-endian. `fullMark` is set if no value of the block is missing. The CRC-32 is that of the plane's
/// width and height, the block's number and its values. Blocks have `side` by `side` points, fewer at the ends of rows
/// and columns, in row-major order.
///
/// A value is predicted from those to the left, above, and above left (the median edge detector of JPEG-LS). The
/// difference is coded with a context: how these three and the value above right differ. Turbulence varies slowly
/// over kilometres, so most differences are zero and cost a tenth of a bit.
///
/// Two earlier formats can be decoded but are no longer written. `formatWithoutMarks` marks no block as full.
/// `formatOfOne` has the CRC-32 of the whole plane before the sizes, no shares, and one block.
///
/// Source: ITU-T T.87 (JPEG-LS), section 4.2 (prediction), annex A.3 (contexts)
package struct PackedFieldPlane: Sendable {
    /// The number of points in a row, and of rows.
    package let width: Int
    package let height: Int
    private let bytes: [UInt8]
    private let isOne: Bool

    /// The format's magic number, `BFP3`.
    static let format: UInt32 = 0x3350_4642
    /// The earlier formats' magic numbers, `BFP2` and `BFP1`.
    static let formatWithoutMarks: UInt32 = 0x3250_4642
    static let formatOfOne: UInt32 = 0x3150_4642
    /// Added to the end of a block in which no value is missing.
    fileprivate static let fullMark = 1 << 31
    /// The number of points along each edge of a block.
    package static let side = 128
    private static let headerBytes = 8
    private static let headerBytesOfOne = 12
    private static let tableBytes = 8
    private static var contexts: Int { FieldModel<RangeDecoder>.contextCount }

    /// Parses the header of the result of `FieldPlane.packed()`.
    /// - Throws: if there can't be such a plane. The checksums of values are verified when they are decoded.
    package init(_ bytes: [UInt8]) throws(FieldDamage) {
        guard bytes.count >= Self.headerBytes else { throw .length(bytes.count) }
        self.bytes = bytes
        let format = UInt32(Self.integer(bytes, 0, 4))
        isOne = format == Self.formatOfOne
        guard isOne || format == Self.format || format == Self.formatWithoutMarks else { throw .format(format) }
        let sizes = isOne ? 8 : 4
        guard bytes.count >= sizes + 4 else { throw .length(bytes.count) }
        (width, height) = (Self.integer(bytes, sizes, 2), Self.integer(bytes, sizes + 2, 2))
        let isPossible = width > 0 && height > 0 && width * height <= FieldPlane.maximumPoints
        guard isPossible else { throw .size(width: width, height: height) }
        guard bytes.count >= codeStart else { throw .length(bytes.count) }
    }

    private static func integer(_ bytes: [UInt8], _ place: Int, _ count: Int) -> Int {
        (0..<count).reduce(0) { $0 | Int(bytes[place + $1]) << ($1 * 8) }
    }

    private var grid: Blocks { Blocks(width: width, height: height, side: isOne ? max(width, height) : Self.side) }
    private var tableStart: Int { Self.headerBytes + Self.contexts }
    private var codeStart: Int { isOne ? Self.headerBytesOfOne : tableStart + grid.count * Self.tableBytes }

    /// The range of a block's bytes, whether no value of it is missing, and its expected CRC-32.
    private func place(of number: Int) -> (code: Range<Int>, isFull: Bool, checksum: Int)? {
        guard !isOne else { return (codeStart..<bytes.count, false, Self.integer(bytes, 4, 4)) }
        let table = tableStart + number * Self.tableBytes
        let start = number == 0 ? 0 : Self.integer(bytes, table - Self.tableBytes, 4) & ~Self.fullMark
        let marked = Self.integer(bytes, table, 4)
        let end = marked & ~Self.fullMark
        guard start <= end, codeStart + end <= bytes.count else { return nil }
        return (codeStart + start..<codeStart + end, marked != end, Self.integer(bytes, table + 4, 4))
    }

    /// Decodes all values.
    ///
    /// - Complexity: O(points); docs/architecture gives the time.
    package func plane() throws(FieldDamage) -> FieldPlane {
        let grid = grid
        var values = [UInt8](repeating: FieldPlane.missing, count: width * height)
        var block = [UInt8](repeating: 0, count: grid.most)
        for number in 0..<grid.count {
            try read(number, of: grid, to: &block)
            let (columns, rows) = (grid.columns(number), grid.rows(number))
            for row in rows {
                let start = (row - rows.lowerBound) * columns.count
                values.withUnsafeMutableBufferPointer { values in
                    let place = row * width + columns.lowerBound
                    _ = UnsafeMutableBufferPointer(rebasing: values[place..<place + columns.count])
                        .update(fromContentsOf: block[start..<start + columns.count])
                }
            }
        }
        guard let plane = FieldPlane(width: width, height: height, values: values) else {
            throw .size(width: width, height: height)
        }
        return plane
    }

    /// Decodes the blocks that contain some points.
    ///
    /// - Parameter points: their indices in row-major order.
    /// - Complexity: O(points of these blocks)
    package func patch(of points: some Sequence<Int>) throws(FieldDamage) -> FieldPatch {
        let grid = grid
        var starts = [Int](repeating: FieldPatch.absent, count: grid.count)
        var values: [UInt8] = []
        var block = [UInt8](repeating: 0, count: grid.most)
        for point in points {
            precondition((0..<width * height).contains(point), "point \(point) of \(width) by \(height)")
            let number = grid.number(of: point)
            guard starts[number] == FieldPatch.absent else { continue }
            try read(number, of: grid, to: &block)
            starts[number] = values.count
            values += block[..<(grid.columns(number).count * grid.rows(number).count)]
        }
        return FieldPatch(blocks: grid, starts: starts, values: values)
    }

    /// - Parameter values: receives the block's values in row-major order; the rest of the buffer is unchanged.
    private func read(_ number: Int, of grid: Blocks, to values: inout [UInt8]) throws(FieldDamage) {
        guard let (range, isFull, sum) = place(of: number) else { throw .length(bytes.count) }
        let width = grid.columns(number).count
        let count = width * grid.rows(number).count
        values.withUnsafeMutableBufferPointer { values in
            let values = UnsafeMutableBufferPointer(rebasing: values[..<count])
            bytes.withUnsafeBytes { bytes in
                withUnsafeTemporaryAllocation(of: BitProbability.self, capacity: Self.contexts) { statistics in
                    for context in statistics.indices {
                        let share = isOne ? BitProbability.even : bytes[Self.headerBytes + context]
                        statistics.initializeElement(at: context, to: BitProbability(share: share))
                    }
                    let code = UnsafeRawBufferPointer(rebasing: bytes[range])
                    var model = FieldModel(RangeDecoder(code), statistics)
                    model.code(values, width: width, isFull: isFull)
                }
            }
        }
        let found = isOne ? Self.checksum(values[..<count], grid) : Self.checksum(values[..<count], number, of: grid)
        guard found == sum else { throw .checksum }
    }

    fileprivate static func checksum(_ values: ArraySlice<UInt8>, _ number: Int, of grid: Blocks) -> UInt32 {
        var head: [UInt8] = []
        for size in [grid.width, grid.height, number] { head.append(littleEndian: UInt32(size)) }
        return checksum(head, values)
    }

    /// The checksum of the single block of the earlier format.
    private static func checksum(_ values: ArraySlice<UInt8>, _ grid: Blocks) -> UInt32 {
        var head: [UInt8] = []
        for size in [grid.width, grid.height] { head.append(littleEndian: UInt16(size)) }
        return checksum(head, values)
    }

    private static func checksum(_ head: [UInt8], _ values: ArraySlice<UInt8>) -> UInt32 {
        let sum = libdeflate_crc32(0, head, head.count)
        return values.withUnsafeBytes { libdeflate_crc32(sum, $0.baseAddress, $0.count) }
    }
}

/// The blocks of a plane.
struct Blocks: Sendable {
    let width: Int
    let height: Int
    /// The number of points along each edge of a block.
    let side: Int
    /// The number of blocks in a row.
    private let across: Int

    init(width: Int, height: Int, side: Int = PackedFieldPlane.side) {
        self.width = width
        self.height = height
        self.side = side
        across = (width + side - 1) / side
    }

    var count: Int { across * ((height + side - 1) / side) }
    /// The number of points in the largest block.
    var most: Int { min(side, width) * min(side, height) }

    func columns(_ number: Int) -> Range<Int> {
        let start = number % across * side
        return start..<min(start + side, width)
    }

    func rows(_ number: Int) -> Range<Int> {
        let start = number / across * side
        return start..<min(start + side, height)
    }

    /// The index of the block that contains a point.
    func number(of point: Int) -> Int {
        let (row, column) = point.quotientAndRemainder(dividingBy: width)
        return row / side * across + column / side
    }
}

/// The values of some of a plane's blocks.
package struct FieldPatch: Sendable {
    fileprivate let blocks: Blocks
    /// The start of each block in `values`, or `absent`.
    fileprivate let starts: [Int]
    fileprivate let values: [UInt8]

    fileprivate static let absent = -1

    /// The value of a point by its index in row-major order.
    /// - Precondition: it is in a block of the requested points.
    package subscript(point: Int) -> UInt8 {
        let number = blocks.number(of: point)
        let (columns, rows) = (blocks.columns(number), blocks.rows(number))
        let (row, column) = point.quotientAndRemainder(dividingBy: blocks.width)
        precondition(starts[number] != Self.absent, "point \(point) was not asked for")
        return values[starts[number] + (row - rows.lowerBound) * columns.count + column - columns.lowerBound]
    }
}

extension FieldPlane {
    /// Packs the plane.
    /// - Complexity: O(points); docs/architecture gives the time.
    package func packed() -> [UInt8] {
        let blocks = Blocks(width: width, height: height)
        var bytes: [UInt8] = []
        bytes.append(littleEndian: PackedFieldPlane.format)
        bytes.append(littleEndian: UInt16(width))
        bytes.append(littleEndian: UInt16(height))
        let shares = shares(of: blocks)
        bytes += shares
        var code: [UInt8] = []
        for number in 0..<blocks.count {
            let block = values(of: number, of: blocks)
            let sum = PackedFieldPlane.checksum(block[...], number, of: blocks)
            let width = blocks.columns(number).count
            withUnsafeTemporaryAllocation(of: BitProbability.self, capacity: shares.count) { statistics in
                for context in statistics.indices {
                    statistics.initializeElement(at: context, to: BitProbability(share: shares[context]))
                }
                var model = FieldModel(RangeEncoder(after: code), statistics)
                code = []
                Self.code(block, width: width, by: &model)
                code = model.coder.finish()
            }
            bytes.append(littleEndian: UInt32(code.count | (Self.isFull(block) ? PackedFieldPlane.fullMark : 0)))
            bytes.append(littleEndian: sum)
        }
        return bytes + code
    }

    /// Decodes the result of `packed()`.
    /// - Throws: for bytes that it never returns. No bytes make it trap, or allocate memory for more than
    ///   `maximumPoints`.
    package init(packed bytes: [UInt8]) throws(FieldDamage) { self = try PackedFieldPlane(bytes).plane() }

    /// One in `countedShare` blocks is counted, at least `leastCounted` of them, because blocks are similar.
    private static let countedShare = 4
    private static let leastCounted = 16

    /// The share of zeros by context.
    private func shares(of blocks: Blocks) -> [UInt8] {
        let step = max(1, min(Self.countedShare, blocks.count / Self.leastCounted))
        return withUnsafeTemporaryAllocation(
            of: BitCount.self, capacity: FieldModel<BitTally>.contextCount
        ) { counts in
            counts.initialize(repeating: BitCount())
            var model = FieldModel(BitTally(), counts)
            for number in stride(from: 0, to: blocks.count, by: step) {
                Self.code(values(of: number, of: blocks), width: blocks.columns(number).count, by: &model)
            }
            return counts.map(\.share)
        }
    }

    /// The model writes to the buffer that it codes, so this needs a copy.
    private static func code(_ block: [UInt8], width: Int, by model: inout FieldModel<some BitCoder>) {
        var block = block
        let isFull = isFull(block)
        block.withUnsafeMutableBufferPointer { model.code($0, width: width, isFull: isFull) }
    }

    private static func isFull(_ block: [UInt8]) -> Bool { !block.contains(missing) }

    /// The values of a block in row-major order.
    private func values(of number: Int, of blocks: Blocks) -> [UInt8] {
        let (columns, rows) = (blocks.columns(number), blocks.rows(number))
        var block: [UInt8] = []
        block.reserveCapacity(columns.count * rows.count)
        for row in rows { block += values[row * width + columns.lowerBound..<row * width + columns.upperBound] }
        return block
    }
}

/// Why the bytes of a plane can't be decoded.
package enum FieldDamage: Error, Sendable, Hashable, CustomStringConvertible {
    /// There are too few bytes.
    case length(Int)
    case format(UInt32)
    case size(width: Int, height: Int)
    case checksum

    package var description: String {
        switch self {
        case .length(let count): "\(count) bytes are too few for a plane"
        case .format(let format): "format \(format) is not \(PackedFieldPlane.format)"
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
