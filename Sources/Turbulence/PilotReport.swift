public import Geometry

/// One pilot report (PIREP, AIREP) as it was sent, with or without a word on turbulence. Its turbulence groups with a
/// level also stand as observations in the hexagon they name; a report without a group says nothing about turbulence.
public struct PilotReport: Sendable, Hashable {
    /// Stable from form to form: made from the raw text and the time.
    public var id: String
    /// Where it was made.
    public var place: LonLat
    /// When it was made.
    public var observedAt: Instant
    /// `PIREP`, `Urgent PIREP`, `AIREP`, …
    public var type: String
    /// Aircraft type, or the call sign of an AIREP.
    public var aircraft: String?
    /// The flight level, in feet.
    public var altitudeFeet: Int?
    /// What it says of turbulence, layer by layer.
    public var turbulence: [TurbulenceGroup]
    /// The report's own text.
    public var text: String
    /// Who passed it on.
    public var source: SourceID

    /// Whether it was sent as urgent: for severe turbulence or low-level wind shear, among others.
    ///
    /// Source: FAA Order JO 7110.10, Flight Services, chapter 8 (urgent reports, UUA)
    public var isUrgent: Bool { type.lowercased().contains("urgent") || type == Self.urgentToken }

    /// The type of a report that comes with its text alone.
    package static func type(ofText text: String) -> String {
        // After the station: `DRO UUA /OV …`.
        let words = text.prefix(while: { $0 != "/" }).split(separator: " ")
        return words.contains { $0 == urgentToken } ? "Urgent PIREP" : "PIREP"
    }

    private static let urgentToken = "UUA"

    /// The worst severity of its groups; nil where it says nothing usable about turbulence.
    public var severity: Severity? { turbulence.compactMap(\.severity).max() }

    /// With what is known of it.
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
    /// nil where the intensity is missing or unknown: never smooth.
    public var severity: Severity?
    /// As reported: `MOD`, `LGT-MOD`, …; nil where the group has none.
    public var intensity: String?
    /// The bottom of the layer.
    public var baseFeet: Int?
    /// The top of the layer.
    public var topFeet: Int?
    /// `CAT`, `CHOP`, `LLWS`, `MWAVE`.
    public var type: String?
    /// `ISOL`, `OCNL`, `INT`, `CONT`.
    public var frequency: String?

    /// With what is known of it.
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
