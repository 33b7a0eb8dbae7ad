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
        /// A polygon of one ring, such as a cell. The ring isn't closed and has any winding.
        case ring([Point])
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
        // Reused by all features.
        var geometry = TileGeometry(in: coord)
        var message = ProtocolBuffer()
        var tags: [UInt32] = []
        for feature in features {
            geometry.read(feature.shape)
            guard !geometry.commands.isEmpty else { continue }
            isEmpty = false
            message.removeAll()
            if let id = feature.id { message.write(field: 1, integer: id) }
            tags.removeAll(keepingCapacity: true)
            for property in feature.properties {
                tags.append(keys.number(of: property.name))
                tags.append(values.number(of: property.value))
            }
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

    mutating func write(field: UInt64, text: String) {
        var text = text
        text.withUTF8 { utf8 in
            append(field << 3 | 2)
            append(UInt64(utf8.count))
            bytes.append(contentsOf: utf8)
        }
    }

    mutating func write(field: UInt64, message: ProtocolBuffer) {
        append(field << 3 | 2)
        append(UInt64(message.bytes.count))
        bytes += message.bytes
    }

    mutating func write(field: UInt64, packed numbers: [UInt32]) {
        guard !numbers.isEmpty else { return }
        append(field << 3 | 2)
        // Seven bits fit in a byte.
        append(numbers.reduce(0) { $0 + UInt64(max(1, (32 - $1.leadingZeroBitCount + 6) / 7)) })
        for number in numbers { append(UInt64(number)) }
    }

    /// Empties the message but keeps its capacity.
    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }
}

/// The geometry of a feature in a tile: clipped to the tile and its buffer, in whole units, as drawing commands. It is
/// reused by the next feature.
///
/// Source: Mapbox Vector Tile Specification 2.1, section 4.3
private struct TileGeometry {
    private let coord: TileCoord
    /// 1 is a point, 2 a line, 3 a polygon.
    private(set) var type: UInt64 = 1
    private(set) var commands: [UInt32] = []
    private var cursor = SIMD2<Int>(0, 0)

    private static let least = -VectorTile.buffer
    private static let most = Double(VectorTile.extent) + VectorTile.buffer

    init(in coord: TileCoord) { self.coord = coord }

    /// A point in the tile's units, in a copy of the world.
    @inline(__always)
    private func placed(_ point: Point, _ copy: Int) -> Point {
        let tiles = Double(1 << coord.z)
        return Point(
            x: ((point.x + Double(copy)) * tiles - Double(coord.x)) * Double(VectorTile.extent),
            y: (point.y * tiles - Double(coord.y)) * Double(VectorTile.extent))
    }

