public import AsyncHTTPClient
public import Foundation
import JSONKit
import NIOCore
import NIOHTTP1
import Synchronization
// The public interface uses `Secret` and `UpstreamError`, so their module is re-exported.
@_exported public import UpstreamKit

/// A client of the OpenSky Network's REST API: its seven services, with or without an API client's credentials.
///
/// Queries are validated against the service's limits before they are sent, and credits are spread over their day. A
/// call that would use them up too early throws `.creditsSpent` with the time to wait. Calls aren't retried, except
/// once with a new token if a token is rejected. Share one client: it caches the token and counts the credits.
///
/// The caller owns the HTTP client, which must outlive this one. It should not follow redirects, because they would
/// send the token to another host; use `recommendedHTTPConfiguration`.
///
/// ```swift
/// let http = HTTPClient(configuration: OpenSkyClient.recommendedHTTPConfiguration)
/// let client = try OpenSkyClient(configuration: OpenSkyConfiguration(), httpClient: http)
/// do throws(UpstreamError) {
///     let states = try await client.states(in: GeographicBox(west: -10, south: 35, east: 30, north: 60))
///     for vector in states.vectors { print(vector.address, vector.callsign ?? "–") }
/// } catch {
///     print("\(error.code.rawValue): \(error), again in \(error.retryAfterSeconds ?? 60) s")
/// }
/// ```
public final class OpenSkyClient: Sendable {
    /// The client's configuration.
    public let configuration: OpenSkyConfiguration
    private let exchange: Exchange
    private let now: @Sendable () -> Int
    private let tokens: TokenCache?
    private let ledger: Mutex<CreditLedger>

    /// - Parameters:
    ///   - now: the clock in Unix seconds, for intervals, credits and tokens.
    ///   - configuration: address, credentials and limits.
    ///   - httpClient: the client that sends the requests.
    /// - Throws: `.invalidConfiguration` with all problems.
    public init(
        configuration: OpenSkyConfiguration, httpClient: HTTPClient,
        now: @escaping @Sendable () -> Int = OpenSkyClient.systemClock
    ) throws(UpstreamError) {
        let problems = configuration.problems
        guard problems.isEmpty else { throw .invalidConfiguration(problems) }
        self.configuration = configuration
        self.now = now
        exchange = Exchange(
            httpClient: httpClient, timeout: configuration.timeout, maximumBodyBytes: configuration.maximumBodyBytes,
            secrets: configuration.credentials.map { [$0.clientSecret] } ?? [], dialect: Self.dialect, now: now)
        let exchange = exchange
        tokens = configuration.credentials.map { credentials in
            let call = TokenCall(
                credentials: credentials, url: configuration.effectiveTokenURL, exchange: exchange, now: now)
            return TokenCache(now: now) { () async throws(UpstreamError) in try await call.token() }
        }
        ledger = Mutex(CreditLedger(configuration.allowance))
    }

    /// The local clock in Unix seconds.
    public static let systemClock: @Sendable () -> Int = UnixClock.seconds

    /// The service's own header for a wait is more precise than HTTP's.
    private static let dialect = ErrorResponseFormat(
        codeMember: "error", waitHeaders: ["x-rate-limit-retry-after-seconds", "retry-after"])

    /// No redirects, and a connect timeout of ten seconds. A refused connection fails at once instead of being retried
    /// until then.
    public static var recommendedHTTPConfiguration: HTTPClient.Configuration { Exchange.recommendedHTTPConfiguration }

    private static let hour = 3_600
    private static let day = 86_400
    private static let allFlightsSeconds = 2 * hour
    private static let flightsSeconds = 2 * day
    private static let trackHistorySeconds = 30 * day
    private static let statesHistorySeconds = hour

    // MARK: - State vectors

    /// `GET /states/all`: all aircraft.
    ///
    /// - Parameters:
    ///   - time: at most an hour ago, and only with credentials; nil is now.
    ///   - aircraft: the aircraft to return; empty is all.
    ///   - box: the area; nil is the world.
    ///   - includesCategory: whether vectors have the category of the aircraft.
    public func states(
        at time: Date? = nil, of aircraft: [TransponderAddress] = [], in box: GeographicBox? = nil,
        includesCategory: Bool = false
    ) async throws(UpstreamError) -> StateVectors {
        var query = Query()
        if let time {
            guard configuration.credentials != nil else {
                throw .invalidQuery("a time needs credentials: without them the service gives only the present")
            }
            let seconds = try self.seconds(time, "the time")
            guard seconds >= now() - Self.statesHistorySeconds else {
                let earliest = Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
                throw .invalidQuery("the time must be at most an hour back: \(earliest)")
            }
            query.add("time", seconds)
        }
        query.add(aircraft)
        if let box {
            query.add("lamin", box.south)
            query.add("lomin", box.west)
            query.add("lamax", box.north)
            query.add("lomax", box.east)
        }
        if includesCategory { query.add("extended", 1) }
        let answer = try await get("states/all", query, .states, cost: CreditCost.states(in: box))
        return try stateVectors(answer)
    }

