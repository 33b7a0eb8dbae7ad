import BillowExchange
import Turbulence

/// The G-AIRMETs of all hours that are known: each hour from the newest issue that pictures it. A value without a
/// clock.
struct GairmetPictures: Sendable {
    private struct Picture: Sendable {
        var issuedAt: Instant
        var validTo: Instant
        var areas: [IssuedArea]
    }

    /// By the hour that is pictured.
    private var pictures: [Instant: Picture] = [:]

    /// Takes one answer: what it pictures, when it was issued, and its areas (perhaps none that are turbulence).
    mutating func take(_ areas: [IssuedArea], validFrom: Instant, validTo: Instant, issuedAt: Instant) {
        if let known = pictures[validFrom], known.issuedAt > issuedAt { return }
        pictures[validFrom] = Picture(issuedAt: issuedAt, validTo: validTo, areas: areas)
    }

    /// Forgets what has ended.
    mutating func drop(before now: Instant) { pictures = pictures.filter { $0.value.validTo > now } }

    /// All areas.
    var areas: [IssuedArea] { pictures.values.flatMap(\.areas) }

    /// Whether the picture of now and the four after it are known, so that what is in none of them has ended.
    func isComplete(at now: Instant) -> Bool {
        guard let current = pictures.first(where: { $0.key <= now && now < $0.value.validTo }) else { return false }
        return (0..<5).allSatisfy { pictures[current.key.advanced(by: $0 * 3 * 3_600)] != nil }
    }
}
