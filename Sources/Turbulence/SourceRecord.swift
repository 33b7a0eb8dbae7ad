/// One source, as the log knows it.
public struct SourceRecord: Sendable, Hashable {
    public var number: SourceNumber
    public var id: SourceID
    public var merge: MergeRule
    /// Whether its data is made up for demonstration.
    public var simulated: Bool
    /// When it was last fetched with success; nil before the first time and for what isn't fetched.
    public var fetchedAt: Instant?
    /// From when on the log is complete for it; nil where nothing is known.
    public var completeSince: Instant?

    public init(
        number: SourceNumber, id: SourceID, merge: MergeRule, simulated: Bool = false, fetchedAt: Instant? = nil,
        completeSince: Instant? = nil
    ) {
        self.number = number
        self.id = id
        self.merge = merge
        self.simulated = simulated
        self.fetchedAt = fetchedAt
        self.completeSince = completeSince
    }
}
