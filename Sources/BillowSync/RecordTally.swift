import UpstreamKit

/// Counts the used and the unusable records of a round's answers. An answer without a single usable record is a fault
/// of the upstream, or of our reading, and not a picture of calm air.
struct RecordTally: Sendable {
    private var used = 0
    private var unusable: [SkipReason: Int] = [:]

    /// - Parameter unusable: by reason.
    mutating func add(used: Int, unusable: [SkipReason: Int]) {
        self.used += used
        self.unusable.merge(unusable, uniquingKeysWith: +)
    }

    /// - Throws: `unreadable` where there were records and none could be used.
    func check() throws(SyncError) {
        guard used == 0, !unusable.isEmpty else { return }
        let reasons = unusable.counted(by: \.description).sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map {
            "\($0.value) \($0.key)"
        }
        throw SyncError(
            kind: .transient, code: .upstream(.unreadable),
            message: "none of its \(unusable.values.reduce(0, +)) records can be used: "
                + reasons.joined(separator: ", "),
            isReachable: true)
    }
}
