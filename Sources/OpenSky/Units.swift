/// A length or altitude.
public struct Length: Sendable, Hashable {
    /// The length in metres.
    public var metres: Double

    /// Makes a length from metres.
    public init(metres: Double) { self.metres = metres }

    /// The length in international feet.
    public var feet: Double { metres / 0.3048 }
}

/// A speed over the ground, or a vertical rate (positive: up).
public struct Speed: Sendable, Hashable {
    /// The speed in metres per second.
    public var metresPerSecond: Double

    /// Makes a speed from metres per second.
    public init(metresPerSecond: Double) { self.metresPerSecond = metresPerSecond }

    /// The speed in knots: 1,852 m per hour.
    public var knots: Double { metresPerSecond * 3_600 / 1_852 }
    /// The speed in feet per minute.
    public var feetPerMinute: Double { metresPerSecond * 60 / 0.3048 }
}
