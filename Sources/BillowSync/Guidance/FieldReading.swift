import BillowFields
import Foundation
package import GRIBKit
import Geometry
import NOAAGuidance
import Turbulence

/// The reason why a field of a GRIB2 file is rejected.
package enum FieldReadingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The message is incomplete, with the code of `MessageFrame.FrameError`.
    case frame(String)
    case message(GRIBError.Code)
    case indexLine
    /// The parameter is not EDR, or differs from the index.
    case parameter
    case level
    /// The run or valid time differs from the file's name.
    case time
    case inTheFuture
    case grid
    case duplicate
    /// A value is below 0, above any possible EDR, or not a number.
    case values
    case withoutValues

    /// A short description for people.
    package var description: String {
        switch self {
        case .frame(let code): "message: \(code)"
        case .message(let code): "message: \(code.rawValue)"
        case .indexLine: "line of an index"
        case .parameter: "another parameter than EDR"
        case .level: "a level that can't be used"
        case .time: "another run or valid time"
        case .inTheFuture: "a run in the future"
        case .grid: "another grid than the rest of the file"
        case .duplicate: "the same level again"
        case .values: "EDR outside 0–2.54"
        case .withoutValues: "without any value"
        }
    }
}

/// Converts the fields of GRIB2 messages for the store.
enum FieldReading {
    /// Runs further in the future than this many seconds are rejected, because a clock is wrong.
    static let futureSeconds = 300
    /// Packing may turn 0 into a slightly negative value.
    private static let leastEDR: Float = -0.005
    private static let largestEDR = Float(FieldPlane.largest) / 100

    /// - Throws: if the header is not of EDR, or has no level with an altitude.
    static func level(of header: GRIBHeader) throws(FieldReadingError) -> FieldLevel {
        switch (header.parameter, header.level) {
        case (.eddyDissipation, .altitude(let level)):
            guard let level = FieldLevel(number: level.feet), level != .column else { throw .level }
            return level
        case (.eddyDissipation, .isobaric(let pascals)):
            guard let feet = pressureAltitude(pascals: pascals), let level = FieldLevel(number: feet) else {
                throw .level
            }
            return level
        case (.eddyDissipation, .column), (.maximumEddyDissipation, .column): return .column
        case (.eddyDissipation, _), (.maximumEddyDissipation, _): throw .level
        default: throw .parameter
        }
    }

    /// The altitude rounded to hundreds of feet; nil below the sea and far above all flights.
    ///
    /// Source: ICAO Doc 7488, Manual of the ICAO Standard Atmosphere, troposphere and lower stratosphere
    static func pressureAltitude(pascals: Double) -> Int? {
        guard (5_000...101_325).contains(pascals) else { return nil }
        let tropopause = 22_632.0
        let metres =
            pascals >= tropopause
            ? 44_330.77 * (1 - pow(pascals / 101_325, 0.190_263))
            : 11_000 + 6_341.62 * log(tropopause / pascals)
        return Int((metres / 30.48).rounded()) * 100
    }

    /// Decodes and validates a field's values.
    static func plane(_ message: GRIBMessage, field place: Int) throws(FieldReadingError) -> FieldPlane {
        let field: GRIBField
        do throws(GRIBError) { field = try GRIBField(message, field: place) } catch { throw .message(error.code) }
        let statistics = field.statistics
        guard statistics.notANumber == 0, statistics.huge == 0 else { throw .values }
        guard let range = statistics.range else { throw .withoutValues }
        guard range.lowerBound >= leastEDR, range.upperBound <= largestEDR else { throw .values }
        let edrs = range.lowerBound < 0 ? field.values.map { $0 < 0 ? 0 : $0 } : field.values
        let grid = field.header.grid
        guard let plane = FieldPlane(width: grid.columns, height: grid.rows, edrs: edrs) else { throw .grid }
        return plane
    }
}
