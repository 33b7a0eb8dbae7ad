import Foundation

/// Converts the raw values of any format to a report. It has the parsing rules that all formats share.
struct ReportFields {
    var observedAtSeconds: Int
    var receivedAt: Date?
    var kind: String?
    var office: String?
    var aircraft: String?
    var aircraftName: String?
    var longitude: Double
    var latitude: Double
    var levelFeet: Int?
    var levelKind: String?
    var temperatureCelsius: Double?
    var windDirectionDegrees: Double?
    var windSpeedKnots: Double?
    var weather: String?
    var clouds: [CloudLayer] = []
    var turbulence: [TurbulenceLayer] = []
    var icing: [IcingLayer] = []
    var qualityFlags = 0
    var text: String

    /// Validates the place and returns the report.
    func report() throws(ReportError) -> AircraftReport {
        guard longitude.isFinite, abs(longitude) <= 180 else {
            throw .invalid("lon", "\(longitude)", "-180 to 180")
        }
        guard latitude.isFinite, abs(latitude) <= 90 else { throw .invalid("lat", "\(latitude)", "-90 to 90") }
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        let levelKind = levelKind.map(LevelKind.init(rawValue:))
        return AircraftReport(
            id: ReportID.make(text: trimmed, observedAtSeconds: observedAtSeconds),
            observedAt: Date(timeIntervalSince1970: TimeInterval(observedAtSeconds)), receivedAt: receivedAt,
            kind: kind.map(ReportKind.init(rawValue:)) ?? .pirep, office: office, aircraft: aircraft,
            aircraftName: aircraftName, longitude: longitude, latitude: latitude,
            // In JSON a level of 0 means "none" (in climb, in descent, unknown); only on the ground it is a level.
            altitudeFeet: levelFeet == 0 && levelKind != .ground ? nil : levelFeet, levelKind: levelKind,
            temperatureCelsius: temperatureCelsius, windDirectionDegrees: windDirectionDegrees,
            windSpeedKnots: windSpeedKnots, weather: weather, clouds: clouds,
            turbulence: turbulence, icing: icing, qualityFlags: qualityFlags, text: trimmed)
    }

    /// The allowed heights of a report in feet.
    static let heights = 0...100_000

    /// A height in feet from a number of `unit` feet.
    static func feet(_ field: String, _ value: Double, unit: Double) throws(ReportError) -> Int {
        let feet = value * unit
        guard feet >= Double(heights.lowerBound), feet <= Double(heights.upperBound) else {
            throw .invalid(
                field, "\(value)",
                "\(Int(Double(heights.lowerBound) / unit)) to \(Int(Double(heights.upperBound) / unit))")
        }
        return Int(feet.rounded())
    }

    /// Validates the seconds of a time: 1970 to 2105.
    static func seconds(_ field: String, _ value: Double) throws(ReportError) -> Int {
        guard value >= 0, value < 4_291_747_200 else {
            throw .invalid(field, "\(value)", "Unix seconds from 0 to 4291747199")
        }
        return Int(value)
    }

    /// Parses ISO 8601 with a zone, with or without a fraction.
    static func date(_ text: String) -> Date? {
        // Each of the two styles accepts only texts with or without a fraction; a failure means the other one.
        (try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
            ?? (try? Date(text, strategy: Date.ISO8601FormatStyle()))
    }
}
