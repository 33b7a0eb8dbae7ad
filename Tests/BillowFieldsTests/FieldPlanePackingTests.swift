import BillowFields
import Foundation
import TestSupport
import Testing

/// A smooth field as guidance has it: sums of waves, with a part that is missing.
private func waves(width: Int, height: Int, seed: UInt64) -> FieldPlane? {
    var random = SeededGenerator(seed: seed)
    let waves = (0..<12).map { _ in
        (
            Double.random(in: 0.005...0.2, using: &random), Double.random(in: 0.005...0.2, using: &random),
            Double.random(in: 0...6, using: &random)
        )
    }
    let values = (0..<width * height).map { point -> UInt8 in
        let (y, x) = point.quotientAndRemainder(dividingBy: width)
        if x + y < width / 8 { return FieldPlane.missing }
        let sum = waves.reduce(0) { $0 + sin(Double(x) * $1.0 + Double(y) * $1.1 + $1.2) }
        return UInt8(max(0, min(254, 8 + sum * 2)))
    }
    return FieldPlane(width: width, height: height, values: values)
}

@Suite("Planes of a field as bytes")
struct FieldPlanePackingTests {
    /// Contexts of the model: shares in the header.
    private static let contexts = 447

    /// 9 by 6 points in the form of one block, as it was written.
    private static let ofOneBlock: [UInt8] = [
        66, 70, 80, 49, 110, 30, 18, 14, 9, 0, 6, 0, 0, 0, 10, 152, 66, 59, 106, 63, 195, 36, 66, 22, 64, 130, 62, 49,
        221, 190, 81, 111, 199,
    ]

    @Test(
        "packed values are read back unchanged", arguments: [(1, 1), (1, 40), (40, 1), (2, 3), (128, 256), (257, 129)])
    func isReadBack(width: Int, height: Int) throws {
        for seed: UInt64 in 1...5 {
            let plane = try #require(waves(width: width, height: height, seed: seed))
            #expect(try FieldPlane(packed: plane.packed()) == plane)
        }
    }

    @Test("noise, the extremes and nothing at all are read back")
    func isReadBackWhateverItIs() throws {
        var random = SeededGenerator(seed: 7)
        let patterns: [(Int) -> UInt8] = [
            { _ in 255 }, { _ in 0 }, { _ in 254 }, { $0 % 2 == 0 ? 0 : 254 }, { $0 % 3 == 0 ? 255 : 254 },
        ]
        for pattern in patterns {
            let plane = try #require(FieldPlane(width: 61, height: 43, values: (0..<61 * 43).map(pattern)))
            #expect(try FieldPlane(packed: plane.packed()) == plane)
        }
        for _ in 0..<30 {
            let width = Int.random(in: 1...90, using: &random)
            let values = (0..<width * 17).map { _ in UInt8.random(in: 0...255, using: &random) }
            let plane = try #require(FieldPlane(width: width, height: 17, values: values))
            #expect(try FieldPlane(packed: plane.packed()) == plane)
        }
    }

    @Test("a smooth field takes less than a bit a point")
    func isSmall() throws {
        let plane = try #require(waves(width: 600, height: 400, seed: 3))
        #expect(plane.packed().count < 600 * 400 / 8)
    }

    @Test("every byte that is changed or missing is noticed")
    func damageIsNoticed() throws {
        let plane = try #require(waves(width: 50, height: 30, seed: 11))
        let bytes = plane.packed()
        for place in bytes.indices {
            var changed = bytes
            changed[place] ^= 1 << (place % 8)
            // The last bytes of a range coder's output may be any that lie in its last interval.
            let read = try? FieldPlane(packed: changed)
            #expect(read == nil || read == plane, "byte \(place)")
        }
        for count in 0..<bytes.count / 2 {
            #expect(throws: FieldDamage.self) { try FieldPlane(packed: Array(bytes.prefix(count))) }
        }
    }

