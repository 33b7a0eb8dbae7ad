import UpstreamKit

/// What became of the records of a round's answers. An answer of records none of which can be used is a fault of the upstream,
/// or of our reading, and not a picture of calm air.
struct RecordUse: Sendable {
    private var used = 0
    private var unusable: [String: Int] = [:]

    /// - Parameter unusable: by reason.
    mutating func add(used: Int, unusable: [String: Int]) {
        self.used += used
        self.unusable.merge(unusable, uniquingKeysWith: +)
    }

    /// - Throws: `unreadable` where there were records and none could be used.
    func check() throws(SyncError) {
        guard used == 0, !unusable.isEmpty else { return }
        let reasons = unusable.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) \($0.key)" }
        throw SyncError(
            kind: .transient, code: .upstream(.unreadable),
            message: "none of its \(unusable.values.reduce(0, +)) records can be used: "
                + reasons.joined(separator: ", "),
            isReachable: true)
    }
}
