import BillowExchange
import Synchronization

/// Writes features as a GeoPackage: an SQLite file with a table, its spatial index, a style for QGIS and metadata.
///
/// Source: OGC 12-128r19 (GeoPackage 1.4); the file says version 1.3, which more readers know
package final class GeoPackageFile: Sendable {
    /// `GPKG`, and the version of the format.
    private static let applicationID: Int32 = 0x4750_4B47
    private static let version: Int32 = 10_300

    private struct FileState {
        /// The bytes before the geometry of a row whose polygons are incomplete.
        var begun: [UInt8]?
        var polygons: [UInt8] = []
        var polygonCount = 0
        var envelope = GeoPackageGeometry.Envelope.empty
        /// The number of written features, which is the key of the last one.
        var features: Int64 = 0
        var extent = GeoPackageGeometry.Envelope.empty
        var index: SpatialIndex
    }

    private let file: SQLiteFile
    private let table: GeoPackageTable
    private let insertion: SQLiteFile.Statement
    private let state: Mutex<FileState>

    /// Creates a file at a path for `SQLiteFile.init(creating:)`.
    package convenience init(creating path: String, _ table: GeoPackageTable) throws(PackError) {
        try self.init(creating: path, table, sortedAtOnce: SpatialIndex.batch)
    }

    /// - Parameter sortedAtOnce: the number of features that the spatial index sorts at once.
    init(creating path: String, _ table: GeoPackageTable, sortedAtOnce: Int) throws(PackError) {
        file = try SQLiteFile(creating: path, applicationID: Self.applicationID, userVersion: Self.version)
        self.table = table
        try file.execute(GeoPackageTable.schema)
        try file.execute(table.creation)
        insertion = try file.prepare(table.insertion)
        state = Mutex(FileState(index: try SpatialIndex(table.index, in: file, batch: sortedAtOnce)))
    }

    /// The approximate current size in bytes.
    package var size: Int { get throws(PackError) { try file.size } }

    /// The number of written features.
    package var features: Int { Int(state.withLock { $0.features }) }

    // MARK: Rows

    /// Writes rows in the format of `FeatureWriter`. A feature of many polygons may continue in the next call.
    package func add(_ rows: [UInt8]) throws(PackError) {
        let error = state.withLock { state -> PackError? in
            do throws(PackError) { try add(rows, &state) } catch { return error }
            return nil
        }
        if let error { throw error }
    }

    private func add(_ bytes: [UInt8], _ state: inout FileState) throws(PackError) {
        let result = bytes.withUnsafeBytes { bytes -> Result<Void, PackError> in
            var reader = RowReader(bytes)
            do throws(PackError) {
                try file.with(insertion) { row throws(PackError) in
                    while !reader.isAtEnd {
                        if state.begun != nil {
                            try addPolygon(&reader, row, &state)
                        } else {
                            try addRow(&reader, row, &state)
                        }
                    }
                }
                try state.index.writeBatch(to: file)
            } catch { return .failure(error) }
            return .success(())
        }
        try result.get()
    }

    /// Writes the next row, or stores its values until its polygons are complete.
    private func addRow(_ reader: inout RowReader, _ row: SQLiteFile.Row, _ state: inout FileState) throws(PackError) {
        let start = reader.place
        for _ in 0...table.columns.count { reader.skip() }
        // A complete geometry directly follows its row.
        guard !reader.isAtEnd, reader.nextTag == .geometry else {
            state.begun = Array(reader.bytes[start..<reader.place])
            state.polygons = []
            state.polygonCount = 0
            state.envelope = .empty
            return
        }
        let values = UnsafeRawBufferPointer(rebasing: reader.bytes[start..<reader.place])
        try insert(values, geometry: reader.blob(), row, &state)
    }

    private func addPolygon(_ reader: inout RowReader, _ row: SQLiteFile.Row, _ state: inout FileState)
        throws(PackError)
    {
        guard reader.nextTag == .polygon else {
            reader.skip()
            guard let begun = state.begun else { return }
            state.begun = nil
            let geometry =
                GeoPackageGeometry.multiPolygonPrefix(of: state.polygonCount, state.envelope) + state.polygons
            state.polygons = []
            let inserted = begun.withUnsafeBytes { values in
                geometry.withUnsafeBytes { geometry -> Result<Void, PackError> in
                    do throws(PackError) { return .success(try insert(values, geometry: geometry, row, &state)) } catch
                    {
                        return .failure(error)
                    }
                }
            }
            return try inserted.get()
        }
        let polygon = reader.blob()
        state.envelope.extend(RowReader.envelope(ofPolygon: polygon))
        state.polygons.append(contentsOf: polygon)
        state.polygonCount += 1
    }

    /// - Parameters:
    ///   - values: the values of the columns; they and the geometry are valid until the row is written.
    private func insert(
        _ values: UnsafeRawBufferPointer, geometry: UnsafeRawBufferPointer, _ row: SQLiteFile.Row,
        _ state: inout FileState
    ) throws(PackError) {
        state.features += 1
        let key = state.features
        row.bind { arguments in
            arguments.append(key)
            arguments.append(lentBlob: geometry)
            // The id, and the columns of the table.
            var reader = RowReader(values)
            for _ in 0...table.columns.count { reader.append(to: &arguments) }
        }
        try row.run()
        let envelope = RowReader.envelope(ofGeometry: geometry)
        state.extent.extend(envelope)
        state.index.add(key, envelope)
    }

    // MARK: The end

    /// Writes the metadata and completes the file.
    package func finish(_ metadata: GeoPackageMetadata) throws(PackError) {
        let error = state.withLock { state -> PackError? in
            do throws(PackError) {
                try state.index.finish(in: file)
                try describe(metadata, state.extent)
                try file.finish()
            } catch { return error }
            return nil
        }
        if let error { throw error }
    }

    private func describe(_ metadata: GeoPackageMetadata, _ extent: GeoPackageGeometry.Envelope) throws(PackError) {
        let (name, geometryColumn) = (table.name, GeoPackageTable.geometryColumn)
        let referenceSystem = Int64(GeoPackageGeometry.referenceSystem)
        try file.insert(
            into: "gpkg_contents",
            [
                "table_name": name, "data_type": "features", "identifier": metadata.title,
                "description": metadata.description, "last_change": metadata.changed, "srs_id": referenceSystem,
            ])
        if !extent.isEmpty {
            let update = "UPDATE gpkg_contents SET min_x = ?, min_y = ?, max_x = ?, max_y = ? WHERE table_name = ?"
            try file.with(update) { row throws(PackError) in
                row.bind(extent.west, extent.south, extent.east, extent.north, name)
                try row.run()
            }
        }
        try file.insert(
            into: "gpkg_geometry_columns",
            [
                "table_name": name, "column_name": geometryColumn,
                "geometry_type_name": table.geometryType.rawValue, "srs_id": referenceSystem, "z": 0 as Int64,
                "m": 0 as Int64,
            ])
        try file.insert(
            into: "gpkg_extensions",
            [
                "table_name": name, "column_name": geometryColumn, "extension_name": "gpkg_rtree_index",
                "definition": "http://www.geopackage.org/spec120/#extension_rtree", "scope": "write-only",
            ])
        try file.execute(table.triggers)
        for column in table.columns {
            guard let summary = column.summary else { continue }
            try file.insert(
                into: "gpkg_data_columns",
                ["table_name": name, "column_name": column.name, "description": summary])
        }
        try file.insert(
            into: "gpkg_metadata",
            [
                "id": 1 as Int64, "md_scope": "dataset", "md_standard_uri": "http://gdal.org",
                "mime_type": "text/xml", "metadata": metadata.document,
            ])
        try file.insert(
            into: "gpkg_metadata_reference",
            [
                "reference_scope": "table", "table_name": name, "timestamp": metadata.changed,
                "md_file_id": 1 as Int64,
            ])
        guard let style = metadata.style else { return }
        try file.insert(
            into: "layer_styles",
            [
                "id": 1 as Int64, "f_table_catalog": "", "f_table_schema": "", "f_table_name": name,
                "f_geometry_column": geometryColumn, "styleName": style.name, "styleQML": style.document,
                "useAsDefault": 1 as Int64, "description": "", "owner": "", "update_time": metadata.changed,
            ])
        try file.insert(
            into: "gpkg_contents",
            [
                "table_name": "layer_styles", "data_type": "attributes", "identifier": "layer_styles",
                "description": "", "last_change": metadata.changed, "srs_id": 0 as Int64,
            ])
    }
}

