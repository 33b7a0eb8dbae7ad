/// An altitude above mean sea level in whole feet, as a message gives it in metres.
///
/// GTG's levels are 100 ft and each 1,000 ft up to 50,000; its messages have them in metres, cut off after the point:
/// 10,668 m is 35,000 ft, and 304 m is 1,000 ft (304.8 m).
package struct AltitudeLevel: Sendable, Hashable, Comparable {
    package let feet: Int

    package init(feet: Int) { self.feet = feet }

    /// The foot that was meant: the whole hundred whose metres, cut off, are these; else the nearest foot. nil beyond
    /// ±1,000 km and for what isn't finite.
    package init?(metres: Double) {
        guard metres.isFinite, abs(metres) <= 1_000_000 else { return nil }
        let hundred = AltitudeLevel(feet: Int((metres / 30.48).rounded(.up)) * 100)
        feet = Double(hundred.wholeMetres) == metres ? hundred.feet : Int((metres / 0.3048).rounded())
    }

    /// Cut off after the point, as messages have it.
    ///
    /// Source: the international foot of 1959, 0.3048 m
    package var wholeMetres: Int { feet * 3_048 / 10_000 }

    package static func < (first: AltitudeLevel, second: AltitudeLevel) -> Bool { first.feet < second.feet }

    /// The 51 levels of GTG and GTGN, ascending.
    package static let turbulenceGuidance =
        [AltitudeLevel(feet: 100)] + (1...50).map { AltitudeLevel(feet: $0 * 1_000) }
}

/// Where in the vertical a field lies.
///
/// Source: WMO FM 92 GRIB edition 2, code table 4.5
package enum GRIBLevel: Sendable, Hashable {
    /// Above mean sea level (type 102).
    case altitude(AltitudeLevel)
    /// A surface of that pressure in pascals (type 100).
    case isobaric(pascals: Double)
    /// The whole column: "entire atmosphere" (type 10), or NCEP's of one layer (200).
    case column
    /// Any other: its type and value.
    case other(type: Int, value: Double?)

    init(type: Int, value: Double?) throws(GRIBRefusal) {
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
