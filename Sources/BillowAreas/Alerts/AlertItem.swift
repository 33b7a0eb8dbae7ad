public import BillowSnapshot
public import Geometry
package import Turbulence

/// Turbulence ahead: a cell, and the record that decides it.
public struct AlertItem: Sendable, Hashable {
    /// The record that decides the cell.
    public var record: StandingRecord
    /// Nautical miles: along the route where one is followed, else straight.
    public var distance: Double
    /// Degrees clockwise from north.
    public var bearing: Double
    /// Seconds; nil without a speed.
    public var timeTo: Double?

    /// Where it is.
    public var cell: Cell { record.row.cell }

    /// What makes a set of items the same as another, wherever the aircraft has got to.
    package var identity: Identity {
        Identity(cell: cell, severity: record.severity, altitude: record.row.altitude)
    }

    package struct Identity: Sendable, Hashable {
        package var cell: Cell
        package var severity: Severity
        package var altitude: AltitudeBand
    }

    /// The items of some standing records, one for each cell, the nearest first. Of a cell the most severe record
    /// counts, of those the nearest in altitude, of those the newest.
    ///
    /// - Parameters:
    ///   - records: those in the area, without one's own.
    ///   - query: what was asked.
    ///   - area: what is looked at.
    ///   - flight: whose way it is.
    /// - Throws: `CancellationError`.
    public static func items(
        of records: [StandingRecord], _ query: AlertQuery, in area: AlertArea, of flight: FlightState
    ) throws(CancellationError) -> [AlertItem] {
        var best: [Cell: StandingRecord] = [:]
        for record in records {
            guard let known = best[record.row.cell] else {
                best[record.row.cell] = record
                continue
            }
            let order = { (record: StandingRecord) in
                (record.severity, -Self.apart(record.row.altitude, flight), record.row.observedAt)
            }
            if order(record) > order(known) { best[record.row.cell] = record }
        }
        let ways = AlertWays(area, of: flight)
        var items: [AlertItem] = []
        for (number, record) in best.values.enumerated() {
            if number.isMultiple(of: step), Task.isCancelled { throw CancellationError() }
            let way = ways.way(to: record.row.cell)
            items.append(
                AlertItem(record: record, distance: way.distance, bearing: way.bearing, timeTo: way.timeTo))
        }
        return items.sorted { ($0.distance, $0.cell) < ($1.distance, $1.cell) }
    }

    /// Items between two looks for a cancellation.
    private static let step = 256

    /// The items that an answer has room for: the most severe, of those the nearest. Their order stays.
    public static func prefix(_ items: [AlertItem], most: Int) -> [AlertItem] {
        guard items.count > most else { return items }
        let ranked = items.indices.sorted { (items[$1].record.severity, $0) < (items[$0].record.severity, $1) }
        return ranked.prefix(most).sorted().map { items[$0] }
    }

    /// Feet between a band and an aircraft.
    private static func apart(_ band: AltitudeBand, _ flight: FlightState) -> Double {
        max(Double(band.lowest.feet) - flight.altitudeFeet, flight.altitudeFeet - Double(band.highest.feet + 1_000), 0)
    }
}

/// The ways from an aircraft to cells ahead: along the route that is followed, else straight.
package struct AlertWays: Sendable {
    private let flight: FlightState
    private let locator: RouteLocator?
    /// Metres of the route that are flown.
    private let flown: Double

    package struct Way: Sendable, Hashable {
        /// Nautical miles.
        package let distance: Double
        /// Degrees clockwise from north.
        package let bearing: Double
        /// Seconds; nil without a speed.
        package let timeTo: Double?
    }

    package init(_ area: AlertArea, of flight: FlightState) {
        self.flight = flight
        locator = area.followed.map(RouteLocator.init)
        flown = area.along
    }

    package func way(to cell: Cell) -> Way {
        let center = H3.center(of: cell)
        let way = Geodesic.way(from: flight.place, to: center)
        let metres = locator.map { max($0.locate(center).along - flown, 0) } ?? way.metres
        let miles = metres / Geodesic.metresPerNauticalMile
        let time = flight.groundSpeed.flatMap { $0 > 0 ? miles / $0 * 3_600 : nil }
        return Way(distance: miles, bearing: way.bearing, timeTo: time)
    }
}
