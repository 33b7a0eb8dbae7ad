/// The quantity of a field's values, by numbers only: names differ between tables and their versions.
///
/// Source: WMO FM 92 GRIB edition 2, code tables 0.0, 4.1 and 4.2
package struct GRIBParameter: Sendable, Hashable {
    package let discipline: UInt8
    package let category: UInt8
    package let number: UInt8

    package init(discipline: UInt8, category: UInt8, number: UInt8) {
        self.discipline = discipline
        self.category = category
        self.number = number
    }

    /// The eddy dissipation parameter, EDR, in m^(2/3) s⁻¹ (`EDPARM`).
    package static let eddyDissipation = GRIBParameter(discipline: 0, category: 19, number: 30)
    /// EDR of clear air turbulence alone (`CATEDR`).
    package static let clearAirTurbulence = GRIBParameter(discipline: 0, category: 19, number: 29)
    /// EDR of mountain waves alone (`MWTURB`).
    package static let mountainWaveTurbulence = GRIBParameter(discipline: 0, category: 19, number: 28)
    /// The largest EDR of a layer (`MXEDPRM`).
    package static let maximumEddyDissipation = GRIBParameter(discipline: 0, category: 19, number: 31)
}