    @Test("a header that promises more points than there may be is refused")
    func hugeSizes() throws {
        for (bytes, sizes) in [
            (try #require(waves(width: 8, height: 8, seed: 1)).packed(), 4..<8), (Self.ofOneBlock, 8..<12),
        ] {
            var bytes = bytes
            bytes.replaceSubrange(sizes, with: [255, 255, 255, 255])
            #expect(throws: FieldDamage.size(width: 65_535, height: 65_535)) { try FieldPlane(packed: bytes) }
            bytes.replaceSubrange(sizes, with: [0, 0, 8, 0])
            #expect(throws: FieldDamage.size(width: 0, height: 8)) { try FieldPlane(packed: bytes) }
            bytes.replaceSubrange(sizes, with: [0, 16, 0, 16])
            #expect(throws: FieldDamage.self, "more blocks than bytes") { try FieldPlane(packed: bytes) }
        }
    }

    @Test("some points are read without the rest, and are those of the whole plane")
    func patches() throws {
        let plane = try #require(waves(width: 300, height: 290, seed: 5))
        var bytes = plane.packed()
        // Not within the requested blocks.
        bytes[bytes.count - 1] ^= 1
        bytes[bytes.count - 40] ^= 1
        let packed = try PackedFieldPlane(bytes)
        for points in [[], [0], [127, 128], [299], Array(stride(from: 5, to: 300 * 200, by: 61))] {
            let patch = try packed.patch(of: points)
            for point in points { #expect(patch[point] == plane.values[point]) }
        }
        #expect(throws: FieldDamage.checksum) { try packed.patch(of: [300 * 290 - 1]) }
        #expect(throws: FieldDamage.checksum) { try packed.plane() }
    }

    @Test("blocks don't stand in for each other")
    func blocksAreNumbered() throws {
        let values = [UInt8](repeating: 3, count: 256 * 128)
        var bytes = try #require(FieldPlane(width: 256, height: 128, values: values)).packed()
        let table = 8 + Self.contexts
        // Where the blocks end stays; of their sums the one takes the other's place.
        bytes.swapAt(table + 4, table + 12)
        bytes.swapAt(table + 5, table + 13)
        bytes.swapAt(table + 6, table + 14)
        bytes.swapAt(table + 7, table + 15)
        #expect(throws: FieldDamage.checksum) { try FieldPlane(packed: bytes) }
    }

    @Test("blocks without missing values are marked, and take less room")
    func fullBlocks() throws {
        let plane = try #require(waves(width: 128, height: 128, seed: 4))
        let full = try #require(
            FieldPlane(width: 128, height: 128, values: plane.values.map { $0 == FieldPlane.missing ? 8 : $0 }))
        var holed = full.values
        holed[64 * 128 + 64] = FieldPlane.missing
        let packed = full.packed()
        let mark = 8 + Self.contexts + 3
        #expect(packed[mark] & 0x80 != 0)
        #expect(try FieldPlane(packed: packed) == full)
        let other = try #require(FieldPlane(width: 128, height: 128, values: holed)).packed()
        #expect(other[mark] & 0x80 == 0 && packed.count < other.count)
        for var bytes in [packed, other] {
            bytes[mark] ^= 0x80
            #expect(throws: FieldDamage.checksum) { try FieldPlane(packed: bytes) }
        }
    }

    @Test("the form without marks is read as it was written")
    func isReadWithoutMarks() throws {
        // Where each block has a missing value, it differs by its number alone.
        let plane = try #require(waves(width: 90, height: 70, seed: 6))
        try #require(plane.values.contains(FieldPlane.missing))
        var bytes = plane.packed()
        bytes[3] = UInt8(ascii: "2")
        #expect(try FieldPlane(packed: bytes) == plane)
    }

    @Test("the form of one block is read as it was written")
    func isReadOfOneBlock() throws {
        let plane = try FieldPlane(packed: Self.ofOneBlock)
        let values = (0..<9 * 6).map { point -> UInt8 in
            let (row, column) = point.quotientAndRemainder(dividingBy: 9)
            return point % 10 == 7 ? FieldPlane.missing : UInt8(row * column / 3)
        }
        #expect(plane == FieldPlane(width: 9, height: 6, values: values))
        let patch = try PackedFieldPlane(Self.ofOneBlock).patch(of: [50])
        #expect(patch[50] == values[50])
        for place in Self.ofOneBlock.indices.dropLast(2) {
            var changed = Self.ofOneBlock
            changed[place] ^= 1
            let read = try? FieldPlane(packed: changed)
            #expect(read == nil || read == plane, "byte \(place)")
        }
    }

    @Test("no bytes make it trap")
    func randomBytes() throws {
        var random = SeededGenerator(seed: 23)
        let packed = try #require(waves(width: 140, height: 40, seed: 1)).packed()
        let headers = [Self.ofOneBlock.prefix(12), packed.prefix(8), packed.prefix(8 + Self.contexts)].map(Array.init)
        for number in 0..<600 {
            let header = headers[number % 3]
            let count = Int.random(in: 0...700, using: &random)
            let bytes = header + (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            #expect(throws: FieldDamage.self) { try FieldPlane(packed: bytes) }
        }
    }
}

@Suite("Values of a field")
struct FieldPlaneTests {
    @Test(
        "an EDR is stored to the nearest hundredth",
        arguments: [
            (0, 0), (0.004, 0), (0.005, 1), (0.094, 9), (0.095, 10), (0.1, 10), (0.1049, 10), (0.45, 45), (2.54, 254),
            (2.6, 254), (1e20, 254), (-0.01, 255), (.nan, 255), (.infinity, 255),
        ] as [(Float, UInt8)])
    func hundredths(edr: Float, value: UInt8) {
        #expect(FieldPlane.hundredths(edr) == value)
    }

    @Test("the maximum of planes knows a point that one of them knows")
    func maximum() throws {
        var plane = try #require(FieldPlane(width: 3, height: 2, values: [255, 255, 3, 9, 0, 254]))
        plane.formMaximum(with: try #require(FieldPlane(width: 3, height: 2, values: [255, 0, 255, 2, 7, 1])))
        #expect(plane.values == [255, 0, 3, 9, 7, 254])
        #expect(plane.presentCount == 5)
    }

    @Test("sides and values that don't fit make no plane")
    func refusals() {
        #expect(FieldPlane(width: 0, height: 1, values: []) == nil)
        #expect(FieldPlane(width: 2, height: 2, values: [1, 2, 3]) == nil)
        #expect(FieldPlane(width: 70_000, height: 1, values: Array(repeating: 0, count: 70_000)) == nil)
    }
}
