public import BillowSnapshot
public import Geometry
public import Turbulence

/// The vertical profile of turbulence along a route. For each stretch of the route and each block of 1,000 ft, it has
/// the most severe observation within the corridor.
public struct VerticalProfile: Sendable, Hashable {
    /// The length of a stretch in metres.
    public let stretch: Double
    /// The length of the route in metres.
    public let length: Double
    /// The severities by altitude block from the ground up, and by stretch from the start.
    public private(set) var severities: [[Severity?]]
    /// The number of its observations.
    public private(set) var records = 0

    /// The maximum number of stretches.
    package static let stretchLimit = 1_000

    /// The number of stretches of a given length in a route.
    public static func stretches(of route: Route, each stretch: Double) -> Double {
        (route.metres / stretch).rounded(.up)
    }

    /// - Parameters:
    ///   - records: standing observations; those more than `half` metres from the route are ignored.
    ///   - stretch: metres; increased if there would be more stretches than `stretchLimit`.
    ///   - route: the route.
    ///   - half: metres to each side of the route.
    public init(_ records: [CurrentObservation], along route: Route, half: Double, stretch: Double) {
        let stretch = max(stretch, route.metres / Double(Self.stretchLimit))
        let count = max(1, Int((route.metres / stretch - 1e-9).rounded(.up)))
        self.stretch = stretch
        length = route.metres
        severities = [[Severity?]](
            repeating: [Severity?](repeating: nil, count: count), count: AltitudeBlock.range.count)
        let locator = RouteLocator(route)
        var locations: [Cell: RouteLocator.Location] = [:]
        for record in records {
            let cell = record.row.cell
            let location = locations[cell] ?? locator.locate(H3.center(of: cell))
            locations[cell] = location
            guard abs(location.off) <= half else { continue }
            self.records += 1
            let column = min(Int(location.along / stretch), count - 1)
            let band = record.row.altitude
            for block in Int(band.lowest.thousands)...Int(band.highest.thousands) {
                let known = severities[block][column]
                severities[block][column] = known.map { max($0, record.severity) } ?? record.severity
            }
        }
    }
}
