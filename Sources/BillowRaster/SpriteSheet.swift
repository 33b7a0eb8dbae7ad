import Geometry

/// The contributions of small outlines to the pixels of a raster, computed once. At one zoom, a cell's outline lies in
/// the same pixels of the world in every tile and frame. A cell that is drawn by its sprite has exactly the same bits.
///
/// A sheet has the sprites of outlines of one zoom and one raster size. A raster of another size can't use them. A
/// sheet is immutable, so all workers share it.
@usableFromInline package final class SpriteSheet: Sendable {
    fileprivate struct Sprite {
        /// The north-western pixel, counted from the north-western pixel of the world.
        var row: Int32 = 0
        var column: Int32 = 0
        var firstEntry: Int32 = 0
        /// One bit per touched pixel: first the rows of the outline, then the rows of outline and inset together.
        var firstMask: Int32 = 0
        /// First the pixels that the outline touches, then those that only its inset touches.
        var outlineEntries: UInt16 = 0
        var entries: UInt16 = 0
        var rows: UInt8 = 0
        var columns: UInt8 = 0
    }

    fileprivate struct Columns: Sendable {
        /// The position of each outline's sprite, or a special value. Most outlines of a sheet are never drawn.
        var places: [UInt16]
        var sprites: [Sprite] = []
        /// The offset of each entry from the sprite's north-western pixel, in pixels of the raster's memory.
        var offsets: [UInt16] = []
        /// The signed areas that each entry adds, of the outline in the lower half and of its inset in the upper half.
        var areas: [UInt32] = []
        var masks: [UInt32] = []
        /// The size of the rasters that the offsets apply to; nil without a sprite.
        var stride: Int?
    }

    fileprivate let columns: Columns
    fileprivate var stride: Int? { columns.stride }
    @inlinable package static var unknown: UInt16 { 0xFFFF }
    fileprivate static let tooLarge: UInt16 = 0xFFFE

    /// The largest width and height in pixels of an outline with a sprite.
    package static let largest = 30

    /// An empty sheet.
    /// - Parameter count: the number of outlines, less than 65,534.
    package init(count: Int) { columns = Columns(places: [UInt16](repeating: Self.unknown, count: count)) }

    fileprivate init(_ columns: Columns) { self.columns = columns }

    /// Whether an outline's sprite must be made before it is used.
    package func isUnknown(_ index: Int) -> Bool { columns.places[index] == Self.unknown }

    /// The position of each outline's sprite for a `use`, or `unknown`.
    package func withPlaces<Result>(_ body: (UnsafeBufferPointer<UInt16>) -> Result) -> Result {
        columns.places.withUnsafeBufferPointer(body)
    }

    /// The approximate memory in bytes.
    package var byteCount: Int {
        200 + columns.places.count * 2 + columns.sprites.count * MemoryLayout<Sprite>.stride + columns.offsets.count * 6
            + columns.masks.count * 4
    }

    /// A sheet with the sprites of another one and additional ones.
    package struct Builder {
        private var columns: Columns

        package init(_ sprites: SpriteSheet) { columns = sprites.columns }

        package func isUnknown(_ index: Int) -> Bool { columns.places[index] == SpriteSheet.unknown }

        /// Without spare capacity, because the sheet is long-lived.
        package var sprites: SpriteSheet {
            SpriteSheet(
                Columns(
                    places: columns.places, sprites: columns.sprites.withoutRoom(),
                    offsets: columns.offsets.withoutRoom(),
                    areas: columns.areas.withoutRoom(), masks: columns.masks.withoutRoom(),
                    stride: columns.stride))
        }

        /// Makes the sprite of an outline and its inset (no corners if there is none). Corners are in subpixels from
        /// the tile's north-west corner, which is the corner of a pixel of the world. All sprites of a sheet are made
        /// for one raster size.
        package mutating func make(
            _ index: Int, outline: UnsafeBufferPointer<SIMD2<Int64>>, inset: UnsafeBufferPointer<SIMD2<Int64>>,
            tileColumn: Int, tileRow: Int, with maker: SpriteMaker
        ) {
            precondition(columns.stride == nil || columns.stride == maker.stride, "sprites of two sizes of raster")
            columns.stride = maker.stride
            var low = SIMD2<Int64>(repeating: .max)
            var high = SIMD2<Int64>(repeating: .min)
            for corner in outline {
                low = pointwiseMin(low, corner)
                high = pointwiseMax(high, corner)
            }
            let first = low &>> 10
            let size = high &>> 10 &- first &+ 1
            let largest = Int64(SpriteSheet.largest)
            guard size.x <= largest, size.y <= largest, (Int(size.y) + 1) * maker.stride <= 0xFFFF else {
                columns.places[index] = SpriteSheet.tooLarge
                return
            }
            var sprite = Sprite(
                row: Int32(truncatingIfNeeded: tileRow + Int(first.y)),
                column: Int32(truncatingIfNeeded: tileColumn + Int(first.x)),
                firstEntry: Int32(columns.offsets.count), firstMask: Int32(columns.masks.count))
            let moved = first &<< 10
            maker.add(outline, moved: moved, SpriteMaker.Areas(outline: 1, inset: 0))
            maker.add(inset, moved: moved, SpriteMaker.Areas(outline: 0, inset: 1))
            let rows = Int(size.y)
            sprite.rows = UInt8(rows)
            var ownMasks = [UInt32](repeating: 0, count: 2 * rows)
            var own: [(offset: UInt16, areas: UInt32)] = []
            var insetOnly = own
            for row in 0..<rows {
                maker.grid.drain(row: row) { column, areas in
                    if areas.isNothing { return }
                    let entry = (
                        offset: UInt16(row * maker.stride + column),
                        areas: UInt32(UInt16(truncatingIfNeeded: areas.outline))
                            | UInt32(UInt16(truncatingIfNeeded: areas.inset)) << 16
                    )
                    let bit: UInt32 = 1 << UInt32(column)
                    ownMasks[row + rows] |= bit
                    if areas.outline == 0 {
                        insetOnly.append(entry)
                    } else {
                        own.append(entry)
                        ownMasks[row] |= bit
                    }
                    sprite.columns = max(sprite.columns, UInt8(column + 1))
                }
            }
            sprite.outlineEntries = UInt16(own.count)
            own += insetOnly
            sprite.entries = UInt16(own.count)
            columns.masks += ownMasks
            columns.offsets += own.lazy.map(\.offset)
            columns.areas += own.lazy.map(\.areas)
            columns.places[index] = UInt16(columns.sprites.count)
            columns.sprites.append(sprite)
        }
    }
}

