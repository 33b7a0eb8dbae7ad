package import Datasets

/// The table of a GeoPackage, derived from a dataset.
package struct GeoPackageTable: Sendable {
    /// A column in addition to the key, the geometry and the id.
    struct Column: Sendable {
        var name: String
        /// The type's name in GeoPackage.
        var type: String
        var summary: String?
    }

    /// The type of all geometries of the table.
    enum GeometryType: String, Sendable {
        case point = "POINT"
        case multiLine = "MULTILINESTRING"
        case multiPolygon = "MULTIPOLYGON"
    }

    let name: String
    let columns: [Column]
    let geometryType: GeometryType

    static let geometryColumn = "geom"

    /// - Parameter isSimulated: whether each feature is marked as simulated.
    package init(_ dataset: Dataset, isSimulated: Bool) {
        name = dataset.id
        geometryType =
            switch dataset.geometry {
            case .point: .point
            case .line: .multiLine
            case .polygon: .multiPolygon
            }
        columns =
            dataset.properties.filter { !$0.isOfTilesOnly }.map { property in
                Column(
                    name: property.name.description, type: Self.type(property.type),
                    summary: property.summary + (property.unit.map { " (\($0))" } ?? ""))
            } + (isSimulated ? [Column(name: "simulated", type: "BOOLEAN", summary: nil)] : [])
    }

    /// Source: OGC 12-128r19 table 1
    private static func type(_ type: Property.ValueType) -> String {
        switch type {
        case .text, .instants, .groups: "TEXT"
        case .integer: "INTEGER"
        case .decimal: "REAL"
        case .flag: "BOOLEAN"
        case .instant: "DATETIME"
        }
    }

    /// A quoted name in SQL. Names come from the catalogue, and none contains a quote.
    private static func quoted(_ name: String) -> String { "\"\(name)\"" }

    /// The name of the spatial index.
    var index: String { "rtree_\(name)_\(Self.geometryColumn)" }

    var creation: String {
        let own = columns.map { "\(Self.quoted($0.name)) \($0.type)" }
        let all =
            ["fid INTEGER NOT NULL PRIMARY KEY", "\(Self.geometryColumn) \(geometryType.rawValue)", "id TEXT NOT NULL"]
            + own
        return "CREATE TABLE \(Self.quoted(name)) (\(all.joined(separator: ", ")))"
    }

    var insertion: String {
        "INSERT INTO \(Self.quoted(name)) VALUES (?, ?, ?\(String(repeating: ", ?", count: columns.count)))"
    }

    /// Triggers that update the spatial index when another program changes the table.
    ///
    /// Source: OGC 12-128r17 (GeoPackage 1.3) annex F.3
    var triggers: String {
        let (table, geometry, index) = (Self.quoted(name), Self.geometryColumn, Self.quoted(index))
        func trigger(_ suffix: String, _ event: String, _ condition: String, _ actions: String) -> String {
            "CREATE TRIGGER \(Self.quoted("\(self.index)_\(suffix)")) AFTER \(event) ON \(table) WHEN (\(condition)) "
                + "BEGIN \(actions) END;"
        }
        let isThere = "NEW.\(geometry) NOTNULL AND NOT ST_IsEmpty(NEW.\(geometry))"
        let isNotThere = "NEW.\(geometry) ISNULL OR ST_IsEmpty(NEW.\(geometry))"
        let put =
            "INSERT OR REPLACE INTO \(index) VALUES (NEW.fid, ST_MinX(NEW.\(geometry)), ST_MaxX(NEW.\(geometry)), "
            + "ST_MinY(NEW.\(geometry)), ST_MaxY(NEW.\(geometry)));"
        let remove = "DELETE FROM \(index) WHERE id = OLD.fid;"
        return [
            trigger("insert", "INSERT", isThere, put),
            trigger("update1", "UPDATE OF \(geometry)", "OLD.fid = NEW.fid AND (\(isThere))", put),
            trigger("update2", "UPDATE OF \(geometry)", "OLD.fid = NEW.fid AND (\(isNotThere))", remove),
            trigger("update3", "UPDATE", "OLD.fid != NEW.fid AND (\(isThere))", remove + " " + put),
            trigger(
                "update4", "UPDATE", "OLD.fid != NEW.fid AND (\(isNotThere))",
                "DELETE FROM \(index) WHERE id IN (OLD.fid, NEW.fid);"),
            trigger("delete", "DELETE", "OLD.\(geometry) NOTNULL", remove),
        ].joined(separator: "\n")
    }

    /// The mandatory tables, and the tables of metadata, column descriptions and styles.
    ///
    /// Source: OGC 12-128r19 sections 1.1.2 to 1.1.3, 2.1.5, 2.3, annexes F.8 and F.9; the table of styles is that of
    /// QGIS, docs.qgis.org (`layer_styles`)
    static let schema = """
        CREATE TABLE gpkg_spatial_ref_sys (
            srs_name TEXT NOT NULL, srs_id INTEGER NOT NULL PRIMARY KEY, organization TEXT NOT NULL,
            organization_coordsys_id INTEGER NOT NULL, definition TEXT NOT NULL, description TEXT);
        INSERT INTO gpkg_spatial_ref_sys VALUES
            ('Undefined cartesian SRS', -1, 'NONE', -1, 'undefined', 'undefined cartesian coordinate reference system'),
            ('Undefined geographic SRS', 0, 'NONE', 0, 'undefined', 'undefined geographic coordinate reference system'),
            ('WGS 84 geodetic', 4326, 'EPSG', 4326, '\(definition)',
            'longitude/latitude coordinates in decimal degrees on the WGS 84 spheroid');
        CREATE TABLE gpkg_contents (
            table_name TEXT NOT NULL PRIMARY KEY, data_type TEXT NOT NULL, identifier TEXT UNIQUE,
            description TEXT DEFAULT '', last_change DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')),
            min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE, srs_id INTEGER,
            CONSTRAINT fk_gc_r_srs_id FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys(srs_id));
        CREATE TABLE gpkg_geometry_columns (
            table_name TEXT NOT NULL, column_name TEXT NOT NULL, geometry_type_name TEXT NOT NULL,
            srs_id INTEGER NOT NULL, z TINYINT NOT NULL, m TINYINT NOT NULL,
            CONSTRAINT pk_geom_cols PRIMARY KEY (table_name, column_name),
            CONSTRAINT uk_gc_table_name UNIQUE (table_name),
            CONSTRAINT fk_gc_tn FOREIGN KEY (table_name) REFERENCES gpkg_contents(table_name),
            CONSTRAINT fk_gc_srs FOREIGN KEY (srs_id) REFERENCES gpkg_spatial_ref_sys (srs_id));
        CREATE TABLE gpkg_extensions (
            table_name TEXT, column_name TEXT, extension_name TEXT NOT NULL, definition TEXT NOT NULL,
            scope TEXT NOT NULL, CONSTRAINT ge_tce UNIQUE (table_name, column_name, extension_name));
        INSERT INTO gpkg_extensions VALUES
            ('gpkg_data_columns', NULL, 'gpkg_schema', 'http://www.geopackage.org/spec120/#extension_schema',
            'read-write'),
            ('gpkg_data_column_constraints', NULL, 'gpkg_schema',
            'http://www.geopackage.org/spec120/#extension_schema', 'read-write'),
            ('gpkg_metadata', NULL, 'gpkg_metadata', 'http://www.geopackage.org/spec120/#extension_metadata',
            'read-write'),
            ('gpkg_metadata_reference', NULL, 'gpkg_metadata',
            'http://www.geopackage.org/spec120/#extension_metadata', 'read-write');
        CREATE TABLE gpkg_data_columns (
            table_name TEXT NOT NULL, column_name TEXT NOT NULL, name TEXT, title TEXT, description TEXT,
            mime_type TEXT, constraint_name TEXT,
            CONSTRAINT pk_gdc PRIMARY KEY (table_name, column_name),
            CONSTRAINT gdc_tn UNIQUE (table_name, name));
        CREATE TABLE gpkg_data_column_constraints (
            constraint_name TEXT NOT NULL, constraint_type TEXT NOT NULL, value TEXT, min NUMERIC,
            min_is_inclusive BOOLEAN, max NUMERIC, max_is_inclusive BOOLEAN, description TEXT,
            CONSTRAINT gdcc_ntv UNIQUE (constraint_name, constraint_type, value));
        CREATE TABLE gpkg_metadata (
            id INTEGER CONSTRAINT m_pk PRIMARY KEY ASC NOT NULL, md_scope TEXT NOT NULL DEFAULT 'dataset',
            md_standard_uri TEXT NOT NULL, mime_type TEXT NOT NULL DEFAULT 'text/xml',
            metadata TEXT NOT NULL DEFAULT '');
        CREATE TABLE gpkg_metadata_reference (
            reference_scope TEXT NOT NULL, table_name TEXT, column_name TEXT, row_id_value INTEGER,
            timestamp DATETIME NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')), md_file_id INTEGER NOT NULL,
            md_parent_id INTEGER,
            CONSTRAINT crmr_mfi_fk FOREIGN KEY (md_file_id) REFERENCES gpkg_metadata(id),
            CONSTRAINT crmr_mpi_fk FOREIGN KEY (md_parent_id) REFERENCES gpkg_metadata(id));
        CREATE TABLE layer_styles (
            id INTEGER NOT NULL PRIMARY KEY, f_table_catalog TEXT(256), f_table_schema TEXT(256),
            f_table_name TEXT(256), f_geometry_column TEXT(256), styleName TEXT(30), styleQML TEXT, styleSLD TEXT,
            useAsDefault BOOLEAN, description TEXT, owner TEXT(30), ui TEXT(30),
            update_time DATETIME DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ','now')));
        """

    /// Source: EPSG:4326 as Well-known Text, OGC 01-009 section 7
    private static let definition = """
        GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563,AUTHORITY["EPSG","7030"]],\
        AUTHORITY["EPSG","6326"]],PRIMEM["Greenwich",0,AUTHORITY["EPSG","8901"]],\
        UNIT["degree",0.0174532925199433,AUTHORITY["EPSG","9122"]],AXIS["Latitude",NORTH],AXIS["Longitude",EAST],\
        AUTHORITY["EPSG","4326"]]
        """
}