    /// `GET /states/own`: the aircraft seen by the account's own receivers, without using credits. Needs credentials.
    ///
    /// - Parameters:
    ///   - time: nil is now.
    ///   - serials: the receivers; empty is all of the account's own.
    ///   - aircraft: the aircraft to return; empty is all.
    ///   - includesCategory: whether vectors have the category of the aircraft.
    public func ownStates(
        at time: Date? = nil, of aircraft: [TransponderAddress] = [], serials: [Int] = [],
        includesCategory: Bool = false
    ) async throws(UpstreamError) -> StateVectors {
        guard configuration.credentials != nil else { throw .invalidQuery("own state vectors need credentials") }
        var query = Query()
        if let time { query.add("time", try seconds(time, "the time")) }
        query.add(aircraft)
        for serial in serials {
            guard serial >= 0 else { throw .invalidQuery("a receiver's serial number is 0 or more: \(serial)") }
            query.add("serials", serial)
        }
        if includesCategory { query.add("extended", 1) }
        return try stateVectors(try await get("states/own", query, nil, cost: 0))
    }

    private func stateVectors(_ answer: Answer?) throws(UpstreamError) -> StateVectors {
        // An empty response has no time.
        guard let answer else { return StateVectors(time: Date(timeIntervalSince1970: Double(now())), vectors: []) }
        var states = try OpenSkyReplyReader.states(answer.bytes)
        states.isSimulated = answer.isSimulated
        return states
    }

    // MARK: - Flights and tracks

    /// `GET /flights/all`: all flights of an interval of at most two hours.
    public func flights(during interval: ClosedRange<Date>) async throws(UpstreamError) -> Flights {
        try await flights("flights/all", Query(), interval, longest: Self.allFlightsSeconds)
    }

    /// `GET /flights/aircraft`: the flights of an aircraft in an interval of at most two days. The service adds them
    /// overnight, so the present day is empty.
    public func flights(
        of aircraft: TransponderAddress, during interval: ClosedRange<Date>
    ) async throws(UpstreamError) -> Flights {
        var query = Query()
        query.add([aircraft])
        return try await flights("flights/aircraft", query, interval, longest: Self.flightsSeconds)
    }

    /// `GET /flights/arrival`, `GET /flights/departure`: the flights to or from an airport in an interval of at most
    /// two days. The service adds them overnight.
    ///
    /// - Parameters:
    ///   - airport: an ICAO location indicator: four letters or digits, in either case.
    ///   - direction: arrivals or departures.
    ///   - interval: the start and end.
    public func flights(
        _ direction: FlightDirection, airport: String, during interval: ClosedRange<Date>
    ) async throws(UpstreamError) -> Flights {
        guard airport.utf8.count == 4, airport.utf8.allSatisfy({ Self.isLetterOrDigit($0) }) else {
            throw .invalidQuery(
                "an airport must be an ICAO location indicator, four letters or digits such as EDDF: "
                    + "\(airport.prefix(100).printable)")
        }
        var query = Query()
        query.add("airport", airport.uppercased())
        return try await flights("flights/\(direction.rawValue)", query, interval, longest: Self.flightsSeconds)
    }

    /// `GET /tracks`: the track of a flight, or nil if there is none. The service calls it experimental.
    ///
    /// - Parameters:
    ///   - time: any time during the flight, at most 30 days ago; nil is the live one.
    ///   - aircraft: the aircraft.
    public func track(of aircraft: TransponderAddress, at time: Date? = nil) async throws(UpstreamError) -> Track? {
        var query = Query()
        query.add([aircraft])
        let now = now()
        let seconds = try time.map { (time) throws(UpstreamError) in try self.seconds(time, "the time") } ?? 0
        guard time == nil || seconds >= now - Self.trackHistorySeconds else {
            throw .invalidQuery("the time must be at most 30 days back: \(seconds)")
        }
        query.add("time", seconds)
        let at = time == nil ? now : seconds
        let cost = CreditCost.history(from: at, to: at, now: now)
        guard let answer = try await get("tracks/all", query, .tracks, cost: cost) else { return nil }
        return try OpenSkyReplyReader.track(answer.bytes)
    }

