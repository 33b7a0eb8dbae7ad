public import Geometry

/// A pilot report (PIREP, AIREP) as it was sent, with or without turbulence. Its turbulence groups with a level are
/// also observations in the hexagon that contains its place. A report without a group says nothing about turbulence.
public struct PilotReport: Sendable, Hashable {
    /// The same in every format: made from the raw text and the time.
    public var id: String
    /// The place of the report.
    public var place: LonLat
    /// The time of the report.
    public var observedAt: Instant
    /// The type of report: `PIREP`, `Urgent PIREP`, `AIREP`, …
    public var type: String
    /// The aircraft type, or the call sign of an AIREP.
    public var aircraft: String?
    /// The flight level in feet.
    public var altitudeFeet: Int?
    /// The reported turbulence, layer by layer.
    public var turbulence: [TurbulenceGroup]
    /// The report's raw text.
    public var text: String
    /// The source that relayed it.
    public var source: SourceID

    /// Whether it was sent as urgent: for severe turbulence or low-level wind shear, among others.
    ///
    /// Source: FAA Order JO 7110.10, Flight Services, chapter 8 (urgent reports, UUA)
    public var isUrgent: Bool { type.lowercased().contains("urgent") || type == Self.urgentToken }

    /// The type of a report that is known only by its text.
    package static func type(ofText text: String) -> String {
        // The token follows the station: `DRO UUA /OV …`.
        let words = text.prefix(while: { $0 != "/" }).split(separator: " ")
        return words.contains { $0 == urgentToken } ? "Urgent PIREP" : "PIREP"
    }

    private static let urgentToken = "UUA"

    /// The highest severity of its groups; nil if it has no usable turbulence.
    public var severity: Severity? { turbulence.compactMap(\.severity).max() }

    /// Makes a report.
    public init(
        id: String, place: LonLat, observedAt: Instant, type: String, aircraft: String?, altitudeFeet: Int?,
        turbulence: [TurbulenceGroup], text: String, source: SourceID
    ) {
        self.id = id
        self.place = place
        self.observedAt = observedAt
        self.type = type
        self.aircraft = aircraft
        self.altitudeFeet = altitudeFeet
        self.turbulence = turbulence
        self.text = text
        self.source = source
    }
}

/// One layer of turbulence in a pilot report.
public struct TurbulenceGroup: Sendable, Hashable {
    /// nil if the intensity is missing or unknown, which never means smooth.
    public var severity: Severity?
    /// The intensity as reported: `MOD`, `LGT-MOD`, …; nil if the group has none.
    public var intensity: String?
    /// The bottom of the layer in feet.
    public var baseFeet: Int?
    /// The top of the layer in feet.
    public var topFeet: Int?
    /// The type of turbulence: `CAT`, `CHOP`, `LLWS`, `MWAVE`.
    public var type: String?
    /// The frequency: `ISOL`, `OCNL`, `INT`, `CONT`.
    public var frequency: String?

    /// Makes a group.
    public init(
        severity: Severity?, intensity: String?, baseFeet: Int?, topFeet: Int?, type: String?, frequency: String?
    ) {
        self.severity = severity
        self.intensity = intensity
        self.baseFeet = baseFeet
        self.topFeet = topFeet
        self.type = type
        self.frequency = frequency
    }
}
