public import Foundation

/// A flight, as far as it was received.
public struct Flight: Sendable, Hashable {
    /// An airport that the first or last position was near.
    public struct EstimatedAirport: Sendable, Hashable {
        /// ICAO location indicator.
        public var code: String
        public var horizontalDistance: Length?
        public var verticalDistance: Length?

        public init(code: String, horizontalDistance: Length? = nil, verticalDistance: Length? = nil) {
            self.code = code
            self.horizontalDistance = horizontalDistance
            self.verticalDistance = verticalDistance
        }
    }

    public var address: TransponderAddress
    /// The one most often received, without the spaces that fill it up; nil where it is empty.
    public var callsign: String?
    /// About when it departed, and arrived.
    public var firstSeen: Date
    public var lastSeen: Date
    public var departure: EstimatedAirport?
    public var arrival: EstimatedAirport?
    /// Other airports that may have been meant.
    public var departureCandidates: Int
    public var arrivalCandidates: Int

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

/// Flights of an answer.
public struct Flights: Sendable, Hashable {
    public var flights: [Flight]
    public var counts: RowCounts

    public init(_ flights: [Flight] = [], counts: RowCounts = RowCounts()) {
        self.flights = flights
        self.counts = counts
    }
}

/// Whether flights left from an airport or came to it.
public enum FlightDirection: String, Sendable, Hashable, CaseIterable {
    case arrival
    case departure
}
