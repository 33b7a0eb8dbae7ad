import BillowAreas
import BillowEngine
import BillowFields
import Geometry
import Turbulence

/// The response body for the turbulence field along a flight.
struct FieldProfileResponse: Encodable {
    /// This and the next members are as in a FeatureCollection, but describe the field only.
    var dataTime: String?
    var stale: Bool
    var simulated: Bool
    var incomplete: Bool
    var flight: PlannedFlightResponse
    /// The fields, ordered by valid time.
    var fields: [FieldIdentityResponse]
    /// The first and the last valid time of `fields`.
    var validFrom: String?
    var validTo: String?
    /// The times in the middle of each stretch.
    var times: [String]
    /// The values by row of `altitudes` and by stretch; null for an unknown value.
    var edr: NumberGrid<Double>
    var severities: NumberGrid<Int>
    /// The aircraft's own path by stretch; empty without a planned level.
    var path: [PathPoint]
    /// The gaps without a value: at the planned level, or at any level if none is planned.
    var unknown: [Gap]
    /// The worst stretch; absent if no value is known.
    var worst: Worst?
    /// A text for people.
    var text: String

    struct PathPoint: Encodable {
        var time: String
        /// The altitude in feet.
        var altitude: Int
        var edr: Double?
        var severity: Int?
    }

    struct Gap: Encodable {
        /// The start and end of the gap, in nautical miles flown.
        var from: Double
        var to: Double
        var reason: String
    }

    struct Worst: Encodable {
        /// The start and end of the stretch, in nautical miles flown.
        var from: Double
        var to: Double
        var timeFrom: String
        var timeTo: String
        var altitude: Int
        var edr: Double
        var severity: Int
        var severityName: String
        /// Nearby levels with less turbulence, best first.
        var better: [Level]
    }

    struct Level: Encodable {
        var altitude: Int
        var edr: Double
        var severity: Int
        var severityName: String
    }

    init(_ profile: FieldProfile, _ dataStatus: DataStatus) {
        dataTime = dataStatus.freshness.dataTime?.description
        stale = dataStatus.freshness.isStale
        simulated = dataStatus.freshness.isSimulated
        incomplete = dataStatus.isIncomplete
        flight = PlannedFlightResponse(profile.flight)
        fields = profile.parts.map { FieldIdentityResponse($0.frame, $0.levels) }
        validFrom = profile.validTimes?.lowerBound.description
        validTo = profile.validTimes?.upperBound.description
        let stretches = profile.values.first?.count ?? 0
        times = (0..<stretches).map { stretch in
            let middle = min((Double(stretch) + 0.5) * profile.stretch, profile.flight.route.metres)
            return profile.flight.time(at: middle).description
        }
        edr = NumberGrid(rows: profile.values.map { $0.map { $0.map(Self.edr) } })
        severities = NumberGrid(
            rows: profile.values.map { $0.map { $0.map { Int(profile.severity($0).rawValue) } } })
        path = profile.way.map { point in
            PathPoint(
                time: point.time.description, altitude: Int(point.altitudeFeet.rounded()),
                edr: point.tenThousandths.map(Self.edr),
                severity: point.tenThousandths.map { Int(profile.severity($0).rawValue) })
        }
        unknown = profile.gaps.map { gap in
            Gap(
                from: Self.miles(gap.distance.lowerBound), to: Self.miles(gap.distance.upperBound),
                reason: gap.gap.rawValue)
        }
        worst = profile.worst.map { worst in
            let severity = profile.severity(worst.tenThousandths)
            return Worst(
                from: Self.miles(worst.distance.lowerBound), to: Self.miles(worst.distance.upperBound),
                timeFrom: worst.times.lowerBound.description, timeTo: worst.times.upperBound.description,
                altitude: Int(worst.altitudeFeet.rounded()), edr: Self.edr(worst.tenThousandths),
                severity: Int(severity.rawValue), severityName: severity.name,
                better: worst.better.map { level in
                    let severity = profile.severity(level.tenThousandths)
                    return Level(
                        altitude: level.feet, edr: Self.edr(level.tenThousandths), severity: Int(severity.rawValue),
                        severityName: severity.name)
                })
        }
        text = profile.text
    }

    private static func edr(_ tenThousandths: Int) -> Double { Double(tenThousandths) / 10_000 }

    private static func miles(_ metres: Double) -> Double {
        (metres / Geodesic.metresPerNauticalMile * 10).rounded() / 10
    }
}

/// Rows of numbers, null for an unknown value.
///
/// Foundation encodes an array of optionals through casts, which is many times slower than encoding its members one by
/// one.
struct NumberGrid<Number: GridNumber>: Encodable {
    var rows: [[Number?]]

    func encode(to encoder: any Encoder) throws {
        var grid = encoder.unkeyedContainer()
        for row in rows {
            var numbers = grid.nestedUnkeyedContainer()
            for number in row {
                if let number { try number.add(to: &numbers) } else { try numbers.encodeNil() }
            }
        }
    }
}

/// A number type that encoding containers support directly.
protocol GridNumber {
    func add(to container: inout any UnkeyedEncodingContainer) throws
}

extension Int: GridNumber {
    func add(to container: inout any UnkeyedEncodingContainer) throws { try container.encode(self) }
}

extension Double: GridNumber {
    func add(to container: inout any UnkeyedEncodingContainer) throws { try container.encode(self) }
}

/// The parsed flight, including defaults.
struct PlannedFlightResponse: Encodable {
    var departure: String
    var arrival: String
    /// The speed in knots, the level in feet, and the rates in feet per minute.
    var speed: Double?
    var level: Double?
    var climb: Double?
    var descent: Double?

    init(_ flight: PlannedFlight) {
        departure = flight.departure.description
        arrival = flight.arrival.description
        speed = flight.groundSpeed
        level = flight.levelFeet
        climb = flight.climb
        descent = flight.descent
    }
}
