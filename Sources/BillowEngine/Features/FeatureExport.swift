package import BillowExchange
package import BillowPacks
package import BillowRaster
package import BillowSnapshot
import Datasets
import Turbulence

/// All features of a query in one format, page by page; or a part of them, in the same order.
package struct FeatureExport: Sendable {
    let features: FeatureSource
    let query: FeatureQuery
    private let form: FeatureFormat
    let snapshot: Snapshot
    let dataStatus: DataStatus
    private let style: Style?
    /// The end of the part before this one; nil for the first part, and for the whole.
    private let start: FeatureSource.Cursor?
    /// The most features of a part; nil for all that follow.
    private let limit: Int?

    package init(
        features: FeatureSource, query: FeatureQuery, format: ExportFormat, snapshot: Snapshot, policy: FreshnessPolicy
    ) {
        self.init(
            features: features, query: query, format: format, snapshot: snapshot,
            dataStatus: policy.dataStatus(query, in: snapshot))
    }

    /// - Parameters:
    ///   - style: the colours of KML.
    ///   - start: the end of the part before this one. KML has no parts.
    ///   - limit: the most features of a part.
    package init(
        features: FeatureSource, query: FeatureQuery, format: ExportFormat, snapshot: Snapshot, dataStatus: DataStatus,
        style: Style? = nil, after start: FeatureSource.Cursor? = nil, limit: Int? = nil
    ) {
        self.init(
            features: features, query: query, in: .text(format), snapshot: snapshot, dataStatus: dataStatus,
            style: style, after: start, limit: limit)
    }

    init(
        features: FeatureSource, query: FeatureQuery, in form: FeatureFormat, snapshot: Snapshot,
        dataStatus: DataStatus,
        style: Style? = nil, after start: FeatureSource.Cursor? = nil, limit: Int? = nil
    ) {
        self.features = features
        self.query = query
        self.form = form
        self.snapshot = snapshot
        self.dataStatus = dataStatus
        self.style = style
        self.start = start
        self.limit = limit
    }

    private var isKML: Bool { form == .text(.kml) }

    var writer: FeatureWriter {
        FeatureWriter(
            query.collection, in: form,
            members: CollectionMembers(query, snapshot: snapshot, dataStatus: dataStatus),
            design: isKML ? KMLStyle(query, dataStatus, style, in: snapshot) : nil)
    }

    /// Whether it ends at a limit, so that only its end tells where the next part begins.
    package var isLimited: Bool { limit != nil }

    /// The pieces of an export, each of some hundred kilobytes.
    package struct Parts: Sendable {
        // One of them is set. They are optionals instead of an enumeration, so that each is changed in place.
        private var inOrder: FeatureParts?
        private var sideBySide: ObservationParts?
        private var byFolder: KMLParts?

        fileprivate init(_ export: FeatureExport, isAhead: Bool, in place: FileDestination) {
            var writer = export.writer
            writer.begin()
            if export.isKML {
                byFolder = KMLParts(export.features, export.query, in: export.snapshot, writer, in: place)
                return
            }
            // Observations can be many, and each is encoded from its row alone.
            if isAhead, export.start == nil, export.limit == nil, export.query.collection.isOfRows {
                sideBySide = ObservationParts(export.features, export.query, in: export.snapshot, writer)
            } else {
                inOrder = FeatureParts(
                    export.features.reader(export.query, in: export.snapshot, after: export.start), writer,
                    limit: export.limit)
            }
        }

        /// The number of written features.
        package var features: Int { inOrder?.features ?? sideBySide?.features ?? byFolder?.features ?? 0 }

        /// The end of a part after which more features follow, once all its pieces are made.
        package var nextStart: FeatureSource.Cursor? { inOrder?.nextStart }

        /// The bytes of temporary files beside the export.
        package var spooledBytes: Int { byFolder?.spooledBytes ?? 0 }

        /// nil after the last one.
        /// - Throws: `EngineError` for an invalid query, with the first piece, before anything is sent.
        package mutating func next() async throws(EngineError) -> [UInt8]? {
            if let piece = try await inOrder?.next() { return piece }
            if let piece = try await sideBySide?.next() { return piece }
            return try await byFolder?.next()
        }
    }

    /// - Parameter isAhead: whether pieces may be made ahead, in parallel. This suits a file, which is written as fast
    ///   as pieces are made. It does not suit a connection, because a client that doesn't read would keep all of them
    ///   in memory.
    /// - Parameter place: where temporary files are made, if the format needs some.
    package func parts(isAhead: Bool = false, in place: FileDestination = .temporary) -> Parts {
        Parts(self, isAhead: isAhead, in: place)
    }
}

extension FeatureExport.Parts: ResponseParts {}

/// All features of a query, or the first ones up to a limit, after the start that a writer has already written, and the
/// end.
package struct FeatureParts: ResponseParts {
    private var reader: FeatureReader
    private var writer: FeatureWriter
    private let limit: Int?
    private var isDone = false
    /// The cursor of the last feature, if the limit is reached and more features follow.
    private(set) var nextStart: FeatureSource.Cursor?

    package init(_ reader: FeatureReader, _ writer: FeatureWriter, limit: Int? = nil) {
        self.reader = reader
        self.writer = writer
        self.limit = limit
    }

    /// The number of written features.
    package var features: Int { writer.features }

    package mutating func next() async throws(EngineError) -> [UInt8]? {
        guard !isDone else { return nil }
        repeat { try await reader.read(room, to: &writer) } while !isComplete && writer.count == 0
        if isComplete {
            isDone = true
            nextStart = reader.isAtEnd ? nil : reader.cursor
            writer.end()
        }
        return writer.drain()
    }

    /// The limit of the next piece. A partly written feature is already counted.
    private var room: PageLimit {
        var piece = PageLimit.piece
        if let limit {
            piece.features = min(piece.features, limit - writer.features + (reader.isBetweenFeatures ? 0 : 1))
        }
        return piece
    }

    private var isComplete: Bool {
        reader.isAtEnd || reader.isBetweenFeatures && limit.map { writer.features >= $0 } ?? false
    }
}
