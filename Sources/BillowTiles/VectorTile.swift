public import BillowRaster
public import Geometry

/// A Mapbox vector tile: layers of features with properties.
///
/// Source: Mapbox Vector Tile Specification 2.1, https://github.com/mapbox/vector-tile-spec
public struct VectorTile: Sendable {
    /// The value of a property.
    public enum Value: Sendable, Hashable {
        /// A string.
        case text(String)
        /// A whole number.
        case integer(Int)
        /// A number with a fraction.
        case number(Double)
        /// True or false.
        case flag(Bool)
    }

    /// A feature's geometry, on the unit square of web mercator. x may go beyond the square, so that no edge wraps
    /// around.
    public enum Shape: Sendable, Hashable {
        /// A point.
        case point(Point)
        /// Polylines.
        case lines([[Point]])
        /// Polygons of rings, the exterior first. Rings aren't closed and have any winding.
        case polygons([[[Point]]])
    }

    /// A feature of a layer.
    public struct Feature: Sendable {
        /// Less than 2⁵³, so that JavaScript represents it exactly.
        public var id: UInt64?
        /// The geometry.
        public var shape: Shape
        /// The properties in their order; each name occurs once.
        public var properties: [(name: String, value: Value)]

        /// Makes a feature with its properties.
        public init(id: UInt64?, shape: Shape, properties: [(name: String, value: Value)]) {
            self.id = id
            self.shape = shape
            self.properties = properties
        }
    }

    /// The width of a tile in units.
    public static let extent = 4_096
    /// The buffer around a tile, in units: 4 of 256 pixels.
    static let buffer = 64.0

    private let coord: TileCoord
    private var tile = ProtocolBuffer()

    /// Makes an empty tile.
    public init(_ coord: TileCoord) { self.coord = coord }

    /// The encoded tile; empty if no feature reaches into it.
    public var bytes: [UInt8] { tile.bytes }

    /// Adds a layer with the parts of its features inside the tile. Adds no layer if there are none.
    public mutating func add(layer name: String, _ features: [Feature]) {
        var layer = ProtocolBuffer()
        layer.write(field: 15, integer: 2)
        layer.write(field: 1, text: name)
        var keys = Numbering<String>()
        var values = Numbering<Value>()
        var isEmpty = true
        for feature in features {
            let geometry = TileGeometry(feature.shape, in: coord)
            guard !geometry.commands.isEmpty else { continue }
            isEmpty = false
            var message = ProtocolBuffer()
            if let id = feature.id { message.write(field: 1, integer: id) }
            let tags = feature.properties.flatMap { [keys.number(of: $0.name), values.number(of: $0.value)] }
            message.write(field: 2, packed: tags)
            message.write(field: 3, integer: geometry.type)
            message.write(field: 4, packed: geometry.commands)
            layer.write(field: 2, message: message)
        }
        guard !isEmpty else { return }
        for key in keys.all { layer.write(field: 3, text: key) }
        for value in values.all { layer.write(field: 4, message: ProtocolBuffer(value)) }
        layer.write(field: 5, integer: UInt64(VectorTile.extent))
        tile.write(field: 3, message: layer)
    }

    /// The place's coordinates on the unit square.
    public static func unit(_ place: LonLat) -> Point {
        Point(x: UnitMercator.x(longitude: place.longitude), y: UnitMercator.y(latitude: place.latitude))
    }

    /// The grid point's coordinates on the unit square.
    static func unit(_ point: GridPoint) -> Point {
        func unit(_ units: Int32) -> Double { Double(Int64(units) + Grid.half) / Double(Grid.world) }
        return Point(x: unit(point.x), y: unit(point.y))
    }
}

/// Numbers distinct values in the order of their first occurrence.
private struct Numbering<Value: Hashable> {
    private var numbers: [Value: UInt32] = [:]
    private(set) var all: [Value] = []

    mutating func number(of value: Value) -> UInt32 {
        if let number = numbers[value] { return number }
        let number = UInt32(all.count)
        numbers[value] = number
        all.append(value)
        return number
    }
}

/// A protocol buffer message under construction.
///
/// Source: Protocol Buffers encoding, protobuf.dev/programming-guides/encoding
private struct ProtocolBuffer {
    private(set) var bytes: [UInt8] = []

    init() {}

    /// A vector tile's value: strings, whole numbers (zigzag if negative), doubles, flags.
    init(_ value: VectorTile.Value) {
        switch value {
        case .text(let text): write(field: 1, text: text)
        case .number(let number):
            append(3 << 3 | 1)
            withUnsafeBytes(of: number.bitPattern.littleEndian) { bytes += $0 }
        case .integer(let number) where number >= 0: write(field: 5, integer: UInt64(number))
        case .integer(let number): write(field: 6, integer: ProtocolBuffer.zigzag(number))
        case .flag(let flag): write(field: 7, integer: flag ? 1 : 0)
        }
    }

