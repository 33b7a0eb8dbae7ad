import UpstreamKit

/// Counts the usable and unusable records of a round. A response without a single usable record is a fault of the
/// upstream or of the parser, and no evidence of smooth air.
struct RecordCounts: Sendable {
    private var used = 0
    private var unusable: [SkipReason: Int] = [:]

    /// - Parameter unusable: the counts by reason.
    mutating func add(used: Int, unusable: [SkipReason: Int]) {
        self.used += used
        self.unusable.merge(unusable, uniquingKeysWith: +)
    }

    /// - Throws: `unreadable` if there were records but none was usable.
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
