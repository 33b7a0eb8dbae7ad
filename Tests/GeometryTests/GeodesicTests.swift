import Testing
import TestSupport

@testable import Geometry

@Suite("Geodesics")
struct GeodesicTests {
    /// Two places, and what GeographicLib's own tests expect between them.
    struct Published: Sendable, CustomTestStringConvertible {
        var from: (latitude: Double, longitude: Double)
        var to: (latitude: Double, longitude: Double)
        var metres: Double
        /// What the length may be off by: a unit of the last place that was published.
        var within: Double
        var bearing: Double?

        var testDescription: String { "\(from) to \(to)" }
    }

    /// Source: C. F. F. Karney, "Algorithms for geodesics" (2013), section 4, the nearly antipodal example; the tests
    /// `testInverse`, `GeodSolve6` and `GeodSolve33` of GeographicLib, https://github.com/geographiclib/geographiclib-c
    static let published = [
        Published(from: (-30, 0), to: (29.9, 179.8), metres: 19_989_832.827_61, within: 1e-4, bearing: 161.890_524_736),
        Published(
            from: (35.60777, -139.44815), to: (-11.17491, -69.95921), metres: 8_935_244.560_481_83, within: 1e-6,
            bearing: 111.098_748_429_560),
        Published(
            from: (55.52454, 106.05087), to: (77.03196, 197.18234), metres: 4_105_086.171_392_44, within: 1e-6,
            bearing: 22.020_059_880_983),
        Published(from: (0, 0), to: (0, 179), metres: 19_926_189, within: 0.5, bearing: 90),
        Published(from: (0, 0), to: (0, 179.5), metres: 19_980_862, within: 0.5, bearing: 55.96650),
        Published(from: (0, 0), to: (0, 180), metres: 20_003_931, within: 0.5, bearing: 0),
        Published(from: (0, 0), to: (1, 180), metres: 19_893_357, within: 0.5, bearing: 0),
        Published(
            from: (88.202_499_451_857, 0), to: (-88.202_499_451_857, 179.981_022_032_992_859_592),
            metres: 20_003_898.214, within: 0.5e-3),
        Published(
            from: (89.262_080_389_218, 0), to: (-89.262_080_389_218, 179.992_207_982_775_375_662),
            metres: 20_003_925.854, within: 0.5e-3),
        Published(
            from: (56.320_923_501_171, 0), to: (-56.320_923_501_171, 179.664_747_671_772_880_215),
            metres: 19_993_558.287, within: 0.5e-3),
        Published(
            from: (48.522_876_735_459, 0), to: (-48.522_876_735_458_982_93, 179.599_720_456_223_079_643),
            metres: 19_989_144.774, within: 0.5e-3),
        Published(
            from: (36.493_349_428_792, 0), to: (36.493_349_428_792_01, 0.000_000_8), metres: 0.072, within: 0.5e-3),
    ]

    @Test("ways have the published lengths and bearings, between nearly opposite places too", arguments: published)
    func inverse(_ case: Published) throws {
        let from = try #require(LonLat(longitude: `case`.from.longitude, latitude: `case`.from.latitude))
        let to = try #require(LonLat(longitude: `case`.to.longitude, latitude: `case`.to.latitude))
        let path = Geodesic.path(from: from, to: to)
        #expect(abs(path.metres - `case`.metres) <= `case`.within)
        if let bearing = `case`.bearing { #expect(abs(path.bearing - bearing) < 1e-5) }
    }

    @Test("a path along the initial bearing reaches its end, also half a degree from the antipode")
    func direct() throws {
        var random = SeededGenerator(seed: 5)
        func unit() -> Double { Double(random.next() >> 11) / Double(1 << 53) }
        for number in 0..<2_000 {
            let from = try #require(LonLat(longitude: unit() * 360 - 180, latitude: unit() * 178 - 89))
            let isOpposite = number.isMultiple(of: 2)
            let to = try #require(
                LonLat(
                    longitude: isOpposite ? LonLat.wrap(from.longitude + 179.5 + unit()) : unit() * 360 - 180,
                    latitude: isOpposite ? -from.latitude + unit() - 0.5 : unit() * 178 - 89))
            let path = Geodesic.path(from: from, to: to)
            #expect((0..<360).contains(path.bearing))
            let arrival = Geodesic.place(from: from, bearing: path.bearing, metres: path.metres)
            let apart = Geodesic.vector(arrival.place) - Geodesic.vector(to)
            #expect((apart * apart).sum().squareRoot() < 1e-6, "\(from) to \(to)")
        }
    }

    @Test("many places on one bearing are the places one by one")
    func places() throws {
        let from = try #require(LonLat(longitude: 170, latitude: 60))
        let metres = [-2_000_000, -1, 0, 1, 500_000, 9_000_000, 21_000_000].map(Double.init)
        let points = Geodesic.places(from: from, bearing: 40, metres: metres)
        #expect(points.count == metres.count)
        for (point, metres) in zip(points, metres) {
            let single = Geodesic.place(from: from, bearing: 40, metres: metres)
            #expect(point.place == single.place && point.bearing == single.bearing)
            #expect(abs(point.place.longitude) <= 180 && (0..<360).contains(point.bearing))
        }
        #expect(Geodesic.places(from: from, bearing: 40, metres: []).isEmpty)
    }

    @Test("a route between opposite places is half a meridian long, and its stations lie on it")
    func oppositePlaces() throws {
        let from = try #require(LonLat(longitude: 0, latitude: 50))
        let to = try #require(LonLat(longitude: 180, latitude: -50))
        let route = try Route([from, to])
        #expect(abs(route.metres - 20_003_931.458_6) < 1e-3)
        let stations = route.stations(every: 1_000_000)
        #expect(stations.count == 22)
        #expect(stations.last?.place == to)
    }
}
