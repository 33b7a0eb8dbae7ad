import BillowTimeline

/// What the names of update frequencies stand for.
public struct UpdateLengths: Sendable, Hashable {
    public var fast = Duration.seconds(60)
    public var medium = Duration.seconds(300)
    public var minimal = Duration.seconds(900)

    public init() {}
}

/// How often an upstream is asked.
///
/// Source: docs/upstreams/skypath.md, "Frequencies" (DataUpdateFrequency of the iOS SDK)
public enum UpdateFrequency: Sendable, Hashable {
    /// Not at all.
    case none
    case minimal
    case medium
    case fast
    case every(Duration)

    /// The names, slowest first.
    public static let names = ["none", "minimal", "medium", "fast"]

    /// One of the names.
    public init?(name: some StringProtocol) {
        switch name {
        case "none": self = .none
        case "minimal": self = .minimal
        case "medium": self = .medium
        case "fast": self = .fast
        default: return nil
        }
    }

    /// From the start of one wait to its end; nil for none.
    public func interval(_ lengths: UpdateLengths = UpdateLengths()) -> Duration? {
        switch self {
        case .none: nil
        case .minimal: lengths.minimal
        case .medium: lengths.medium
        case .fast: lengths.fast
        case .every(let interval): interval
        }
    }

    /// The name, or whole seconds as an ISO 8601 duration.
    public var text: String {
        switch self {
        case .none: "none"
        case .minimal: "minimal"
        case .medium: "medium"
        case .fast: "fast"
        case .every(let interval): ISODuration.text(Int(interval.components.seconds))
        }
    }
}
