import Foundation

/// Parses the older ADDS CSV of aircraft reports row by row. It has 44 columns, some with repeated names, and heights
/// in feet. The text is the last column. It is not reliably quoted, and a stray comma often follows it.
///
/// Source: aviationweather.gov cache file `aircraftreports.cache.csv`, as published since 2022
public struct ADDSTable: Sendable {
    /// The indices of each column's name; several for a repeated name.
    private let columns: [String: [Int]]
    private let textColumn: Int

    /// Parses the header row; nil for any other row, such as the five rows before it.
    public init?(header: some StringProtocol) {
        let names = header.split(separator: ",", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
        var columns: [String: [Int]] = [:]
        for (place, name) in names.enumerated() { columns[name, default: []].append(place) }
        guard let text = columns["raw_text"]?.first, columns["observation_time"] != nil, columns["latitude"] != nil,
            columns["longitude"] != nil
        else { return nil }
        self.columns = columns
        textColumn = text
    }

    /// Parses one row.
    public func report(row: some StringProtocol) throws(ReportError) -> AircraftReport {
        var cells = row.split(separator: ",", maxSplits: textColumn, omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
        guard cells.count == textColumn + 1 else { throw .notAReport }
        cells[textColumn] = ADDSTable.unwrapped(cells[textColumn])
        func text(_ name: String, _ group: Int = 0) -> String? {
            guard let places = columns[name], places.indices.contains(group), cells.indices.contains(places[group]),
                !cells[places[group]].isEmpty
            else { return nil }
            return cells[places[group]]
        }
        func number(_ name: String, _ group: Int = 0) throws(ReportError) -> Double? {
            guard let text = text(name, group) else { return nil }
            guard let value = Double(text), value.isFinite else { throw .invalid(name, text, "a number") }
            return value
        }
        func required(_ name: String) throws(ReportError) -> Double {
            guard let value = try number(name) else { throw .missing(field: name) }
            return value
        }
        func feet(_ name: String, _ group: Int = 0) throws(ReportError) -> Int? {
            guard let value = try number(name, group) else { return nil }
            return try ReportFields.feet(name, value, unit: 1)
        }
        guard let rawText = text("raw_text") else { throw .missing(field: "raw_text") }
        guard let time = text("observation_time") else { throw .missing(field: "observation_time") }
        guard let date = ReportFields.date(time) else {
            throw .invalid("observation_time", time, "ISO 8601 with a zone")
        }
        var fields = ReportFields(
            observedAtSeconds: try ReportFields.seconds(
                "observation_time", date.timeIntervalSince1970.rounded(.down)),
            longitude: try required("longitude"), latitude: try required("latitude"), text: rawText)
        fields.receivedAt = text("receipt_time").flatMap(ReportFields.date)
        fields.kind = text("report_type")
        fields.aircraft = text("aircraft_ref")
        fields.levelFeet = try feet("altitude_ft_msl")
        // Additional values that can't be parsed don't invalidate the report.
        fields.temperatureCelsius = (try? number("temp_c")) ?? nil
        fields.windDirectionDegrees = (try? number("wind_dir_degrees")) ?? nil
        fields.windSpeedKnots = (try? number("wind_speed_kt")) ?? nil
        fields.weather = text("wx_string")
        for group in 0..<2 {
            let turbulence = TurbulenceLayer(
                intensity: text("turbulence_intensity", group).map(TurbulenceIntensity.init(rawValue:)),
                type: text("turbulence_type", group).map(TurbulenceType.init(rawValue:)),
                frequency: text("turbulence_freq", group).map(TurbulenceFrequency.init(rawValue:)),
                baseFeet: try feet("turbulence_base_ft_msl", group), topFeet: try feet("turbulence_top_ft_msl", group))
            if !turbulence.isEmpty { fields.turbulence.append(turbulence) }
            let icing = IcingLayer(
                intensity: text("icing_intensity", group).map(IcingIntensity.init(rawValue:)),
                type: text("icing_type", group).map(IcingType.init(rawValue:)),
                baseFeet: (try? feet("icing_base_ft_msl", group)) ?? nil,
                topFeet: (try? feet("icing_top_ft_msl", group)) ?? nil)
            if !icing.isEmpty { fields.icing.append(icing) }
            if let cover = text("sky_cover", group) {
                fields.clouds.append(
                    CloudLayer(
                        cover: cover, baseFeet: (try? feet("cloud_base_ft_msl", group)) ?? nil,
                        topFeet: (try? feet("cloud_top_ft_msl", group)) ?? nil))
            }
        }
        return try fields.report()
    }

    /// Removes the stray comma and, if there is a pair, the quotes.
    private static func unwrapped(_ text: String) -> String {
        var text = text[...]
        if text.hasSuffix(",") { text.removeLast() }
        if text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") {
            return String(text.dropFirst().dropLast()).replacing("\"\"", with: "\"")
        }
        return String(text)
    }
}

extension PilotReportDecoder {

    static func decodeADDS(_ document: String, into outcome: inout Outcome) throws(DocumentError) {
        var table: ADDSTable?
        for row in document.split(whereSeparator: \.isNewline) {
            if let table {
                do throws(ReportError) { outcome.add(.success(try table.report(row: row))) } catch {
                    outcome.add(.failure(error))
                }
            } else {
                table = ADDSTable(header: row)
            }
        }
        guard table != nil else { throw .unknownForm }
    }
}
