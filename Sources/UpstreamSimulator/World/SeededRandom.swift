/// A small seeded generator: the same numbers on every machine and in every run.
///
/// Source: SplitMix64, Steele, Lea & Flood 2014, https://doi.org/10.1145/2660193.2660195
struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// An independent stream for each combination of words, so that any object can be drawn without drawing earlier
    /// ones.
    init(seed: UInt64, _ words: Int...) {
        state = seed
        for word in words {
            state = SeededRandom.mixed(state &+ 0x9E37_79B9_7F4A_7C15) ^ UInt64(bitPattern: Int64(word))
        }
        state = SeededRandom.mixed(state &+ 0x9E37_79B9_7F4A_7C15)
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return SeededRandom.mixed(state)
    }

    private static func mixed(_ value: UInt64) -> UInt64 {
        var z = value
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// A uniform number, 0 ..< 1.
    mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    mutating func between(_ low: Double, _ high: Double) -> Double { low + (high - low) * unit() }

    /// An approximately normal number: mean 0, standard deviation 1, within ±√12 (the sum of four uniform numbers).
    mutating func bell() -> Double {
        (unit() + unit() + unit() + unit() - 2) * 1.732_050_807_568_877_2
    }
}
