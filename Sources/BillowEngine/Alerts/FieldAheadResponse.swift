import BillowFields
import Geometry
import Turbulence

/// The response body for computed turbulence ahead.
package struct FieldAheadResponse: Encodable, Sendable {
    package struct TurbulentCell: Encodable, Sendable {
        var h3: String
        var longitude: Double
        var latitude: Double
        package var severity: Int
        var severityName: String
        package var edr: Double
        /// The altitude in feet of the level with the largest value.
        var altitude: Int?
        /// The time at which the aircraft is there, and the seconds until then.
        var time: String
        var timeTo: Int?
        /// The distance in nautical miles, and the bearing in degrees.
        package var distance: Double
        var bearing: Double
        /// The earlier field; and the later one if the value is interpolated between two.
        var product: String
        var validTime: String
        var nextProduct: String?
        var nextValidTime: String?
    }

    package struct Cluster: Encodable, Sendable {
        var severity: Int
        var severityName: String
        var distance: Double
        var timeTo: Int?
        var timeToPass: Int?
        /// The cell of the nearest member with the highest severity.
        var worst: String
        var members: [String]
        package var text: String
    }

    /// The data time of the field, not of the reports.
    var dataTime: AlertResponse.KnownTime
    var stale: Bool
    var simulated: Bool
    var incomplete: Bool
    /// The fields, ordered by valid time.
    package var fields: [FieldIdentityResponse]
    /// The first and the last valid time of `fields`; null if no field was searched.
    var validFrom: AlertResponse.KnownTime
    var validTo: AlertResponse.KnownTime
    /// The number of grid cells in the area, and of those without a known value.
    package var cells: Int
    package var unknown: Int
    package var items: [TurbulentCell]
    var numberMatched: Int
    var truncated: Bool
    package var clusters: [Cluster]

    init(_ field: FieldAhead) {
        let freshness = field.dataStatus.freshness
        dataTime = AlertResponse.KnownTime(instant: freshness.dataTime)
        stale = freshness.isStale
        simulated = freshness.isSimulated
        incomplete = field.dataStatus.isIncomplete
        fields = field.parts.map { FieldIdentityResponse($0.frame, $0.levels) }
        validFrom = AlertResponse.KnownTime(instant: field.parts.first?.frame.identity.validTime)
        validTo = AlertResponse.KnownTime(instant: field.parts.last?.frame.identity.validTime)
        cells = field.cells
        unknown = field.unknownCells
        items = field.items.map(TurbulentCell.init)
        numberMatched = field.itemsMatched
        truncated = field.itemsMatched > field.items.count
        clusters = field.clusters.map(Cluster.init)
    }
}

extension FieldAheadResponse.TurbulentCell {
    fileprivate init(_ item: FieldAhead.TurbulentCell) {
        let center = H3.center(of: item.cell)
        let (before, after) = (item.sample.before.identity, item.sample.after.identity)
        let isBetween = before != after
        self.init(
            h3: item.cell.h3String, longitude: AlertResponse.rounded(center.longitude, 5),
            latitude: AlertResponse.rounded(center.latitude, 5), severity: Int(item.severity.rawValue),
            severityName: item.severity.name, edr: Double(item.sample.tenThousandths) / 10_000,
            altitude: item.sample.feet, time: item.time.description, timeTo: AlertResponse.seconds(item.timeTo),
            distance: AlertResponse.rounded(item.distance, 1), bearing: AlertResponse.rounded(item.bearing, 1),
            product: before.product.name, validTime: before.validTime.description,
            nextProduct: isBetween ? after.product.name : nil,
            nextValidTime: isBetween ? after.validTime.description : nil)
    }
}

extension FieldAheadResponse.Cluster {
    fileprivate init(_ cluster: FieldAhead.Cluster) {
        self.init(
            severity: Int(cluster.worst.severity.rawValue), severityName: cluster.worst.severity.name,
            distance: AlertResponse.rounded(cluster.items.first?.distance ?? 0, 1),
            timeTo: AlertResponse.seconds(cluster.items.first?.timeTo),
            timeToPass: AlertResponse.seconds(cluster.items.last?.timeTo), worst: cluster.worst.cell.h3String,
            members: cluster.items.map(\.cell.h3String), text: cluster.text)
    }
}
