import AviationWeather
import Turbulence

/// Schedules the requests to the Aviation Weather Center. The service allows one request per product and minute. If a
/// product needs several requests (areas of pilot reports, hours of G-AIRMETs), they take turns. The value reads no
/// clock.
struct AviationWeatherSchedule: Sendable {
    /// A request and its state.
    struct ScheduledCall: Sendable, Hashable {
        var place: CallTarget
        var validators = AviationWeatherClient.Validators()
        var requestedAt: Instant?
        var respondedAt: Instant?
        /// The number of records in the last response; nil before the first.
        var count: Int?
    }

    enum CallTarget: Sendable, Hashable {
        case area(GeographicBox)
        case forecastHour(Int)
        case everywhere
    }

    private var calls: [AviationWeatherUpstream.Product: [ScheduledCall]]
    private var requestedAt: [AviationWeatherUpstream.Product: Instant] = [:]
    private let spacingSeconds: Int

    /// The smallest side of an area in degrees; smaller areas are not divided.
    private static let smallestArea = 1.0

    /// - Parameter spacingSeconds: the time between two requests for one product; 0 makes all requests in every round.
    init(products: [AviationWeatherUpstream.Product], areas: [GeographicBox], spacingSeconds: Int) {
        self.spacingSeconds = spacingSeconds
        calls = [:]
        for product in products {
            calls[product] =
                switch product {
                case .pilotReports: areas.map { ScheduledCall(place: .area($0)) }
                case .gairmets: AviationWeatherQuery.forecastHours.map { ScheduledCall(place: .forecastHour($0)) }
                default: [ScheduledCall(place: .everywhere)]
                }
        }
    }

    /// The requests that are due, in order.
    func due(_ product: AviationWeatherUpstream.Product, at now: Instant) -> [ScheduledCall] {
        let all = calls[product, default: []]
        if spacingSeconds == 0 { return all }
        // After the clock was set back, the last request is in the future and must not block the next one.
        if let last = requestedAt[product], last <= now, now < last.advanced(by: spacingSeconds) { return [] }
        let next = all.enumerated().min { a, b in
            (a.element.requestedAt ?? .distantPast, a.offset) < (b.element.requestedAt ?? .distantPast, b.offset)
        }
        return next.map { [$0.element] } ?? []
    }

    /// Records that a request is sent.
    mutating func noteRequest(_ product: AviationWeatherUpstream.Product, _ place: CallTarget, at now: Instant) {
        requestedAt[product] = now
        update(product, place) { $0.requestedAt = now }
    }

    /// Records a response; `count` is nil if nothing has changed. A response with the service's maximum number of
    /// reports may be truncated, so the area is divided into quarters.
    /// - Returns: whether reports of the area may be lost, because it is too small to divide.
    mutating func answered(
        _ product: AviationWeatherUpstream.Product, _ place: CallTarget, count: Int?,
        validators: AviationWeatherClient.Validators, at now: Instant
    ) -> Bool {
        update(product, place) { call in
            call.validators = validators
            call.respondedAt = now
            call.count = count ?? call.count
        }
        guard case .area(let box) = place, let count, count >= AviationWeatherQuery.maximumResults else { return false }
        guard min(box.east - box.west, box.north - box.south) >= 2 * Self.smallestArea,
            let index = calls[product]?.firstIndex(where: { $0.place == place })
        else { return true }
        calls[product]?.replaceSubrange(index...index, with: box.quarters.map { ScheduledCall(place: .area($0)) })
        return false
    }

    /// Discards validators and counts, so that the next requests are unconditional. The spacing between requests still
    /// applies.
    mutating func resetResponses() {
        for product in calls.keys {
            for index in calls[product, default: []].indices {
                calls[product]?[index].validators = AviationWeatherClient.Validators()
                calls[product]?[index].respondedAt = nil
            }
        }
    }

    /// Discards response times in the future, because the clock was wrong and their age is unknown.
    mutating func discardResponses(aheadOf now: Instant) {
        for product in calls.keys {
            for index in calls[product, default: []].indices
            where calls[product]?[index].respondedAt?.isAhead(of: now) == true {
                calls[product]?[index].validators = AviationWeatherClient.Validators()
                calls[product]?[index].respondedAt = nil
            }
        }
    }

    /// The time since which every request of a product has had a response; nil if any has had none.
    func oldestResponse(_ product: AviationWeatherUpstream.Product) -> Instant? {
        let times = calls[product, default: []].map(\.respondedAt)
        guard let first = times.first, times.allSatisfy({ $0 != nil }) else { return nil }
        return times.compactMap(\.self).min() ?? first
    }

    private mutating func update(
        _ product: AviationWeatherUpstream.Product, _ place: CallTarget, _ change: (inout ScheduledCall) -> Void
    ) {
        guard let index = calls[product]?.firstIndex(where: { $0.place == place }) else { return }
        if var call = calls[product]?[index] {
            change(&call)
            calls[product]?[index] = call
        }
    }
}
