/// A word of a documented list that upstream may lengthen without notice: an unknown word is kept, and known as such.
public protocol OpenWord: RawRepresentable, Sendable, Hashable where RawValue == String {
    static var known: Set<String> { get }
    init(rawValue: String)
}

extension OpenWord {
    /// Whether the word stands in the documented list.
    public var isKnown: Bool { Self.known.contains(rawValue) }
}

/// How rough the air was.
///
/// Source: aviationweather.gov Data API, schema of `pirep`, `tbInt1`
public struct TurbulenceIntensity: OpenWord {
    /// The word.
    public let rawValue: String
    /// Takes any word.
    public init(rawValue: String) { self.rawValue = rawValue }

    private static let steps: [String: Int] = [
        "NEG": 0, "SMTH-LGT": 1, "LGT": 1, "LGT-MOD": 2, "MOD": 3, "MOD-SEV": 4, "SEV": 4, "MOD-EXTM": 4, "SEV-EXTM": 4,
        "EXTM": 4,
    ]
    /// The documented words.
    public static let known = Set(steps.keys)

    /// 0 smooth, 1 light, 2 light to moderate, 3 moderate, 4 worse; nil for an unknown word, which is never smooth.
    public var step: Int? { TurbulenceIntensity.steps[rawValue] }
}

/// What sort of turbulence: `CAT`, `CHOP`, `LLWS`, `MWAVE`.
public struct TurbulenceType: OpenWord {
    /// The word.
    public let rawValue: String
    /// Takes any word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The documented words.
    public static let known: Set = ["CAT", "CHOP", "LLWS", "MWAVE"]
}

/// How often: `ISOL`, `OCNL`, `CONT`, and `INT`, which occurs though it isn't documented.
public struct TurbulenceFrequency: OpenWord {
    /// The word.
    public let rawValue: String
    /// Takes any word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The documented words.
    public static let known: Set = ["ISOL", "OCNL", "CONT", "INT"]
}

/// How much ice.
public struct IcingIntensity: OpenWord {
    /// The word.
    public let rawValue: String
    /// Takes any word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The documented words.
    public static let known: Set = [
        "NEG", "NEGclr", "TRC", "TRC-LGT", "LGT", "LGT-MOD", "MOD", "MOD-SEV", "HVY", "SEV",
    ]
}

/// What sort of ice.
public struct IcingType: OpenWord {
    /// The word.
    public let rawValue: String
    /// Takes any word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The documented words.
    public static let known: Set = ["RIME", "CLEAR", "MIXED"]
}

/// What the flight level means.
public struct LevelKind: OpenWord {
    /// The word.
    public let rawValue: String
    /// Takes any word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The documented words.
    public static let known: Set = ["GRND", "DURC", "DURD", "CRUISE", "OTHER", "UNKN"]
    /// On the ground.
    public static let ground = LevelKind(rawValue: "GRND")
}

/// What sort of report.
public struct ReportKind: OpenWord {
    /// The word.
    public let rawValue: String
    /// Takes any word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The documented words.
    public static let known: Set = ["PIREP", "Urgent PIREP", "AIREP", "AMDAR"]
    /// A pilot's report.
    public static let pirep = ReportKind(rawValue: "PIREP")
}
