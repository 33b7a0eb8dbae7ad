/// The forms that a `FeatureWriter` writes features in.
package enum FeatureForm: Sendable, Hashable {
    /// One that is read as it is.
    case text(ExportFormat)
    /// Rows for the table of a GeoPackage (`FeatureRow`): columns as in CSV, and the geometry in binary.
    case rows

    static let geojson = FeatureForm.text(.geojson)
    static let csv = FeatureForm.text(.csv)
    static let kml = FeatureForm.text(.kml)

    /// Whether every feature has all columns, and nothing else.
    var isTable: Bool { self == .csv || self == .rows }
}

/// How a row of `FeatureForm.rows` lies in bytes: its id, the values of all columns, and its geometry. Each is a tag
/// with what it needs behind it; numbers are little-endian, and what has a length has it in 32 bits in front.
///
/// These bytes never leave the process.
package enum FeatureRow {
    package enum Tag: UInt8, Sendable {
        case null
        /// 64 bits.
        case integer
        /// A binary64.
        case decimal
        /// UTF-8 with its length.
        case text
        /// A whole geometry (`GeoPackageGeometry`) with its length. It ends the row.
        case geometry
        /// A polygon of a geometry that is written one by one: Well-known Binary with its length.
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

    /// Appends a value of any length behind its tag.
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
