package import Turbulence

/// How long data of each kind is stored, and how long an aircraft is shown. All values are seconds.
package struct DataLifetimes: Sendable, Hashable {
    /// The retention of observations, reports and areas.
    package let retentionSeconds: Int
    /// The retention of aircraft positions, at most the general one.
    package let trafficRetentionSeconds: Int
    /// The retention of fields by valid time, at most the general one.
    package let fieldRetentionSeconds: Int
    /// The time after its last position for which an aircraft is shown.
    package let trafficDropSeconds: Int

    /// The default retention of fields: two days.
    package static let defaultFieldSeconds = 2 * 86_400
    /// The default time for which an aircraft is shown.
    package static let defaultTrafficDropSeconds = 180

    /// - Parameters:
    ///   - traffic: the retention of positions; nil for the general one.
    ///   - fields: the retention of fields.
    package init(
        retentionSeconds: Int, traffic: Int? = nil, fields: Int = defaultFieldSeconds,
        trafficDropSeconds: Int = defaultTrafficDropSeconds
    ) {
        self.retentionSeconds = retentionSeconds
        trafficRetentionSeconds = min(traffic ?? retentionSeconds, retentionSeconds)
        fieldRetentionSeconds = min(fields, retentionSeconds)
        self.trafficDropSeconds = trafficDropSeconds
    }

    /// The retention of a kind of fetched data.
    package func retentionSeconds(of kind: FeedKind) -> Int {
        switch kind {
        case .positions: trafficRetentionSeconds
        case .fields: fieldRetentionSeconds
        default: retentionSeconds
        }
    }
}
