import Foundation

extension HazardProduct {
    /// Center Weather Advisory of one of the 21 Center Weather Service Units of the US, valid for at most two hours.
    public static let centerWeatherAdvisory = HazardProduct(
        "cwa", endpoint: "cwa", format: CenterWeatherAdvisoryFormat.self)
}

/// The format of Center Weather Advisories.
package enum CenterWeatherAdvisoryFormat: HazardFormat {
    package static let marks = ["cwsu"]
    package static func report(_ record: WireRecord) throws(ReportError) -> HazardReport {
        try record.centerWeatherAdvisory()
    }
}

extension WireRecord {
    /// Source: Data API of the Aviation Weather Center, https://aviationweather.gov/data/api/, endpoint `cwa`; NWS
    /// Instruction 10-803, section 4 (Center Weather Advisory)
    fileprivate func centerWeatherAdvisory() throws(ReportError) -> HazardReport {
        guard let office = text("cwsu") else { throw .missing(field: "cwsu") }
        var series = text("seriesId")
        // Sometimes this is a number instead of a text.
        if series == nil, let number = try number("seriesId") { series = String(format: "%.0f", number) }
        guard let series else { throw .missing(field: "seriesId") }
        let (outlines, dropped) = try outlines(shape: text("geom"))
        guard let validFrom = try looseTime("validTimeFrom") else { throw .missing(field: "validTimeFrom") }
        guard let validTo = try looseTime("validTimeTo") else { throw .missing(field: "validTimeTo") }
        try check(validFrom, validTo)
        var report = HazardReport(
            product: .centerWeatherAdvisory, series: "\(office) \(series)", validFrom: validFrom, validTo: validTo,
            outlines: outlines, droppedCorners: dropped)
        report.office = office
        report.hazard = text("hazard")
        report.intensity = text("qualifier")
        (report.baseFeet, report.topFeet) = try band(base: feet("base"), top: feet("top"))
        report.issuedAt = validFrom
        report.text = text("cwaText") ?? text("rawText")
        return report
    }
}
