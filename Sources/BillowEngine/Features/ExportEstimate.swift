package import BillowExchange
package import BillowSnapshot
import BillowStore
import Datasets
import Turbulence

/// The size of an export, before it is made.
package struct ExportEstimate: Sendable, Hashable, Encodable {
    package let features: Int
    /// The bytes without compression; nil where only the complete file tells.
    package let bytes: Int?
    /// Whether everything was read. Otherwise a sample stands for the rest.
    package let isExact: Bool

    private enum CodingKeys: String, CodingKey {
        case features, bytes
        case isExact = "exact"
    }

    package static let sampleRecords = 10_000
    /// The number of times from which a sample is taken.
    static let samplePlaces = 10

    /// - Parameters:
    ///   - features: those among the read records that the query selects, and their bytes.
    ///   - total: the number of all records. Where it is larger than that of the read ones, the others are taken to be
    ///     like them.
    package init(features: Int, bytes: Int?, read: Int, of total: Int) {
        let factor = read > 0 ? Double(total) / Double(read) : 1
        self.features = Int((Double(features) * factor).rounded())
        self.bytes = bytes.map { Int((Double($0) * factor).rounded()) }
        isExact = total == read
    }
}

extension FeatureExport {
    /// Tells the size of an export. Many observations are counted, and those that aren't read are taken to be like a
    /// sample. Anything else is made whole, without keeping it.
    ///
    /// - Parameter format: nil for a format whose bytes only the complete file tells.
    package static func estimate(
        of query: FeatureQuery, as format: ExportFormat?, features: FeatureSource, snapshot: Snapshot,
        dataStatus: DataStatus
    ) -> Estimation {
        let isByFeature = format != nil && format != .kml
        let counted = FeatureExport(
            features: features, query: query, format: isByFeature ? format ?? .geojson : .geojson, snapshot: snapshot,
            dataStatus: dataStatus)
        return Estimation(counted, hasBytes: isByFeature)
    }

    /// An estimate that is made step by step. Each step is short, whatever the number of stored observations.
    package struct Estimation: Sendable {
        private let export: FeatureExport
        private let hasBytes: Bool
        private var step: Step

        private enum Step: Sendable {
            /// The observed times that remain to be counted, of the whole range.
            case counting(rest: Range<Instant>, of: Range<Instant>, total: Int)
            case making(Parts, bytes: Int)
        }

        fileprivate init(_ export: FeatureExport, hasBytes: Bool) {
            self.export = export
            self.hasBytes = hasBytes
            let query = export.query
            guard query.collection.isOfRows, !query.hasNothing, let stored = export.snapshot.logExtent.observed else {
                step = .making(export.parts(), bytes: 0)
                return
            }
            let from = max(query.from, stored.lowerBound)
            let range = from..<max(from, min(query.to, stored.upperBound.advanced(by: 1)))
            step = .counting(rest: range, of: range, total: 0)
        }

        /// The seconds of observed time that a step counts.
        private static let countedSeconds = 86_400

        /// - Returns: the estimate after the last step; nil before.
        package mutating func next() async throws(EngineError) -> ExportEstimate? {
            switch step {
            case .counting(let rest, let range, let total):
                guard !rest.isEmpty else { return try await sample(range, total) }
                let end = min(rest.lowerBound.advanced(by: Self.countedSeconds), rest.upperBound)
                let count: Int
                do {
                    count = try await export.features.store.countObservations(from: rest.lowerBound, to: end)
                } catch { throw .store(error) }
                step = .counting(rest: end..<rest.upperBound, of: range, total: total + count)
                return nil
            case .making(var parts, let bytes):
                let piece = try await parts.next()
                step = .making(parts, bytes: bytes + (piece?.count ?? 0))
                guard piece == nil else { return nil }
                return ExportEstimate(
                    features: parts.features, bytes: hasBytes ? bytes : nil, read: parts.features,
                    of: parts.features)
            }
        }

        /// - Returns: nil if there are so few observations that all can be read.
        private mutating func sample(_ range: Range<Instant>, _ total: Int) async throws(EngineError)
            -> ExportEstimate?
        {
            guard total > ExportEstimate.sampleRecords else {
                step = .making(export.parts(), bytes: 0)
                return nil
            }
            var sample = export.writer
            let read = try await export.features.sample(
                export.query, in: export.snapshot, of: range, places: ExportEstimate.samplePlaces,
                rows: ExportEstimate.sampleRecords / ExportEstimate.samplePlaces, to: &sample)
            return ExportEstimate(
                features: sample.features, bytes: hasBytes ? sample.count : nil, read: read, of: max(total, read))
        }
    }
}
