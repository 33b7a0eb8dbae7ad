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
        /// A report of a hazard that its dataset leaves out, with its name.
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

    package init(_ reports: [HazardReport], source: SourceID) {
        var kept: [Content: HazardReport] = [:]
        for report in reports {
            let used = Catalogue.areas(of: .aviationWeather(report.product))?.kind.hazards
            if let used, let hazard = report.hazard, !used.contains(hazard) {
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
        var slots: [Slot: [Member]] = [:]
        for report in kept.values {
            guard let (kind, number) = Catalogue.areas(of: .aviationWeather(report.product)),
                let geometry = Self.geometry(report)
            else {
                skipped[.noArea, default: 0] += 1
                continue
            }
            slots[Slot(id: Self.id(report), validFrom: report.validFrom), default: []].append(
                Member(report: report, kind: kind, number: number, geometry: geometry))
        }
        for (slot, members) in slots {
            // Areas of one name and time are numbered from west to east, which is the most stable order between issues.
            let ordered = members.sorted { Self.order($0.report, $0.geometry) < Self.order($1.report, $1.geometry) }
            for (rank, member) in ordered.enumerated() {
                let id = rank == 0 ? slot.id : "\(slot.id)-\(rank + 1)"
                areas.append(Self.area(member, id: id, source: source))
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

    /// A report with its kind of area.
    private struct Member {
        var report: HazardReport
        var kind: Dataset.AreaKind
        var number: IssuedArea.DatasetNumber
        var geometry: MultiPolygon
    }

    private struct Slot: Hashable {
        var id: String
        var validFrom: Date
    }

    /// `gairmet-turb-hi-1w`, `sigmet-papa`, `isigmet-waaf-11`.
    private static func id(_ report: HazardReport) -> String {
        let words = "\(report.product.id) \(report.series)".lowercased()
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

    private static func area(_ member: Member, id: String, source: SourceID) -> IssuedArea {
        let report = member.report
        // Wind shear reports have no altitudes, so the altitudes of their definition are filled in here.
        let isShear = report.product == .gairmet && report.hazard == IssuedArea.windShear
        return IssuedArea(
            collection: member.number, id: id, source: source, kind: member.kind.id, hazard: report.hazard,
            severity: member.kind.severities[
                [report.hazard, report.intensity].compactMap { $0 }.joined(separator: " ")],
            altitudeMinFeet: report.baseFeet ?? (isShear ? 0 : nil),
            altitudeMaxFeet: report.topFeet ?? (isShear ? IssuedArea.windShearTopFeet : nil),
            validFrom: Instant(report.validFrom), validTo: Instant(report.validTo),
            issuedAt: report.issuedAt.map { Instant($0) }, forecastHour: report.forecastHour, status: report.status,
            text: report.text, geometry: member.geometry)
    }
}

extension HazardDecoder {
    /// The decoder of all products in the catalogue.
    package static let catalogue = HazardDecoder(of: Catalogue.hazardProducts)
}
