/// The forms that a `FeatureWriter` writes features in.
package enum FeatureFormat: Sendable, Hashable {
    /// A text format of exports.
    case text(ExportFormat)
    /// Rows for the table of a GeoPackage (`FeatureRow`): columns as in CSV, and the geometry in binary.
    case rows

    static let geojson = FeatureFormat.text(.geojson)
    static let csv = FeatureFormat.text(.csv)
    static let kml = FeatureFormat.text(.kml)

    /// Whether every feature has exactly the columns of the table.
    var isTable: Bool { self == .csv || self == .rows }
}

/// The binary form of a row of `FeatureFormat.rows`: its id, the values of all columns, and its geometry. Each value is
/// a tag and its content. Numbers are little-endian, and texts and geometries have a length of 32 bits in front.
///
/// These bytes never leave the process.
package enum FeatureRow {
    package enum Tag: UInt8, Sendable {
        case null
        /// A 64-bit integer.
        case integer
        /// A 64-bit floating-point number.
        case decimal
        /// UTF-8 after its length.
        case text
        /// A complete geometry (`GeoPackageGeometry`) after its length. It ends the row.
        case geometry
        /// A polygon of a geometry that is written polygon by polygon: Well-known Binary after its length.
        case polygon
        /// Ends such a geometry, and the row.
        case endOfPolygons
    }
}

extension [UInt8] {
    mutating func append(_ tag: FeatureRow.Tag) { append(tag.rawValue) }

    mutating func append(little value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }

    mutating func append(little value: Double) { append(little: value.bitPattern) }

    /// Appends a value with its length after its tag.
    mutating func append(_ tag: FeatureRow.Tag, _ write: (inout [UInt8]) -> Void) {
        append(tag)
        let place = count
        append(little: UInt32(0))
        write(&self)
        let length = UInt32(count - place - 4)
        Swift.withUnsafeBytes(of: length.littleEndian) { replaceSubrange(place..<place + 4, with: $0) }
    }

    mutating func append(_ tag: FeatureRow.Tag, _ utf8: UnsafeBufferPointer<UInt8>) {
        append(tag)
        append(little: UInt32(utf8.count))
        append(contentsOf: utf8)
    }
}