/// The small raster in which sprites are made, for one size of raster.
package final class SpriteMaker {
    /// The areas of an outline and of its inset.
    struct Areas: AreaLanes {
        var outline: Int32
        var inset: Int32

        static let zero = Areas(outline: 0, inset: 0)
        var isNothing: Bool { outline | inset == 0 }

        static func &+= (sum: inout Areas, other: Areas) {
            sum.outline &+= other.outline
            sum.inset &+= other.inset
        }

        func negated(_ isNegated: Bool) -> Areas { isNegated ? Areas(outline: -outline, inset: -inset) : self }

        func times(_ area: Int64) -> Areas {
            let factor = Int32(truncatingIfNeeded: area)
            return Areas(outline: outline &* factor, inset: inset &* factor)
        }
    }

    fileprivate let grid: SignedAreaGrid<Areas>
    /// The size of the rasters that the sprites are for.
    fileprivate let stride: Int

    package init(for raster: InkRaster) {
        // A mask has 32 bits, and an edge affects two pixels beyond its own.
        grid = .allocate(width: SpriteSheet.largest + 2, height: SpriteSheet.largest)
        stride = raster.grid.stride
    }

    deinit { grid.deallocate() }

    fileprivate func add(_ corners: UnsafeBufferPointer<SIMD2<Int64>>, moved: SIMD2<Int64>, _ areas: Areas) {
        guard var a = corners.last else { return }
        for b in corners {
            grid.add(from: a &- moved, to: b &- moved, areas)
            a = b
        }
    }
}

