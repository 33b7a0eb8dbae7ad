import AviationFormats
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import JSONKit

/// The simulator of the Aviation Weather Center: aircraft reports, SIGMETs and G-AIRMETs in both JSON formats, with its
/// limits.
///
/// Source: docs/upstreams/aviationweather.md
struct AviationWeatherRoutes: Sendable {
    private let state: SimulatorState
    private let transport: Transport
    private let world: AviationWeatherWorld
    private let replay: AviationWeatherReplay?

    /// The maximum number of records in a response.
    private static let maximumResults = 400
    private static let defaultAgeHours = 1.5

    /// - Throws: `ReplayError`.
    init(state: SimulatorState, transport: Transport, replay: Replay?) throws(ReplayError) {
        self.state = state
        self.transport = transport
        world = AviationWeatherWorld(world: state.world)
        if let replay {
            self.replay = try AviationWeatherReplay(replay, startedAt: state.startedAt)
        } else {
            self.replay = nil
        }
    }

    func add(to router: Router<SimulatorContext>) {
        for product in AviationWeatherProduct.all {
            router.get("api/data/\(product.name)") { request, context in
                await answer(product, request, context)
            }
        }
    }

    // MARK: The exchange

    private func answer(
        _ product: AviationWeatherProduct, _ request: Request, _ context: SimulatorContext
    ) async -> Response {
        let fault = state.faultOfCall(of: .aviationWeather)
        do throws(AviationWeatherErrorResponse) {
            try refuse(fault)
            let query = Query(request)
            var records = try select(product, query)
            if fault == .empty { records = [] }
            if fault == .halfGone { records = records.enumerated().filter { $0.offset % 2 == 0 }.map(\.element) }
            guard !records.isEmpty else { return Response(status: .noContent) }
            let body = try text(records, query, isBroken: fault == .wrongTypes)
            let tag = "\"\(Self.hash(body))\""
            if fault == nil, request.headers[.ifNoneMatch] == tag {
                return Response(status: .notModified, headers: [.eTag: tag])
            }
            var response = await transport.response(ByteBuffer(string: body), fault, context)
            response.headers[.eTag] = tag
            return response
        } catch {
            return error.response
        }
    }

    private func refuse(_ fault: Fault?) throws(AviationWeatherErrorResponse) {
        switch fault {
        case .unauthorized, .forbidden, .locked, .sessionRevoked:
            throw AviationWeatherErrorResponse(status: .forbidden, message: "Blocked")
        case .rateLimited:
            throw AviationWeatherErrorResponse(status: .tooManyRequests, message: "Too many requests", retryAfter: "60")
        case .upgradeRequired: throw AviationWeatherErrorResponse(status: .gone, message: "This path is retired")
        case .serverError:
            throw AviationWeatherErrorResponse(status: .internalServerError, message: "Something went wrong")
        case .unavailable:
            throw AviationWeatherErrorResponse(
                status: .serviceUnavailable, message: "Down for maintenance", retryAfter: HTTPDate.text(state.now + 120)
            )
        default: return
        }
    }

    private struct Query: Sendable {
        private let parameters: [String: String]

        init(_ request: Request) {
            parameters = Dictionary(
                request.uri.queryParameters.map { (String($0.key), String($0.value)) },
                uniquingKeysWith: { _, last in last })
        }

        func text(_ name: String) -> String? { parameters[name] }

        func number(_ name: String) throws(AviationWeatherErrorResponse) -> Double? {
            guard let text = parameters[name] else { return nil }
            guard let value = Double(text), value.isFinite else {
                throw AviationWeatherErrorResponse(status: .badRequest, message: "Invalid \(name): \(text)")
            }
            return value
        }

        /// Parses the bounding box in the order south, west, north, east.
        func box() throws(AviationWeatherErrorResponse) -> [Double]? {
            guard let text = parameters["bbox"] else { return nil }
            let numbers = text.split(separator: ",").compactMap { Double($0) }
            guard numbers.count == 4, numbers[0] < numbers[2], numbers[1] < numbers[3] else {
                throw AviationWeatherErrorResponse(status: .badRequest, message: "Invalid bbox: \(text)")
            }
            return numbers
        }
    }

