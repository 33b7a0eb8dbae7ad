public import Foundation

/// One report from an aircraft in flight (PIREP, urgent PIREP, AIREP, AMDAR), whichever form it came in. All heights
/// are feet above mean sea level, whatever the wire said.
///
/// Source: aviationweather.gov Data API, schema 4.0 (September 2025), endpoint `pirep`
public struct AircraftReport: Sendable, Hashable {
    /// Stable from form to form: `p` and 32 hexadecimal digits made from the raw text and the time. The service gives
    /// none.
    public var id: String
    /// When the air was met, whole seconds.
    public var observedAt: Date
    /// When the service received it.
    public var receivedAt: Date?
    /// Which of the service's kinds of report it is.
    public var kind: ReportKind
    /// The issuing office, almost always `KWBC`.
    public var office: String?
    /// The ICAO type, or the call sign where `kind` is an AIREP.
    public var aircraft: String?
    /// The type in words, where the form has it.
    public var aircraftName: String?
    /// Degrees, −180…180.
    public var longitude: Double
    /// Degrees, −90…90.
    public var latitude: Double
    /// The flight level, in feet; nil where none was reported (in climb or descent, for instance).
    public var altitudeFeet: Int?
    /// What kind of level `altitudeFeet` is; nil where that isn't said.
    public var levelKind: LevelKind?
    /// Degrees Celsius.
    public var temperatureCelsius: Double?
    /// Degrees from true north that the wind blows from.
    public var windDirectionDegrees: Double?
    /// Knots.
    public var windSpeedKnots: Double?
    /// Present weather as coded.
    public var weather: String?
    /// What it says of clouds, layer by layer.
    public var clouds: [CloudLayer]
    /// No group at all: the report says nothing about turbulence, which is not smooth air.
    public var turbulence: [TurbulenceLayer]
    /// What it says of icing, layer by layer.
    public var icing: [IcingLayer]
    /// The service's bit field of doubts; 0 is none.
    public var qualityFlags: Int
    /// The report as it was sent.
    public var text: String

    /// Words outside the documented lists, as `field: word`. They are kept as they are; nothing is read into them.
    public var unknownWords: [String] {
        var words: [String] = []
        func note<Word: OpenWord>(_ field: String, _ word: Word?) {
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

/// One turbulence group. At least one of its values is there.
public struct TurbulenceLayer: Sendable, Hashable {
    /// nil where the group names none ("CONS CHOP"): unknown, not smooth.
    public var intensity: TurbulenceIntensity?
    /// The word for its type.
    public var type: TurbulenceType?
    /// The word for how often it was felt.
    public var frequency: TurbulenceFrequency?
    /// 0 is the surface.
    public var baseFeet: Int?
    /// Feet above mean sea level; nil where none is named.
    public var topFeet: Int?
}

/// One icing group. At least one of its values is there.
public struct IcingLayer: Sendable, Hashable {
    /// How strong the icing was.
    public var intensity: IcingIntensity?
    /// The word for its type.
    public var type: IcingType?
    /// Feet above mean sea level; nil where none is named.
    public var baseFeet: Int?
    /// Feet above mean sea level; nil where none is named.
    public var topFeet: Int?
}

/// One layer of cloud.
public struct CloudLayer: Sendable, Hashable {
    /// `SKC`, `FEW`, `SCT`, `BKN`, `OVC`, …
    public var cover: String
    /// Feet above mean sea level; nil where none is named.
    public var baseFeet: Int?
    /// Feet above mean sea level; nil where none is named.
    public var topFeet: Int?
}
