import AviationFormats
public import Turbulence

extension IssuedArea.DatasetNumber {
    /// Center Weather Advisories.
    public static let advisories = IssuedArea.DatasetNumber(rawValue: 3)
}

extension Dataset {
    /// Center Weather Advisories of aviationweather.gov: short warnings for one centre's airspace, including
    /// turbulence.
    ///
    /// Source: NWS Instruction 10-803 (Support to Air Traffic Control Facilities), Center Weather Advisory
    public static let advisories = Dataset(
        areas: .advisories, id: "advisories", title: "Advisories",
        summary: "Center Weather Advisories of the US that are valid at an instant, for two hours at most.",
        updates: .changes,
        areaKinds: [AreaKind(.centerWeatherAdvisory, "Center Weather Advisory", sign: .advisory)],
        isImported: true, isWarning: true,
        legend: [
            .init("Center advisory, turbulence", .advisory),
            .init("Center advisory, other", .advisory, isOfTurbulence: false),
        ], isUnnamedTurbulence: false, stacking: 15, isShownAtFirst: false)
}
