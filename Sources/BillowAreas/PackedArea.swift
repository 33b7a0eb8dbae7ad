public import Geometry

/// A multipolygon in a third of the memory, for keeping: all corners one behind the other in units of `DegreePoint`,
/// and where rings and polygons end. What comes out is what went in.
public struct PackedArea: Sendable, Hashable {
    private var points: [DegreePoint] = []
    /// By ring: where it ends in `points`.
    private var ringEnds: [UInt32] = []
    /// By polygon: where it ends in `ringEnds`.
    private var polygonEnds: [UInt32] = []

    init() {}

    /// - Parameter rings: of a polygon, the exterior first; each ends with the point that it begins with.
    mutating func append(_ rings: [[DegreePoint]]) {
        for ring in rings {
            points.append(contentsOf: ring.dropLast())
            ringEnds.append(UInt32(points.count))
        }
        polygonEnds.append(UInt32(ringEnds.count))
    }

    /// Without room to grow: for what is kept long.
    func withoutRoom() -> PackedArea {
        var copy = self
        copy.points = points.withoutRoom()
        copy.ringEnds = ringEnds.withoutRoom()
        copy.polygonEnds = polygonEnds.withoutRoom()
        return copy
    }

    /// How many polygons it has.
    public var count: Int { polygonEnds.count }

    /// A polygon by its number: its rings, the exterior first.
    /// - Complexity: O(corners of that polygon)
    public func polygon(_ number: Int) -> [[LonLat]] {
        let first = number == 0 ? 0 : Int(polygonEnds[number - 1])
        var point = first == 0 ? 0 : Int(ringEnds[first - 1])
        return ringEnds[first..<Int(polygonEnds[number])].map { ringEnd in
            let corners = points[point..<Int(ringEnd)]
            point = corners.endIndex
            return corners.map { $0.place } + corners.prefix(1).map { $0.place }
        }
    }

    /// - Complexity: O(corners)
    public var multiPolygon: MultiPolygon { MultiPolygon(polygons: (0..<count).map(polygon)) }

    package var byteCount: Int {
        points.count * MemoryLayout<DegreePoint>.stride + (ringEnds.count + polygonEnds.count) * 4
    }
}
