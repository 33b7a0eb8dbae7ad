import AviationWeather
import Turbulence

/// What is asked of the Aviation Weather Center next. The service wants to be asked for one product once a minute at
/// most; what takes several calls (areas of pilot reports, hours of G-AIRMETs) is asked in turns. A value without a
/// clock.
struct AviationWeatherSchedule: Sendable {
    /// One call and where it stands.
    struct Call: Sendable, Hashable {
        var place: CallPlace
        var validators = AviationWeatherClient.Validators()
        var askedAt: Instant?
        var answeredAt: Instant?
        /// Records of the last answer; nil before the first.
        var count: Int?
    }

    enum CallPlace: Sendable, Hashable {
        case area(AviationWeatherBox)
        case forecastHour(Int)
        case everywhere
    }

    private var calls: [AviationWeatherUpstream.Product: [Call]]
    private var askedAt: [AviationWeatherUpstream.Product: Instant] = [:]
    private let spacingSeconds: Int

    /// No area is cut smaller than this: degrees, either way.
    private static let smallestArea = 1.0

    /// - Parameter spacingSeconds: between two calls of one product; 0 asks everything every time.
    init(products: [AviationWeatherUpstream.Product], areas: [AviationWeatherBox], spacingSeconds: Int) {
        self.spacingSeconds = spacingSeconds
        calls = [:]
        for product in products {
            calls[product] =
                switch product {
                case .pilotReports: areas.map { Call(place: .area($0)) }
                case .gairmets: AviationWeatherQuery.forecastHours.map { Call(place: .forecastHour($0)) }
                default: [Call(place: .everywhere)]
                }
        }
    }

    /// The calls that may be made now, in the order of making them.
    func due(_ product: AviationWeatherUpstream.Product, at now: Instant) -> [Call] {
        let all = calls[product, default: []]
        if spacingSeconds == 0 { return all }
        // A clock that was set back must not keep us waiting for it.
        if let last = askedAt[product], last <= now, now < last.advanced(by: spacingSeconds) { return [] }
        let next = all.enumerated().min { a, b in
            (a.element.askedAt ?? .distantPast, a.offset) < (b.element.askedAt ?? .distantPast, b.offset)
        }
        return next.map { [$0.element] } ?? []
    }

    /// Notes that a call is made.
    mutating func noteRequest(_ product: AviationWeatherUpstream.Product, _ place: CallPlace, at now: Instant) {
        askedAt[product] = now
        update(product, place) { $0.askedAt = now }
    }

    /// Notes an answer; `count` is nil where nothing has changed. An area of as many reports as the service gives at
    /// once may have more: from now on its quarters are asked.
    /// - Returns: whether some of the area's reports may be missing for good, as it can't be cut any smaller.
    mutating func answered(
        _ product: AviationWeatherUpstream.Product, _ place: CallPlace, count: Int?,
        validators: AviationWeatherClient.Validators, at now: Instant
    ) -> Bool {
        update(product, place) { call in
            call.validators = validators
            call.answeredAt = now
            call.count = count ?? call.count
        }
        guard case .area(let box) = place, let count, count >= AviationWeatherQuery.maximumResults else { return false }
        guard min(box.east - box.west, box.north - box.south) >= 2 * Self.smallestArea,
            let index = calls[product]?.firstIndex(where: { $0.place == place })
        else { return true }
        calls[product]?.replaceSubrange(index...index, with: box.quarters.map { Call(place: .area($0)) })
        return false
    }

    /// Lets go of what was answered, so that everything is asked for whole; not sooner than it would be.
    mutating func resetAnswers() {
        for product in calls.keys {
            for index in calls[product, default: []].indices {
                calls[product]?[index].validators = AviationWeatherClient.Validators()
                calls[product]?[index].answeredAt = nil
            }
        }
    }

    /// Forgets answers by a clock that was ahead: how long ago they came isn't known.
    mutating func forgetAnswers(aheadOf now: Instant) {
        for product in calls.keys {
            for index in calls[product, default: []].indices
            where calls[product]?[index].answeredAt?.isAhead(of: now) == true {
                calls[product]?[index].validators = AviationWeatherClient.Validators()
                calls[product]?[index].answeredAt = nil
            }
        }
    }

    /// Since when every call of a product has been answered; nil where one has not.
    func allAnswered(_ product: AviationWeatherUpstream.Product) -> Instant? {
        let times = calls[product, default: []].map(\.answeredAt)
        guard let first = times.first, times.allSatisfy({ $0 != nil }) else { return nil }
        return times.compactMap(\.self).min() ?? first
    }

    private mutating func update(
        _ product: AviationWeatherUpstream.Product, _ place: CallPlace, _ change: (inout Call) -> Void
    ) {
        guard let index = calls[product]?.firstIndex(where: { $0.place == place }) else { return }
        if var call = calls[product]?[index] {
            change(&call)
            calls[product]?[index] = call
        }
    }
}
