import BillowAreas
import BillowFields
import BillowSnapshot
import BillowTiles
import Datasets
package import Geometry
package import Turbulence

/// Computed turbulence along the path ahead, at the times when the aircraft will be there. It is separate from reports.
package struct FieldAhead: Sendable {
    /// A cell with turbulence.
    package struct TurbulentCell: Sendable {
        package let cell: Cell
        package let severity: Severity
        package let sample: FieldSection.Sample
        /// The time at which the aircraft is there.
        package let time: Instant
        /// The distance in nautical miles, the bearing in degrees clockwise from north, and the time to reach it in
        /// seconds.
        package let distance: Double
        package let bearing: Double
        package let timeTo: Double?
    }

    /// A group of nearby items, described by a single text.
    package struct Cluster: Sendable {
        /// The items, nearest first.
        package let items: [TurbulentCell]
        package let worst: TurbulentCell

        /// A sentence for people that describes a field, not reports.
        package var text: String {
            guard let first = items.first, let last = items.last else { return "" }
            var text = "\(worst.severity.label) computed in \(Int(first.distance.rounded())) NM"
            if let timeTo = first.timeTo {
                text += ", \(Int((timeTo / 60).rounded())) min"
                let passing = (last.timeTo ?? timeTo) - timeTo
                if passing >= 60 { text += ", for \(Int((passing / 60).rounded())) min" }
            }
            if let feet = worst.sample.feet { text += ", worst at \(FlightLevelText.of(feet))" }
            return text
        }
    }

    /// The nearest items first, at most `AlertSource.maximumItems`.
    package let items: [TurbulentCell]
    package let itemsMatched: Int
    package let clusters: [Cluster]
    /// The searched fields, by valid time.
    package let parts: [FieldSection.FieldLevels]
    /// The number of cells without a known value.
    package let unknownCells: Int
    /// The number of searched cells.
    package let cells: Int
    package let dataStatus: DataStatus

    /// The highest severity of all items; nil if there are none.
    package var severity: Severity? { items.map(\.severity).max() }

    init(
        items: [TurbulentCell], itemsMatched: Int, parts: [FieldSection.FieldLevels], unknownCells: Int, cells: Int,
        dataStatus: DataStatus
    ) {
        self.items = items
        self.itemsMatched = itemsMatched
        clusters = Self.clusters(items)
        self.parts = parts
        self.unknownCells = unknownCells
        self.cells = cells
        self.dataStatus = dataStatus
    }

    /// Groups items as reports are grouped, but without state from earlier answers. Each item joins the first cluster
    /// that has a member within `AlertClusters.nearest` and none beyond `AlertClusters.farthest`.
    /// - Complexity: O(items × members of clusters). One answer has at most `AlertSource.maximumItems` items.
    private static func clusters(_ items: [TurbulentCell]) -> [Cluster] {
        let places = items.map { Geodesic.vector(H3.center(of: $0.cell)) }
        let (near, far) = (chord(AlertClusters.nearest), chord(AlertClusters.farthest))
        var groups: [[Int]] = []
        for item in items.indices {
            let group = groups.firstIndex { members in
                var isNear = false
                for member in members {
                    let apart = places[member] - places[item]
                    let distance = (apart * apart).sum().squareRoot()
                    guard distance <= far else { return false }
                    if distance <= near { isNear = true }
                }
                return isNear
            }
            if let group { groups[group].append(item) } else { groups.append([item]) }
        }
        return groups.compactMap { members in
            let items = members.map { items[$0] }
            let most = items.map(\.severity).max()
            return items.first { $0.severity == most }.map { Cluster(items: items, worst: $0) }
        }
    }

    private static func chord(_ miles: Double) -> Double {
        Geodesic.chord(arc: miles * Geodesic.metresPerNauticalMile)
    }
}

extension AlertSource {
    /// Computed turbulence in the area of an alert; nil if no stored field matches the filter.
    ///
    /// - Complexity: that of `fieldSection` for the cells of the area.
    func fieldAhead(
        _ request: AlertRequest, of flight: FlightState, in area: AlertArea, at instant: Instant, filter: Filter,
        _ snapshot: Snapshot
    ) async throws(EngineError) -> FieldAhead? {
        let selection = FieldIndex.Query(filter)
        guard let looked = area.area, snapshot.fields.frames.contains(where: selection.matches) else { return nil }
        let cells = try await frames.fieldCells(in: area.cells, filter: filter, snapshot)
        let approaches = AlertApproaches(area, of: flight)
        let sites = cells.map { cell in (cell: cell, approach: approaches.approach(to: cell)) }
        let times = sites.map { instant.advanced(by: Int(min($0.approach.timeTo ?? 0, Self.longestFlight).rounded())) }
        let section = try await frames.fieldSection(
            at: .cells(cells), times: times, levels: .shown(filter.altitudes), filter: filter, in: snapshot)
        let thresholds = snapshot.severityTable.thresholds(for: filter.category)
        var items: [FieldAhead.TurbulentCell] = []
        var unknown = 0
        for (number, site) in sites.enumerated() {
            guard case .success(let sample) = section.largest(at: number, in: filter.altitudes) else {
                unknown += 1
                continue
            }
            let severity = thresholds.severity(ofTenThousandths: sample.tenThousandths)
            guard filter.severities.contains(severity) else { continue }
            items.append(
                FieldAhead.TurbulentCell(
                    cell: site.cell, severity: severity, sample: sample, time: times[number],
                    distance: site.approach.distance, bearing: site.approach.bearing, timeTo: site.approach.timeTo))
        }
        items.sort { ($0.distance, $0.cell) < ($1.distance, $1.cell) }
        let ranked = items.indices.sorted { (items[$1].severity, $0) < (items[$0].severity, $1) }
        let kept = ranked.prefix(Self.maximumItems).sorted().map { items[$0] }
        return FieldAhead(
            items: kept, itemsMatched: items.count,
            parts: section.parts.filter { !$0.levels.isEmpty }, unknownCells: unknown,
            cells: cells.count,
            dataStatus: policy.dataStatus(
                LayerList(.gtg), of: .area(looked), at: instant, filter: filter, in: snapshot))
    }

    /// An upper bound for flights and forecasts, in seconds.
    static let longestFlight = 172_800.0
}
