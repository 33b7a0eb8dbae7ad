package import AviationFormats
import Datasets
import Foundation
import Geometry
package import Turbulence

/// The issued areas of one answer or file: reports of no turbulence left out, offices' copies of one made one, ids
/// given.
package struct HazardAreas: Sendable {
    package private(set) var areas: [IssuedArea] = []
    /// Reports left out, by reason.
    package private(set) var skipped: [SkipReason: Int] = [:]
    /// Reports used after a change, by what it was.
    package private(set) var adjusted: [Adjustment: Int] = [:]

    /// Why a report is left out.
    package enum SkipReason: Sendable, Hashable, CustomStringConvertible {
        /// A G-AIRMET of another hazard, by its name.
        case notTurbulence(String)
        case sameArea
        case noArea

        /// A few words for people.
        package var description: String {
            switch self {
            case .notTurbulence(let hazard): "not turbulence: \(hazard)"
            case .sameArea: "same area from another office"
            case .noArea: "no area"
            }
        }
    }

    /// What was changed in a report before it was used.
    package enum Adjustment: String, Sendable, Hashable {
        case droppedCorner = "corner left out"
    }

    /// What G-AIRMETs warn of that is turbulence. SIGMETs are all kept: thunderstorms, mountain waves and ash are flown
    /// around by whoever asks for turbulence.
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
            // Whichever comes first, the same office's words stay.
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
            // Areas of one name at one time are told apart from west to east, which lasts from issue to issue best.
            let ordered = members.sorted { Self.order($0.report, $0.geometry) < Self.order($1.report, $1.geometry) }
            for (rank, member) in ordered.enumerated() {
                let id = rank == 0 ? slot.id : "\(slot.id)-\(rank + 1)"
                areas.append(Self.area(member.report, id: id, geometry: member.geometry, source: source))
            }
        }
        areas.sort { ($0.id, $0.validFrom) < ($1.id, $1.validFrom) }
    }

    /// What makes two reports one, whoever issued them.
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

    /// West to east, then by what else differs.
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
        // Wind shear comes without altitudes: what it means by its definition is said here, for everybody.
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

    /// Moderate where a G-AIRMET of turbulence says MOD, moderate-severe where a SIGMET of turbulence or mountain
    /// waves says SEV; elsewhere the words are about something else, or missing.
    private static func severity(_ report: HazardReport) -> Severity? {
        switch (report.product, report.hazard, report.intensity) {
        case (.gairmet, "TURB-HI", "MOD"), (.gairmet, "TURB-LO", "MOD"): .moderate
        case (.sigmet, "TURB", "SEV"), (.isigmet, "TURB", "SEV"), (.isigmet, "MTW", "SEV"): .moderateSevere
        default: nil
        }
    }
}