extension InkRaster {
    /// One drawing of an outline by its sprite.
    @usableFromInline package struct PlacedSprite {
        @usableFromInline let place: UInt16
        @usableFromInline let rim: UInt8
        @usableFromInline let fill: UInt8

        /// Draws the outline in class `rim` and its inset in class `fill`. The place is one of `withPlaces`.
        @inlinable package init(place: UInt16, rim: UInt8, fill: UInt8) {
            self.place = place
            self.rim = rim
            self.fill = fill
        }
    }

    /// Adds outlines by their sprites. Then it passes on the outlines without a sprite and those that are not
    /// completely inside the raster. If the sprites are for another raster size, it passes on all of them.
    package func add(
        _ uses: UnsafeBufferPointer<PlacedSprite>, of sprites: SpriteSheet, tileColumn: Int, tileRow: Int,
        others: (_ use: Int) -> Void
    ) {
        guard sprites.stride == nil || sprites.stride == grid.stride else {
            for use in uses.indices { others(use) }
            return
        }
        withUnsafeTemporaryAllocation(of: Int.self, capacity: uses.count) { left in
            let count = sprites.withBuffers { buffers in
                add(uses, buffers, tileColumn: tileColumn, tileRow: tileRow, left: left)
            }
            for index in 0..<count { others(left[index]) }
        }
    }

    /// Writes the numbers of the uses that it doesn't add to `left`, and returns their count.
    private func add(
        _ uses: UnsafeBufferPointer<PlacedSprite>, _ buffers: SpriteSheet.Buffers, tileColumn: Int, tileRow: Int,
        left: UnsafeMutableBufferPointer<Int>
    ) -> Int {
        let (width, height, grid, inks) = (width, height, grid, inks)
        let (sprites, offsets, areas, masks) = (buffers.sprites, buffers.offsets, buffers.areas, buffers.masks)
        var leftCount = 0
        for (number, use) in uses.enumerated() {
            guard use.place < SpriteSheet.tooLarge else {
                left[leftCount] = number
                leftCount &+= 1
                continue
            }
            let sprite = sprites[Int(use.place)]
            let row = Int(sprite.row) &- tileRow
            let column = Int(sprite.column) &- tileColumn
            // Pixels right of the raster may be written too. They are never read.
            guard row >= 0, column >= 0, row &+ Int(sprite.rows) <= height, column &+ Int(sprite.columns) <= width &+ 3
            else {
                left[leftCount] = number
                leftCount &+= 1
                continue
            }
            let base = grid.pixel(row: row, column: column)
            let rim = inks[Int(use.rim)]
            let hasInset = use.rim != use.fill
            let pair = Ink.pair(lower: rim, upper: inks[Int(use.fill)] &- rim)
            let first = Int(sprite.firstEntry)
            for index in first..<first &+ Int(hasInset ? sprite.entries : sprite.outlineEntries) {
                base[Int(offsets[index])] &+= Ink.sum(pair, areas: areas[index])
            }
            let rows = Int(sprite.rows)
            let firstMask = Int(sprite.firstMask) &+ (hasInset ? rows : 0)
            for line in 0..<rows { grid.mark(row &+ line, column, UInt64(masks[firstMask &+ line])) }
        }
        return leftCount
    }
}

extension SpriteSheet {
    fileprivate struct Buffers {
        let sprites: UnsafeBufferPointer<Sprite>
        let offsets: UnsafeBufferPointer<UInt16>
        let areas: UnsafeBufferPointer<UInt32>
        let masks: UnsafeBufferPointer<UInt32>
    }

    fileprivate func withBuffers<Result>(_ body: (Buffers) -> Result) -> Result {
        columns.sprites.withUnsafeBufferPointer { sprites in
            columns.offsets.withUnsafeBufferPointer { offsets in
                columns.areas.withUnsafeBufferPointer { areas in
                    columns.masks.withUnsafeBufferPointer { masks in
                        body(Buffers(sprites: sprites, offsets: offsets, areas: areas, masks: masks))
                    }
                }
            }
        }
    }
}
