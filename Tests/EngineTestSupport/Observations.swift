package import Geometry
package import Turbulence

package func source(_ name: String) throws -> SourceID { try SourceID(name).orMissing("source \(name)") }

package func place(_ longitude: Double, _ latitude: Double) throws -> LonLat {
    try LonLat(longitude: longitude, latitude: latitude).orMissing("place")
}

package func cell(_ longitude: Double, _ latitude: Double) throws -> Cell {
    H3.cell(at: try place(longitude, latitude))
}

/// An observation some seconds before (negative) or after noon.
package func observation(
    id: String? = nil, _ cell: Cell, altitude: Int = 38, top: Int? = nil, severity: Severity? = .moderate,
    edr: Double? = nil, at seconds: Int = -60, category: String? = nil, source name: String = "skypath",
    kind: ObservationKind = .inSitu, aircraft: String? = nil
) throws -> Observation {
    let band = try AltitudeBand(
        lowest: try AltitudeBlock(thousands: altitude).orMissing(),
        highest: try AltitudeBlock(thousands: top ?? altitude).orMissing()
    ).orMissing()
    return Observation(
        id: id, cell: cell, altitude: band,
        intensity: try Intensity(severity: severity, edr: edr.flatMap { EDR($0) }).orMissing("intensity"),
        observedAt: noon.advanced(by: seconds), category: category.flatMap { AircraftCategory($0) },
        source: try source(name), kind: kind, aircraft: aircraft)
}
