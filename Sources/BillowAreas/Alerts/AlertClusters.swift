import BillowSnapshot
public import Geometry
public import Turbulence

/// Items that are near each other, told as one.
public struct AlertCluster: Sendable, Hashable {
    /// Stays the same for as long as the cluster has members.
    public var id: Int
    /// The nearest to the aircraft first.
    public var members: [AlertItem]
    /// The middle of its members.
    public var center: LonLat
    /// The highest of its members.
    public var severity: Severity
    /// Nautical miles between the two members that are furthest apart.
    public var diameter: Double
    /// Nautical miles to the nearest member.
    public var distance: Double
    /// Seconds until the nearest member and past the furthest one; nil without a speed.
    public var timeTo: Double?
    /// Seconds until the aircraft has passed the furthest member; nil without a speed.
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
/// Source: docs/upstreams/skypath.md, "Alerts" (TurbulenceClusterer of the iOS SDK)
public struct AlertClusters: Sendable {
    /// Nautical miles that no two members may be further apart.
    public static let farthest = 60.0
    /// Nautical miles within which a new member needs another.
    public static let nearest = 30.0
    /// Cells that are remembered as notified. The earliest are forgotten first.
    static let mostNotified = 4_000

    private var members: [Int: [Cell]] = [:]
    private var lastID = 0
    /// In the order of notification.
    private var notified: [Cell] = []

    /// Knows no clusters yet.
    public init() {}

    /// Removes members that are gone, then empty clusters. Puts each new item into the first cluster that it fits, or
    /// into one of its own. Items are taken in their order, clusters in that of their ids.
    ///
    /// - Parameter items: one a cell.
    /// - Complexity: O(n log n): a grid finds the clusters near an item, and a cluster is at most 60 NM wide.
    /// - Throws: `CancellationError`, and changes nothing then.
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
        notified.removeFirst(max(notified.count - Self.mostNotified, 0))
        return clusters
    }

    /// Items between two looks for a cancellation.
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

    /// Metres straight through the earth.
    private static func distance(_ a: SIMD3<Double>, _ b: SIMD3<Double>) -> Double {
        let apart = a - b
        return (apart * apart).sum().squareRoot()
    }

    private static func miles(chord: Double) -> Double {
        Geodesic.arc(chord: chord) / Geodesic.metresPerNauticalMile
    }

    /// The chord of so many nautical miles, in metres.
    private static func chord(_ miles: Double) -> Double {
        Geodesic.chord(arc: miles * Geodesic.metresPerNauticalMile)
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

/// As it is stored: cells by their dense index.
extension AlertClusters: Codable {
    private struct Stored: Codable {
        var members: [Int: [UInt32]]
        var lastID: Int
        var notified: [UInt32]
    }

    public init(from decoder: any Decoder) throws {
        let stored = try Stored(from: decoder)
        members = stored.members.mapValues { $0.compactMap { Cell(dense: Int($0)) } }
        lastID = max(stored.lastID, stored.members.keys.max() ?? 0)
        notified = stored.notified.compactMap { Cell(dense: Int($0)) }
    }

    public func encode(to encoder: any Encoder) throws {
        try Stored(
            members: members.mapValues { $0.map(\.dense) }, lastID: lastID, notified: notified.map(\.dense)
        ).encode(to: encoder)
    }
}

/// The members of clusters in cubes of space, so that those near a place are found without looking at all.
private struct ClusterGrid {
    private struct Member {
        var place: SIMD3<Double>
        var cluster: Int
    }

    /// Metres.
    private let side: Double
    private var cubes: [SIMD3<Int32>: [Member]] = [:]

    init(side: Double) { self.side = side }

    mutating func insert(_ place: SIMD3<Double>, _ cluster: Int) {
        cubes[cube(of: place), default: []].append(Member(place: place, cluster: cluster))
    }

    /// The clusters with a member within a distance of at most a cube's side, in rising order.
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
        // The earth is some hundred cubes wide.
        SIMD3<Int32>((place / side).rounded(.down), rounding: .towardZero)
    }
}
