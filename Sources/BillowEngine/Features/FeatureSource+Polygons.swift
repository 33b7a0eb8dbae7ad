package import BillowAreas
package import BillowExchange
package import BillowSnapshot
import Geometry
package import Turbulence

/// Turbulence polygons: our own, dissolved from the picture, and those that an upstream issues, told apart by source.
extension FeatureSource {
    package func polygons(
        _ query: FeatureQuery, in snapshot: Snapshot, after cursor: Cursor?, limit: PageLimit,
        memory: inout PageMemory, to writer: inout FeatureWriter
    ) async throws -> Cursor? {
        if memory.made == nil { memory.made = try await polygons(query, in: snapshot) }
        return try write(memory.made ?? [], after: cursor, limit: limit, memory: &memory, to: &writer)
    }

    package func polygon(_ id: String, _ query: FeatureQuery, in snapshot: Snapshot, to writer: inout FeatureWriter)
        async throws
    {
        var query = query
        // An id of our own ends with its history.
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
            query.filter.takes(area) && query.issuers?.contains(area.source) ?? true && query.touches(area.geometry)
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
    /// Without its polygons, which are written one by one.
    package init(_ polygon: TurbulencePolygon, _ filter: Filter) {
        let hours = Double(filter.lookBackSeconds) / 3_600
        let highest = min(filter.altitudes.maximum, AltitudeBlock.range.upperBound)
        self.init(
            id: polygon.id(filter), geometry: .multiPolygon([]),
            properties: [
                ("severity", .integer(Int(polygon.severity.rawValue))), ("severityName", .text(polygon.severity.name)),
                ("history", .decimal(hours, decimals: 4)), ("mode", .text(polygon.mode.rawValue)),
                ("altitudeMin", .integer(filter.altitudes.minimum * 1_000)),
                ("altitudeMax", .integer(highest * 1_000)), ("hexagons", .integer(polygon.hexagons)),
                ("observedFrom", polygon.observed.map { .instant($0.lowerBound) }),
                ("observedTo", polygon.observed.map { .instant($0.upperBound) }),
                ("source", .text(Filter.ownSource)),
            ])
    }

    package init(polygon area: IssuedArea) {
        self.init(
            id: area.id, geometry: .multiPolygon(area.geometry.polygons),
            properties: [
                ("severity", area.severity.map { .integer(Int($0.rawValue)) }),
                ("severityName", area.severity.map { .text($0.name) }),
                ("history", area.historySeconds.map { .decimal(Double($0) / 3_600, decimals: 4) }),
                ("altitudeMin", area.altitudeMinFeet.map { .integer($0) }),
                ("altitudeMax", area.altitudeMaxFeet.map { .integer($0) }),
                ("observedFrom", area.historySeconds.map { .instant(area.validFrom.advanced(by: -$0)) }),
                ("observedTo", .instant(area.validFrom)), ("source", .text(area.source.name)),
            ])
    }
}
