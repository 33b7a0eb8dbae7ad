/// A length or altitude.
public struct Length: Sendable, Hashable {
    /// Metres.
    public var metres: Double

    /// A length in metres.
    public init(metres: Double) { self.metres = metres }

    /// International feet.
    public var feet: Double { metres / 0.3048 }
}

/// A speed over ground, or a rate of climb (positive: up).
public struct Speed: Sendable, Hashable {
    /// Metres a second.
    public var metresPerSecond: Double

    /// A speed in metres a second.
    public init(metresPerSecond: Double) { self.metresPerSecond = metresPerSecond }

    /// 1,852 m an hour.
    public var knots: Double { metresPerSecond * 3_600 / 1_852 }
    /// Feet a minute.
    public var feetPerMinute: Double { metresPerSecond * 60 / 0.3048 }
}
