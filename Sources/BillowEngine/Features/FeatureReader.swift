package import BillowExchange
package import BillowSnapshot
import Geometry
package import Turbulence

/// The limits of one page or piece.
package struct PageLimit: Sendable, Hashable {
    package var features: Int
    /// The buffer size in bytes at which writing stops. A feature with many polygons is split between two of them.
    package var bytes: Int

    package init(features: Int, bytes: Int = .max) {
        self.features = features
        self.bytes = bytes
    }

    /// The limit of a streamed piece, which is the memory that a slow client occupies. A page of the usual length is
    /// one piece: it is read by one query and sent with its length.
    package static let piece = PageLimit(features: 1_000, bytes: 384 << 10)
}

/// Intermediate results of a query that all its pages and pieces share.
package struct QueryIntermediates: Sendable {
    /// Prepared features, in the order of their ids.
    var prepared: [FeatureSource.PreparedFeature]?
    /// The number of polygons of the next feature that are already written.
    package var polygons = 0
    /// Hexagons in the order of the route.
    var along: [Hexagon]?
    /// Cells of fields in the order of the flight.
    var fieldCells: [FeatureSource.FieldCellAlong]?
    package var aircraft: [ICAO24]?

    /// Whether a feature is partly written.
    var isInside: Bool { polygons > 0 }
}

/// Reads the features of a query piece by piece. Between pieces it holds only its cursor and intermediate results.
package struct FeatureReader: Sendable {
    private let features: FeatureSource
    private let query: FeatureQuery
    private let snapshot: Snapshot
    private var memory = QueryIntermediates()
    /// The cursor of the last feature; nil before the first.
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

    /// The number of all features of the query, before and after the cursor too; nil if it isn't known.
    package var total: Int? { memory.prepared?.count ?? memory.along?.count ?? memory.fieldCells?.count }

    /// Whether the last feature is completely written.
    package var isBetweenFeatures: Bool { !memory.isInside }

    /// Writes the next features up to a limit.
    package mutating func read(_ limit: PageLimit, to writer: inout FeatureWriter) async throws(EngineError) {
        guard !isAtEnd else { return }
        let next = try await features.write(
            query, in: snapshot, after: cursor, limit: limit, memory: &memory, to: &writer)
        if let next { cursor = next } else { isAtEnd = isBetweenFeatures }
    }
}
