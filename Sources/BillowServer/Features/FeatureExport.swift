public import BillowExchange
public import BillowSnapshot
import Turbulence

/// A whole query written out in one format, page by page.
public struct FeatureExport: Sendable {
    private let features: FeatureSource
    private let query: FeatureQuery
    private let format: ExportFormat
    private let snapshot: Snapshot
    private let age: Age

    private static let page = 5_000

    public init(
        features: FeatureSource, query: FeatureQuery, format: ExportFormat, snapshot: Snapshot, age: Age
    ) {
        self.features = features
        self.query = query
        self.format = format
        self.snapshot = snapshot
        self.age = age
    }

    /// Hands the bytes to `sink` in pieces of some hundred kilobytes.
    /// - Returns: how many features were written.
    @discardableResult
    public func write(to sink: ([UInt8]) async throws -> Void) async throws -> Int {
        var writer = FeatureWriter(
            query.collection, as: format, members: CollectionMembers(query, snapshot: snapshot, age: age))
        writer.begin()
        var cursor: FeatureSource.Cursor?
        repeat {
            cursor = try await features.write(query, in: snapshot, after: cursor, limit: Self.page, to: &writer)
            if writer.count > 0 { try await sink(writer.drain()) }
        } while cursor != nil
        writer.end()
        try await sink(writer.drain())
        return writer.features
    }
}
