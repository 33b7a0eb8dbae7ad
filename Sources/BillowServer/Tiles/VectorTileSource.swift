import BillowExchange
import BillowRaster
import BillowSnapshot
import BillowStore
import BillowTiles
import Foundation
import Geometry
import Turbulence

/// Makes vector tiles: what the pictures show, as features with the properties of GeoJSON and its id as `id`. What GeoJSON
/// has as a list is its JSON as text. At low zooms, where pictures show coarser cells, a cell has `severity`,
/// `severityName` and `resolution`.
struct VectorTileSource: Sendable {
    let frames: FrameSource
    let pictures: PictureSource
    let store: any Store

    struct Request: Sendable {
        var layers: LayerList
        var coord: TileCoord
        var instant: Instant
        var filter: Filter
    }

    /// The tile; empty where nothing is in it.
    func tile(_ request: Request, in snapshot: Snapshot) async throws -> [UInt8] {
        let data = try await pictures.data(
            for: request.layers, at: request.instant, filter: request.filter, in: snapshot)
        var tile = VectorTile(request.coord)
        for layer in request.layers.layers {
            let features =
                layer.showsCells
                ? try await cells(layer, data, request, in: snapshot) : Self.features(layer, data, request.coord)
            tile.add(layer: layer.rawValue, features)
        }
        return tile.bytes
    }

    // MARK: - Cells

    private func cells(_ layer: Layer, _ data: PictureData, _ request: Request, in snapshot: Snapshot) async throws
        -> [VectorTile.Feature]
    {
        guard let plane = data.plane else { return [] }
        let (resolution, cells) = VectorTile.cells(of: plane, in: request.coord)
        if layer == .polygons || layer == .turbulence && request.coord.z < Layer.firstHexagonZoom {
            return Self.areas(cells, resolution: resolution)
        }
        guard resolution == Cell.resolution else {
            return cells.map { dense, severity in
                VectorTile.Feature(
                    id: UInt64(dense), shape: VectorTile.shape(dense: Int(dense), resolution: resolution),
                    properties: Self.properties(severity, resolution: resolution))
            }
        }
        return try await hexagons(Set(cells.map(\.dense)), request, in: snapshot)
    }

    /// One feature for each severity, of all its cells.
    private static func areas(_ cells: [(dense: UInt32, severity: Severity)], resolution: Int) -> [VectorTile.Feature] {
        Severity.allCases.compactMap { severity in
            let own = cells.filter { $0.severity == severity }
            guard !own.isEmpty else { return nil }
            return VectorTile.Feature(
                id: UInt64(severity.rawValue),
                shape: VectorTile.outline(of: own.map { Int($0.dense) }, resolution: resolution),
                properties: properties(severity, resolution: resolution) + [("mode", .text("exact"))])
        }
    }

    private static func properties(_ severity: Severity, resolution: Int) -> [(name: String, value: VectorTile.Value)] {
        [
            ("severity", .integer(Int(severity.rawValue))), ("severityName", .text(severity.name)),
            ("resolution", .integer(resolution)),
        ]
    }

    private func hexagons(_ shown: Set<UInt32>, _ request: Request, in snapshot: Snapshot) async throws
        -> [VectorTile.Feature]
    {
        guard !shown.isEmpty else { return [] }
        let frame = try await frames.frame(at: request.instant, filter: request.filter, in: snapshot)
        let hexagons = frame.hexagons(area: CellArea(request.coord.bounds)).filter {
            shown.contains($0.record.row.cell.dense)
        }
        let details = try await store.details(of: hexagons.map(\.record.row.key))
        return hexagons.map { hexagon in
            let record = hexagon.record
            let observation = FeatureSource.observation(record.row, record.source, details[record.row.key])
            return VectorTile.Feature(
                id: UInt64(record.row.cell.dense),
                shape: VectorTile.shape(dense: Int(record.row.cell.dense), resolution: Cell.resolution),
                properties: Self.properties(observation, record, reports: hexagon.reports))
        }
    }

    private static func properties(_ observation: Observation, _ record: StandingRecord, reports: Int)
        -> [(name: String, value: VectorTile.Value)]
    {
        var properties: [(name: String, value: VectorTile.Value)] = [
            ("id", .text(observation.cell.h3String)), ("h3", .text(observation.cell.h3String)),
            ("altitude", .integer(observation.altitude.lowest.feet)),
            ("altitudeMin", .integer(observation.altitude.lowest.feet)),
            ("altitudeMax", .integer(observation.altitude.highest.feet)),
            ("severity", .integer(Int(record.severity.rawValue))), ("severityName", .text(record.severity.name)),
            ("severityBasis", .text(record.basis.rawValue)),
        ]
        if let edr = observation.intensity.edr { properties.append(("edr", .number(edr.value))) }
        properties += [
            ("observedAt", .text(observation.observedAt.description)), ("source", .text(observation.source.name)),
            ("kind", .text(observation.kind.name)),
        ]
        if let category = observation.category { properties.append(("category", .text(category.name))) }
        if let aircraft = observation.aircraft { properties.append(("aircraft", .text(aircraft))) }
        properties.append(("reports", .integer(reports)))
        return properties
    }

    // MARK: - Records

