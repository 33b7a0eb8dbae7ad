public import Geometry

/// A multipolygon in a third of the memory, for caches. All corners are stored in sequence in units of `DegreePoint`,
/// with the ends of rings and polygons. Unpacking gives exactly the packed area.
public struct PackedArea: Sendable, Hashable {
    private var points: [DegreePoint] = []
    /// The end of each ring in `points`.
    private var ringEnds: [UInt32] = []
    /// The end of each polygon in `ringEnds`.
    private var polygonEnds: [UInt32] = []

    init() {}

    /// - Parameter rings: the rings of a polygon, the exterior first; each repeats its first point at the end.
    mutating func append(_ rings: [[DegreePoint]]) {
        for ring in rings {
            points.append(contentsOf: ring.dropLast())
            ringEnds.append(UInt32(points.count))
        }
        polygonEnds.append(UInt32(ringEnds.count))
    }

    /// A copy without spare capacity, for long-lived areas.
    func withoutRoom() -> PackedArea {
        var copy = self
        copy.points = points.withoutRoom()
        copy.ringEnds = ringEnds.withoutRoom()
        copy.polygonEnds = polygonEnds.withoutRoom()
        return copy
    }

    /// The number of polygons.
    public var count: Int { polygonEnds.count }

    /// The rings of the polygon at an index, the exterior first.
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

    /// The unpacked area.
    /// - Complexity: O(corners)
    public var multiPolygon: MultiPolygon { MultiPolygon(polygons: (0..<count).map(polygon)) }

    package var byteCount: Int {
        points.count * MemoryLayout<DegreePoint>.stride + (ringEnds.count + polygonEnds.count) * 4
    }
}