    static func zigzag(_ number: Int) -> UInt64 { UInt64(bitPattern: Int64(number << 1 ^ number >> 63)) }

    private mutating func append(_ number: UInt64) {
        var rest = number
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
    }

    mutating func write(field: UInt64, integer: UInt64) {
        append(field << 3)
        append(integer)
    }

    mutating func write(field: UInt64, text: String) { write(field: field, raw: Array(text.utf8)) }

    mutating func write(field: UInt64, message: ProtocolBuffer) { write(field: field, raw: message.bytes) }

    mutating func write(field: UInt64, packed numbers: [UInt32]) {
        guard !numbers.isEmpty else { return }
        var packed = ProtocolBuffer()
        for number in numbers { packed.append(UInt64(number)) }
        write(field: field, raw: packed.bytes)
    }

    private mutating func write(field: UInt64, raw: [UInt8]) {
        append(field << 3 | 2)
        append(UInt64(raw.count))
        bytes += raw
    }
}

/// The geometry of a feature in a tile: clipped to the tile and its buffer, in whole units, as drawing commands.
///
/// Source: Mapbox Vector Tile Specification 2.1, section 4.3
private struct TileGeometry {
    /// 1 is a point, 2 a line, 3 a polygon.
    let type: UInt64
    private(set) var commands: [UInt32] = []
    private var cursor = SIMD2<Int>(0, 0)

    private static let least = -VectorTile.buffer
    private static let most = Double(VectorTile.extent) + VectorTile.buffer

    init(_ shape: VectorTile.Shape, in coord: TileCoord) {
        let tiles = Double(1 << coord.z)
        // Also in the adjacent copies of the world.
        func placed(_ point: Point, _ copy: Int) -> Point {
            Point(
                x: ((point.x + Double(copy)) * tiles - Double(coord.x)) * Double(VectorTile.extent),
                y: (point.y * tiles - Double(coord.y)) * Double(VectorTile.extent))
        }
        switch shape {
        case .point(let point):
            type = 1
            var places: [SIMD2<Int>] = []
            for copy in -1...1 {
                let place = placed(point, copy)
                if Self.isInside(place) { places.append(Self.whole(place)) }
            }
            if !places.isEmpty {
                commands.append(1 | UInt32(places.count) << 3)
                for place in places { move(to: place) }
            }
        case .lines(let lines):
            type = 2
            for copy in -1...1 {
                for line in lines {
                    for part in Self.clipped(line: line.map { placed($0, copy) }) { add(line: part) }
                }
            }
        case .polygons(let polygons):
            type = 3
            let copies = (-1...1).flatMap { copy in polygons.map { $0.map { $0.map { placed($0, copy) } } } }
            let isCell = polygons.count == 1 && polygons[0].count == 1
            for polygon in isCell ? Self.convex(copies) ?? Self.cut(copies) : Self.cut(copies) { add(polygon) }
        }
    }

    private static func isInside(_ point: Point) -> Bool {
        point.x >= least && point.x <= most && point.y >= least && point.y <= most
    }

    /// The point is inside the clip box, so the conversions can't trap.
    private static func whole(_ point: Point) -> SIMD2<Int> {
        SIMD2(Int(point.x.rounded()), Int(point.y.rounded()))
    }

    private mutating func move(to place: SIMD2<Int>) {
        let step = place &- cursor
        commands.append(UInt32(truncatingIfNeeded: step.x << 1 ^ step.x >> 63))
        commands.append(UInt32(truncatingIfNeeded: step.y << 1 ^ step.y >> 63))
        cursor = place
    }

    private mutating func add(line points: [Point]) {
        let places = Self.distinct(points.map(Self.whole))
        guard places.count > 1 else { return }
        draw(places, closed: false)
    }

    private mutating func draw(_ places: [SIMD2<Int>], closed: Bool) {
        commands.append(1 | 1 << 3)
        move(to: places[0])
        commands.append(2 | UInt32(places.count - 1) << 3)
        for place in places.dropFirst() { move(to: place) }
        if closed { commands.append(7 | 1 << 3) }
    }

    private static func distinct(_ places: [SIMD2<Int>]) -> [SIMD2<Int>] {
        places.reduce(into: []) { if $0.last != $1 { $0.append($1) } }
    }

    /// Exterior rings have a positive area with y downward, holes a negative one. A ring without area is left out. An
    /// exterior without area leaves its holes out too.
    private mutating func add(_ polygon: [[SIMD2<Int>]]) {
        for (index, ring) in polygon.enumerated() {
            var places = ring
            let area = Self.doubledArea(places)
            guard places.count > 2, area != 0 else {
                if index == 0 { return }
                continue
            }
            if (area > 0) != (index == 0) { places.reverse() }
            draw(places, closed: true)
        }
    }

