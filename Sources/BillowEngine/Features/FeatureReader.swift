package import BillowExchange
package import BillowSnapshot
import Geometry
package import Turbulence

/// How much of a query is written at once.
package struct PageLimit: Sendable, Hashable {
    package var features: Int
    /// Bytes of the buffer at which writing stops. A feature of many polygons is cut between two of them.
    package var bytes: Int

    package init(features: Int, bytes: Int = .max) {
        self.features = features
        self.bytes = bytes
    }

    /// A piece of a streamed answer: what a client that doesn't read keeps in memory.
    package static let piece = PageLimit(features: 400, bytes: 256 << 10)
}

/// What was found for a query and serves all its pieces.
package struct PageMemory: Sendable {
    /// Features at hand, in the order of their ids.
    var made: [FeatureSource.Made]?
    /// How many polygons of the next of those are written already.
    package var polygons = 0
    /// Hexagons in the order in which a route meets them.
    var along: [Hexagon]?
    /// Cells of fields in the order in which a flight meets them.
    var fieldCells: [FeatureSource.FieldCellAlong]?
    package var aircraft: [ICAO24]?

    /// Whether a feature has begun and not ended.
    var isInside: Bool { polygons > 0 }
}

/// Reads the features of a query piece by piece, with nothing held in between but its place.
package struct FeatureReader: Sendable {
    private let features: FeatureSource
    private let query: FeatureQuery
    private let snapshot: Snapshot
    private var memory = PageMemory()
    /// The place of the last feature; nil before the first.
    package private(set) var cursor: FeatureSource.Cursor?
    package private(set) var isAtEnd = false

    package init(
        _ features: FeatureSource, _ query: FeatureQuery, in snapshot: Snapshot, after cursor: FeatureSource.Cursor?
    ) {
        self.features = features
        self.query = query
        self.snapshot = snapshot
        self.cursor = cursor
    }

    /// Whether the last feature that was written is whole.
    package var isBetweenFeatures: Bool { !memory.isInside }

    /// Writes the next features up to a limit.
    package mutating func read(_ limit: PageLimit, to writer: inout FeatureWriter) async throws {
        guard !isAtEnd else { return }
        let next = try await features.write(
            query, in: snapshot, after: cursor, limit: limit, memory: &memory, to: &writer)
        if let next { cursor = next } else { isAtEnd = isBetweenFeatures }
    }
}
