import BillowAreas
package import BillowExchange
package import BillowSnapshot
import Datasets
import Geometry
import Turbulence

/// Turbulence polygons: Billow's own, dissolved from the frame, and those that an upstream issues. They differ by
/// source.
extension FeatureSource {
    package func polygons(
        _ query: FeatureQuery, in snapshot: Snapshot, after cursor: Cursor?, limit: PageLimit,
        memory: inout QueryIntermediates, to writer: inout FeatureWriter
    ) async throws(EngineError) -> Cursor? {
        if memory.prepared == nil {
            memory.prepared = Self.ordered(try await polygons(query, in: snapshot), along: query.route)
        }
        return try write(memory.prepared ?? [], after: cursor, limit: limit, memory: &memory, to: &writer)
    }

    package func polygon(_ id: String, _ query: FeatureQuery, in snapshot: Snapshot, to writer: inout FeatureWriter)
        async throws(EngineError)
    {
        var query = query
        // `{severity}-{history}`; behind that the source, where another than Billow issued it.
        let parts = id.split(separator: "-", maxSplits: 2)
        if parts.count > 1, let history = History.allCases.first(where: { $0.text == parts[1] }) {
            query.filter.lookBackSeconds = history.seconds
        }
        var made = try await issuedPolygons(query, in: snapshot)
        if parts.count <= 2 { made += try await ownPolygons(query, in: snapshot) }
        if let polygon = made.first(where: { $0.id == id }) { writer.write(polygon.feature) }
    }

    private func polygons(_ query: FeatureQuery, in snapshot: Snapshot) async throws(EngineError) -> [PreparedFeature] {
        let made = try await issuedPolygons(query, in: snapshot) + ownPolygons(query, in: snapshot)
        return made.sorted { $0.id < $1.id }
    }

    private func issuedPolygons(_ query: FeatureQuery, in snapshot: Snapshot)
        async throws(EngineError) -> [PreparedFeature]
    {
        let issued = try await frames.issuedPolygons(query.filter, at: query.instant, in: snapshot).filter { area in
            query.filter.matches(area) && query.issuers?.contains(area.source) ?? true && query.touches(area.geometry)
        }
        return issued.map { area in PreparedFeature(id: area.id) { Feature(polygon: area) } }
    }

    private func ownPolygons(_ query: FeatureQuery, in snapshot: Snapshot)
        async throws(EngineError) -> [PreparedFeature]
    {
        guard !query.filter.excludesReports else { return [] }
        return try await polygons.polygons(query, in: snapshot).map { polygon in
            PreparedFeature(id: polygon.id(query.filter), polygons: polygon.area) { Feature(polygon, query.filter) }
        }
    }
}

extension TurbulencePolygon {
    fileprivate func id(_ filter: Filter) -> String { "\(severity.rawValue)-\(HistoryText.of(filter.lookBackSeconds))" }
}

extension Feature {
    /// A polygon dissolved from hexagons. Its geometry is left out, because it is written polygon by polygon.
    init(_ polygon: TurbulencePolygon, _ filter: Filter) {
        let highest = min(filter.altitudes.maximum, AltitudeBlock.range.upperBound)
        let feature = PolygonFeature(
            severity: polygon.severity, historySeconds: filter.lookBackSeconds, mode: polygon.mode.rawValue,
            altitudeMinFeet: filter.altitudes.minimum * 1_000, altitudeMaxFeet: highest * 1_000,
            hexagons: polygon.hexagons, observedFrom: polygon.observed?.lowerBound,
            observedTo: polygon.observed?.upperBound, source: Filter.ownSource)
        self.init(
            id: polygon.id(filter), geometry: .multiPolygon([]), properties: Schema.polygons.values(of: feature))
    }

    /// A polygon that an upstream issued.
    init(polygon area: IssuedArea) {
        self.init(
            id: area.id, geometry: .multiPolygon(area.geometry.polygons),
            properties: Schema.polygons.values(of: PolygonFeature(area)))
    }
}