    /// The polygons clipped to the tile, valid and in whole units.
    private static func cut(_ polygons: [[[Point]]]) -> [[[SIMD2<Int>]]] {
        PolygonCut(least: least, most: most)?.cut(polygons) ?? polygons.map { $0.map(rounded(ring:)) }
    }

    /// The maximum number of vertices of a ring for the convex path. A cell has no more.
    private static let maximumCorners = 10

    /// Clips polygons of one short ring each without a general overlay, as for cells. Rings that are convex after
    /// clipping are always valid. Returns nil if one isn't convex.
    private static func convex(_ polygons: [[[Point]]]) -> [[[SIMD2<Int>]]]? {
        var cut: [[[SIMD2<Int>]]] = []
        for ring in polygons.compactMap(\.first) {
            guard ring.count <= maximumCorners else { return nil }
            let places = rounded(ring: ring)
            guard places.count > 2 else { continue }
            guard isConvex(places) else { return nil }
            cut.append([places])
        }
        return cut
    }

    /// Clips a ring and rounds its vertices one by one.
    private static func rounded(ring: [Point]) -> [SIMD2<Int>] {
        var places = distinct(clipped(ring: ring).map(whole))
        while places.count > 1, places.first == places.last { places.removeLast() }
        return places
    }

    /// Whether a ring turns only one way, and once around.
    private static func isConvex(_ places: [SIMD2<Int>]) -> Bool {
        var side = 0
        var (turnsX, turnsY) = (0, 0)
        var last = places[places.count - 1] &- places[places.count - 2]
        var direction = SIMD2(0, 0)
        for step in places.indices.map({ places[($0 + 1) % places.count] &- places[$0] }) {
            let cross = (last.x * step.y - last.y * step.x).signum()
            // The line reverses its direction.
            if cross == 0, last.x * step.x + last.y * step.y < 0 { return false }
            if cross != 0 {
                guard side == 0 || side == cross else { return false }
                side = cross
            }
            let signs = SIMD2(step.x.signum(), step.y.signum())
            if signs.x != 0 {
                if direction.x != 0, direction.x != signs.x { turnsX += 1 }
                direction.x = signs.x
            }
            if signs.y != 0 {
                if direction.y != 0, direction.y != signs.y { turnsY += 1 }
                direction.y = signs.y
            }
            last = step
        }
        return turnsX <= 2 && turnsY <= 2
    }

    private static func doubledArea(_ places: [SIMD2<Int>]) -> Int {
        guard var previous = places.last else { return 0 }
        var sum = 0
        for place in places {
            sum += previous.x * place.y - place.x * previous.y
            previous = place
        }
        return sum
    }

    /// Source: I. Sutherland, G. Hodgman, "Reentrant polygon clipping", CACM 17 (1974), doi:10.1145/360767.360802
    private static func clipped(ring: [Point]) -> [Point] {
        var ring = ring
        for inside in [{ $0.x - least }, { most - $0.x }, { $0.y - least }, { most - $0.y }] as [(Point) -> Double] {
            guard var from = ring.last else { return [] }
            var kept: [Point] = []
            for to in ring {
                let (a, b) = (inside(from), inside(to))
                if (a < 0) != (b < 0) {
                    let share = a / (a - b)
                    kept.append(Point(x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share))
                }
                if b >= 0 { kept.append(to) }
                from = to
            }
            ring = kept
        }
        return ring
    }

    /// The parts of a line inside the clip box.
    ///
    /// Source: Y.-D. Liang, B. Barsky, "A new concept and method for line clipping", ACM TOG 3 (1984),
    /// doi:10.1145/357332.357333
    private static func clipped(line: [Point]) -> [[Point]] {
        var parts: [[Point]] = []
        var part: [Point] = []
        for (a, b) in zip(line, line.dropFirst()) {
            var (first, last) = (0.0, 1.0)
            for (step, room) in [
                (a.x - b.x, a.x - least), (b.x - a.x, most - a.x), (a.y - b.y, a.y - least), (b.y - a.y, most - a.y),
            ] {
                if step < 0 {
                    first = max(first, room / step)
                } else if step > 0 {
                    last = min(last, room / step)
                } else if room < 0 {
                    last = -1
                }
            }
            guard first <= last else { continue }
            func at(_ share: Double) -> Point { Point(x: a.x + (b.x - a.x) * share, y: a.y + (b.y - a.y) * share) }
            if first > 0 || part.isEmpty {
                if part.count > 1 { parts.append(part) }
                part = [at(first)]
            }
            part.append(at(last))
            if last < 1 {
                parts.append(part)
                part = []
            }
        }
        if part.count > 1 { parts.append(part) }
        return parts.map { $0.map { Point(x: min(max($0.x, least), most), y: min(max($0.y, least), most)) } }
    }
}
