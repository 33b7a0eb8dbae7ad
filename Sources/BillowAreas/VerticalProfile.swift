public import BillowSnapshot
public import Geometry
public import Turbulence

/// Turbulence along a route, as one looks at it from the side: for each stretch of the way and each block of 1,000 ft
/// the most severe record within the corridor.
public struct VerticalProfile: Sendable, Hashable {
    /// Metres of a stretch.
    public let stretch: Double
    /// Metres of the route.
    public let length: Double
    /// By altitude block from the ground up, and by stretch from the start.
    public private(set) var severities: [[Severity?]]
    /// How many records there are in it.
    public private(set) var records = 0

    /// Stretches that a profile may have.
    package static let stretchLimit = 1_000

    /// How many stretches of a length a route has.
    public static func stretches(of route: Route, each stretch: Double) -> Double {
        (route.metres / stretch).rounded(.up)
    }

    /// - Parameters:
    ///   - records: standing records; those further than `half` metres from the route are left out.
    ///   - stretch: metres; lengthened where there would be more stretches than `stretchLimit`.
    ///   - route: the way.
    ///   - half: metres to each side of the route.
    public init(_ records: [StandingRecord], along route: Route, half: Double, stretch: Double) {
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
