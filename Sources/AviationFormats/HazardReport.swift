public import Foundation

/// One issued hazard area, whichever product and form it came in. All heights are feet above mean sea level, all times
/// moments, whatever the wire said.
///
/// Source: aviationweather.gov Data API, schema 4.0 (September 2025), endpoints `gairmet`, `airsigmet` and `isigmet`
public struct HazardReport: Sendable, Hashable {
    /// The product that it was issued as.
    public var product: HazardProduct
    /// What keeps its name from issue to issue: `TURB-HI 1W` of a G-AIRMET, `PAPA` or `72C` of a domestic SIGMET,
    /// `WAAF 11` of an international one.
    public var series: String
    /// The issuing office: `KKCI`, `KSLC`, … of a domestic SIGMET, `WAAA`, … of an international one.
    public var office: String?
    /// `TURB-HI`, `TURB-LO`, `LLWS`, `ICE`, `CONVECTIVE`, `TURB`, `TS`, …; nil where none is named.
    public var hazard: String?
    /// The word for how strong it is, where it is named: `MOD`, `SEV`, `EMBD`, …
    public var intensity: String?
    /// 0 is the surface; nil where none is named.
    public var baseFeet: Int?
    /// Feet above mean sea level; nil where none is named.
    public var topFeet: Int?
    /// It holds at `validFrom` ≤ t < `validTo`. Of a G-AIRMET this is the hour that it pictures and the three after it:
    /// it holds until the next picture.
    public var validFrom: Date
    /// The first moment at which it holds no more.
    public var validTo: Date
    /// When it was issued; nil where that isn't said.
    public var issuedAt: Date?
    /// Hours from the issue, of a G-AIRMET: 0, 3, 6, 9 or 12.
    public var forecastHour: Int?
    /// `NRML`, `AMD`, `NEW`, `COR` of a G-AIRMET; `NC`, `INTSF`, `WKN` of an international SIGMET.
    public var status: String?
    /// The product's own words without the header lines that differ from office to office.
    public var text: String?
    /// The outline of each area: closed or not, of either winding, three different places at least.
    public var outlines: [[HazardPosition]]
    /// Whether it comes from an archive whose pulls say from when to when it was served, rather than by itself: such a
    /// record has no start of its own.
    public var isArchived: Bool
    /// Corners left out as the wire had no number for them.
    public var droppedCorners: Int
}

/// A place on the wire.
public struct HazardPosition: Sendable, Hashable {
    /// Degrees.
    public var longitude: Double
    /// Degrees.
    public var latitude: Double
}

/// Which of the service's products. The raw value is the `kind` of its areas.
public struct HazardProduct: RawRepresentable, Sendable, Hashable {
    /// The word.
    public let rawValue: String

    /// The product of a word.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// G-AIRMET: pictures of the coming hours over the contiguous US.
    public static let gairmet = HazardProduct(rawValue: "gairmet")
    /// Domestic SIGMET of the US (`airsigmet`).
    public static let sigmet = HazardProduct(rawValue: "sigmet")
    /// International SIGMET, world-wide.
    public static let isigmet = HazardProduct(rawValue: "isigmet")
}

/// How the records of a product are told and read.
struct HazardForm: Sendable {
    let product: HazardProduct
    /// Members of which only this product's records have one.
    let marks: [String]
    let read: @Sendable (WireRecord) throws(ReportError) -> HazardReport

    /// The first whose mark a record has reads it. An archive writes `rawAirSigmet` into its G-AIRMETs too, so those
    /// are looked for first.
    static let all: [HazardForm] = [.gairmet, .sigmet, .internationalSigmet, .centerWeatherAdvisory]
}
