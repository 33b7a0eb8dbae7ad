import BillowSnapshot
public import Geometry
public import Turbulence

/// A group of nearby items, reported as one alert.
public struct AlertCluster: Sendable, Hashable {
    /// Constant for as long as the cluster has members.
    public var id: Int
    /// The members, nearest to the aircraft first.
    public var members: [AlertItem]
    /// The centre of the members.
    public var center: LonLat
    /// The highest severity of the members.
    public var severity: Severity
    /// The distance in nautical miles between the two members that are farthest apart.
    public var diameter: Double
    /// The distance to the nearest member in nautical miles.
    public var distance: Double
    /// The seconds until the aircraft reaches the nearest member; nil without a speed.
    public var timeTo: Double?
    /// The seconds until the aircraft has passed the farthest member; nil without a speed.
    public var timeToPass: Double?
    /// The nearest of the members with the highest severity.
    public var worst: AlertItem
    /// The cells of the cluster that were not in an earlier notification.
    public var newCells: [Cell]

    /// A sentence for users.
    public var text: String {
        var text = "\(severity.label) in \(Int(distance.rounded())) NM"
        if let timeTo { text += ", \(Int((timeTo / 60).rounded())) min" }
        if let timeTo, let timeToPass, timeToPass - timeTo >= 60 {
            text += ", for \(Int(((timeToPass - timeTo) / 60).rounded())) min"
        }
        return text
    }
}

/// Groups items into clusters that persist from one evaluation to the next.
///
/// Source: docs/upstreams/skypath.md, "Alerts" (TurbulenceClusterer of the iOS SDK)
public struct AlertClusters: Sendable {
    /// The maximum distance between two members in nautical miles.
    public static let farthest = 60.0
    /// The maximum distance of a new member from its nearest other member, in nautical miles.
    public static let nearest = 30.0
    /// The maximum number of remembered notified cells. The oldest are dropped first.
    static let maximumNotified = 4_000

    private var members: [Int: [Cell]] = [:]
    private var lastID = 0
    /// The notified cells in the order of notification.
    private var notified: [Cell] = []

    /// Makes an instance without clusters.
    public init() {}

    /// Removes members that are gone, then empty clusters. Adds each new item to the first cluster that it fits, or to
    /// a new one. Items are processed in their order, clusters in the order of their ids.
    ///
    /// - Parameter items: one per cell.
    /// - Complexity: O(n log n): a grid finds the clusters near an item, and a cluster is at most 60 NM wide.
    /// - Throws: `CancellationError`; nothing is changed then.
    public mutating func update(_ items: [AlertItem]) throws(CancellationError) -> [AlertCluster] {
        let places = Dictionary(items.map { ($0.cell, Geodesic.vector(H3.center(of: $0.cell))) }) { first, _ in first }
        var grid = ClusterGrid(side: Self.chord(Self.nearest))
        var clusterOf: [Cell: Int] = [:]
        var kept: [Int: [Cell]] = [:]
        for (id, cells) in members {
            for cell in cells {
                guard let place = places[cell] else { continue }
                grid.insert(place, id)
                clusterOf[cell] = id
                kept[id, default: []].append(cell)
            }
        }
        var lastID = lastID
        for (number, item) in items.enumerated() where clusterOf[item.cell] == nil {
            if number.isMultiple(of: Self.step), Task.isCancelled { throw CancellationError() }
            guard let place = places[item.cell] else { continue }
            let fitting = grid.clusters(within: Self.chord(Self.nearest), of: place).first { id in
                kept[id, default: []].allSatisfy { cell in
                    places[cell].map { Self.distance($0, place) <= Self.chord(Self.farthest) } ?? true
                }
            }
            if fitting == nil { lastID += 1 }
            let id = fitting ?? lastID
            grid.insert(place, id)
            clusterOf[item.cell] = id
            kept[id, default: []].append(item.cell)
        }
        let known = Set(notified)
        let grouped = Dictionary(grouping: items) { clusterOf[$0.cell] ?? 0 }
        let clusters = kept.keys.sorted().compactMap { id in
            Self.cluster(id, grouped[id, default: []], places, notified: known)
        }
        members = kept
        self.lastID = lastID
        notified.append(contentsOf: items.lazy.map(\.cell).filter { !known.contains($0) })
        notified.removeFirst(max(notified.count - Self.maximumNotified, 0))
        return clusters
    }

