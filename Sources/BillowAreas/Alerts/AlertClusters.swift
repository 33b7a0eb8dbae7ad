import BillowSnapshot
public import Geometry
public import Turbulence

/// Items that are near each other, told as one.
public struct AlertCluster: Sendable, Hashable {
    /// Stays the same for as long as the cluster has members.
    public var id: Int
    /// The nearest to the aircraft first.
    public var members: [AlertItem]
    public var center: LonLat
    public var severity: Severity
    /// Nautical miles between the two members that are furthest apart.
    public var diameter: Double
    /// Nautical miles to the nearest member.
    public var distance: Double
    /// Seconds until the nearest member and past the furthest one; nil without a speed.
    public var timeTo: Double?
    public var timeToPass: Double?
    /// The nearest of the members with the highest severity.
    public var worst: AlertItem
    /// Cells of it that were not notified before.
    public var newCells: [Cell]

    /// A sentence for people.
    public var text: String {
        var text = "\(severity.label) in \(Int(distance.rounded())) NM"
        if let timeTo { text += ", \(Int((timeTo / 60).rounded())) min" }
        if let timeTo, let timeToPass, timeToPass - timeTo >= 60 {
            text += ", for \(Int(((timeToPass - timeTo) / 60).rounded())) min"
        }
        return text
    }
}

/// Groups items from one evaluation to the next.
///
/// Source: SkyPath iOS SDK reference 3.0, TurbulenceClusterer
public struct AlertClusters: Sendable {
    /// Nautical miles that no member may be further from.
    public static let farthest = 60.0
    /// Nautical miles within which there must be a member.
    public static let nearest = 30.0

    private var members: [Int: Set<Cell>] = [:]
    private var lastID = 0
    private var notified: Set<Cell> = []

    public init() {}

    /// Drops members that are gone, then clusters that are empty, and puts what is new where it fits, or into a cluster of
    /// its own; items are taken in their order, clusters in that of their ids.
    ///
    /// - Complexity: O(items × clusters)
    public mutating func update(_ items: [AlertItem]) -> [AlertCluster] {
        let places = Dictionary(items.map { ($0.cell, Geodesic.vector(H3.center(of: $0.cell))) }) { first, _ in first }
        for id in members.keys {
            let left = members[id, default: []].filter { places[$0] != nil }
            members[id] = left.isEmpty ? nil : left
        }
        var ids = members.keys.sorted()
        var clusterOf: [Cell: Int] = [:]
        for id in ids { for cell in members[id, default: []] { clusterOf[cell] = id } }
        for item in items where clusterOf[item.cell] == nil {
            guard let place = places[item.cell] else { continue }
            let fitting = ids.first { id in
                let cells = members[id, default: []]
                // One that is too far tells for all of them.
                guard let any = cells.first, Self.miles(places[any], place) <= Self.farthest else { return false }
                let miles = cells.map { Self.miles(places[$0], place) }
                return (miles.max() ?? .infinity) <= Self.farthest && (miles.min() ?? .infinity) <= Self.nearest
            }
            if fitting == nil {
                lastID += 1
                ids.append(lastID)
            }
            members[fitting ?? lastID, default: []].insert(item.cell)
            clusterOf[item.cell] = fitting ?? lastID
        }
        let grouped = Dictionary(grouping: items) { clusterOf[$0.cell] }
        let clusters = ids.compactMap { id in cluster(id, grouped[id] ?? [], places) }
        notified.formUnion(places.keys)
        return clusters
    }

    private func cluster(_ id: Int, _ items: [AlertItem], _ places: [Cell: SIMD3<Double>]) -> AlertCluster? {
        let severity = items.map(\.record.severity).max()
        guard let first = items.first, let last = items.last, let severity,
            let worst = items.first(where: { $0.record.severity == severity }), let center = Self.center(items)
        else { return nil }
        var diameter = 0.0
        for (index, a) in items.enumerated() {
            for b in items[(index + 1)...] {
                if let place = places[b.cell] { diameter = max(diameter, Self.miles(places[a.cell], place)) }
            }
        }
        return AlertCluster(
            id: id, members: items, center: center, severity: severity, diameter: diameter, distance: first.distance,
            timeTo: first.timeTo, timeToPass: last.timeTo, worst: worst,
            newCells: items.map(\.cell).filter { !notified.contains($0) })
    }

    private static func miles(_ a: SIMD3<Double>?, _ b: SIMD3<Double>) -> Double {
        guard let a else { return .infinity }
        let apart = a - b
        return Geodesic.arc(chord: (apart * apart).sum().squareRoot()) / Geodesic.metresPerNauticalMile
    }

    /// The middle of the members, on the way from the first one to the others, so that the antimeridian doesn't matter.
    private static func center(_ items: [AlertItem]) -> LonLat? {
        guard let first = items.first.map({ H3.center(of: $0.cell) }) else { return nil }
        var sum = (longitude: 0.0, latitude: 0.0)
        for item in items {
            let place = H3.center(of: item.cell)
            let turn = place.longitude - first.longitude
            sum.longitude += turn - (turn / 360).rounded() * 360
            sum.latitude += place.latitude
        }
        let count = Double(items.count)
        return LonLat(longitude: first.longitude + sum.longitude / count, latitude: sum.latitude / count)
    }
}
