package import BillowRaster
package import Foundation
import Geometry

/// Land, lakes, borders and coasts, which a map picture may have below its data.
///
/// It is read from the files that `Scripts/convert-basemap` makes, from which the viewer draws the same map.
package struct BaseMap: Sendable {
    /// A level of detail.
    package enum Detail: String, Sendable, Hashable, CaseIterable {
        case coarse
        case fine = "basemap"

        /// The lowest zoom for which the coarse level is not enough; that of the viewer, rounded up.
        private static let fineZoom = 5

        /// The level that a region needs.
        package init(for region: MapRegion) { self = region.zoom < Self.fineZoom ? .coarse : .fine }

        package var fileName: String { "\(rawValue).geojson" }
    }

    /// The colours for a theme; those of the viewer's base map.
    package struct Palette: Sendable {
        package let ocean: StraightColour
        package let land: StraightColour
        package let coast: StraightColour
        package let border: StraightColour
        package let state: StraightColour

        package init(_ theme: Theme) {
            func colour(_ bits: UInt32) -> StraightColour {
                StraightColour(
                    red: UInt8(truncatingIfNeeded: bits >> 16), green: UInt8(truncatingIfNeeded: bits >> 8),
                    blue: UInt8(truncatingIfNeeded: bits))
            }
            switch theme {
            case .light:
                (ocean, land) = (colour(0xB9C8D3), colour(0xD3D8D3))
                (coast, border, state) = (colour(0x6F7F8C), colour(0x8E979C), colour(0xAAB1B2))
            case .dark:
                (ocean, land) = (colour(0x101A23), colour(0x25303A))
                (coast, border, state) = (colour(0x5D7283), colour(0x56636D), colour(0x3D4952))
            }
        }
    }

    /// The rings of all land, and of all lakes. Neighbours share the vertices of their border, and all exteriors wind
    /// the same way, so that they are filled together without a seam.
    private let land: [[[LonLat]]]
    private let lakes: [[[LonLat]]]
    private let coasts: [[LonLat]]
    private let borders: [[LonLat]]
    private let states: [[LonLat]]
    /// A hash of the file.
    package let hash: UInt64

    /// The number of positions.
    package var count: Int {
        (land + lakes).joined().reduce(0) { $0 + $1.count } + (coasts + borders + states).reduce(0) { $0 + $1.count }
    }

    /// - Throws: `DecodingError` for a file that isn't such a map.
    package init(_ geoJSON: Data) throws {
        let file = try JSONDecoder().decode(File.self, from: geoJSON)
        func polygons(_ kind: String) -> [[[LonLat]]] {
            file.features.filter { $0.properties.kind == kind }.flatMap { feature -> [[[LonLat]]] in
                if case .polygons(let polygons) = feature.geometry { polygons } else { [] }
            }
        }
        func lines(_ kind: String) -> [[LonLat]] {
            file.features.filter { $0.properties.kind == kind }.flatMap { feature -> [[LonLat]] in
                if case .lines(let lines) = feature.geometry { lines } else { [] }
            }
        }
        (land, lakes) = (polygons("land"), polygons("lake"))
        (coasts, borders, states) = (lines("coast"), lines("border"), lines("state"))
        hash = geoJSON.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
    }

    /// The widths of lines in points at zooms 1 and 6.
    package static let borderWidths = (0.5, 1.4)
    package static let coastWidths = (0.5, 1.2)

    /// The lowest zoom with the borders inside the largest countries.
    private static let firstStateZoom = 3

    /// Fills a canvas of a region with the map.
    package func paint(_ region: MapRegion, theme: Theme, onto canvas: inout Canvas) {
        let palette = Palette(theme)
        canvas.fill(with: palette.ocean)
        canvas.fill(rings(of: land, in: region), with: palette.land)
        canvas.fill(rings(of: lakes, in: region), with: palette.ocean)
        func width(_ widths: (Double, Double)) -> Stroke {
            let share = min(max(Double(region.zoom - 1) / 5, 0), 1)
            return Stroke(width: (widths.0 + (widths.1 - widths.0) * share) * Double(region.scale))
        }
        if region.zoom >= Self.firstStateZoom {
            paint(states, Stroke(width: 0.8 * Double(region.scale)), palette.state, region, onto: &canvas)
        }
        paint(borders, width(Self.borderWidths), palette.border, region, onto: &canvas)
        paint(coasts, width(Self.coastWidths), palette.coast, region, onto: &canvas)
    }

    private func rings(of polygons: [[[LonLat]]], in region: MapRegion) -> [[Point]] {
        polygons.flatMap { region.copies(of: $0, margin: 1).joined() }.map { $0.thinned }
    }

    private func paint(
        _ lines: [[LonLat]], _ stroke: Stroke, _ colour: StraightColour, _ region: MapRegion, onto canvas: inout Canvas
    ) {
        let margin = stroke.width + 1
        for line in lines {
            let points = line.map(region.worldPoint)
            guard let minX = points.map(\.x).min(), let maxX = points.map(\.x).max() else { continue }
            for copy in region.copies(from: minX, to: maxX, margin: margin) {
                canvas.stroke(points.map { region.local($0, copy: copy) }.thinned, with: stroke, colour: colour)
            }
        }
    }
}

extension [Point] {
    /// Without vertices less than half a pixel from the one before, which would cost time and wouldn't be visible. The
    /// last one stays.
    fileprivate var thinned: [Point] {
        var kept: [Point] = []
        for (index, point) in enumerated() {
            if let last = kept.last, index < count - 1, abs(last.x - point.x) < 0.5, abs(last.y - point.y) < 0.5 {
                continue
            }
            kept.append(point)
        }
        return kept
    }
}

/// The GeoJSON of a base map.
private struct File: Decodable {
    struct Feature: Decodable {
        struct Properties: Decodable { var kind: String }

        var properties: Properties
        var geometry: Geometry
    }

    enum Geometry: Decodable {
        case polygons([[[LonLat]]])
        case lines([[LonLat]])
        /// A place's name, which pictures don't have.
        case other

        private enum Keys: String, CodingKey { case type, coordinates }

        init(from decoder: any Decoder) throws {
            let members = try decoder.container(keyedBy: Keys.self)
            switch try members.decode(String.self, forKey: .type) {
            case "MultiPolygon":
                self = .polygons(
                    try members.decode([[[Position]]].self, forKey: .coordinates).map { $0.map { $0.map(\.place) } })
            case "MultiLineString":
                self = .lines(try members.decode([[Position]].self, forKey: .coordinates).map { $0.map(\.place) })
            default: self = .other
            }
        }
    }

    struct Position: Decodable {
        var place: LonLat

        init(from decoder: any Decoder) throws {
            var numbers = try decoder.unkeyedContainer()
            let (longitude, latitude) = (try numbers.decode(Double.self), try numbers.decode(Double.self))
            guard let place = LonLat(longitude: longitude, latitude: latitude) else {
                throw DecodingError.dataCorruptedError(in: numbers, debugDescription: "a place outside of the world")
            }
            self.place = place
        }
    }

    var features: [Feature]
}