    // MARK: Content

    private func select(
        _ product: AviationWeatherProduct, _ query: Query
    ) throws(AviationWeatherErrorResponse) -> [AviationWeatherRecord] {
        let now = state.now
        let hazard = query.text("hazard")?.lowercased()
        func isWanted(_ record: AviationWeatherRecord) -> Bool {
            guard let hazard else { return true }
            let names = ["mtn_obs": "mt_obsc", "sfc_wind": "sfc_wnd", "conv": "convective"]
            return record["hazard"]?.string?.lowercased() == names[hazard] ?? hazard
        }
        let found: [AviationWeatherRecord]
        switch product.name {
        case AviationWeatherProduct.pilotReports.name:
            guard let box = try query.box() else {
                throw AviationWeatherErrorResponse(
                    status: .badRequest, message: "No location or bounding box specified")
            }
            let oldest = Double(now) - (try query.number("age") ?? Self.defaultAgeHours) * 3_600
            found = (replay?.records(of: product) ?? world.pilotReports(at: now)).filter { record in
                guard let latitude = record["lat"]?.number, let longitude = record["lon"]?.number,
                    let time = record.time("obsTime")
                else { return false }
                return latitude >= box[0] && latitude <= box[2] && longitude >= box[1] && longitude <= box[3]
                    && Double(time) >= oldest && time <= now
            }
        case HazardProduct.gairmet.endpoint:
            let hour = try query.number("fore").flatMap { Int(exactly: $0) } ?? 0
            guard [0, 3, 6, 9, 12].contains(hour) else {
                throw AviationWeatherErrorResponse(status: .badRequest, message: "Invalid fore: \(hour)")
            }
            found =
                (replay?.records(of: product)?.filter { $0["forecastHour"]?.integer == hour }
                ?? world.gairmets(forecastHour: hour, at: now)).filter(isWanted)
        default: found = (replay?.records(of: product) ?? product.records(world, now)).filter(isWanted)
        }
        // Expired records aren't served.
        let current = found.filter { ($0.time("validTimeTo") ?? .max) > now }
        return Array(current.suffix(Self.maximumResults))
    }

    private func text(
        _ records: [AviationWeatherRecord], _ query: Query, isBroken: Bool
    ) throws(AviationWeatherErrorResponse) -> String {
        let broken = JSONValue.object(["obsTime": .string("yesterday"), "hazard": .number(7), "forecastHour": .null])
        func values(_ one: (AviationWeatherRecord) -> JSONValue) -> JSONValue {
            .array(records.enumerated().map { isBroken && $0.offset % 5 == 0 ? broken : one($0.element) })
        }
        let document: JSONValue
        switch query.text("format") {
        case "json": document = values { .object($0.members) }
        case "geojson":
            document = .object(["type": .string("FeatureCollection"), "features": values(\.feature)])
        case let format:
            throw AviationWeatherErrorResponse(
                status: .badRequest, message: "The simulator gives json and geojson, not \(format ?? "raw")")
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do { return String(decoding: try encoder.encode(document), as: UTF8.self) } catch {
            throw AviationWeatherErrorResponse(status: .internalServerError, message: "\(error)")
        }
    }

    /// The 64-bit FNV-1a hash, for an entity tag.
    private static func hash(_ text: String) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        return String(hash, radix: 16)
    }
}

/// An error response in the service's format.
private struct AviationWeatherErrorResponse: Error {
    let status: HTTPResponse.Status
    let message: String
    var retryAfter: String?

    var response: Response {
        let words = message.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        var response = JSONText.response(
            ByteBuffer(string: #"{"status":"error","error":"\#(words)"}"#), status: status)
        if let retryAfter { response.headers[.retryAfter] = retryAfter }
        return response
    }
}
