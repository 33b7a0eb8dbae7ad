import BillowExchange

/// Writes the R-tree of a GeoPackage node by node. SQLite's own insertion would take longer than the rest of the file.
///
/// Features are sorted along a Hilbert curve in batches, so that neighbours share a node and the memory is bounded. The
/// tree has the documented form, and passes SQLite's `rtreecheck`.
///
/// Source: https://sqlite.org/rtree.html section 7.1 (shadow tables); https://en.wikipedia.org/wiki/Hilbert_curve
struct SpatialIndex: Sendable {
    /// A box with the number of its feature, or of its node in the level below.
    private struct Entry: Sendable {
        var number: Int64
        /// West, east, south and north, rounded outward.
        var box: SIMD4<Float>

        /// The box around several entries.
        static func around(_ entries: ArraySlice<Entry>) -> SIMD4<Float> {
            entries.dropFirst().reduce(entries.first?.box ?? .zero) { box, entry in
                var low = box
                low.replace(with: entry.box, where: entry.box .< box)
                var high = box
                high.replace(with: entry.box, where: entry.box .> box)
                return SIMD4(low[0], high[1], low[2], high[3])
            }
        }
    }

    /// The number of features that are sorted at once.
    static let batch = 1 << 18
    private let batch: Int
    /// The most entries of a node.
    private let capacity: Int
    private let nodeBytes: Int
    private let name: String

    private var waiting: [Entry] = []
    /// The written leaves.
    private var leaves: [Entry] = []
    /// The number of the next node. The root is 1.
    private var nextNode: Int64 = 2

    private static let headBytes = 4
    private static let entryBytes = 24

    /// Creates an empty index in a file.
    init(_ name: String, in file: SQLiteFile, batch: Int) throws(PackError) {
        self.name = name
        self.batch = batch
        try file.execute("CREATE VIRTUAL TABLE \"\(name)\" USING rtree(id, minx, maxx, miny, maxy)")
        // SQLite created the root, whose size all nodes have.
        let size = try file.first("SELECT length(data) FROM \"\(name)_node\" WHERE nodeno = 1") { Int($0.only ?? 0) }
        guard let size, size >= Self.headBytes + 2 * Self.entryBytes else {
            throw .file("the spatial index has no root")
        }
        nodeBytes = size
        capacity = (size - Self.headBytes) / Self.entryBytes
    }

    /// Adds a feature, whose key is above the previous one. `writeBatch` must follow after some features.
    mutating func add(_ key: Int64, _ envelope: GeoPackageGeometry.Envelope) {
        guard !envelope.isEmpty else { return }
        func below(_ value: Double) -> Float {
            let rounded = Float(value)
            return Double(rounded) > value ? rounded.nextDown : rounded
        }
        func above(_ value: Double) -> Float {
            let rounded = Float(value)
            return Double(rounded) < value ? rounded.nextUp : rounded
        }
        waiting.append(
            Entry(
                number: key,
                box: SIMD4(below(envelope.west), above(envelope.east), below(envelope.south), above(envelope.north))))
    }

    /// Writes the features that wait, if they are a batch.
    mutating func writeBatch(to file: SQLiteFile) throws(PackError) {
        if waiting.count >= batch { try writeLeaves(to: file) }
    }

    /// Writes the remaining features, and the levels above the leaves.
    mutating func finish(in file: SQLiteFile) throws(PackError) {
        if leaves.isEmpty, waiting.count <= capacity {
            // All features fit into the root.
            try writeKeys(waiting.map { ($0.number, 1) }, to: file)
            return try write(waiting[...], node: 1, depth: 0, to: file)
        }
        try writeLeaves(to: file)
        var level = leaves
        leaves = []
        var depth = 1
        while level.count > capacity {
            var above: [Entry] = []
            for part in Self.parts(level.count, capacity) {
                above.append(try writeNode(level[part], to: file))
                for entry in level[part] { try writeParent(entry.number, nextNode - 1, to: file) }
            }
            level = above
            depth += 1
        }
        for entry in level { try writeParent(entry.number, 1, to: file) }
        try write(level[...], node: 1, depth: UInt16(depth), to: file)
    }

