/// The region that a response covers.
package enum GeographicRegion: Sendable, Hashable {
    case everywhere
    case box(BoundingBox)
    case area(MultiPolygon)

    /// Whether the whole region lies inside a ring; nil is the ring around the world.
    package func isInside(_ ring: AreaRing?) -> Bool {
        guard let ring else { return true }
        return switch self {
        case .everywhere: false
        case .box(let box): ring.contains(box)
        case .area(let area): ring.contains(area)
        }
    }

    /// Whether the region shares a point with a ring; nil is the ring around the world.
    package func touches(_ ring: AreaRing?) -> Bool {
        guard let ring else { return true }
        return switch self {
        case .everywhere: true
        case .box(let box): ring.touches(box)
        case .area(let area): ring.touches(area)
        }
    }
}
