/// Squares of one degree that cover at least all of some places and areas. They tell in a microsecond whether two of
/// them may share a point, and never wrongly that they can't.
package struct DegreeSquares: Sendable, Hashable {
    /// A bit for each square, row by row from the south-west; empty where there is none.
    private var words: [UInt64] = []

    private static let columns = 360
    private static let rows = 180

    /// No square.
    package init() {}

    /// Every square.
    package static let everywhere = DegreeSquares(.world)

    /// The squares that a box shares a point with.
    package init(_ box: BoundingBox) { insert(box) }

    /// The squares that an area shares a point with.
    ///
    /// - Complexity: O(squares of the area's box · corners)
    package init(_ area: AreaIndex) {
        for row in Self.rows(area.box) {
            for column in Self.columns(area.box) where Self.box(row, column).map(area.area.intersects) ?? true {
                insert(row, column)
            }
        }
    }

    package var isEmpty: Bool { words.allSatisfy { $0 == 0 } }

    /// Adds the squares that a place lies in or on the rim of.
    package mutating func insert(_ place: LonLat) {
        guard
            let box = BoundingBox(
                west: place.longitude, south: place.latitude, east: place.longitude, north: place.latitude)
        else { return }
        insert(box)
    }

    /// Adds the squares that a box shares a point with.
    package mutating func insert(_ box: BoundingBox) {
        let columns = Self.columns(box)
        for row in Self.rows(box) {
            for column in columns { insert(row, column) }
        }
    }

    /// Adds the squares around each polygon of an area: those of its box.
    package mutating func insert(_ area: MultiPolygon) {
        for rings in area.polygons {
            if let box = MultiPolygon(polygons: [rings]).box { insert(box) }
        }
    }

    /// Whether what the two cover may share a point.
    package func mayIntersect(_ other: DegreeSquares) -> Bool {
        zip(words, other.words).contains { $0 & $1 != 0 }
    }

    private mutating func insert(_ row: Int, _ column: Int) {
        if words.isEmpty { words = [UInt64](repeating: 0, count: (Self.rows * Self.columns + 63) / 64) }
        let bit = row * Self.columns + column
        words[bit / 64] |= 1 << UInt64(bit % 64)
    }

    private static func box(_ row: Int, _ column: Int) -> BoundingBox? {
        BoundingBox(
            west: Double(column) - 180, south: Double(row) - 90, east: Double(column) - 179, north: Double(row) - 89)
    }

    /// The square that begins at a degree, and the one that ends there, share the meridian or parallel between them.
    private static func rows(_ box: BoundingBox) -> ClosedRange<Int> {
        let south = Int((box.south + 90).rounded(.up)) - 1
        let north = Int((box.north + 90).rounded(.down))
        return max(south, 0)...min(max(north, 0), rows - 1)
    }

    private static func columns(_ box: BoundingBox) -> [Int] {
        let first = Int((box.west + 180).rounded(.up)) - 1
        let last = Int(((box.crossesAntimeridian ? box.east + 360 : box.east) + 180).rounded(.down))
        guard last - first + 1 < columns else { return Array(0..<columns) }
        return (first...last).map { ($0 + columns) % columns }
    }
}
