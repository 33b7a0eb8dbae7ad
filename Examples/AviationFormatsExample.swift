import AviationFormats
import Foundation

/// The texts of the pilot reports in a file of aviationweather.gov, and how many records could not be read.
public func pilotReports(in data: Data) throws(DocumentError) -> [String] {
    let outcome = try PilotReportDecoder.decode(data)
    return outcome.reports.map(\.text) + outcome.refused.map { "\($0.value) × \($0.key)" }
}
