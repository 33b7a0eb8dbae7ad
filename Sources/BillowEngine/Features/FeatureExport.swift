package import BillowExchange
package import BillowSnapshot
import Turbulence

/// A whole query written out in one format, page by page.
package struct FeatureExport: Sendable {
    private let features: FeatureSource
    private let query: FeatureQuery
    private let format: ExportFormat
    private let snapshot: Snapshot
    private let shown: Shown

    package init(
        features: FeatureSource, query: FeatureQuery, format: ExportFormat, snapshot: Snapshot, policy: FreshnessPolicy
    ) {
        self.init(
            features: features, query: query, format: format, snapshot: snapshot,
            shown: policy.shown(query, in: snapshot))
    }

    package init(features: FeatureSource, query: FeatureQuery, format: ExportFormat, snapshot: Snapshot, shown: Shown) {
        self.features = features
        self.query = query
        self.format = format
        self.snapshot = snapshot
        self.shown = shown
    }

    /// The pieces of an export, each of some hundred kilobytes.
    package struct Pieces: Sendable {
        private var pieces: FeaturePieces

        fileprivate init(_ export: FeatureExport) {
            var writer = FeatureWriter(
                export.query.collection, as: export.format,
                members: CollectionMembers(export.query, snapshot: export.snapshot, shown: export.shown))
            writer.begin()
            pieces = FeaturePieces(export.features.reader(export.query, in: export.snapshot), writer)
        }

        /// How many features were written.
        package var features: Int { pieces.features }

        /// nil after the last one.
        /// - Throws: `EngineError` for what can't be asked; the first piece tells, before anything is sent.
        package mutating func next() async throws -> [UInt8]? { try await pieces.next() }
    }

    package func pieces() -> Pieces { Pieces(self) }

    /// Hands the bytes to `sink`, piece by piece.
    /// - Returns: how many features were written.
    @discardableResult
    package func write(to sink: ([UInt8]) async throws -> Void) async throws -> Int {
        var pieces = pieces()
        while let piece = try await pieces.next() { try await sink(piece) }
        return pieces.features
    }
}

extension FeatureExport.Pieces: AnswerPieces {}

/// All features of a query behind what a writer has written already, and its end.
package struct FeaturePieces: AnswerPieces {
    private var reader: FeatureReader
    private var writer: FeatureWriter
    private var isDone = false

    package init(_ reader: FeatureReader, _ writer: FeatureWriter) {
        self.reader = reader
        self.writer = writer
    }

    /// How many features were written.
    package var features: Int { writer.features }

    package mutating func next() async throws -> [UInt8]? {
        guard !isDone else { return nil }
        repeat { try await reader.read(.piece, to: &writer) } while !reader.isAtEnd && writer.count == 0
        if reader.isAtEnd {
            isDone = true
            writer.end()
        }
        return writer.drain()
    }
}
