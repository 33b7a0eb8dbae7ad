import Foundation
import Geometry
import Turbulence

/// Writes hexagons as a shapefile in EPSG:3857 with one number field, `severity`: what the peer draws. The corners are
/// those of the cell table, so both draw the same outlines.
///
/// Source: ESRI Shapefile Technical Description (1998); dBASE III file structure
enum Shapefile {
    private static let metresPerUnit = 2 * Double.pi * 6_378_137 / Double(Grid.world)

    /// Writes `name`.shp, .shx, .dbf and .prj into a folder.
    static func write(_ cells: [(dense: Int, severity: Severity)], resolution: Int, to folder: URL, name: String) throws
    {
        let table = CellTable.of(resolution: resolution)
        var records = Data()
        var index = Data()
        var rows = Data()
        var whole = Bounds()
        for (number, entry) in cells.enumerated() {
            // Clockwise on the map, and closed.
            var ring = table.vertices(dense: entry.dense).reversed().map {
                SIMD2(Double($0.x) * metresPerUnit, -Double($0.y) * metresPerUnit)
            }
            if let first = ring.first { ring.append(first) }
            var bounds = Bounds()
            ring.forEach { bounds.include($0) }
            whole.include(SIMD2(bounds.minX, bounds.minY))
            whole.include(SIMD2(bounds.maxX, bounds.maxY))
            var content = Data()
            content.append(little: Int32(5))
            content.append(bounds)
            content.append(little: Int32(1))
            content.append(little: Int32(ring.count))
            content.append(little: Int32(0))
            for point in ring {
                content.append(little: point.x.bitPattern)
                content.append(little: point.y.bitPattern)
            }
            for value in [(100 + records.count) / 2, content.count / 2] { index.append(big: Int32(value)) }
            for value in [number + 1, content.count / 2] { records.append(big: Int32(value)) }
            records.append(content)
            rows.append(contentsOf: [UInt8(ascii: " "), UInt8(ascii: "0") + entry.severity.rawValue])
        }
        let base = folder.appending(path: name)
        try (header(length: records.count, whole) + records).write(to: base.appendingPathExtension("shp"))
        try (header(length: index.count, whole) + index).write(to: base.appendingPathExtension("shx"))
        try (tableHeader(rows: cells.count) + rows + [0x1A]).write(to: base.appendingPathExtension("dbf"))
        try Data("PROJCS[\"WGS 84 / Pseudo-Mercator\"]".utf8).write(to: base.appendingPathExtension("prj"))
    }

    private static func header(length: Int, _ bounds: Bounds) -> Data {
        var data = Data()
        data.append(big: Int32(9_994))
        for _ in 0..<5 { data.append(big: Int32(0)) }
        data.append(big: Int32((100 + length) / 2))
        data.append(little: Int32(1_000))
        data.append(little: Int32(5))
        data.append(bounds)
        for _ in 0..<4 { data.append(little: UInt64(0)) }
        return data
    }

    private static func tableHeader(rows: Int) -> Data {
        var data = Data([3, 126, 1, 1])
        data.append(little: UInt32(rows))
        data.append(little: UInt16(65))
        data.append(little: UInt16(2))
        data.append(Data(count: 20))
        var field = Data("severity".utf8)
        field.append(Data(count: 3))
        field.append(UInt8(ascii: "N"))
        field.append(Data(count: 4))
        field.append(contentsOf: [1, 0])
        field.append(Data(count: 14))
        return data + field + [0x0D]
    }
}

private struct Bounds {
    var minX = Double.infinity
    var minY = Double.infinity
    var maxX = -Double.infinity
    var maxY = -Double.infinity

    mutating func include(_ point: SIMD2<Double>) {
        minX = min(minX, point.x)
        minY = min(minY, point.y)
        maxX = max(maxX, point.x)
        maxY = max(maxY, point.y)
    }
}

extension Data {
    fileprivate mutating func append(little value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }

    fileprivate mutating func append(big value: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
    }

    fileprivate mutating func append(_ bounds: Bounds) {
        for value in [bounds.minX, bounds.minY, bounds.maxX, bounds.maxY] { append(little: value.bitPattern) }
    }
}
