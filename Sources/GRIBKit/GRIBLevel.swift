/// An altitude above mean sea level in whole feet, from the metres in a message.
///
/// GTG's levels are 100 ft and each 1,000 ft up to 50,000. Its messages have them in metres without decimals: 10,668 m
/// is 35,000 ft, and 304 m is 1,000 ft (304.8 m).
package struct AltitudeLevel: Sendable, Hashable, Comparable {
    package let feet: Int

    package init(feet: Int) { self.feet = feet }

    /// Converts metres to the intended feet: the hundred feet whose truncated metres are equal, otherwise the nearest
    /// foot. Returns nil beyond ±1,000 km, and for values that are not finite.
    package init?(metres: Double) {
        guard metres.isFinite, abs(metres) <= 1_000_000 else { return nil }
        let hundred = AltitudeLevel(feet: Int((metres / 30.48).rounded(.up)) * 100)
        feet = Double(hundred.wholeMetres) == metres ? hundred.feet : Int((metres / 0.3048).rounded())
    }

    /// The altitude in truncated metres, as in messages.
    ///
    /// Source: the international foot of 1959, 0.3048 m
    package var wholeMetres: Int { feet * 3_048 / 10_000 }

    package static func < (first: AltitudeLevel, second: AltitudeLevel) -> Bool { first.feet < second.feet }

    /// The 51 levels of GTG and GTGN, ascending.
    package static let turbulenceGuidance =
        [AltitudeLevel(feet: 100)] + (1...50).map { AltitudeLevel(feet: $0 * 1_000) }
}

/// The vertical position of a field.
///
/// Source: WMO FM 92 GRIB edition 2, code table 4.5
package enum GRIBLevel: Sendable, Hashable {
    /// An altitude above mean sea level (type 102).
    case altitude(AltitudeLevel)
    /// A surface of constant pressure in pascals (type 100).
    case isobaric(pascals: Double)
    /// The whole column: "entire atmosphere" (type 10), or NCEP's as a single layer (200).
    case column
    /// Any other level, with its type and value.
    case other(type: Int, value: Double?)

    init(type: Int, value: Double?) throws(GRIBError) {
        switch (type, value) {
        case (10, _), (200, _): self = .column
        case (100, let pascals?): self = .isobaric(pascals: pascals)
        case (102, let metres?):
            guard let level = AltitudeLevel(metres: metres) else { throw .invalid("an altitude of \(metres) m") }
            self = .altitude(level)
        case (100, nil), (102, nil): throw .invalid("a level of type \(type) without a value")
        default: self = .other(type: type, value: value)
        }
    }
}
