package import BillowTiles
import Crypto
import Synchronization

/// A tileset as MBTiles: an SQLite file. Identical tiles are stored once, and vector tiles are compressed by gzip. Rows
/// count from the south.
///
/// The tables `map` and `images` are a widespread way of storing equal tiles once; `tiles` is the view that the
/// specification asks for. `map.tag` names what a tile shows, so that an update makes only what changed.
///
/// Source: MBTiles 1.3, github.com/mapbox/mbtiles-spec/blob/master/1.3/spec.md
package final class MBTilesFile: TilesetWriter {
    /// `MPBX`, which the specification recommends.
    private static let applicationID: Int32 = 0x4D50_4258

    private static let schema = """
        CREATE TABLE metadata (name TEXT NOT NULL PRIMARY KEY, value TEXT) WITHOUT ROWID;
        CREATE TABLE images (
            tile_id INTEGER NOT NULL PRIMARY KEY, tile_data BLOB NOT NULL, digest BLOB NOT NULL UNIQUE
        );
        CREATE TABLE map (
            zoom_level INTEGER NOT NULL, tile_column INTEGER NOT NULL, tile_row INTEGER NOT NULL,
            tile_id INTEGER NOT NULL, tag TEXT NOT NULL, PRIMARY KEY (zoom_level, tile_column, tile_row)
        ) WITHOUT ROWID;
        CREATE VIEW tiles AS SELECT map.zoom_level AS zoom_level, map.tile_column AS tile_column,
            map.tile_row AS tile_row, images.tile_data AS tile_data
            FROM map JOIN images ON images.tile_id = map.tile_id;
        """

    private let file: SQLiteFile
    private let form: TileForm
    /// Numbers of tiles by the digests of their bytes, as they are known by now.
    private let known = Mutex<[Digest: Int64]>([:])
    private let changed = Mutex(0)

    private struct Digest: Hashable {
        var bytes: [UInt8]

        init(_ tile: [UInt8]) { bytes = Array(SHA256.hash(data: tile).prefix(16)) }
    }

    /// Begins a file; `SQLiteFile.init(creating:)` says where.
    package init(creating path: String, form: TileForm) throws(PackError) {
        file = try SQLiteFile(creating: path, applicationID: Self.applicationID)
        self.form = form
        try file.execute(Self.schema)
    }

    /// Opens a copy of a file that this type wrote, to change it.
    /// - Throws: `PackError.foreign` for any other file.
    package init(changing path: String, form: TileForm) throws(PackError) {
        file = try SQLiteFile(changing: path)
        self.form = form
        let format: String?
        do throws(PackError) {
            let identity = try file.first("PRAGMA application_id") { $0.integer(0) }
            guard identity == Int64(Self.applicationID) else { throw .foreign("it is no MBTiles file of Billow") }
            _ = try file.first("SELECT tag FROM map LIMIT 1") { $0.text(0) ?? "" }
            format = try file.first("SELECT value FROM metadata WHERE name = 'format'") { $0.text(0) ?? "" }
        } catch {
            if case .foreign = error { throw error }
            throw .foreign("it is no MBTiles file of Billow")
        }
        guard format == (form == .png ? "png" : "pbf") else { throw .foreign("it has tiles of another form") }
    }

    /// Tiles that were written or changed.
    package var changes: Int { changed.withLock { $0 } }

    package func add(_ tiles: [PackedTile]) throws(PackError) {
        for tile in tiles {
            guard let bytes = tile.bytes else { continue }
            let number = try number(of: bytes)
            let old = try place(tile.coord)
            guard old?.number != number || old?.tag != tile.tag else { continue }
            if old?.number != number { changed.withLock { $0 += 1 } }
            try file.with("INSERT OR REPLACE INTO map VALUES (?, ?, ?, ?, ?)") { row throws(PackError) in
                Self.bind(tile.coord, row)
                row.bind(number, at: 4)
                row.bind(tile.tag, at: 5)
                try row.run()
            }
        }
    }

    /// What the file has at a place.
    private func place(_ coord: TileCoord) throws(PackError) -> (number: Int64, tag: String)? {
        try file.with("SELECT tile_id, tag FROM map WHERE zoom_level = ? AND tile_column = ? AND tile_row = ?") {
            row throws(PackError) in
            Self.bind(coord, row)
            return try row.step() ? (row.integer(0), row.text(1) ?? "") : nil
        }
    }

    /// The tag of the tile at a place; nil for none.
    package func tag(at coord: TileCoord) throws(PackError) -> String? { try place(coord)?.tag }

    private static func bind(_ coord: TileCoord, _ row: SQLiteFile.Row) {
        row.bind(Int64(coord.z), at: 1)
        row.bind(Int64(coord.x), at: 2)
        row.bind(Int64((1 << coord.z) - 1 - coord.y), at: 3)
    }

    /// The number of a tile's bytes, which are stored if they weren't.
    private func number(of bytes: [UInt8]) throws(PackError) -> Int64 {
        let digest = Digest(bytes)
        if let number = known.withLock({ $0[digest] }) { return number }
        var number = try file.with("SELECT tile_id FROM images WHERE digest = ?") { row throws(PackError) -> Int64? in
            row.bind(digest.bytes, at: 1)
            return try row.step() ? row.integer(0) : nil
        }
        if number == nil {
            let data = form == .mvt ? try Packing.gzip(bytes) : bytes
            try file.with("INSERT INTO images (tile_data, digest) VALUES (?, ?)") { row throws(PackError) in
                row.bind(data, at: 1)
                row.bind(digest.bytes, at: 2)
                try row.run()
            }
            number = try file.first("SELECT last_insert_rowid()") { $0.integer(0) }
        }
        guard let number else { throw .memory }
        known.withLock { $0[digest] = number }
        return number
    }

    /// Removes the tiles that are not wanted any more.
    package func keep(only isWanted: (TileCoord) -> Bool) throws(PackError) {
        let there = try file.with("SELECT zoom_level, tile_column, tile_row FROM map") {
            row throws(PackError) -> [TileCoord] in
            var coords: [TileCoord] = []
            while try row.step() {
                let z = Int(row.integer(0))
                guard let coord = TileCoord(z: z, x: Int(row.integer(1)), y: (1 << z) - 1 - Int(row.integer(2))) else {
                    continue
                }
                coords.append(coord)
            }
            return coords
        }
        for coord in there where !isWanted(coord) { try remove(coord) }
    }

    /// Removes the tile at a place.
    package func remove(_ coord: TileCoord) throws(PackError) {
        guard try place(coord) != nil else { return }
        changed.withLock { $0 += 1 }
        try file.with("DELETE FROM map WHERE zoom_level = ? AND tile_column = ? AND tile_row = ?") {
            row throws(PackError) in
            Self.bind(coord, row)
            try row.run()
        }
    }

    /// The metadata of the file, by name.
    package func metadata() throws(PackError) -> [String: String] {
        try file.with("SELECT name, value FROM metadata") { row throws(PackError) -> [String: String] in
            var all: [String: String] = [:]
            while try row.step() { all[row.text(0) ?? ""] = row.text(1) ?? "" }
            return all
        }
    }

    package func finish(_ metadata: PackMetadata) throws(PackError) {
        if changes > 0 {
            try file.execute("DELETE FROM images WHERE tile_id NOT IN (SELECT tile_id FROM map)")
        }
        try file.execute("DELETE FROM metadata")
        for (name, value) in metadata.rows {
            try file.with("INSERT INTO metadata VALUES (?, ?)") { row throws(PackError) in
                row.bind(name, at: 1)
                row.bind(value, at: 2)
                try row.run()
            }
        }
        try file.finish()
    }

    package var size: Int { get throws(PackError) { try file.size } }
}