    private func flights(
        _ path: String, _ query: Query, _ interval: ClosedRange<Date>, longest: Int
    ) async throws(UpstreamError) -> Flights {
        let begin = try seconds(interval.lowerBound, "the beginning")
        let end = try seconds(interval.upperBound, "the end")
        guard end - begin <= longest else {
            throw .invalidQuery("the interval may have at most \(longest / Self.hour) hours: \(end - begin) s")
        }
        var query = query
        query.add("begin", begin)
        query.add("end", end)
        let cost = CreditCost.history(from: begin, to: end, now: now())
        guard let answer = try await get(path, query, .flights, cost: cost) else { return Flights() }
        return try OpenSkyReplyReader.flights(answer.bytes)
    }

    // MARK: - The exchange

    private struct Answer {
        var bytes: [UInt8]
        var isSimulated: Bool
    }

    /// The parameters of a call in order; names may repeat.
    private struct Query {
        private(set) var text = ""

        mutating func add(_ name: String, _ value: some CustomStringConvertible) {
            text += (text.isEmpty ? "?" : "&") + name + "=" + TokenCall.encoded(value.description)
        }

        mutating func add(_ aircraft: [TransponderAddress]) {
            for address in aircraft { add("icao24", address) }
        }
    }

    /// The whole seconds of a time, which must fit an Int.
    private func seconds(_ date: Date, _ what: String) throws(UpstreamError) -> Int {
        guard let seconds = Int(exactly: date.timeIntervalSince1970.rounded(.down)),
            (0...4_102_444_800).contains(seconds)
        else { throw .invalidQuery("\(what) must lie between 1970 and 2100") }
        return seconds
    }

    private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: false
        }
    }

    /// The seconds until a call for the states of an area would be sent; 0 if it would be sent now.
    public func statesWait(in box: GeographicBox?) -> Int {
        let now = now()
        return ledger.withLock { $0.wait(for: CreditCost.states(in: box), of: .states, now: now) }
    }

    /// Returns the body of a 200. For a 404 on flights and tracks it returns nil, because the service means that there
    /// is no data. On states, of which there are always some, a 404 is an error: an empty sky would be misleading.
    ///
    /// - Parameter bucket: nil if no credits are counted.
    private func get(
        _ path: String, _ query: Query, _ bucket: CreditBucket?, cost: Int
    ) async throws(UpstreamError) -> Answer? {
        if let bucket {
            let now = now()
            let wait = ledger.withLock { ledger in
                let wait = ledger.wait(for: cost, of: bucket, now: now)
                if wait == 0 { ledger.spend(cost, of: bucket, now: now) }
                return wait
            }
            guard wait == 0 else { throw .creditsSpent(budget: bucket.rawValue, retryAfterSeconds: wait) }
        }
        let url = configuration.baseURL + "/api/" + path + query.text
        guard let tokens else { return try answer(try await send(url, nil), bucket, token: nil) }
        let token = try await tokens.token()
        var reply = try await send(url, token)
        guard reply.status == 401 else { return try answer(reply, bucket, token: token) }
        await tokens.discard(token)
        let renewed = try await tokens.token()
        reply = try await send(url, renewed)
        return try answer(reply, bucket, token: renewed)
    }

    private func send(_ url: String, _ token: Secret?) async throws(UpstreamError) -> Exchange.Response {
        var request = HTTPClientRequest(url: url)
        request.headers.add(name: "accept", value: "application/json")
        if let token { request.headers.add(name: "authorization", value: "Bearer \(token.value)") }
        return try await exchange.answer(to: request)
    }

    private func answer(
        _ reply: Exchange.Response, _ bucket: CreditBucket?, token: Secret?
    ) throws(UpstreamError) -> Answer? {
        let now = now()
        if let bucket, let text = reply.headers.first(name: "x-rate-limit-remaining"), let credits = Int(text) {
            ledger.withLock { $0.note(remaining: credits, of: bucket, now: now) }
        }
        switch reply.status {
        case 200:
            return Answer(bytes: reply.bytes, isSimulated: reply.isSimulated())
        case 404 where bucket == .flights || bucket == .tracks: return nil
        default:
            let error = (token.map(exchange.redacting) ?? exchange).refusal(reply)
            if let bucket, case .rateLimited(_, let seconds?) = error {
                ledger.withLock { $0.block(bucket, seconds: seconds, now: now) }
            }
            throw error
        }
    }
}
