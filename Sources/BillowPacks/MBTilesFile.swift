package import BillowTiles
import Digests
import Synchronization

/// Writes a tileset as MBTiles: an SQLite file. Identical tiles are stored once, and vector tiles are compressed by
/// gzip. Rows count from the south.
///
/// The tables `map` and `images` are a common way to store equal tiles once. `tiles` is the view that the specification
/// requires. `map.tag` identifies the content of a tile, so that an update makes only changed tiles.
///
/// Source: MBTiles 1.3, https://github.com/mapbox/mbtiles-spec/blob/master/1.3/spec.md
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

    private enum MapColumn: Int32, FileColumn {
        case zoomLevel, column, row, tileNumber, tag

        var name: String {
            switch self {
            case .zoomLevel: "zoom_level"
            case .column: "tile_column"
            case .row: "tile_row"
            case .tileNumber: "tile_id"
            case .tag: "tag"
            }
        }
    }

    private enum MetadataColumn: Int32, FileColumn {
        case name, value

        var name: String { "\(self)" }
    }

    /// The statements of the loops over tiles.
    private enum Statement {
        static let insert = "INSERT OR REPLACE INTO map (\(MapColumn.list)) VALUES (?, ?, ?, ?, ?)"
        static let find = "SELECT \(MapColumn.list) FROM map WHERE \(place)"
        static let all = "SELECT \(MapColumn.list) FROM map"
        static let remove = "DELETE FROM map WHERE \(place)"

        private static let place = [MapColumn.zoomLevel, .column, .row].map { "\($0.name) = ?" }
            .joined(separator: " AND ")
    }

    private let file: SQLiteFile
    private let form: TileKind
    /// The known numbers of tiles, by the digests of their bytes.
    private let known = Mutex<[Digest: Int64]>([:])
    private let changed = Mutex(0)

    private struct Digest: Hashable {
        var bytes: [UInt8]

        init(_ tile: [UInt8]) { bytes = Array(SHA256.hash(tile).prefix(16)) }
    }

    /// Creates a file at a path for `SQLiteFile.init(creating:)`.
    package init(creating path: String, form: TileKind) throws(PackError) {
        file = try SQLiteFile(creating: path, applicationID: Self.applicationID)
        self.form = form
        try file.execute(Self.schema)
    }

    /// Opens a copy of a file that this type wrote, for changes.
    /// - Throws: `PackError.foreign` for any other file.
    package init(changing path: String, form: TileKind) throws(PackError) {
        file = try SQLiteFile(changing: path)
        self.form = form
        let format: String?
        do throws(PackError) {
            let identity = try file.first("PRAGMA application_id") { $0.only } ?? nil
            guard identity == Int64(Self.applicationID) else { throw .foreign("it is no MBTiles file of Billow") }
            _ = try file.first("SELECT tag FROM map LIMIT 1") { $0.onlyText ?? "" }
            format = try file.first("SELECT value FROM metadata WHERE name = 'format'") { $0.onlyText ?? "" }
        } catch {
            if case .foreign = error { throw error }
            throw .foreign("it is no MBTiles file of Billow")
        }
        guard format == (form == .png ? "png" : "pbf") else { throw .foreign("it has tiles of another form") }
    }

    /// The number of added, changed and removed tiles.
    package var changes: Int { changed.withLock { $0 } }

    package func add(_ tiles: [PackedTile]) throws(PackError) {
        for tile in tiles {
            guard let bytes = tile.bytes else { continue }
            let number = try number(of: bytes)
            let old = try place(tile.coord)
            guard old?.number != number || old?.tag != tile.tag else { continue }
            if old?.number != number { changed.withLock { $0 += 1 } }
            try file.with(Statement.insert) { row throws(PackError) in
                row.bind(Int64(tile.coord.z), Int64(tile.coord.x), Self.row(of: tile.coord), number, tile.tag)
                try row.run()
            }
        }
    }

    /// The number and tag of the tile at a place; nil if there is none.
    private func place(_ coord: TileCoord) throws(PackError) -> (number: Int64, tag: String)? {
        try file.with(Statement.find) { row throws(PackError) in
            row.bind(Int64(coord.z), Int64(coord.x), Self.row(of: coord))
            return try row.step() ? (row.integer(MapColumn.tileNumber), row.text(MapColumn.tag) ?? "") : nil
        }
    }

    /// The tag of the tile at a place; nil if there is none.
    package func tag(at coord: TileCoord) throws(PackError) -> String? { try place(coord)?.tag }

    /// A tile's row, from the south.
    private static func row(of coord: TileCoord) -> Int64 { Int64((1 << coord.z) - 1 - coord.y) }

    /// The number of a tile's bytes. New bytes are stored.
    private func number(of bytes: [UInt8]) throws(PackError) -> Int64 {
        let digest = Digest(bytes)
        if let number = known.withLock({ $0[digest] }) { return number }
        var number = try file.with("SELECT tile_id FROM images WHERE digest = ?") { row throws(PackError) -> Int64? in
            row.bind(digest.bytes)
            return try row.step() ? row.only : nil
        }
        if number == nil {
            let data = form == .mvt ? try Packing.gzip(bytes) : bytes
            try file.with("INSERT INTO images (tile_data, digest) VALUES (?, ?)") { row throws(PackError) in
                row.bind(data, digest.bytes)
                try row.run()
            }
            number = try file.first("SELECT last_insert_rowid()") { $0.only } ?? nil
        }
        guard let number else { throw .memory }
        known.withLock { $0[digest] = number }
        return number
    }

    /// Removes the tiles at the places that a condition holds for.
    package func removeTiles(where isUnwanted: (TileCoord) -> Bool) throws(PackError) {
        let there = try file.with(Statement.all) { row throws(PackError) -> [TileCoord] in
            var coords: [TileCoord] = []
            while try row.step() {
                let z = Int(row.integer(MapColumn.zoomLevel))
                let (x, south) = (Int(row.integer(MapColumn.column)), Int(row.integer(MapColumn.row)))
                guard let coord = TileCoord(z: z, x: x, y: (1 << z) - 1 - south) else { continue }
                coords.append(coord)
            }
            return coords
        }
        for coord in there where isUnwanted(coord) { try remove(coord) }
    }

    /// Removes the tile at a place.
    package func remove(_ coord: TileCoord) throws(PackError) {
        guard try place(coord) != nil else { return }
        changed.withLock { $0 += 1 }
        try file.with(Statement.remove) { row throws(PackError) in
            row.bind(Int64(coord.z), Int64(coord.x), Self.row(of: coord))
            try row.run()
        }
    }

    /// The metadata of the file by name.
    package func metadata() throws(PackError) -> [String: String] {
        try file.with("SELECT \(MetadataColumn.list) FROM metadata") { row throws(PackError) -> [String: String] in
            var all: [String: String] = [:]
            while try row.step() {
                all[row.text(MetadataColumn.name) ?? ""] = row.text(MetadataColumn.value) ?? ""
            }
            return all
        }
    }

    package func finish(_ metadata: PackMetadata) throws(PackError) {
        if changes > 0 {
            try file.execute("DELETE FROM images WHERE tile_id NOT IN (SELECT tile_id FROM map)")
        }
        try file.execute("DELETE FROM metadata")
        for (name, value) in metadata.rows {
            try file.insert(into: "metadata", ["name": name, "value": value])
        }
        try file.finish()
    }

    package var size: Int { get throws(PackError) { try file.size } }
}
