import BillowFields
import Foundation
package import GRIBKit
import Geometry
import NOAAGuidance
import Turbulence

/// Why a field of a GRIB2 file isn't used.
package enum FieldRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// The message isn't whole, by the code of `MessageFrame.Refusal`.
    case frame(String)
    case message(GRIBRefusal.Code)
    case indexLine
    /// No EDR, or not the one that the index promised.
    case parameter
    case level
    /// Another run or valid time than the file's name says.
    case time
    case inTheFuture
    case grid
    case duplicate
    /// EDR below 0 or beyond any air's, or no number.
    case values
    case withoutValues

    /// A few words for people.
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

/// What the fields of GRIB2 messages are to the store.
enum FieldReading {
    /// Runs further ahead than this are refused: a clock is wrong. Seconds.
    static let futureSeconds = 300
    /// A packing may put what is 0 a little below it.
    private static let leastEDR: Float = -0.005
    private static let largestEDR = Float(FieldPlane.largest) / 100

    /// - Throws: where the header is of no EDR, or at no level that has an altitude.
    static func level(of header: GRIBHeader) throws(FieldRefusal) -> FieldLevel {
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

    /// To the next hundred feet; nil below the sea and far above all flights.
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

    /// Decodes a field's values, and judges them.
    static func plane(_ message: GRIBMessage, field place: Int) throws(FieldRefusal) -> FieldPlane {
        let field: GRIBField
        do throws(GRIBRefusal) { field = try GRIBField(message, field: place) } catch { throw .message(error.code) }
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
