import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The simulator of OpenSky: the token endpoint and the seven services.
///
/// Source: docs/upstreams/opensky.md
struct OpenSkyRoutes: Sendable {
    private let clientID: String
    private let clientSecret: String
    private let state: SimulatorState
    private let transport: Transport
    private let traffic: OpenSkyTraffic
    private let replay: OpenSkyReplay?

    private var accounts: OpenSkyAccounts { state.openSkyAccounts }

    private static let maximumTokenRequestBytes = 16 * 1_024
    private static let historySeconds = 3_600
    private static let trackHistorySeconds = 30 * 86_400
    /// The receivers of the account's own vectors.
    private static let sensors = [1_408_233, 1_408_234]

    /// - Throws: `ReplayError`.
    init(
        _ configuration: UpstreamSimulator.Configuration, state: SimulatorState, transport: Transport, replay: Replay?
    ) throws(ReplayError) {
        clientID = configuration.openSkyClientID
        clientSecret = configuration.openSkyClientSecret
        self.state = state
        self.transport = transport
        traffic = OpenSkyTraffic(world: state.world)
        if let replay {
            self.replay = try OpenSkyReplay(replay, startedAt: state.startedAt)
        } else {
            self.replay = nil
        }
    }

    func add(to router: Router<SimulatorContext>) {
        router.post("auth/realms/opensky-network/protocol/openid-connect/token") { request, _ in
            try await token(request)
        }
        let services: [(RouterPath, OpenSkyAccounts.Bucket?, @Sendable (Call) throws(OpenSkyErrorResponse) -> String)] =
            [
                ("states/all", .states, states), ("states/own", nil, ownStates), ("flights/all", .flights, allFlights),
                ("flights/aircraft", .flights, aircraftFlights), ("flights/arrival", .flights, arrivals),
                ("flights/departure", .flights, departures), ("tracks/all", .tracks, track), ("tracks", .tracks, track),
            ]
        let group = router.group("api")
        for (path, bucket, service) in services {
            group.get(path) { request, context in
                await answer(request, context, bucket, service)
            }
        }
    }

    // MARK: The exchange

    /// A request to a service.
    private struct Call {
        let query: [(name: String, value: String)]
        let isAnonymous: Bool
        let fault: Fault?
        /// The time in Unix seconds.
        let now: Int

        func all(_ name: String) -> [String] { query.filter { $0.name == name }.map(\.value) }

        func integer(_ name: String) throws(OpenSkyErrorResponse) -> Int? {
            guard let text = all(name).first else { return nil }
            guard let value = Int(text), value >= 0 else { throw .badRequest("\(name) must be whole seconds: \(text)") }
            return value
        }

        func required(_ name: String) throws(OpenSkyErrorResponse) -> Int {
            guard let value = try integer(name) else { throw .badRequest("\(name) is missing") }
            return value
        }

        func text(_ name: String) throws(OpenSkyErrorResponse) -> String {
            guard let text = all(name).first, !text.isEmpty else { throw .badRequest("\(name) is missing") }
            return text
        }
    }

    private func answer(
        _ request: Request, _ context: SimulatorContext, _ bucket: OpenSkyAccounts.Bucket?,
        _ service: (Call) throws(OpenSkyErrorResponse) -> String
    ) async -> Response {
        let fault = state.faultOfCall(of: .openSky)
        let query = request.uri.queryParameters.map { (name: String($0.key), value: String($0.value)) }
        do throws(OpenSkyErrorResponse) {
            let isAnonymous = try isAnonymous(request, fault)
            try refuse(fault)
            let now = state.now - (fault == .clockSkew ? 60 : 0)
            let call = Call(query: query, isAnonymous: isAnonymous, fault: fault, now: now)
            let balance = bucket.map {
                accounts.spend(cost(call, $0), of: $0, isAnonymous: isAnonymous, now: state.now)
            }
            if case .spent(let seconds) = balance { throw .tooManyRequests(seconds) }
            var response = await transport.response(ByteBuffer(string: try service(call)), fault, context)
            if case .left(let credits) = balance, let name = HTTPField.Name("X-Rate-Limit-Remaining") {
                response.headers[name] = "\(credits)"
            }
            return response
        } catch {
            return error.response(path: request.uri.path, now: state.now)
        }
    }

    private func isAnonymous(_ request: Request, _ fault: Fault?) throws(OpenSkyErrorResponse) -> Bool {
        guard let header = request.headers[.authorization] else { return true }
        let token = header.split(separator: " ").last.map(String.init) ?? ""
        if fault == .unauthorized || fault == .sessionRevoked { accounts.tokens.revoke(token) }
        guard header.hasPrefix("Bearer "), accounts.tokens.isValid(token, now: state.now) else {
            throw OpenSkyErrorResponse(status: .unauthorized, message: "The token is missing, expired or invalid")
        }
        return false
    }