    /// The number of items between two checks for cancellation.
    private static let step = 256

    private static func cluster(
        _ id: Int, _ items: [AlertItem], _ places: [Cell: SIMD3<Double>], notified: Set<Cell>
    ) -> AlertCluster? {
        let severity = items.map(\.record.severity).max()
        guard let first = items.first, let last = items.last, let severity,
            let worst = items.first(where: { $0.record.severity == severity }), let center = Self.center(items)
        else { return nil }
        let corners = items.compactMap { places[$0.cell] }
        var widest = 0.0
        for (index, a) in corners.enumerated() {
            for b in corners[(index + 1)...] { widest = max(widest, distance(a, b)) }
        }
        return AlertCluster(
            id: id, members: items, center: center, severity: severity, diameter: miles(chord: widest),
            distance: first.distance, timeTo: first.timeTo, timeToPass: last.timeTo, worst: worst,
            newCells: items.map(\.cell).filter { !notified.contains($0) })
    }

    /// The straight distance through the earth in metres.
    private static func distance(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> Double {
        let apart = a - b
        return (apart * apart).sum().squareRoot()
    }

    private static func miles(chord: Double) -> Double {
        Geodesic.arc(chord: chord) / Geodesic.metresPerNauticalMile
    }

    /// The chord of a distance in nautical miles, in metres.
    private static func chord(_ miles: Double) -> Double {
        Geodesic.chord(arc: miles * Geodesic.metresPerNauticalMile)
    }

    /// The centre of the members. It is computed relative to the first one, so that the antimeridian doesn't matter.
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

/// The stored form: cells by their dense index.
extension AlertClusters: Codable {
    private struct StoredClusters: Codable {
        var members: [Int: [UInt32]]
        var lastID: Int
        var notified: [UInt32]
    }

    public init(from decoder: any Decoder) throws {
        let stored = try StoredClusters(from: decoder)
        members = stored.members.mapValues { $0.compactMap { Cell(dense: Int($0)) } }
        lastID = max(stored.lastID, stored.members.keys.max() ?? 0)
        notified = stored.notified.compactMap { Cell(dense: Int($0)) }
    }

    public func encode(to encoder: any Encoder) throws {
        try StoredClusters(
            members: members.mapValues { $0.map(\.dense) }, lastID: lastID, notified: notified.map(\.dense)
        ).encode(to: encoder)
    }
}

/// A spatial index of cluster members by cubes, to find those near a place without visiting all.
private struct ClusterGrid {
    private struct Member {
        var place: SIMD3<Double>
        var cluster: Int
    }

    /// The side of a cube in metres.
    private let side: Double
    private var cubes: [SIMD3<Int32>: [Member]] = [:]

    init(side: Double) { self.side = side }

    mutating func insert(_ place: SIMD3<Double>, _ cluster: Int) {
        cubes[cube(of: place), default: []].append(Member(place: place, cluster: cluster))
    }

    /// The clusters with a member within a distance of at most a cube's side, in ascending order.
    func clusters(within distance: Double, of place: SIMD3<Double>) -> [Int] {
        let middle = cube(of: place)
        var found = Set<Int>()
        for x in Int32(-1)...1 {
            for y in Int32(-1)...1 {
                for z in Int32(-1)...1 {
                    for member in cubes[middle &+ SIMD3(x, y, z), default: []] {
                        let apart = member.place - place
                        if (apart * apart).sum() <= distance * distance { found.insert(member.cluster) }
                    }
                }
            }
        }
        return found.sorted()
    }

    private func cube(of place: SIMD3<Double>) -> SIMD3<Int32> {
        // The earth is only some hundred cubes wide, so this can't overflow.
        SIMD3<Int32>((place / side).rounded(.down), rounding: .towardZero)
    }
}
