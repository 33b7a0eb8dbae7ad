package import AviationFormats
import Datasets
import Foundation
import Geometry
package import Turbulence

/// Converts the reports of one response or file to issued areas. It skips reports without turbulence, merges copies
/// from several offices, and assigns ids.
package struct HazardAreas: Sendable {
    package private(set) var areas: [IssuedArea] = []
    /// The counts of skipped reports, by reason.
    package private(set) var skipped: [SkipReason: Int] = [:]
    /// The counts of adjusted reports, by adjustment.
    package private(set) var adjusted: [Adjustment: Int] = [:]

    /// The reason why a report is skipped.
    package enum SkipReason: Sendable, Hashable, CustomStringConvertible {
        /// A G-AIRMET of another hazard, with its name.
        case notTurbulence(String)
        case sameArea
        case noArea

        /// A short description for people.
        package var description: String {
            switch self {
            case .notTurbulence(let hazard): "not turbulence: \(hazard)"
            case .sameArea: "same area from another office"
            case .noArea: "no area"
            }
        }
    }

    /// A change to a report before its use.
    package enum Adjustment: String, Sendable, Hashable {
        case droppedCorner = "corner left out"
    }

    /// The hazards of G-AIRMETs that are turbulence. All SIGMETs are used, because aircraft avoid thunderstorms,
    /// mountain waves and ash like turbulence.
    private static let turbulence: Set = ["TURB-HI", "TURB-LO", IssuedArea.windShear]

    package init(_ reports: [HazardReport], source: SourceID) {
        var kept: [Content: HazardReport] = [:]
        for report in reports {
            if report.product == .gairmet, let hazard = report.hazard, !Self.turbulence.contains(hazard) {
                skipped[.notTurbulence(hazard), default: 0] += 1
                continue
            }
            if report.droppedCorners > 0 { adjusted[.droppedCorner, default: 0] += report.droppedCorners }
            let content = Content(report)
            guard let other = kept[content] else {
                kept[content] = report
                continue
            }
            skipped[.sameArea, default: 0] += 1
            // The result must not depend on the order of the reports.
            if (report.office ?? "") < (other.office ?? "") { kept[content] = report }
        }
        var slots: [Slot: [(report: HazardReport, geometry: MultiPolygon)]] = [:]
        for report in kept.values {
            guard let geometry = Self.geometry(report) else {
                skipped[.noArea, default: 0] += 1
                continue
            }
            slots[Slot(id: Self.id(report), validFrom: report.validFrom), default: []].append((report, geometry))
        }
        for (slot, members) in slots {
            // Areas of one name and time are numbered from west to east, which is the most stable order between issues.
            let ordered = members.sorted { Self.order($0.report, $0.geometry) < Self.order($1.report, $1.geometry) }
            for (rank, member) in ordered.enumerated() {
                let id = rank == 0 ? slot.id : "\(slot.id)-\(rank + 1)"
                areas.append(Self.area(member.report, id: id, geometry: member.geometry, source: source))
            }
        }
        areas.sort { ($0.id, $0.validFrom) < ($1.id, $1.validFrom) }
    }

    /// The identity of a report, regardless of the issuing office.
    private struct Content: Hashable {
        var product: HazardProduct
        var series: String
        var hazard: String?
        var base: Int?
        var top: Int?
        var validTo: Date
        var forecastHour: Int?
        var outlines: [[HazardPosition]]

        init(_ report: HazardReport) {
            product = report.product
            series = report.series
            hazard = report.hazard
            base = report.baseFeet
            top = report.topFeet
            validTo = report.validTo
            forecastHour = report.forecastHour
            outlines = report.outlines
        }
    }

    private struct Slot: Hashable {
        var id: String
        var validFrom: Date
    }

    /// `gairmet-turb-hi-1w`, `sigmet-papa`, `isigmet-waaf-11`.
    private static func id(_ report: HazardReport) -> String {
        let words = "\(report.product.rawValue) \(report.series)".lowercased()
        return words.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }.joined(separator: "-")
    }

    private static func geometry(_ report: HazardReport) -> MultiPolygon? {
        var polygons: [[[LonLat]]] = []
        for outline in report.outlines {
            let places = outline.compactMap { LonLat(longitude: $0.longitude, latitude: $0.latitude) }
            guard places.count == outline.count, let area = MultiPolygon(outline: places) else { return nil }
            polygons += area.polygons
        }
        return polygons.isEmpty ? nil : MultiPolygon(polygons: polygons)
    }

    /// Sorts from west to east, then by other differences.
    private static func order(_ report: HazardReport, _ geometry: MultiPolygon) -> (Double, Double, Int, Int, Int) {
        let corners = geometry.polygons.joined().joined()
        let count = Double(max(corners.count, 1))
        return (
            corners.reduce(0) { $0 + $1.longitude } / count, corners.reduce(0) { $0 + $1.latitude } / count,
            corners.count, report.baseFeet ?? -1, report.topFeet ?? .max
        )
    }

    private static func area(_ report: HazardReport, id: String, geometry: MultiPolygon, source: SourceID)
        -> IssuedArea
    {
        // Wind shear reports have no altitudes, so the altitudes of their definition are filled in here.
        let isShear = report.product == .gairmet && report.hazard == IssuedArea.windShear
        return IssuedArea(
            collection: Catalogue.dataset(ofAreaKind: report.product.rawValue)?.areas ?? .hazards, id: id,
            source: source, kind: report.product.rawValue, hazard: report.hazard,
            severity: severity(report), altitudeMinFeet: report.baseFeet ?? (isShear ? 0 : nil),
            altitudeMaxFeet: report.topFeet ?? (isShear ? IssuedArea.windShearTopFeet : nil),
            validFrom: Instant(report.validFrom), validTo: Instant(report.validTo),
            issuedAt: report.issuedAt.map { Instant($0) }, forecastHour: report.forecastHour, status: report.status,
            text: report.text, geometry: geometry)
    }

    /// Moderate for a G-AIRMET of turbulence with MOD. Moderate-severe for a SIGMET of turbulence or mountain waves
    /// with SEV. In other reports the words mean something else, or are missing.
    private static func severity(_ report: HazardReport) -> Severity? {
        switch (report.product, report.hazard, report.intensity) {
        case (.gairmet, "TURB-HI", "MOD"), (.gairmet, "TURB-LO", "MOD"): .moderate
        case (.sigmet, "TURB", "SEV"), (.isigmet, "TURB", "SEV"), (.isigmet, "MTW", "SEV"): .moderateSevere
        default: nil
        }
    }
}
