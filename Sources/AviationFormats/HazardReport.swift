public import Foundation

/// An issued hazard area of any product, in any format. All heights are feet above mean sea level and all times are
/// instants, whatever the message has.
///
/// Source: Data API of the Aviation Weather Center, https://aviationweather.gov/data/api/, schema 4.0 (September 2025),
/// endpoints `gairmet`, `airsigmet` and `isigmet`
public struct HazardReport: Sendable, Hashable {
    /// The product of the area.
    public var product: HazardProduct
    /// The name that is constant from issue to issue: `TURB-HI 1W` of a G-AIRMET, `PAPA` or `72C` of a domestic SIGMET,
    /// `WAAF 11` of an international one.
    public var series: String
    /// The issuing office: `KKCI`, `KSLC`, … of a domestic SIGMET, `WAAA`, … of an international one.
    public var office: String?
    /// `TURB-HI`, `TURB-LO`, `LLWS`, `ICE`, `CONVECTIVE`, `TURB`, `TS`, …; nil if none is given.
    public var hazard: String?
    /// The word for its intensity, if one is given: `MOD`, `SEV`, `EMBD`, …
    public var intensity: String?
    /// The base in feet above mean sea level; 0 is the surface, nil if none is given.
    public var baseFeet: Int?
    /// The top in feet above mean sea level; nil if none is given.
    public var topFeet: Int?
    /// The start of validity: the area is valid at `validFrom` ≤ t < `validTo`. For a G-AIRMET this is its forecast
    /// hour and the following three: it is valid until the next forecast hour.
    public var validFrom: Date
    /// The end of validity, which is the first time at which the area isn't valid.
    public var validTo: Date
    /// The time of issue; nil if it isn't given.
    public var issuedAt: Date?
    /// The hours from the issue of a G-AIRMET: 0, 3, 6, 9 or 12.
    public var forecastHour: Int?
    /// The status: `NRML`, `AMD`, `NEW`, `COR` of a G-AIRMET; `NC`, `INTSF`, `WKN` of an international SIGMET.
    public var status: String?
    /// The product's own text, without the header lines that differ between offices.
    public var text: String?
    /// The outline of each area, closed or not, with either winding and at least three different places.
    public var outlines: [[HazardPosition]]
    /// Whether it comes from an archive, whose snapshots give the times at which it was served. Such a report has no
    /// start of its own.
    public var isArchived: Bool
    /// The number of corners that were left out because they had no coordinates.
    public var droppedCorners: Int
}

/// A position in a message.
public struct HazardPosition: Sendable, Hashable {
    /// The longitude in degrees.
    public var longitude: Double
    /// The latitude in degrees.
    public var latitude: Double
}
