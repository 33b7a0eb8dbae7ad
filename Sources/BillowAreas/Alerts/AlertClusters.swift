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
    /// - Complexity: O(items²)
    public mutating func update(_ items: [AlertItem]) -> [AlertCluster] {
        let present = Dictionary(items.map { ($0.cell, $0) }) { first, _ in first }
        for id in members.keys.sorted() {
            let left = members[id, default: []].filter { present[$0] != nil }
            members[id] = left.isEmpty ? nil : left
        }
        var placed = members.values.reduce(into: Set<Cell>()) { $0.formUnion($1) }
        let centers = present.mapValues { H3.center(of: $0.cell) }
        for item in items where !placed.contains(item.cell) {
            placed.insert(item.cell)
            let fitting = members.keys.sorted().first { id in
                let miles = members[id, default: []].compactMap { Self.miles(centers[$0], centers[item.cell]) }
                return (miles.max() ?? .infinity) <= Self.farthest && (miles.min() ?? .infinity) <= Self.nearest
            }
            if let fitting {
                members[fitting, default: []].insert(item.cell)
            } else {
                lastID += 1
                members[lastID] = [item.cell]
            }
        }
        let clusters = members.keys.sorted().compactMap { id -> AlertCluster? in
            cluster(id, items.filter { members[id, default: []].contains($0.cell) }, centers)
        }
        notified.formUnion(present.keys)
        return clusters
    }

    private func cluster(_ id: Int, _ items: [AlertItem], _ centers: [Cell: LonLat]) -> AlertCluster? {
        let severity = items.map(\.record.severity).max()
        guard let first = items.first, let last = items.last, let severity,
            let worst = items.first(where: { $0.record.severity == severity }), let center = Self.center(items)
        else { return nil }
        var diameter = 0.0
        for (index, a) in items.enumerated() {
            for b in items[(index + 1)...] {
                diameter = max(diameter, Self.miles(centers[a.cell], centers[b.cell]) ?? 0)
            }
        }
        return AlertCluster(
            id: id, members: items, center: center, severity: severity, diameter: diameter, distance: first.distance,
            timeTo: first.timeTo, timeToPass: last.timeTo, worst: worst,
            newCells: items.map(\.cell).filter { !notified.contains($0) })
    }

    private static func miles(_ a: LonLat?, _ b: LonLat?) -> Double? {
        guard let a, let b else { return nil }
        return Geodesic.way(from: a, to: b).map { $0.metres / Geodesic.metresPerNauticalMile }
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
