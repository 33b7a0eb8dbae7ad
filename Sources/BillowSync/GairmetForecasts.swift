import BillowExchange
import Turbulence

/// The G-AIRMETs of all known forecast hours, each hour from its newest issue. The value reads no clock.
struct GairmetForecasts: Sendable {
    private struct Picture: Sendable {
        var issuedAt: Instant
        var validTo: Instant
        var areas: [IssuedArea]
    }

    /// The forecasts, by forecast hour.
    private var pictures: [Instant: Picture] = [:]

    /// Adds a response: its forecast hour, its issue time and its areas (possibly none with turbulence).
    mutating func insert(_ areas: [IssuedArea], validFrom: Instant, validTo: Instant, issuedAt: Instant) {
        if let known = pictures[validFrom], known.issuedAt > issuedAt { return }
        pictures[validFrom] = Picture(issuedAt: issuedAt, validTo: validTo, areas: areas)
    }

    /// Removes forecasts that have ended.
    mutating func drop(before now: Instant) { pictures = pictures.filter { $0.value.validTo > now } }

    /// All areas.
    var areas: [IssuedArea] { pictures.values.flatMap(\.areas) }

    /// Whether the forecasts for now and the next four hours are known, so that an area in none of them has ended.
    func isComplete(at now: Instant) -> Bool {
        guard let current = pictures.first(where: { $0.key <= now && now < $0.value.validTo }) else { return false }
        return (0..<5).allSatisfy { pictures[current.key.advanced(by: $0 * 3 * 3_600)] != nil }
    }
}
