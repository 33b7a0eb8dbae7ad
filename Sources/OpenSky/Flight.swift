public import Foundation

/// A flight, as far as it was received.
public struct Flight: Sendable, Hashable {
    /// An airport that the first or last position was near.
    public struct EstimatedAirport: Sendable, Hashable {
        /// ICAO location indicator.
        public var code: String
        /// From the last known place to the airport.
        public var horizontalDistance: Length?
        /// From the last known height to the airport's.
        public var verticalDistance: Length?

        /// An airport with how far away the aircraft was last seen.
        public init(code: String, horizontalDistance: Length? = nil, verticalDistance: Length? = nil) {
            self.code = code
            self.horizontalDistance = horizontalDistance
            self.verticalDistance = verticalDistance
        }
    }

    /// The transponder's address.
    public var address: TransponderAddress
    /// The one most often received, without the spaces that fill it up; nil where it is empty.
    public var callsign: String?
    /// About when it departed, and arrived.
    public var firstSeen: Date
    /// When it was received last.
    public var lastSeen: Date
    /// Where it took off, as estimated.
    public var departure: EstimatedAirport?
    /// Where it landed, as estimated.
    public var arrival: EstimatedAirport?
    /// Other airports that may have been meant.
    public var departureCandidates: Int
    /// How many airports it may have landed at.
    public var arrivalCandidates: Int

    /// A flight with what is known of it.
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
    /// Those that could be read.
    public var flights: [Flight]
    /// What was read, and what was skipped.
    public var counts: RowCounts

    /// Flights, and what was skipped beside them.
    public init(_ flights: [Flight] = [], counts: RowCounts = RowCounts()) {
        self.flights = flights
        self.counts = counts
    }
}

/// Whether flights left from an airport or came to it.
public enum FlightDirection: String, Sendable, Hashable, CaseIterable {
    /// Those that landed.
    case arrival
    /// Those that took off.
    case departure
}
