import AviationFormats
import Foundation

/// Returns the texts of the pilot reports in a file of aviationweather.gov. Further lines count the records that could
/// not be read, by reason.
public func pilotReports(in data: Data) throws(DocumentError) -> [String] {
    let outcome = try PilotReportDecoder.decode(data)
    return outcome.reports.map(\.text) + outcome.refused.map { "\($0.value) × \($0.key)" }
}
