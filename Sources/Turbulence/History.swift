/// How far a frame looks back: the window (T − length, T].
///
/// Source: docs/upstreams/skypath.md, "The model of the data" (DataHistoryTime of the iOS SDK)
public enum History: Int, Sendable, Hashable, CaseIterable, Comparable {
    /// 30 minutes.
    case halfHour = 1_800
    /// One hour.
    case oneHour = 3_600
    /// Two hours.
    case twoHours = 7_200
    /// Four hours.
    case fourHours = 14_400
    /// Six hours.
    case sixHours = 21_600

    /// The default: two hours.
    public static let `default` = History.twoHours

    /// The length in seconds.
    public var seconds: Int { rawValue }
    /// The length in hours.
    public var hours: Double { Double(rawValue) / 3_600 }

    /// Parses `0.5`, `1`, `2`, `4` or `6`.
    public init?(_ text: some StringProtocol) {
        guard let match = History.allCases.first(where: { $0.text == text }) else { return nil }
        self = match
    }

    /// The hours as in parameters.
    package var text: String { self == .halfHour ? "0.5" : String(rawValue / 3_600) }

    public static func < (a: History, b: History) -> Bool { a.rawValue < b.rawValue }
}
