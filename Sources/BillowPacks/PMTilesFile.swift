import BillowTiles
import Digests
import Synchronization

/// Writes a tileset as a PMTiles archive, version 3: one file that clients read in parts over HTTP. Tiles are in the
/// order of their numbers (`TileID`). Identical tiles are stored once, and consecutive equal tiles share a directory
/// entry.
///
/// The first 16,384 bytes are reserved for the header and the root directory. The tiles follow as they are made, and
/// then the metadata and the leaf directories, which are known only at the end.
///
/// Source: PMTiles 3, https://github.com/protomaps/PMTiles/blob/main/spec/v3/spec.md
package final class PMTilesFile: TilesetWriter {
    /// A run of consecutive tiles with the same bytes, or a leaf directory (`run` is 0).
    struct Entry: Sendable, Hashable {
        var tile: UInt64
        var run: UInt64
        var length: UInt64
        var offset: UInt64
    }

    private struct Archive {
        var entries: [Entry] = []
        /// The positions of tiles by the digests of their bytes.
        var known: [[UInt8]: (offset: UInt64, length: UInt64)] = [:]
        /// The total bytes of the tiles so far.
        var length: UInt64 = 0
        var tiles: UInt64 = 0
        var contents: UInt64 = 0
        /// Bytes that are not written yet.
        var pending: [UInt8] = []
    }

    private let file: FileWriter
    private let form: TileKind
    private let state = Mutex(Archive())

    /// The offset of the first tile. The header and the root directory must fit before it.
    private static let start = 16_384
    private static let headerBytes = 127
    private static let pendingBytes = 256 << 10
    /// The initial number of entries of a leaf directory. It grows if the root directory would not fit.
    private static let leafEntries = 4_096

    package init(_ file: FileWriter, form: TileKind) {
        self.file = file
        self.form = form
    }

    package var size: Int { state.withLock { Self.start + Int($0.length) } }

    package func add(_ tiles: [PackedTile]) throws(PackError) {
        for tile in tiles {
            guard let bytes = tile.bytes else { continue }
            let digest = Array(SHA256.hash(bytes).prefix(16))
            let isKnown = state.withLock { $0.known[digest] != nil }
            let data: [UInt8] = isKnown ? [] : form == .mvt ? try Packing.gzip(bytes) : bytes
            let full = state.withLock { state -> (bytes: [UInt8], place: Int)? in
                Self.add(TileID.of(tile.coord), digest, data, to: &state)
                return state.pending.count >= Self.pendingBytes ? Self.drain(&state) : nil
            }
            if let full { try file.write(full.bytes, at: full.place) }
        }
    }

    private static func add(_ tile: UInt64, _ digest: [UInt8], _ data: [UInt8], to state: inout Archive) {
        state.tiles += 1
        let place = state.known[digest] ?? (state.length, UInt64(data.count))
        if state.known[digest] == nil {
            state.known[digest] = place
            state.contents += 1
            state.length += place.length
            state.pending += data
        }
        if let last = state.entries.last, last.offset == place.offset, last.tile + last.run == tile {
            state.entries[state.entries.count - 1].run += 1
        } else {
            state.entries.append(Entry(tile: tile, run: 1, length: place.length, offset: place.offset))
        }
    }

    private static func drain(_ state: inout Archive) -> (bytes: [UInt8], place: Int) {
        let place = start + Int(state.length) - state.pending.count
        defer { state.pending.removeAll(keepingCapacity: true) }
        return (state.pending, place)
    }

    package func finish(_ metadata: PackMetadata) throws(PackError) {
        let (rest, entries, length) = state.withLock { (Self.drain(&$0), $0.entries, $0.length) }
        try file.write(rest.bytes, at: rest.place)
        let (root, leaves) = try Self.directories(entries)
        let json = try Packing.gzip(metadata.json)
        let behind = Self.start + Int(length)
        try file.write(json + leaves, at: behind)
        let header = state.withLock {
            Self.header(
                $0, metadata, root: (Self.headerBytes, root.count), json: (behind, json.count),
                leaves: (behind + json.count, leaves.count))
        }
        let front = header + root
        try file.write(front + [UInt8](repeating: 0, count: Self.start - front.count), at: 0)
    }

    // MARK: Directories

    /// The root directory, and the concatenated leaf directories.
    static func directories(_ entries: [Entry]) throws(PackError) -> (root: [UInt8], leaves: [UInt8]) {
        let room = start - headerBytes
        let whole = try directory(entries)
        if whole.count <= room { return (whole, []) }
        var size = leafEntries
        while true {
            var (leaves, root): ([UInt8], [Entry]) = ([], [])
            for first in stride(from: 0, to: entries.count, by: size) {
                let part = Array(entries[first..<min(first + size, entries.count)])
                let leaf = try directory(part)
                root.append(
                    Entry(tile: part[0].tile, run: 0, length: UInt64(leaf.count), offset: UInt64(leaves.count)))
                leaves += leaf
            }
            let packed = try directory(root)
            if packed.count <= room { return (packed, leaves) }
            size *= 2
        }
    }

    /// A directory: the concatenated columns of its entries, compressed by gzip.
    static func directory(_ entries: [Entry]) throws(PackError) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(varint: UInt64(entries.count))
        var last: UInt64 = 0
        for entry in entries {
            bytes.append(varint: entry.tile - last)
            last = entry.tile
        }
        for entry in entries { bytes.append(varint: entry.run) }
        for entry in entries { bytes.append(varint: entry.length) }
        var end: UInt64?
        for entry in entries {
            // 0 means directly after the previous entry.
            bytes.append(varint: entry.offset == end ? 0 : entry.offset + 1)
            end = entry.offset + entry.length
        }
        return try Packing.gzip(bytes)
    }

    // MARK: Header

    private static func header(
        _ archive: Archive, _ metadata: PackMetadata, root: (Int, Int), json: (Int, Int), leaves: (Int, Int)
    ) -> [UInt8] {
        let (gzip, none, vector, png): (UInt8, UInt8, UInt8, UInt8) = (2, 1, 1, 2)
        var bytes = Array("PMTiles".utf8) + [3]
        for (offset, length) in [root, json, leaves, (start, Int(archive.length))] {
            bytes.append(little: UInt64(offset))
            bytes.append(little: UInt64(length))
        }
        bytes.append(little: archive.tiles)
        bytes.append(little: UInt64(archive.entries.count))
        bytes.append(little: archive.contents)
        let isVector = metadata.form == .mvt
        bytes += [1, gzip, isVector ? gzip : none, isVector ? vector : png]
        bytes += [UInt8(metadata.zooms.lowerBound), UInt8(metadata.zooms.upperBound)]
        for degrees in metadata.bounds { bytes.append(little: UInt32(bitPattern: position(degrees))) }
        bytes.append(UInt8(metadata.zooms.lowerBound))
        for degrees in metadata.center { bytes.append(little: UInt32(bitPattern: position(degrees))) }
        precondition(bytes.count == headerBytes)
        return bytes
    }

    private static func position(_ degrees: Double) -> Int32 { Int32((degrees * 1e7).rounded()) }
}

extension [UInt8] {
    /// A variable-length integer: seven bits per byte, the lowest first.
    mutating func append(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(rest))
    }

    mutating func append(little value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }

    mutating func append(big value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }
}
