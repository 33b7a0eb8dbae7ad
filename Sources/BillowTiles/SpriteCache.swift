import BillowRaster
import Geometry
import Synchronization

/// A cache of the sprites of small cells, by zoom, scale, size of tile and chunk of the cell table. Painters share it:
/// a sprite that one has made is used by all.
public final class SpriteCache: Sendable {
    /// The highest zoom with sprites. At higher zooms, cells are more than 30 px wide and high at any scale.
    static let highestZoom = 6
    /// The budget in bytes. A sprite takes some 200 to 500 bytes.
    private static let maximumBytes = 28 << 20
    /// Sheets used within this number of tiles aren't evicted. If the budget is too small, some cells are drawn without
    /// sprites.
    private static let usedLately: UInt64 = 2_000

    /// The zoom and the scale of sprites, and the size of the tiles that they are for.
    struct Size: Hashable, Sendable {
        var zoom: Int
        var scale: TileScale
        var tile: TileSize

        init(_ zoom: Int, _ scale: TileScale, _ tile: TileSize = .standard) {
            self.zoom = zoom
            self.scale = scale
            self.tile = tile
        }
    }

    private struct Key: Hashable {
        var size: Size
        var chunk: Int
    }

    private struct Sheet {
        var sprites: SpriteSheet
        var lastUsed: UInt64
    }

    private struct State {
        var sheets: [Key: Sheet] = [:]
        var bytes = 0
        var tiles: UInt64 = 0
    }

    private let state = Mutex(State())
    private static let none = SpriteSheet(count: CellTable.chunkSize)

    /// Makes an empty cache.
    public init() {}

    /// The bytes of all cached sprites.
    package var byteCount: Int { state.withLock { $0.bytes } }

    /// The access of one tile to the cache.
    struct TileAccess {
        fileprivate let store: SpriteCache
        let size: Size
        fileprivate let tile: UInt64

        /// The cached sprites of a chunk; empty if there are none.
        func sheet(_ chunk: Int) -> SpriteSheet { store.sheet(Key(size: size, chunk: chunk), tile: tile) }
    }

    func access(_ size: Size) -> TileAccess {
        TileAccess(
            store: self, size: size,
            tile: state.withLock { state in
                state.tiles += 1
                return state.tiles
            })
    }

    private func sheet(_ key: Key, tile: UInt64) -> SpriteSheet {
        state.withLock { state in
            guard let index = state.sheets.index(forKey: key) else { return Self.none }
            state.sheets.values[index].lastUsed = tile
            return state.sheets.values[index].sprites
        }
    }

    /// The cached sprites of a chunk, as the base of a new sheet.
    func sheet(of size: Size, chunk: Int) -> SpriteSheet {
        state.withLock { $0.sheets[Key(size: size, chunk: chunk)]?.sprites ?? Self.none }
    }

    /// Replaces a sheet by one made from it. Does nothing if the cached sheet has changed since.
    func replace(_ old: SpriteSheet, by new: SpriteSheet, of size: Size, chunk: Int) {
        state.withLock { state in
            let key = Key(size: size, chunk: chunk)
            let current = state.sheets[key]
            guard (current?.sprites ?? Self.none) === old else { return }
            state.bytes += new.byteCount - (current?.sprites.byteCount ?? 0)
            state.sheets[key] = Sheet(sprites: new, lastUsed: current?.lastUsed ?? state.tiles)
        }
    }

    /// Evicts the least recently used sheets if the budget is exceeded. Returns whether there is room for more.
    ///
    /// - Complexity: O(sheets log sheets) when it evicts, which is rare.
    func hasRoom() -> Bool {
        // The evicted sheets are freed after the lock is released.
        var gone: [SpriteSheet] = []
        return state.withLock { state in
            guard state.bytes > Self.maximumBytes else { return true }
            let before = state.tiles - min(state.tiles, Self.usedLately)
            let old = state.sheets.filter { $0.value.lastUsed < before }.sorted {
                $0.value.lastUsed < $1.value.lastUsed
            }
            for (key, sheet) in old {
                guard state.bytes > Self.maximumBytes / 8 * 7 else { break }
                state.sheets[key] = nil
                state.bytes -= sheet.sprites.byteCount
                gone.append(sheet.sprites)
            }
            return state.bytes <= Self.maximumBytes
        }
    }
}

/// The queue of sprites that a painter makes between its pictures.
final class SpriteQueue {
    let store: SpriteCache

    /// Cells of one chunk that were drawn without sprites.
    struct PendingSprites {
        var size: SpriteCache.Size
        var pixels: InkRaster
        var projection: SubpixelProjection
        var chunk: CellChunk
        var index: Int
        /// Taken from the end. The order is that of drawing, so that sprites lie in memory as they will be read.
        var positions: [UInt16]
    }

    private var makers: [ObjectIdentifier: SpriteMaker] = [:]
    private var pending: [PendingSprites] = []
    private var pendingCount = 0
    private static let maximumPending = 60_000

    init(_ store: SpriteCache) { self.store = store }

    var isEmpty: Bool { pending.isEmpty }

    /// Queues cells. If the queue is full, they are dropped; they are queued again when they are next drawn.
    func enqueue(_ more: [PendingSprites]) {
        guard pendingCount < Self.maximumPending else { return }
        pending += more
        pendingCount += more.reduce(0) { $0 + $1.positions.count }
    }

    /// Makes up to `limit` sprites, those of the newest pictures first.
    ///
    /// - Returns: whether more are waiting to be made.
    func make(_ limit: Int) -> Bool {
        guard !pending.isEmpty else { return false }
        guard store.hasRoom() else {
            pending = []
            pendingCount = 0
            return false
        }
        var left = limit
        while left > 0, var next = pending.popLast() {
            let known = store.sheet(of: next.size, chunk: next.index)
            var builder = SpriteSheet.Builder(known)
            let before = left
            while left > 0, let position = next.positions.popLast() {
                pendingCount -= 1
                guard builder.isUnknown(Int(position)) else { continue }
                make(Int(position), next, &builder)
                left -= 1
            }
            if left < before { store.replace(known, by: builder.sprites, of: next.size, chunk: next.index) }
            if !next.positions.isEmpty { pending.append(next) }
        }
        return !pending.isEmpty
    }

    private func make(_ position: Int, _ pending: PendingSprites, _ builder: inout SpriteSheet.Builder) {
        let ring = pending.chunk.vertices(position)
        guard (3...CellOutlines.maximumCorners).contains(ring.count) else { return }
        let projection = pending.projection
        let outline = ring.map { projection.project($0, world: 0) }
        var inset = outline
        inset.withUnsafeMutableBufferPointer { CellOutlines.shrink($0) }
        let maker = maker(for: pending.pixels)
        outline.withUnsafeBufferPointer { outline in
            inset.withUnsafeBufferPointer { inset in
                builder.make(
                    position, outline: outline, inset: inset, tileColumn: projection.firstColumn,
                    tileRow: projection.firstRow, with: maker)
            }
        }
    }

    private func maker(for raster: InkRaster) -> SpriteMaker {
        if let made = makers[ObjectIdentifier(raster)] { return made }
        let made = SpriteMaker(for: raster)
        makers[ObjectIdentifier(raster)] = made
        return made
    }
}
