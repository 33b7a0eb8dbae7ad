/// A length or altitude.
public struct Length: Sendable, Hashable {
    public var metres: Double

    public init(metres: Double) { self.metres = metres }

    /// International feet.
    public var feet: Double { metres / 0.3048 }
}

/// A speed over ground, or a rate of climb (positive: up).
public struct Speed: Sendable, Hashable {
    public var metresPerSecond: Double

    public init(metresPerSecond: Double) { self.metresPerSecond = metresPerSecond }

    /// 1,852 m an hour.
    public var knots: Double { metresPerSecond * 3_600 / 1_852 }
    public var feetPerMinute: Double { metresPerSecond * 60 / 0.3048 }
}
