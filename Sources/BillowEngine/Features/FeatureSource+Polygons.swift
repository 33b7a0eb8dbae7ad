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
        memory: inout PageMemory, to writer: inout FeatureWriter
    ) async throws -> Cursor? {
        if memory.made == nil {
            memory.made = Self.ordered(try await polygons(query, in: snapshot), along: query.route)
        }
        return try write(memory.made ?? [], after: cursor, limit: limit, memory: &memory, to: &writer)
    }

    package func polygon(_ id: String, _ query: FeatureQuery, in snapshot: Snapshot, to writer: inout FeatureWriter)
        async throws
    {
        var query = query
        // The id of a polygon of Billow's own ends with its history.
        if let hours = id.split(separator: "-").last, let history = History.allCases.first(where: { $0.text == hours })
        {
            query.filter.lookBackSeconds = history.seconds
        }
        if let feature = try await polygons(query, in: snapshot).first(where: { $0.id == id }) {
            writer.write(feature.feature)
        }
    }

    private func polygons(_ query: FeatureQuery, in snapshot: Snapshot) async throws -> [Made] {
        let issued = try await frames.issuedPolygons(query.filter, at: query.instant, in: snapshot).filter { area in
            query.filter.matches(area) && query.issuers?.contains(area.source) ?? true && query.touches(area.geometry)
        }
        let own =
            query.filter.takesNoReports
            ? []
            : try await polygons.polygons(query, in: snapshot).map { polygon in
                Made(id: polygon.id(query.filter), polygons: polygon.area) { Feature(polygon, query.filter) }
            }
        let others = issued.map { area in Made(id: area.id) { Feature(polygon: area) } }
        return (own + others).sorted { $0.id < $1.id }
    }
}

extension TurbulencePolygon {
    fileprivate func id(_ filter: Filter) -> String { "\(severity.rawValue)-\(HoursText.of(filter.lookBackSeconds))" }
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
