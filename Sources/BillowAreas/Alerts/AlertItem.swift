public import BillowSnapshot
public import Geometry
package import Turbulence

/// Turbulence ahead: a cell, and the observation that decides its severity.
public struct AlertItem: Sendable, Hashable {
    /// The observation that decides the cell's severity.
    public var record: CurrentObservation
    /// The distance in nautical miles: along the route if one is followed, otherwise straight.
    public var distance: Double
    /// The bearing in degrees clockwise from north.
    public var bearing: Double
    /// The time to the cell in seconds; nil without a speed.
    public var timeTo: Double?

    /// The cell of the observation.
    public var cell: Cell { record.row.cell }

    /// The identity of an item in comparisons of sets, independent of the aircraft's position.
    package var identity: Identity {
        Identity(cell: cell, severity: record.severity, altitude: record.row.altitude)
    }

    package struct Identity: Sendable, Hashable {
        package var cell: Cell
        package var severity: Severity
        package var altitude: AltitudeBand
    }

    /// The items of standing observations, one per cell, the nearest first. In a cell, the most severe observation
    /// counts, then the nearest in altitude, then the newest.
    ///
    /// - Parameters:
    ///   - records: the observations in the area, without the aircraft's own.
    ///   - query: the parameters of the alert.
    ///   - area: the searched area.
    ///   - flight: the aircraft's state.
    /// - Throws: `CancellationError`.
    public static func items(
        of records: [CurrentObservation], _ query: AlertQuery, in area: AlertArea, of flight: FlightState
    ) throws(CancellationError) -> [AlertItem] {
        var best: [Cell: CurrentObservation] = [:]
        for record in records {
            guard let known = best[record.row.cell] else {
                best[record.row.cell] = record
                continue
            }
            let order = { (record: CurrentObservation) in
                (record.severity, -Self.apart(record.row.altitude, flight), record.row.observedAt)
            }
            if order(record) > order(known) { best[record.row.cell] = record }
        }
        let approaches = AlertApproaches(area, of: flight)
        var items: [AlertItem] = []
        for (number, record) in best.values.enumerated() {
            if number.isMultiple(of: step), Task.isCancelled { throw CancellationError() }
            let approach = approaches.approach(to: record.row.cell)
            items.append(
                AlertItem(
                    record: record, distance: approach.distance, bearing: approach.bearing, timeTo: approach.timeTo))
        }
        return items.sorted { ($0.distance, $0.cell) < ($1.distance, $1.cell) }
    }

    /// The number of items between two checks for cancellation.
    private static let step = 256

    /// At most `most` items: the most severe, then the nearest. Their order is unchanged.
    public static func prefix(_ items: [AlertItem], most: Int) -> [AlertItem] {
        guard items.count > most else { return items }
        let ranked = items.indices.sorted { (items[$1].record.severity, $0) < (items[$0].record.severity, $1) }
        return ranked.prefix(most).sorted().map { items[$0] }
    }

    /// The vertical distance in feet between a band and an aircraft.
    private static func apart(_ band: AltitudeBand, _ flight: FlightState) -> Double {
        max(Double(band.lowest.feet) - flight.altitudeFeet, flight.altitudeFeet - Double(band.highest.feet + 1_000), 0)
    }
}

/// Computes the distance from an aircraft to cells ahead: along a followed route, otherwise straight.
package struct AlertApproaches: Sendable {
    private let flight: FlightState
    private let locator: RouteLocator?
    /// The flown distance along the route in metres.
    private let flown: Double

    package struct Approach: Sendable, Hashable {
        /// The distance in nautical miles.
        package let distance: Double
        /// The bearing in degrees clockwise from north.
        package let bearing: Double
        /// The time in seconds; nil without a speed.
        package let timeTo: Double?
    }

    package init(_ area: AlertArea, of flight: FlightState) {
        self.flight = flight
        locator = area.followed.map(RouteLocator.init)
        flown = area.along
    }

    package func approach(to cell: Cell) -> Approach {
        let center = H3.center(of: cell)
        let path = Geodesic.path(from: flight.place, to: center)
        let metres = locator.map { max($0.locate(center).along - flown, 0) } ?? path.metres
        let miles = metres / Geodesic.metresPerNauticalMile
        let time = flight.groundSpeed.flatMap { $0 > 0 ? miles / $0 * 3_600 : nil }
        return Approach(distance: miles, bearing: path.bearing, timeTo: time)
    }
}
