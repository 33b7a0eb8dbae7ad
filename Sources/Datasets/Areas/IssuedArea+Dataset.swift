import AviationFormats
public import Turbulence

extension Schema where Record == IssuedArea {
    /// The properties of hazards, forecasts and advisories.
    package static let areas = Schema([
        Field(
            Property("kind", .text, "The product, such as sigmet: a value of the parameter kind"),
            .text { $0.kind }),
        Field(
            Property(
                "hazard", .text, "The hazard: TURB, TURB-HI, TURB-LO, LLWS, CONVECTIVE and others",
                role: .title(rank: 2)),
            .text { $0.hazard }),
        Field(.severity, .number { $0.severity }),
        Field(.severityName, .name { $0.severity }),
        Field(
            Property(
                "altitudeMin", .integer, "The lower limit; absent if the product names none",
                role: .lowerAltitude, unit: "ft", range: 0...100_000, filter: "maxAltitude"),
            .integer { $0.altitudeMinFeet }),
        Field(
            Property(
                "altitudeMax", .integer, "The upper limit; absent if the product names none",
                role: .upperAltitude, unit: "ft", range: 0...100_000, filter: "minAltitude"),
            .integer { $0.altitudeMaxFeet }),
        Field(
            Property(
                "altitudeReference", .text, "AGL for altitudes above the ground; else above mean sea level",
                role: .altitudeReference),
            .text { $0.isAboveGround ? "AGL" : nil }),
        Field(
            Property("validFrom", .instant, "The start of validity", role: .start, filter: "datetime"),
            .instant { $0.validFrom }),
        Field(
            Property("validTo", .instant, "The end of validity", role: .end, filter: "datetime"),
            .instant { $0.validTo }),
        Field(Property("issuedAt", .instant, "The time of issue"), .instant { $0.issuedAt }),
        Field(
            Property("forecastHour", .integer, "Hours from the issue to this step of a forecast", unit: "h"),
            .integer { $0.forecastHour }),
        Field(Property("status", .text, "The status that the product gives"), .text { $0.status }),
        Field(Property("text", .text, "The text of the product"), .text { $0.text }),
        Field(.source, .text { $0.source.name }),
    ])
}

extension IssuedArea.DatasetNumber {
    /// SIGMETs and G-AIRMETs.
    public static let hazards = IssuedArea.DatasetNumber(rawValue: 0)
    /// Forecasts and nowcasts.
    public static let forecast = IssuedArea.DatasetNumber(rawValue: 1)
}

extension FeedKind {
    /// SIGMETs and G-AIRMETs.
    package static let hazards = Dataset.hazards.kind
    /// Forecast and nowcast areas.
    package static let forecasts = FeedKind(rawValue: "forecasts")
}

extension Dataset {
    /// Makes a dataset of issued areas.
    ///
    /// - Parameter kind: the kind of its data; nil for the one with the id as its name.
    package convenience init(
        areas: IssuedArea.DatasetNumber, kind: FeedKind? = nil, id: String, title: String, summary: String,
        updates: Updates,
        areaKinds: [AreaKind], isImported: Bool = false, isWarning: Bool = false,
        legend: [AreaDrawing.LegendEntry], isUnnamedTurbulence: Bool = true, stacking: Int,
        isShownAtFirst: Bool
    ) {
        self.init(
            id: id, title: title, shortTitle: title, summary: summary,
            kind: kind ?? FeedKind(rawValue: id), geometry: .polygon, content: .areas(areas),
            selection: .standing, timeProperty: "validFrom", updates: updates,
            drawing: .areas(AreaDrawing(of: areaKinds, legend: legend, isUnnamedTurbulence: isUnnamedTurbulence)),
            properties: Schema.areas.properties,
            origins: areaKinds.compactMap(\.origin) + (isImported ? [.file] : []), areaKinds: areaKinds,
            isWarning: isWarning, stacking: stacking, isShownAtFirst: isShownAtFirst)
    }

    /// SIGMETs and G-AIRMETs.
    public static let hazards = Dataset(
        areas: .hazards, id: "hazards", title: "Hazards",
        summary: "SIGMETs and G-AIRMETs that are valid at an instant.", updates: .changes,
        areaKinds: [
            // Aircraft avoid thunderstorms, mountain waves and ash like turbulence, so all SIGMETs are used.
            AreaKind(.sigmet, "SIGMET", sign: .warning, severities: ["TURB SEV": .moderateSevere]),
            AreaKind(
                .isigmet, "SIGMET", sign: .warning,
                severities: ["TURB SEV": .moderateSevere, "MTW SEV": .moderateSevere]),
            AreaKind(
                .gairmet, "G-AIRMET", sign: .advisory, hazards: ["TURB-HI", "TURB-LO", IssuedArea.windShear],
                severities: ["TURB-HI MOD": .moderate, "TURB-LO MOD": .moderate]),
        ], isImported: true, isWarning: true,
        legend: [
            .init("SIGMET, turbulence", .warning), .init("SIGMET, other", .warning, isOfTurbulence: false),
            .init("G-AIRMET, turbulence", .advisory), .init("G-AIRMET, other", .advisory, isOfTurbulence: false),
            .init("Forecast step, or ends within 30 min", .advisory, isFaint: true),
        ], stacking: 20, isShownAtFirst: true)

    /// Forecast and nowcast areas.
    public static let forecast = Dataset(
        areas: .forecast, kind: .forecasts, id: "forecast", title: "Forecast",
        summary: "Forecast and nowcast areas of turbulence that are valid at an instant; not observations.",
        updates: .every(seconds: 3_600),
        areaKinds: [
            AreaKind("forecast", "Forecast", from: nil, sign: .forecast),
            AreaKind("nowcast", "Nowcast", from: Origin("skypath", "nowcast"), sign: .forecast),
        ], legend: [.init("Forecast", .forecast)], stacking: 10, isShownAtFirst: false)
}