    /// Sorts the waiting features and writes their leaves.
    private mutating func writeLeaves(to file: SQLiteFile) throws(PackError) {
        guard !waiting.isEmpty else { return }
        // The place along the curve, and the position among the waiting features.
        var order = waiting.enumerated().map { index, entry in
            let place = Self.hilbert((entry.box[0] + entry.box[1]) / 2, (entry.box[2] + entry.box[3]) / 2)
            return UInt64(place) << 32 | UInt64(index)
        }
        order.sort()
        let sorted = order.map { waiting[Int($0 & 0xFFFF_FFFF)] }
        // In the order of the keys, so that their table is written in its own order.
        var keys = waiting.map { (key: $0.number, node: Int64(0)) }
        waiting.removeAll(keepingCapacity: true)
        for part in Self.parts(sorted.count, capacity) {
            leaves.append(try writeNode(sorted[part], to: file))
            for place in order[part] { keys[Int(place & 0xFFFF_FFFF)].node = nextNode - 1 }
        }
        try writeKeys(keys, to: file)
    }

    /// Ranges of similar size, so that no node is nearly empty: SQLite requires a third of each.
    private static func parts(_ count: Int, _ capacity: Int) -> [Range<Int>] {
        let parts = (count + capacity - 1) / capacity
        return (0..<parts).map { part in count * part / parts..<count * (part + 1) / parts }
    }

    private mutating func writeNode(_ entries: ArraySlice<Entry>, to file: SQLiteFile) throws(PackError) -> Entry {
        let node = nextNode
        nextNode += 1
        try write(entries, node: node, depth: 0, to: file)
        return Entry(number: node, box: Entry.around(entries))
    }

    private func write(_ entries: ArraySlice<Entry>, node: Int64, depth: UInt16, to file: SQLiteFile) throws(PackError)
    {
        let bytes = [UInt8](unsafeUninitializedCapacity: nodeBytes) { buffer, count in
            let buffer = UnsafeMutableRawBufferPointer(buffer)
            buffer.initializeMemory(as: UInt8.self, repeating: 0)
            count = nodeBytes
            buffer.storeBytes(of: depth.bigEndian, as: UInt16.self)
            buffer.storeBytes(of: UInt16(entries.count).bigEndian, toByteOffset: 2, as: UInt16.self)
            var place = Self.headBytes
            for entry in entries {
                buffer.storeBytes(of: entry.number.bigEndian, toByteOffset: place, as: Int64.self)
                for index in 0..<4 {
                    buffer.storeBytes(
                        of: entry.box[index].bitPattern.bigEndian, toByteOffset: place + 8 + 4 * index, as: UInt32.self)
                }
                place += Self.entryBytes
            }
        }
        try file.with("INSERT OR REPLACE INTO \"\(name)_node\" VALUES (?, ?)") { row throws(PackError) in
            row.bind(node, bytes)
            try row.run()
        }
    }

    private func writeKeys(_ keys: [(key: Int64, node: Int64)], to file: SQLiteFile) throws(PackError) {
        try file.with("INSERT INTO \"\(name)_rowid\" (rowid, nodeno) VALUES (?, ?)") { row throws(PackError) in
            for (key, node) in keys {
                row.bind(key, node)
                try row.run()
            }
        }
    }

    private func writeParent(_ node: Int64, _ parent: Int64, to file: SQLiteFile) throws(PackError) {
        try file.with("INSERT INTO \"\(name)_parent\" VALUES (?, ?)") { row throws(PackError) in
            row.bind(node, parent)
            try row.run()
        }
    }

    /// The position along the Hilbert curve through a grid of 65,536 × 65,536 squares of the earth.
    private static func hilbert(_ longitude: Float, _ latitude: Float) -> UInt32 {
        func step(_ value: Float, _ span: Float) -> UInt32 {
            UInt32(max(0, min(65_535, (value + span / 2) / span * 65_535)))
        }
        var (x, y) = (step(longitude, 360), step(latitude, 180))
        var place: UInt32 = 0
        var side: UInt32 = 1 << 15
        while side > 0 {
            let (right, up) = (x & side > 0, y & side > 0)
            place += side &* side &* (right ? (up ? 2 : 3) : (up ? 1 : 0))
            if !up {
                if right { (x, y) = (65_535 - x, 65_535 - y) }
                swap(&x, &y)
            }
            side >>= 1
        }
        return place
    }
}