    private func refuse(_ fault: Fault?) throws(OpenSkyErrorResponse) {
        switch fault {
        case .unauthorized:
            throw OpenSkyErrorResponse(status: .unauthorized, message: "The token is missing, expired or invalid")
        case .forbidden: throw OpenSkyErrorResponse(status: .forbidden, message: "Not allowed")
        case .rateLimited: throw .tooManyRequests(60)
        case .serverError: throw OpenSkyErrorResponse(status: .internalServerError, message: "Something went wrong")
        case .unavailable: throw OpenSkyErrorResponse(status: .serviceUnavailable, message: "Down for maintenance")
        default: break
        }
    }

    /// The cost in credits; for states it depends on the area of the box.
    private func cost(_ call: Call, _ bucket: OpenSkyAccounts.Bucket) -> Int {
        guard bucket == .states, let box = try? box(call) else { return 4 }  // An invalid box is rejected later.
        let area = (box.north - box.south) * (box.east - box.west)
        return area <= 25 ? 1 : area <= 100 ? 2 : area <= 400 ? 3 : 4
    }

    // MARK: The token

    private func token(_ request: Request) async throws -> Response {
        let body = try await request.body.collect(upTo: Self.maximumTokenRequestBytes)
        var parts = URLComponents()
        parts.percentEncodedQuery = String(buffer: body)
        let fields = Dictionary(
            (parts.queryItems ?? []).map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { _, last in last })
        guard fields["grant_type"] == "client_credentials", fields["client_id"] == clientID,
            fields["client_secret"] == clientSecret
        else {
            return JSONText.response(
                ByteBuffer(
                    string: #"{"error":"invalid_client","error_description":"Invalid client or client credentials"}"#),
                status: .unauthorized)
        }
        let token = accounts.tokens.issue(now: state.now)
        return JSONText.response(
            ByteBuffer(
                string: #"{"access_token":"\#(token)","expires_in":\#(accounts.tokens.seconds),"#
                    + #""token_type":"Bearer"}"#))
    }

    // MARK: State vectors

    private struct Box {
        var south: Double
        var west: Double
        var north: Double
        var east: Double
    }

    private func box(_ call: Call) throws(OpenSkyErrorResponse) -> Box? {
        var sides: [Double] = []
        for name in ["lamin", "lomin", "lamax", "lomax"] {
            guard let text = call.all(name).first else { continue }
            guard let side = Double(text), side.isFinite else { throw .badRequest("\(name) must be degrees: \(text)") }
            sides.append(side)
        }
        guard !sides.isEmpty else { return nil }
        guard sides.count == 4 else { throw .badRequest("a box needs lamin, lomin, lamax and lomax") }
        return Box(south: sides[0], west: sides[1], north: sides[2], east: sides[3])
    }

    private func states(_ call: Call) throws(OpenSkyErrorResponse) -> String {
        let box = try box(call)
        var time = call.now - call.now % (call.isAnonymous ? 10 : 5)
        if !call.isAnonymous, let asked = try call.integer("time"), asked > 0 {
            guard asked >= call.now - Self.historySeconds else { throw .badRequest("time is more than an hour back") }
            time = min(time, asked - asked % 5)
        }
        var vectors = select(call, at: time)
        if let box {
            vectors.removeAll {
                guard let longitude = $0.longitude, let latitude = $0.latitude else { return true }
                return latitude < box.south || latitude > box.north || longitude < box.west || longitude > box.east
            }
        }
        return json(vectors, at: time, call)
    }

    private func ownStates(_ call: Call) throws(OpenSkyErrorResponse) -> String {
        guard !call.isAnonymous else {
            throw OpenSkyErrorResponse(status: .forbidden, message: "Credentials are needed")
        }
        let asked = try call.integer("time") ?? 0
        let time = asked > 0 ? min(call.now, asked) : call.now
        let serials = try call.all("serials").map { text throws(OpenSkyErrorResponse) -> Int in
            guard let serial = Int(text) else { throw .badRequest("serials must be whole numbers: \(text)") }
            return serial
        }
        let seen = select(call, at: time - time % 5).compactMap { vector -> OpenSkyVector? in
            // Each receiver sees one aircraft in eight.
            guard let number = Int(vector.icao24, radix: 16), Self.sensors.indices.contains(number % 8) else {
                return nil
            }
            let sensor = Self.sensors[number % 8]
            guard serials.isEmpty || serials.contains(sensor) else { return nil }
            var own = vector
            var columns = vector.tail.split(separator: ",", omittingEmptySubsequences: false)
            let list = "[\(sensor)]"
            if columns.count == 12 { columns[7] = list[...] }
            own.tail = columns.joined(separator: ",")
            return own
        }
        return json(seen, at: time - time % 5, call)
    }

    private func select(_ call: Call, at time: Int) -> [OpenSkyVector] {
        let addresses = Set(call.all("icao24").map { $0.lowercased() })
        let vectors = replay?.vectors(at: time) ?? traffic.vectors(at: time)
        return addresses.isEmpty ? vectors : vectors.filter { addresses.contains($0.icao24) }
    }

    private func json(_ vectors: [OpenSkyVector], at time: Int, _ call: Call) -> String {
        let extended = call.all("extended").first == "1"
        var rows = vectors.map { $0.json(extended: extended) }
        var time = time
        switch call.fault {
        case .empty: rows = []
        case .halfGone: rows = rows.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
        case .wrongTypes:
            let broken = ["null", "[]", #""row""#, #"[17,null,{},"x",[],true]"#, #"["zzzzzz","","",null,null]"#]
            for index in rows.indices where index % 5 == 0 { rows[index] = broken[index / 5 % broken.count] }
        case .futureCursor: time += 10 * 365 * 86_400
        default: break
        }
        return #"{"time":\#(time),"states":"# + (rows.isEmpty ? "null" : "[" + rows.joined(separator: ",") + "]") + "}"
    }

    // MARK: Flights and tracks

    private func allFlights(_ call: Call) throws(OpenSkyErrorResponse) -> String {
        try flights(call, longestSeconds: 2 * 3_600) { _, _ in true }
    }

    private func aircraftFlights(_ call: Call) throws(OpenSkyErrorResponse) -> String {
        let address = try call.text("icao24")
        return try flights(call, longestSeconds: 2 * 86_400) { flight, _ in flight.icao24 == address }
    }

    private func arrivals(_ call: Call) throws(OpenSkyErrorResponse) -> String {
        let airport = try call.text("airport")
        return try flights(call, longestSeconds: 2 * 86_400) { flight, interval in
            flight.estArrivalAirport == airport && interval.contains(flight.lastSeen)
        }
    }

    private func departures(_ call: Call) throws(OpenSkyErrorResponse) -> String {
        let airport = try call.text("airport")
        return try flights(call, longestSeconds: 2 * 86_400) { flight, interval in
            flight.estDepartureAirport == airport && interval.contains(flight.firstSeen)
        }
    }

    private func flights(
        _ call: Call, longestSeconds: Int, _ matches: (OpenSkyFlight, ClosedRange<Int>) -> Bool
    ) throws(OpenSkyErrorResponse) -> String {
        let begin = try call.required("begin")
        let end = try call.required("end")
        guard begin <= end, end - begin <= longestSeconds else {
            throw .badRequest("end must be at most \(longestSeconds) s after begin")
        }
        // Clamp to the range in which the world's arithmetic is safe.
        let interval = max(begin, 86_400)...min(max(end, 86_400), call.now)
        let known = replay?.flights?.filter { $0.firstSeen <= end && $0.lastSeen >= begin }
        let flights = (known ?? traffic.flights(from: interval.lowerBound, to: interval.upperBound))
            .filter { matches($0, begin...end) }
        guard !flights.isEmpty, call.fault != .empty else { throw .nothing }
        var texts = flights.map(\.json)
        if call.fault == .wrongTypes {
            for index in texts.indices where index % 5 == 0 { texts[index] = #"{"icao24":7}"# }
        }
        return "[" + texts.joined(separator: ",") + "]"
    }

    private func track(_ call: Call) throws(OpenSkyErrorResponse) -> String {
        let address = try call.text("icao24")
        let asked = try call.required("time")
        let time = asked > 0 ? asked : call.now
        guard time >= call.now - Self.trackHistorySeconds else { throw .badRequest("time is more than 30 days back") }
        let track = replay?.track(of: address) ?? traffic.track(of: address, at: min(time, call.now), now: call.now)
        guard let track, call.fault != .empty else { throw .nothing }
        return track.json
    }
}

/// An error response in the format of OpenSky's framework.
///
/// Source: docs/upstreams/opensky.md, "Status codes"
struct OpenSkyErrorResponse: Error {
    let status: HTTPResponse.Status
    /// The message; nil for an empty body.
    let message: String?
    var retryAfterSeconds: Int?

    static let nothing = OpenSkyErrorResponse(status: .notFound, message: nil)

    static func badRequest(_ message: String) -> OpenSkyErrorResponse {
        OpenSkyErrorResponse(status: .badRequest, message: message)
    }

    static func tooManyRequests(_ seconds: Int) -> OpenSkyErrorResponse {
        OpenSkyErrorResponse(status: .tooManyRequests, message: "Too many requests", retryAfterSeconds: seconds)
    }

    func response(path: String, now: Int) -> Response {
        guard let message else { return Response(status: status) }
        func escaped(_ text: String) -> String {
            text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        }
        let body =
            #"{"timestamp":\#(now * 1_000),"status":\#(status.code),"error":"\#(status.reasonPhrase)","#
            + #""message":"\#(escaped(message))","path":"\#(escaped(path))"}"#
        var response = JSONText.response(ByteBuffer(string: body), status: status)
        if let retryAfterSeconds, let name = HTTPField.Name("X-Rate-Limit-Retry-After-Seconds") {
            response.headers[name] = "\(retryAfterSeconds)"
        }
        return response
    }
}
