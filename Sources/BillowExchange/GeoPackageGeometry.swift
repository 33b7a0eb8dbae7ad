import Geometry

/// Geometries as GeoPackages store them: a header with the envelope, and Well-known Binary. Areas are multi-polygons
/// and lines multi-lines, so that a table has one type.
///
/// Source: OGC 12-128r19 (GeoPackage 1.4) section 2.1.3; OGC 06-103r4 (Simple Feature Access part 1) section 8.2
package enum GeoPackageGeometry {
    /// A bounding box of longitudes and latitudes in degrees.
    package struct Envelope: Sendable, Hashable {
        package var west: Double
        package var east: Double
        package var south: Double
        package var north: Double

        /// Around nothing.
        package static let empty = Envelope(
            west: .infinity, east: -.infinity, south: .infinity, north: -.infinity)

        package var isEmpty: Bool { west > east }

        package init(west: Double, east: Double, south: Double, north: Double) {
            self.west = west
            self.east = east
            self.south = south
            self.north = north
        }

        mutating func extend(_ place: LonLat) {
            west = min(west, place.longitude)
            east = max(east, place.longitude)
            south = min(south, place.latitude)
            north = max(north, place.latitude)
        }

        package mutating func extend(_ other: Envelope) {
            west = min(west, other.west)
            east = max(east, other.east)
            south = min(south, other.south)
            north = max(north, other.north)
        }
    }

    /// Longitude and latitude of WGS 84.
    package static let referenceSystem: Int32 = 4_326
    /// Bytes before an envelope.
    package static let prefixLength = 8
    package static let envelopeLength = 32

    private enum Kind: UInt32 {
        case point = 1
        case line = 2
        case polygon = 3
        case multiLine = 5
        case multiPolygon = 6
    }

    /// Appends a geometry with its header; nothing for one that is JSON already.
    static func append(_ geometry: FeatureGeometry, to bytes: inout [UInt8]) {
        switch geometry {
        case .encoded: break
        case .point(let place):
            // A point is its own envelope.
            appendPrefix(hasEnvelope: false, to: &bytes)
            begin(.point, &bytes)
            append(place, &bytes)
        case .polygon(let rings): append([rings], kind: .multiPolygon, parts: appendPolygon, to: &bytes)
        case .multiPolygon(let polygons): append(polygons, kind: .multiPolygon, parts: appendPolygon, to: &bytes)
        case .lineString(let line): append([line], kind: .multiLine, parts: appendLine, to: &bytes)
        case .multiLineString(let lines): append(lines, kind: .multiLine, parts: appendLine, to: &bytes)
        }
    }

    private static func append<Part>(
        _ parts: [Part], kind: Kind, parts write: (Part, inout [UInt8]) -> Envelope, to bytes: inout [UInt8]
    ) {
        appendPrefix(hasEnvelope: true, to: &bytes)
        let place = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: envelopeLength))
        begin(kind, &bytes)
        bytes.append(little: UInt32(parts.count))
        var envelope = Envelope.empty
        for part in parts { envelope.extend(write(part, &bytes)) }
        var written: [UInt8] = []
        append(envelope, to: &written)
        bytes.replaceSubrange(place..<place + envelopeLength, with: written)
    }

    /// The header and the beginning of a multi-polygon whose polygons follow.
    package static func multiPolygonPrefix(of polygons: Int, _ envelope: Envelope) -> [UInt8] {
        var bytes: [UInt8] = []
        appendPrefix(hasEnvelope: true, to: &bytes)
        append(envelope, to: &bytes)
        begin(.multiPolygon, &bytes)
        bytes.append(little: UInt32(polygons))
        return bytes
    }

    /// Magic, version 1, flags and reference system.
    private static func appendPrefix(hasEnvelope: Bool, to bytes: inout [UInt8]) {
        bytes.append(contentsOf: [0x47, 0x50, 0, hasEnvelope ? 0b011 : 0b001])
        bytes.append(little: referenceSystem)
    }

    private static func append(_ envelope: Envelope, to bytes: inout [UInt8]) {
        for value in [envelope.west, envelope.east, envelope.south, envelope.north] { bytes.append(little: value) }
    }

    private static func begin(_ kind: Kind, _ bytes: inout [UInt8]) {
        bytes.append(1)
        bytes.append(little: kind.rawValue)
    }

    @inline(__always)
    private static func append(_ place: LonLat, _ bytes: inout [UInt8]) {
        bytes.append(little: place.longitude)
        bytes.append(little: place.latitude)
    }

    /// Appends a polygon as Well-known Binary.
    static func appendPolygon(_ rings: [[LonLat]], to bytes: inout [UInt8]) -> Envelope {
        var envelope = Envelope.empty
        begin(.polygon, &bytes)
        bytes.append(little: UInt32(rings.count))
        for ring in rings {
            bytes.append(little: UInt32(ring.count))
            for place in ring {
                append(place, &bytes)
                envelope.extend(place)
            }
        }
        return envelope
    }

    private static func appendLine(_ line: [LonLat], to bytes: inout [UInt8]) -> Envelope {
        var envelope = Envelope.empty
        begin(.line, &bytes)
        bytes.append(little: UInt32(line.count))
        for place in line {
            append(place, &bytes)
            envelope.extend(place)
        }
        return envelope
    }
}
