public import Foundation

/// A report from an aircraft in flight (PIREP, urgent PIREP, AIREP, AMDAR), in any format. All heights are feet above
/// mean sea level, whatever unit the message has.
///
/// Source: Data API of the Aviation Weather Center, https://aviationweather.gov/data/api/, schema 4.0 (September 2025),
/// endpoint `pirep`
public struct AircraftReport: Sendable, Hashable {
    /// The same in every format: `p` and 32 hexadecimal digits made from the raw text and the time. The service gives
    /// no id.
    public var id: String
    /// The time of the observation, in whole seconds.
    public var observedAt: Date
    /// The time when the service received it.
    public var receivedAt: Date?
    /// The service's kind of the report.
    public var kind: ReportKind
    /// The issuing office, almost always `KWBC`.
    public var office: String?
    /// The ICAO aircraft type, or the call sign if `kind` is an AIREP.
    public var aircraft: String?
    /// The type's full name, if the format has it.
    public var aircraftName: String?
    /// The longitude in degrees, −180…180.
    public var longitude: Double
    /// The latitude in degrees, −90…90.
    public var latitude: Double
    /// The flight level in feet; nil if none was reported, for instance in climb or descent.
    public var altitudeFeet: Int?
    /// The kind of level of `altitudeFeet`; nil if it isn't given.
    public var levelKind: LevelKind?
    /// The temperature in degrees Celsius.
    public var temperatureCelsius: Double?
    /// The direction from which the wind blows, in degrees from true north.
    public var windDirectionDegrees: Double?
    /// The wind speed in knots.
    public var windSpeedKnots: Double?
    /// The present weather as coded.
    public var weather: String?
    /// The reported clouds, layer by layer.
    public var clouds: [CloudLayer]
    /// The reported turbulence, group by group. Without any group the report says nothing about turbulence, which is
    /// not smooth air.
    public var turbulence: [TurbulenceLayer]
    /// The reported icing, layer by layer.
    public var icing: [IcingLayer]
    /// The service's bit field of quality problems; 0 is none.
    public var qualityFlags: Int
    /// The raw text of the report.
    public var text: String

    /// Words outside the documented lists, as `field: word`. They are stored unchanged and not interpreted.
    public var unknownWords: [String] {
        var words: [String] = []
        func note<Word: ExtensibleCode>(_ field: String, _ word: Word?) {
            if let word, !word.isKnown { words.append("\(field): \(word.rawValue)") }
        }
        note("kind", kind)
        note("level kind", levelKind)
        for layer in turbulence {
            note("turbulence intensity", layer.intensity)
            note("turbulence type", layer.type)
            note("turbulence frequency", layer.frequency)
        }
        for layer in icing {
            note("icing intensity", layer.intensity)
            note("icing type", layer.type)
        }
        return words
    }
}

/// A turbulence group, with at least one value.
public struct TurbulenceLayer: Sendable, Hashable {
    /// nil if the group gives none ("CONS CHOP"): unknown, not smooth.
    public var intensity: TurbulenceIntensity?
    /// The word for the type.
    public var type: TurbulenceType?
    /// The word for the frequency.
    public var frequency: TurbulenceFrequency?
    /// The base in feet above mean sea level; 0 is the surface.
    public var baseFeet: Int?
    /// The top in feet above mean sea level; nil if none is given.
    public var topFeet: Int?
}

/// An icing group, with at least one value.
public struct IcingLayer: Sendable, Hashable {
    /// The word for the intensity.
    public var intensity: IcingIntensity?
    /// The word for the type.
    public var type: IcingType?
    /// The base in feet above mean sea level; nil if none is given.
    public var baseFeet: Int?
    /// The top in feet above mean sea level; nil if none is given.
    public var topFeet: Int?
}

/// A cloud layer.
public struct CloudLayer: Sendable, Hashable {
    /// The amount of cloud: `SKC`, `FEW`, `SCT`, `BKN`, `OVC`, …
    public var cover: String
    /// The base in feet above mean sea level; nil if none is given.
    public var baseFeet: Int?
    /// The top in feet above mean sea level; nil if none is given.
    public var topFeet: Int?
}
