/// A layer of air 1,000 ft thick, named by its lower edge: block 38 is 38,000 ft ≤ h < 39,000 ft of pressure altitude.
public struct AltitudeBlock: Sendable, Hashable, Comparable {
    /// The lower edge in thousands of feet, 0…60.
    public let thousands: UInt8

    /// The allowed lower edges in thousands of feet.
    public static let range = 0...60

    /// Returns nil outside 0…60.
    public init?(thousands: Int) {
        guard AltitudeBlock.range.contains(thousands) else { return nil }
        self.thousands = UInt8(thousands)
    }

    /// The block that contains an altitude in feet, 0 ≤ feet < 61,000; nil outside, and for not a number.
    public init?(feet: Double) {
        guard feet >= 0, feet < 61_000 else { return nil }
        self.thousands = UInt8(feet / 1_000)
    }

    /// The lower edge in feet.
    public var feet: Int { Int(thousands) * 1_000 }

    public static func < (a: AltitudeBlock, b: AltitudeBlock) -> Bool { a.thousands < b.thousands }
}

/// The blocks that a report covers, from the lowest to the highest, both included; usually one.
public struct AltitudeBand: Sendable, Hashable {
    /// The block at the bottom.
    public let lowest: AltitudeBlock
    /// The block at the top, which is part of the band.
    public let highest: AltitudeBlock

    /// Makes a band of one block.
    public init(_ block: AltitudeBlock) {
        lowest = block
        highest = block
    }

    /// Returns nil if lowest is above highest.
    public init?(lowest: AltitudeBlock, highest: AltitudeBlock) {
        guard lowest <= highest else { return nil }
        self.lowest = lowest
        self.highest = highest
    }
}

/// The altitudes of a request: minimum ≤ h < maximum, in whole thousands of feet.
public struct AltitudeRange: Sendable, Hashable {
    /// The minimum in thousands of feet.
    public let minimum: Int
    /// The maximum in thousands of feet, above `minimum`.
    public let maximum: Int

    /// Every altitude.
    public static let all = AltitudeRange(uncheckedMinimum: 0, maximum: 61)

    /// Makes a range from feet: whole thousands in 0…60,000, minimum < maximum. nil means no limit at that end.
    public init(minimumFeet: Int?, maximumFeet: Int?) throws(ParameterError) {
        func thousands(_ name: String, _ feet: Int) throws(ParameterError) -> Int {
            guard (0...60_000).contains(feet), feet % 1_000 == 0 else {
                throw ParameterError(
                    parameter: name, value: String(feet), expected: "whole thousands of feet from 0 to 60000")
            }
            return feet / 1_000
        }
        let minimum = if let minimumFeet { try thousands("minAltitude", minimumFeet) } else { 0 }
        let maximum = if let maximumFeet { try thousands("maxAltitude", maximumFeet) } else { 61 }
        guard minimum < maximum else {
            throw ParameterError(
                parameter: "maxAltitude", value: String(maximum * 1_000),
                expected: "more than minAltitude, which is \(minimum * 1_000)")
        }
        self.init(uncheckedMinimum: minimum, maximum: maximum)
    }

    private init(uncheckedMinimum minimum: Int, maximum: Int) {
        self.minimum = minimum
        self.maximum = maximum
    }

    /// Whether the range contains a block of a band.
    public func overlaps(_ band: AltitudeBand) -> Bool {
        Int(band.lowest.thousands) < maximum && Int(band.highest.thousands) >= minimum
    }
}

/// A request parameter or a setting that can't be used: its name, its value, and the allowed values.
public struct ParameterError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The parameter's name.
    public let parameter: String
    /// The value that was given.
    public let value: String
    /// The allowed values, as a phrase that follows "must be".
    public let expected: String

    /// Makes an error for a parameter and its value. Long values are shortened.
    public init(parameter: String, value: String, expected: String) {
        self.parameter = parameter
        // An error message shouldn't repeat a megabyte of input.
        self.value = value.count > 100 ? String(value.prefix(100)) + "…" : value
        self.expected = expected
    }

    public var description: String { "\(parameter) is '\(value)'; it must be \(expected)" }
}
