import Foundation
import Geometry
import TestSupport
import Testing
import Turbulence

private struct Missing: Error {}

private func position(
    _ seconds: Int, _ longitude: Double, _ latitude: Double, knots: Double? = nil, heading: Double? = nil,
    onGround: Bool = false
) throws -> AircraftPosition {
    guard let aircraft = ICAO24("3c6444"), let place = LonLat(longitude: longitude, latitude: latitude),
        let source = SourceID("opensky")
    else { throw Missing() }
    return AircraftPosition(
        icao24: aircraft, place: place, source: source, observedAt: Instant(clamping: 1_700_000_000 + seconds),
        groundSpeedKnots: knots, headingDegrees: heading, isOnGround: onGround)
}

@Suite("The way of an aircraft")
struct AircraftTrackTests {
    private func lines(_ positions: [AircraftPosition]) -> [[[Double]]]? {
        AircraftTrack(positions)?.lines.map { line in
            line.map {
                [$0.place.longitude, $0.place.latitude, Double($0.time.seconds - 1_700_000_000)]
            }
        }
    }

    @Test("a way is a line with a time for each vertex")
    func isALineWithATimeForEachVertex() throws {
        let track = try lines([position(0, 1, 2), position(60, 3, 4), position(60, 9, 9), position(90, 5, 6)])
        #expect(track == [[[1, 2, 0], [3, 4, 60], [5, 6, 90]]], "of one second the first counts")
        #expect(try lines([position(0, 1, 2)]) == nil)
        #expect(lines([]) == nil)
    }

    @Test("a way is cut where nothing was received for long")
    func isCutWhereNothingWasReceivedForLong() throws {
        let gap = AircraftTrack.gapSeconds
        #expect(
            try lines([
                position(0, 1, 2), position(gap, 3, 4), position(2 * gap + 1, 5, 6), position(3 * gap + 2, 7, 8),
                position(3 * gap + 3, 9, 8),
            ]) == [
                [[1, 2, 0], [3, 4, Double(gap)]],
                [[7, 8, Double(3 * gap + 2)], [9, 8, Double(3 * gap + 3)]],
            ], "a lone position is no line")
    }

    @Test("a way is split at the antimeridian in either direction")
    func isSplitAtTheAntimeridianEitherWay() throws {
        let east = try lines([position(0, 179, 10), position(100, -179, 20)])
        #expect(east == [[[179, 10, 0], [180, 15, 50]], [[-180, 15, 50], [-179, 20, 100]]])
        let west = try lines([position(0, -178, 0), position(100, 179, 0)])
        #expect(west == [[[-178, 0, 0], [-180, 0, 67]], [[180, 0, 67], [179, 0, 100]]])
    }

    @Test("a vertex on the antimeridian is not doubled")
    func aVertexOnTheAntimeridianIsNotDoubled() throws {
        #expect(
            try lines([position(0, 178, 0), position(50, 180, 0), position(100, -178, 0)]) == [
                [[178, 0, 0], [180, 0, 50]], [[-180, 0, 50], [-178, 0, 100]],
            ])
        #expect(
            try lines([position(0, 178, 0), position(50, -180, 0), position(100, -178, 0)]) == [
                [[178, 0, 0], [180, 0, 50]], [[-180, 0, 50], [-178, 0, 100]],
            ])
    }

    /// No line jumps over the antimeridian, times never fall, and every place given is there.
    @Test("any way keeps its places and never jumps")
    func anyWayKeepsItsPlacesAndNeverJumps() throws {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<500 {
            var longitude = Double.random(in: -180...180, using: &random)
            var positions: [AircraftPosition] = []
            for step in 0..<20 {
                positions.append(
                    try position(step * 300, LonLat.wrap(longitude), Double.random(in: -80...80, using: &random)))
                longitude = LonLat.wrap(longitude + Double.random(in: -60...60, using: &random))
            }
            let track = try #require(AircraftTrack(positions))
            for line in track.lines {
                for (a, b) in zip(line, line.dropFirst()) {
                    #expect(abs(b.place.longitude - a.place.longitude) <= 180 && a.time <= b.time)
                }
            }
            let places = Set(track.lines.flatMap { $0.map(\.place) })
            #expect(positions.allSatisfy { places.contains($0.place) })
        }
    }
}

@Suite("Dead reckoning")
struct DeadReckoningTests {
    @Test(
        "a reckoned place follows a great circle",
        arguments: [
            (0.0, 0.0, 90.0, 3_600, 6.0, 0.0), (0, 0, 0, 3_600, 0, 6), (179, 0, 90, 3_600, -175, 0),
            (0, 87, 0, 3_600, 180, 87), (10, 60, 270, 60, 9.8, 60),
        ])
    func followsAGreatCircle(
        longitude: Double, latitude: Double, heading: Double, seconds: Int, toLongitude: Double, toLatitude: Double
    ) throws {
        // 360 kt is 6 arc minutes a minute of time, and so 6 degrees an hour, within the earth's shape.
        let start = try position(0, longitude, latitude, knots: 360, heading: heading)
        let end = start.deadReckoned(to: start.observedAt.advanced(by: seconds)).place
        #expect(abs(LonLat.wrap(end.longitude - toLongitude)) < 0.02 && abs(end.latitude - toLatitude) < 0.02)
    }

    @Test("an aircraft without known movement keeps its position")
    func whatDoesNotMoveOrIsNotKnownToStays() throws {
        let later = Instant(clamping: 1_700_000_600)
        for still in [
            try position(0, 1, 2), try position(0, 1, 2, knots: 300), try position(0, 1, 2, heading: 90),
            try position(0, 1, 2, knots: 12, heading: 90, onGround: true), try position(0, 1, 2, knots: 0, heading: 90),
        ] {
            #expect(still.deadReckoned(to: later) == still)
        }
        let moving = try position(0, 1, 2, knots: 300, heading: 90)
        #expect(
            moving.deadReckoned(to: moving.observedAt) == moving && moving.deadReckoned(to: later).place != moving.place
        )
        #expect(moving.deadReckoned(to: moving.observedAt.advanced(by: -60)) == moving, "never backwards")
    }
}
