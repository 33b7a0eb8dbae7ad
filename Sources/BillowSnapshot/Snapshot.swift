public import Turbulence

/// The whole live picture at one publication: immutable, swapped whole. A request takes it once and answers from it alone.
public struct Snapshot: Sendable {
    public let publication: Publication
    /// The rows from `liveFrom` on.
    public let window: Window
    /// From when on every row is in `window`; what a picture needs from before comes from the store.
    public let liveFrom: Instant
    /// Every source, in the order of their numbers.
    public let sources: [SourceRecord]
    public let severityTable: SeverityTable

    public init(
        publication: Publication, window: Window, liveFrom: Instant, sources: [SourceRecord],
        severityTable: SeverityTable
    ) {
        self.publication = publication
        self.window = window
        self.liveFrom = liveFrom
        self.sources = sources
        self.severityTable = severityTable
    }

    /// The picture at an instant, or nil where it needs rows from before `liveFrom`.
    public func frame(at instant: Instant, filter: Filter) -> Frame? {
        guard instant.advanced(by: 1 - filter.lookBackSeconds) >= liveFrom else { return nil }
        return Frame(window: window, at: instant, filter: filter, table: severityTable)
    }
}