/// Reads the values of rows (`FeatureRow`). This process wrote them, so they are not validated.
private struct RowReader {
    let bytes: UnsafeRawBufferPointer
    private(set) var place = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var isAtEnd: Bool { place == bytes.count }

    var nextTag: FeatureRow.Tag {
        guard let tag = FeatureRow.Tag(rawValue: bytes[place]) else { preconditionFailure("no row was written here") }
        return tag
    }

    private var length: Int {
        Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: place + 1, as: UInt32.self)))
    }
    private var bits: UInt64 { UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place + 1, as: UInt64.self)) }

    /// Skips a value.
    mutating func skip() {
        switch nextTag {
        case .null, .endOfPolygons: place += 1
        case .integer, .decimal: place += 9
        case .text, .geometry, .polygon: place += 5 + length
        }
    }

    /// Reads the bytes of a value with a length.
    mutating func blob() -> UnsafeRawBufferPointer {
        defer { skip() }
        return UnsafeRawBufferPointer(rebasing: bytes[place + 5..<place + 5 + length])
    }

    /// Appends the next value.
    mutating func append(to arguments: inout SQLiteFile.Arguments) {
        switch nextTag {
        case .integer: arguments.append(Int64(bitPattern: bits))
        case .decimal: arguments.append(Double(bitPattern: bits))
        case .text:
            arguments.append(lentText: UnsafeRawBufferPointer(rebasing: bytes[place + 5..<place + 5 + length]))
        case .null, .geometry, .polygon, .endOfPolygons: arguments.appendNull()
        }
        skip()
    }

    private static func double(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> Double {
        Double(bitPattern: UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)))
    }

    /// The envelope in a geometry's header; for a point, the point itself.
    static func envelope(ofGeometry bytes: UnsafeRawBufferPointer) -> GeoPackageGeometry.Envelope {
        let start = GeoPackageGeometry.prefixLength
        guard bytes.count > start else { return .empty }
        guard bytes[3] & 0b1110 != 0 else {
            let (longitude, latitude) = (double(bytes, start + 5), double(bytes, start + 13))
            return GeoPackageGeometry.Envelope(west: longitude, east: longitude, south: latitude, north: latitude)
        }
        return GeoPackageGeometry.Envelope(
            west: double(bytes, start), east: double(bytes, start + 8), south: double(bytes, start + 16),
            north: double(bytes, start + 24))
    }

    /// The envelope of a polygon's exterior ring.
    static func envelope(ofPolygon bytes: UnsafeRawBufferPointer) -> GeoPackageGeometry.Envelope {
        var envelope = GeoPackageGeometry.Envelope.empty
        let points = Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 9, as: UInt32.self)))
        for point in 0..<points {
            let (longitude, latitude) = (double(bytes, 13 + 16 * point), double(bytes, 21 + 16 * point))
            envelope.extend(
                GeoPackageGeometry.Envelope(west: longitude, east: longitude, south: latitude, north: latitude))
        }
        return envelope
    }
}