    /// Reads the geometry of a feature, also in the adjacent copies of the world.
    mutating func read(_ shape: VectorTile.Shape) {
        restart()
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
            if polygons.count == 1, polygons[0].count == 1 { return read(ring: polygons[0][0]) }
            let copies = (-1...1).flatMap { copy in polygons.map { $0.map { $0.map { placed($0, copy) } } } }
            for polygon in Self.cut(copies) { add(polygon) }
        case .ring(let ring):
            type = 3
            read(ring: ring)
        }
    }

    private mutating func restart() {
        commands.removeAll(keepingCapacity: true)
        cursor = SIMD2(0, 0)
    }

    private mutating func read(ring: [Point]) {
        if addConvex(ring) { return }
        restart()
        for polygon in Self.cut((-1...1).map { copy in [ring.map { placed($0, copy) }] }) { add(polygon) }
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

    private mutating func draw(_ places: some Collection<SIMD2<Int>>, closed: Bool) {
        guard let first = places.first else { return }
        commands.append(1 | 1 << 3)
        move(to: first)
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
    /// The maximum number of vertices after clipping: each of four edges at most doubles them.
    private static let maximumClipped = 16 * maximumCorners

    /// Adds a short ring without a general overlay, as for cells. A ring that is convex after clipping is always valid.
    /// - Returns: false if it isn't convex or has too many vertices. A part of it may have been added.
    private mutating func addConvex(_ ring: [Point]) -> Bool {
        guard ring.count <= Self.maximumCorners else { return false }
        return withUnsafeTemporaryAllocation(of: Point.self, capacity: 2 * Self.maximumClipped) { points in
            withUnsafeTemporaryAllocation(of: SIMD2<Int>.self, capacity: Self.maximumClipped) { places in
                for copy in -1...1 {
                    var (low, high) = (
                        Point(x: .infinity, y: .infinity), Point(x: -.infinity, y: -.infinity)
                    )
                    for (index, corner) in ring.enumerated() {
                        let point = placed(corner, copy)
                        points[index] = point
                        low = Point(x: min(low.x, point.x), y: min(low.y, point.y))
                        high = Point(x: max(high.x, point.x), y: max(high.y, point.y))
                    }
                    guard low.x < Self.most, high.x > Self.least, low.y < Self.most, high.y > Self.least else {
                        continue
                    }
                    var clipped = UnsafeMutableBufferPointer(rebasing: points[..<ring.count])
                    if low.x < Self.least || low.y < Self.least || high.x > Self.most || high.y > Self.most {
                        clipped = Self.clip(count: ring.count, in: points)
                    }
                    var count = 0
                    for point in clipped {
                        let place = Self.whole(point)
                        if count > 0, places[count - 1] == place { continue }
                        places[count] = place
                        count += 1
                    }
                    while count > 1, places[0] == places[count - 1] { count -= 1 }
                    guard count > 2 else { continue }
                    var corners = UnsafeMutableBufferPointer(rebasing: places[..<count])
                    guard Self.isConvex(corners) else { return false }
                    let area = Self.doubledArea(corners)
                    guard area != 0 else { continue }
                    if area < 0 { corners.reverse() }
                    draw(corners, closed: true)
                }
                return true
            }
        }
    }

    /// Clips a ring, which is at the start of a buffer, in turn with the buffer's second half.
    ///
    /// Source: I. Sutherland, G. Hodgman, "Reentrant polygon clipping", CACM 17 (1974), doi:10.1145/360767.360802
    private static func clip(
        count: Int, in points: UnsafeMutableBufferPointer<Point>
    ) -> UnsafeMutableBufferPointer<Point> {
        var ring = UnsafeMutableBufferPointer(rebasing: points[..<maximumClipped])
        var kept = UnsafeMutableBufferPointer(rebasing: points[maximumClipped...])
        var count = count
        func inside(_ edge: Int, _ point: Point) -> Double {
            switch edge {
            case 0: point.x - least
            case 1: most - point.x
            case 2: point.y - least
            default: most - point.y
            }
        }
        for edge in 0..<4 where count > 0 {
            var from = ring[count - 1]
            var number = 0
            for index in 0..<count {
                let to = ring[index]
                let (a, b) = (inside(edge, from), inside(edge, to))
                if (a < 0) != (b < 0) {
                    let share = a / (a - b)
                    kept[number] = Point(x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share)
                    number += 1
                }
                if b >= 0 {
                    kept[number] = to
                    number += 1
                }
                from = to
            }
            (ring, kept, count) = (kept, ring, number)
        }
        return UnsafeMutableBufferPointer(rebasing: ring[..<count])
    }

    /// Clips a ring and rounds its vertices one by one.
    private static func rounded(ring: [Point]) -> [SIMD2<Int>] {
        var places = distinct(clipped(ring: ring).map(whole))
        while places.count > 1, places.first == places.last { places.removeLast() }
        return places
    }

    /// Whether a ring turns only one way, and once around.
    private static func isConvex(_ places: UnsafeMutableBufferPointer<SIMD2<Int>>) -> Bool {
        var side = 0
        var (turnsX, turnsY) = (0, 0)
        var last = places[places.count - 1] &- places[places.count - 2]
        var direction = SIMD2(0, 0)
        for index in places.indices {
            let step = places[index + 1 == places.count ? 0 : index + 1] &- places[index]
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

    private static func doubledArea(_ places: some BidirectionalCollection<SIMD2<Int>>) -> Int {
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
