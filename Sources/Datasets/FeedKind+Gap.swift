package import Turbulence

extension FeedKind {
    /// The longest interval in seconds between fetches that leaves no gap in the data. It applies if each fetch returns
    /// a snapshot, as for positions and areas. It is nil for data that a later fetch completes; its source has a
    /// `completeSince`. A kind without a dataset is treated as areas.
    package var longestGapSeconds: Int? { Self.longestGaps[self, default: Self.snapshotGapSeconds] }

    fileprivate static let snapshotGapSeconds = 3_600

    /// The gaps by kind. Of several datasets with one kind, the first decides: polygons are made of observations.
    private static let longestGaps = Dictionary(
        Catalogue.all.flatMap { dataset in dataset.kinds.map { ($0, dataset.longestGapSeconds) } },
        uniquingKeysWith: { first, _ in first })
}

extension Dataset {
    /// The `longestGapSeconds` of its data.
    fileprivate var longestGapSeconds: Int? {
        switch content {
        case .history: nil
        case .positions: 900
        case .areas, .polygons, .field: FeedKind.snapshotGapSeconds
        }
    }
}

extension SourceRecord {
    /// The time from which a kind of data is complete; nil if unknown.
    package func completeSince(_ kind: FeedKind) -> Instant? {
        kind.longestGapSeconds == nil ? completeSince : fetchedSince[kind] ?? completeSince
    }
}
