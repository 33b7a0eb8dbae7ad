public import Foundation

/// A flight, as far as it was received.
public struct Flight: Sendable, Hashable {
    /// The airport nearest to the first or last position.
    public struct EstimatedAirport: Sendable, Hashable {
        /// The ICAO location indicator.
        public var code: String
        /// The distance from the last known position to the airport.
        public var horizontalDistance: Length?
        /// The difference from the last known altitude to the airport's.
        public var verticalDistance: Length?

        /// Makes an estimated airport.
        public init(code: String, horizontalDistance: Length? = nil, verticalDistance: Length? = nil) {
            self.code = code
            self.horizontalDistance = horizontalDistance
            self.verticalDistance = verticalDistance
        }
    }

    /// The transponder's address.
    public var address: TransponderAddress
    /// The most frequently received call sign, without padding; nil if it is empty.
    public var callsign: String?
    /// The time of the first reception, about the departure.
    public var firstSeen: Date
    /// The time of the last reception, about the arrival.
    public var lastSeen: Date
    /// The estimated airport of departure.
    public var departure: EstimatedAirport?
    /// The estimated airport of arrival.
    public var arrival: EstimatedAirport?
    /// The number of other possible airports of departure.
    public var departureCandidates: Int
    /// The number of other possible airports of arrival.
    public var arrivalCandidates: Int

    /// Makes a flight.
    public init(
        address: TransponderAddress, callsign: String? = nil, firstSeen: Date, lastSeen: Date,
        departure: EstimatedAirport? = nil, arrival: EstimatedAirport? = nil, departureCandidates: Int = 0,
        arrivalCandidates: Int = 0
    ) {
        self.address = address
        self.callsign = callsign
        self.firstSeen = firstSeen
        self.lastSeen = lastSeen
        self.departure = departure
        self.arrival = arrival
        self.departureCandidates = departureCandidates
        self.arrivalCandidates = arrivalCandidates
    }
}

/// The flights of a response.
public struct Flights: Sendable, Hashable {
    /// The valid flights.
    public var flights: [Flight]
    /// The counts of parsed and skipped rows.
    public var counts: RowCounts

    /// Makes the flights of a response.
    public init(_ flights: [Flight] = [], counts: RowCounts = RowCounts()) {
        self.flights = flights
        self.counts = counts
    }
}

/// The direction of flights relative to an airport.
public enum FlightDirection: String, Sendable, Hashable, CaseIterable {
    /// Flights that landed there.
    case arrival
    /// Flights that departed from there.
    case departure
}
