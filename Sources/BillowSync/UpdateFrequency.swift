import BillowTimeline

/// The intervals of the named update frequencies.
package struct UpdateLengths: Sendable, Hashable {
    package var fast = Duration.seconds(60)
    package var medium = Duration.seconds(300)
    package var minimal = Duration.seconds(900)

    package init() {}
}

/// The update frequency of an upstream.
///
/// Source: docs/upstreams/skypath.md, "Frequencies" (DataUpdateFrequency of the iOS SDK)
package enum UpdateFrequency: Sendable, Hashable {
    /// No updates.
    case none
    case minimal
    case medium
    case fast
    case every(Duration)

    /// The names, slowest first.
    package static let names = ["none", "minimal", "medium", "fast"]

    /// Parses one of the names.
    package init?(name: some StringProtocol) {
        switch name {
        case "none": self = .none
        case "minimal": self = .minimal
        case "medium": self = .medium
        case "fast": self = .fast
        default: return nil
        }
    }

    /// The time from the end of one round to the start of the next; nil without updates.
    package func interval(_ lengths: UpdateLengths = UpdateLengths()) -> Duration? {
        switch self {
        case .none: nil
        case .minimal: lengths.minimal
        case .medium: lengths.medium
        case .fast: lengths.fast
        case .every(let interval): interval
        }
    }

    /// The name, or whole seconds as an ISO 8601 duration.
    package var text: String {
        switch self {
        case .none: "none"
        case .minimal: "minimal"
        case .medium: "medium"
        case .fast: "fast"
        case .every(let interval): ISODuration.text(Int(interval.components.seconds))
        }
    }
}