    private static func features(_ layer: Layer, _ data: PictureData, _ coord: TileCoord) -> [VectorTile.Feature] {
        switch layer {
        case .turbulence, .hexagons, .polygons: []
        case .pireps: PictureContent.shown(data.reports, in: coord).map(feature)
        case .hazards: data.hazards.map { feature(Feature($0)) }
        case .forecast: data.forecasts.map { feature(Feature($0)) }
        case .traffic:
            PictureContent.shown(data.positions, in: coord).map {
                feature(Feature($0), id: UInt64($0.icao24.rawValue))
            }
        case .tracks: data.tracks.compactMap(track)
        }
    }

    private static func feature(_ feature: Feature) -> VectorTile.Feature { self.feature(feature, id: nil) }

    private static func feature(_ feature: Feature, id: UInt64?) -> VectorTile.Feature {
        VectorTile.Feature(
            id: id ?? number(feature.id), shape: shape(feature.geometry),
            properties: [("id", .text(feature.id))] + feature.properties.map { ($0.name.description, value($0.value)) })
    }

    private static func feature(_ report: PilotReport) -> VectorTile.Feature {
        var properties: [(name: String, value: VectorTile.Value)] = [
            ("id", .text(report.id)), ("type", .text(report.type)),
        ]
        if let aircraft = report.aircraft { properties.append(("aircraft", .text(aircraft))) }
        if let altitude = report.altitudeFeet { properties.append(("altitude", .integer(altitude))) }
        if let severity = report.severity {
            properties += [
                ("severity", .integer(Int(severity.rawValue))), ("severityName", .text(severity.name)),
            ]
        }
        properties += [
            ("observedAt", .text(report.observedAt.description)),
            ("turbulence", .text(FeatureWriter.text(of: report.turbulence))), ("text", .text(report.text)),
            ("source", .text(report.source.name)), ("kind", .text(ObservationKind.pilotReport.name)),
        ]
        return VectorTile.Feature(
            id: number(report.id), shape: .point(VectorTile.unit(report.place)), properties: properties)
    }

    private static func track(_ track: [AircraftPosition]) -> VectorTile.Feature? {
        guard let last = track.last, let first = track.first, track.count > 1 else { return nil }
        var line: [Point] = []
        for position in track {
            var point = VectorTile.unit(position.place)
            if let before = line.last { point.x -= (point.x - before.x).rounded() }
            line.append(point)
        }
        var properties: [(name: String, value: VectorTile.Value)] = [
            ("id", .text(last.icao24.text)), ("icao24", .text(last.icao24.text)),
        ]
        if let callsign = last.callsign { properties.append(("callsign", .text(callsign))) }
        properties += [
            ("observedFrom", .text(first.observedAt.description)), ("observedTo", .text(last.observedAt.description)),
            ("source", .text(last.source.name)),
        ]
        return VectorTile.Feature(id: UInt64(last.icao24.rawValue), shape: .lines([line]), properties: properties)
    }

    /// A number for a text, below 2⁵³; the same text always has the same.
    private static func number(_ id: String) -> UInt64 { EntityTags.hash(id.utf8) >> 11 }

    private static func value(_ value: PropertyValue) -> VectorTile.Value {
        switch value {
        case .text(let text): .text(text)
        case .integer(let number): .integer(number)
        case .decimal(let number, let decimals):
            .number(Double(String(format: "%.\(decimals)f", number)) ?? number)
        case .flag(let flag): .flag(flag)
        case .instant(let instant): .text(instant.description)
        case .instants(let instants):
            .text("[\(instants.map { "\"\($0)\"" }.joined(separator: ","))]")
        }
    }

    private static func shape(_ geometry: FeatureGeometry) -> VectorTile.Shape {
        func rings(_ polygon: [[LonLat]]) -> [[Point]] { polygon.map { $0.dropLast().map(VectorTile.unit) } }
        return switch geometry {
        case .point(let place): .point(VectorTile.unit(place))
        case .lineString(let line): .lines([line.map(VectorTile.unit)])
        case .multiLineString(let lines): .lines(lines.map { $0.map(VectorTile.unit) })
        case .polygon(let polygon): .polygons([rings(polygon)])
        case .multiPolygon(let polygons): .polygons(polygons.map(rings))
        case .encoded: .lines([])
        }
    }
}

extension Layer {
    /// The properties of its features in vector tiles, with their types as TileJSON names them.
    var vectorFields: [String: String] {
        var fields: [String: String] = [:]
        func add(_ type: String, _ names: String) {
            for name in names.split(separator: " ") { fields[String(name)] = type }
        }
        switch self {
        case .turbulence, .hexagons:
            add("Number", "altitude altitudeMin altitudeMax severity edr reports resolution")
            add("String", "id h3 severityName severityBasis observedAt source kind category aircraft")
            if self == .turbulence { add("String", "mode") }
        case .polygons:
            add("Number", "severity resolution")
            add("String", "severityName mode")
        case .pireps:
            add("Number", "altitude severity")
            add("String", "id type aircraft severityName observedAt turbulence text source kind")
        case .hazards, .forecast:
            add("Number", "severity altitudeMin altitudeMax forecastHour")
            add("String", "id kind hazard severityName validFrom validTo issuedAt status text source")
        case .traffic:
            add("Number", "altitude geometricAltitude groundSpeed heading verticalRate category")
            add("String", "id icao24 callsign observedAt source")
            add("Boolean", "onGround")
        case .tracks: add("String", "id icao24 callsign observedFrom observedTo source")
        }
        return fields
    }
}
