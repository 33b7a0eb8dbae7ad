import Geometry

extension FeatureGeometry {
    /// Well-Known Text with the decimals of GeoJSON; empty for a geometry that is encoded as JSON already.
    ///
    /// Source: OGC 06-103r4 (Simple Feature Access part 1) section 7
    var wellKnownText: String {
        switch self {
        case .point(let place): "POINT (\(Self.text(place)))"
        case .lineString(let line): "LINESTRING \(Self.text(line))"
        case .multiLineString(let lines): "MULTILINESTRING \(Self.text(lines))"
        case .polygon(let rings): "POLYGON \(Self.text(rings))"
        case .multiPolygon(let polygons):
            "MULTIPOLYGON (\(polygons.map { Self.text($0) }.joined(separator: ", ")))"
        case .encoded: ""
        }
    }

    /// A polygon as a member of a `MULTIPOLYGON`.
    static func wellKnownText(_ rings: [[LonLat]]) -> String { text(rings) }

    private static func text(_ lines: [[LonLat]]) -> String {
        "(\(lines.map { text($0) }.joined(separator: ", ")))"
    }

    private static func text(_ line: [LonLat]) -> String { "(\(line.map { text($0) }.joined(separator: ", ")))" }

    private static func text(_ place: LonLat) -> String {
        var bytes: [UInt8] = []
        _ = bytes.appendDecimal(place.longitude, decimals: FeatureWriter.coordinateDecimals)
        bytes.append(UInt8(ascii: " "))
        _ = bytes.appendDecimal(place.latitude, decimals: FeatureWriter.coordinateDecimals)
        return String(decoding: bytes, as: UTF8.self)
    }
}
