package import BillowTiles

/// The coordinate reference systems of maps.
package enum MapCRS: String, Sendable, Hashable, CaseIterable {
    /// Metres east and north.
    case mercator = "EPSG:3857"
    /// Degrees; latitude before longitude, except in WMS 1.1.1.
    case geographic = "EPSG:4326"
    /// Degrees, longitude before latitude.
    case crs84 = "CRS:84"

    package var projection: MapProjection { self == .mercator ? .mercator : .geographic }

    /// Source: OGC Name Type Specification 09-048r5
    package var uri: String {
        switch self {
        case .mercator: "http://www.opengis.net/def/crs/EPSG/0/3857"
        case .geographic: "http://www.opengis.net/def/crs/EPSG/0/4326"
        case .crs84: "http://www.opengis.net/def/crs/OGC/1.3/CRS84"
        }
    }

    /// Parses a URI, a safe CURIE (`[EPSG:3857]`) or a name; nil for an unknown system.
    package init?(uri text: String) {
        let name = text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
        let known = Self.allCases.first { crs in
            crs.uri == text || crs.uri.replacing("http:", with: "https:") == text || crs.rawValue == name
                || crs == .crs84 && name == "OGC:CRS84"
        }
        guard let known else { return nil }
        self = known
    }

    /// The distance from the centre of the web mercator map to its edge, in metres.
    ///
    /// Source: EPSG:3857, π × 6,378,137 m
    package static let mercatorEdge = 20_037_508.342_789_244

    /// The reason why a box is invalid.
    package enum BoxProblem: Error, Sendable, Hashable {
        case notFourNumbers, withoutArea, swapped, tooFar

        package func expected(_ crs: MapCRS, isLatitudeFirst: Bool) -> String {
            let order =
                isLatitudeFirst
                ? "south,west,north,east"
                : crs == .mercator ? "four metres, west,south,east,north" : "west,south,east,north"
            return switch self {
            case .notFourNumbers: "four numbers, \(order)"
            case .withoutArea: "\(order), with west below east and south below north"
            case .swapped:
                isLatitudeFirst
                    ? "\(order): this has longitudes where latitudes belong; CRS:84 has the longitude first"
                    : "\(order): this has longitudes where latitudes belong"
            case .tooFar: "\(order), at most three worlds wide and high"
            }
        }
    }

    /// The rectangle of four numbers: west, south, east, north, or with latitude first south, west, north, east.
    package func plane(_ text: String, isLatitudeFirst: Bool) throws(BoxProblem) -> PlaneBox {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        var numbers = parts.compactMap { QueryReader.decimal($0) }
        guard parts.count == 4, numbers.count == 4 else { throw .notFourNumbers }
        if isLatitudeFirst { numbers = [numbers[1], numbers[0], numbers[3], numbers[2]] }
        let (west, south, east, north) = (numbers[0], numbers[1], numbers[2], numbers[3])
        guard west < east, south < north else { throw .withoutArea }
        let box: PlaneBox?
        if self == .mercator {
            func unit(_ metres: Double) -> Double { metres / (2 * Self.mercatorEdge) }
            box = PlaneBox(
                minX: unit(west) + 0.5, minY: 0.5 - unit(north), maxX: unit(east) + 0.5, maxY: 0.5 - unit(south))
        } else {
            // Clients send latitudes beyond the poles if their region is higher than the world, and then it is wide
            // too.
            let isOffEarth = south < -90 || north > 90
            if isOffEarth, west >= -90, east <= 90 { throw .swapped }
            box = PlaneBox(
                minX: west / 360 + 0.5, minY: (90 - north) / 360, maxX: east / 360 + 0.5, maxY: (90 - south) / 360)
        }
        guard let box else { throw .tooFar }
        return box
    }
}
