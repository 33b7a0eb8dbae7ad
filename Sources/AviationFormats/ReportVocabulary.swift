/// A word of a documented list that the upstream may extend without notice. Unknown words are stored and marked as
/// such.
public protocol ExtensibleCode: RawRepresentable, Sendable, Hashable where RawValue == String {
    /// The documented words.
    static var known: Set<String> { get }
    /// Makes a value from any word.
    init(rawValue: String)
}

extension ExtensibleCode {
    /// Whether the word is in the documented list.
    public var isKnown: Bool { Self.known.contains(rawValue) }
}

/// The intensity of turbulence.
///
/// Source: Data API of the Aviation Weather Center, https://aviationweather.gov/data/api/, schema of `pirep`, `tbInt1`
public struct TurbulenceIntensity: ExtensibleCode {
    /// The word.
    public let rawValue: String
    /// Makes a value from any word.
    public init(rawValue: String) { self.rawValue = rawValue }

    private static let steps: [String: Int] = [
        "NEG": 0, "SMTH-LGT": 1, "LGT": 1, "LGT-MOD": 2, "MOD": 3, "MOD-SEV": 4, "SEV": 4, "MOD-EXTM": 4, "SEV-EXTM": 4,
        "EXTM": 4,
    ]
    /// The documented words.
    public static let known = Set(steps.keys)

    /// The severity: 0 smooth, 1 light, 2 light to moderate, 3 moderate, 4 worse. It is nil for an unknown word, which
    /// is never smooth.
    public var step: Int? { TurbulenceIntensity.steps[rawValue] }
}

/// The type of turbulence: `CAT`, `CHOP`, `LLWS`, `MWAVE`.
public struct TurbulenceType: ExtensibleCode {
    /// The word.
    public let rawValue: String
    /// Makes a value from any word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The documented words.
    public static let known: Set = ["CAT", "CHOP", "LLWS", "MWAVE"]
}

/// The frequency: `ISOL`, `OCNL`, `CONT`, and the undocumented `INT`.
public struct TurbulenceFrequency: ExtensibleCode {
    /// The word.
    public let rawValue: String
    /// Makes a value from any word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The documented words.
    public static let known: Set = ["ISOL", "OCNL", "CONT", "INT"]
}

/// The intensity of icing.
public struct IcingIntensity: ExtensibleCode {
    /// The word.
    public let rawValue: String
    /// Makes a value from any word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The documented words.
    public static let known: Set = [
        "NEG", "NEGclr", "TRC", "TRC-LGT", "LGT", "LGT-MOD", "MOD", "MOD-SEV", "HVY", "SEV",
    ]
}

/// The type of icing.
public struct IcingType: ExtensibleCode {
    /// The word.
    public let rawValue: String
    /// Makes a value from any word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The documented words.
    public static let known: Set = ["RIME", "CLEAR", "MIXED"]
}

/// The meaning of the flight level.
public struct LevelKind: ExtensibleCode {
    /// The word.
    public let rawValue: String
    /// Makes a value from any word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The documented words.
    public static let known: Set = ["GRND", "DURC", "DURD", "CRUISE", "OTHER", "UNKN"]
    /// On the ground.
    public static let ground = LevelKind(rawValue: "GRND")
}

/// The kind of a report.
public struct ReportKind: ExtensibleCode {
    /// The word.
    public let rawValue: String
    /// Makes a value from any word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The documented words.
    public static let known: Set = ["PIREP", "Urgent PIREP", "AIREP", "AMDAR"]
    /// A pilot's report.
    public static let pirep = ReportKind(rawValue: "PIREP")
}
