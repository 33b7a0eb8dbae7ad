import BillowAreas
import BillowEngine
import BillowFields
import Geometry
import Turbulence

/// The turbulence field along a flight, as clients get it.
struct FieldProfileAnswer: Encodable {
    /// As of a FeatureCollection, of the field alone.
    var dataTime: String?
    var stale: Bool
    var simulated: Bool
    var incomplete: Bool
    var flight: PlannedFlightAnswer
    /// By valid time.
    var fields: [FieldIdentityAnswer]
    /// From the first to the last valid time of `fields`.
    var validFrom: String?
    var validTo: String?
    /// By stretch, in its middle.
    var times: [String]
    /// By row of `altitudes` and by stretch; null where nothing is known.
    var edr: [[Double?]]
    var severities: [[Int?]]
    /// By stretch; empty where no level is planned.
    var path: [PathPoint]
    /// Where nothing is known: at the planned level, else at any.
    var unknown: [Gap]
    /// Absent where nothing is known at all.
    var worst: Worst?
    /// Sentences for people.
    var text: String

    struct PathPoint: Encodable {
        var time: String
        /// Feet.
        var altitude: Int
        var edr: Double?
        var severity: Int?
    }

    struct Gap: Encodable {
        /// Nautical miles flown.
        var from: Double
        var to: Double
        var reason: String
    }

    struct Worst: Encodable {
        /// Nautical miles flown.
        var from: Double
        var to: Double
        var timeFrom: String
        var timeTo: String
        var altitude: Int
        var edr: Double
        var severity: Int
        var severityName: String
        /// Levels nearby with less, the best first.
        var better: [Level]
    }

    struct Level: Encodable {
        var altitude: Int
        var edr: Double
        var severity: Int
        var severityName: String
    }

    init(_ profile: FieldProfile, _ shown: Shown) {
        dataTime = shown.freshness.dataTime?.description
        stale = shown.freshness.isStale
        simulated = shown.freshness.isSimulated
        incomplete = shown.isIncomplete
        flight = PlannedFlightAnswer(profile.flight)
        fields = profile.parts.map { FieldIdentityAnswer($0.frame, $0.levels) }
        validFrom = profile.validTimes?.lowerBound.description
        validTo = profile.validTimes?.upperBound.description
        let stretches = profile.values.first?.count ?? 0
        times = (0..<stretches).map { stretch in
            let middle = min((Double(stretch) + 0.5) * profile.stretch, profile.flight.route.metres)
            return profile.flight.time(at: middle).description
        }
        edr = profile.values.map { $0.map { $0.map(Self.edr) } }
        severities = profile.values.map { $0.map { $0.map { Int(profile.severity($0).rawValue) } } }
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

/// A flight as it was understood, defaults included.
struct PlannedFlightAnswer: Encodable {
    var departure: String
    var arrival: String
    /// Knots, feet, and feet a minute.
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
