package import BillowExchange
package import BillowPacks
package import BillowRaster
package import BillowSnapshot
import Datasets
import Turbulence

/// All features of a query in one format, page by page.
package struct FeatureExport: Sendable {
    private let features: FeatureSource
    private let query: FeatureQuery
    private let form: FeatureFormat
    private let snapshot: Snapshot
    private let dataStatus: DataStatus
    private let style: Style?

    package init(
        features: FeatureSource, query: FeatureQuery, format: ExportFormat, snapshot: Snapshot, policy: FreshnessPolicy
    ) {
        self.init(
            features: features, query: query, format: format, snapshot: snapshot,
            dataStatus: policy.dataStatus(query, in: snapshot))
    }

    /// - Parameter style: the colours of KML.
    package init(
        features: FeatureSource, query: FeatureQuery, format: ExportFormat, snapshot: Snapshot, dataStatus: DataStatus,
        style: Style? = nil
    ) {
        self.init(
            features: features, query: query, in: .text(format), snapshot: snapshot, dataStatus: dataStatus,
            style: style)
    }

    init(
        features: FeatureSource, query: FeatureQuery, in form: FeatureFormat, snapshot: Snapshot,
        dataStatus: DataStatus,
        style: Style? = nil
    ) {
        self.features = features
        self.query = query
        self.form = form
        self.snapshot = snapshot
        self.dataStatus = dataStatus
        self.style = style
    }

    /// The pieces of an export, each of some hundred kilobytes.
    package struct Parts: Sendable {
        // One of them is set. They are optionals instead of an enumeration, so that each is changed in place.
        private var inOrder: FeatureParts?
        private var sideBySide: ObservationParts?
        private var byFolder: KMLParts?

        fileprivate init(_ export: FeatureExport, isAhead: Bool, in place: FileDestination) {
            let isKML = export.form == .text(.kml)
            var writer = FeatureWriter(
                export.query.collection, in: export.form,
                members: CollectionMembers(export.query, snapshot: export.snapshot, dataStatus: export.dataStatus),
                design: isKML ? KMLStyle(export.query, export.dataStatus, export.style, in: export.snapshot) : nil)
            writer.begin()
            if isKML {
                byFolder = KMLParts(export.features, export.query, in: export.snapshot, writer, in: place)
                return
            }
            // Observations can be many, and each is encoded from its row alone.
            if isAhead, export.query.collection.isOfRows {
                sideBySide = ObservationParts(export.features, export.query, in: export.snapshot, writer)
            } else {
                inOrder = FeatureParts(export.features.reader(export.query, in: export.snapshot), writer)
            }
        }

        /// The number of written features.
        package var features: Int { inOrder?.features ?? sideBySide?.features ?? byFolder?.features ?? 0 }

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

/// All features of a query, after the start that a writer has already written, and the end.
package struct FeatureParts: ResponseParts {
    private var reader: FeatureReader
    private var writer: FeatureWriter
    private var isDone = false

    package init(_ reader: FeatureReader, _ writer: FeatureWriter) {
        self.reader = reader
        self.writer = writer
    }

    /// The number of written features.
    package var features: Int { writer.features }

    package mutating func next() async throws(EngineError) -> [UInt8]? {
        guard !isDone else { return nil }
        repeat { try await reader.read(.piece, to: &writer) } while !reader.isAtEnd && writer.count == 0
        if reader.isAtEnd {
            isDone = true
            writer.end()
        }
        return writer.drain()
    }
}
