import Geometry
import Synchronization

/// The simulator's mutable state, behind one lock.
final class SimulatorState: Sendable {
    private struct Inner {
        var picture: Picture?
        var fault: Fault?
        /// The upstream with the fault; nil for all.
        var faulty: SimulatedUpstream?
        /// The number of remaining calls with the fault; nil for all.
        var remaining: Int?
        /// The number of calls made under the present fault.
        var underFault = 0
        var calls = 0
        var injections = 0
        /// The times of recent identical calls in Unix seconds.
        var recent: [CallKey: [Int]] = [:]
    }

    struct CallKey: Hashable, Sendable {
        let path: String
        let body: [UInt8]
    }

    let world: World
    /// The start of the simulator in Unix seconds.
    let startedAt: Int
    let openSkyAccounts: OpenSkyAccounts
    let skyPathSessions = TokenLedger(prefix: "simulated-session", seconds: 3_600)
    private let speed: Int
    private let clock: @Sendable () -> Int
    private let inner: Mutex<Inner>

    init(_ configuration: UpstreamSimulator.Configuration) {
        world = World(seed: configuration.seed, flights: configuration.flights)
        speed = configuration.speed
        clock = configuration.clock
        startedAt = configuration.clock()
        openSkyAccounts = OpenSkyAccounts(configuration)
        inner = Mutex(Inner(fault: configuration.fault))
    }

    /// The clock, clamped to the years 1970 to 2100 so that arithmetic with it is safe.
    var now: Int {
        min(max(clock(), Picture.retentionSeconds + SimulatedFlight.longestDuration), 4_102_444_800)
    }

    /// Builds the past in advance, which is slow.
    func warmUp() { withPicture { _ in } }

    /// Calls `body` with the picture of this instant, to read or change it.
    func withPicture<Result: Sendable>(_ body: (inout Picture) -> Result) -> Result {
        let now = now
        return inner.withLock { inner in
            var picture = inner.picture ?? Picture(world: world, now: now, speed: speed)
            inner.picture = nil
            picture.advance(to: now)
            let result = body(&picture)
            inner.picture = picture
            return result
        }
    }

    func inject(cell: Cell, level: Int, edr: Double, observedAt: Int?) {
        let count = inner.withLock { inner in
            inner.injections += 1
            return inner.injections
        }
        let tenThousandths = edr.isFinite ? UInt16(min(1, max(0, edr)) * 10_000) : 0
        let level = min(max(level, Report.levels.lowerBound), Report.levels.upperBound)
        withPicture { picture in
            picture.inject(
                Report(
                    key: Report.key(cell: cell, level: level), observedAt: observedAt ?? picture.now,
                    changedAt: picture.now, edr: tenThousandths, flight: 1 << 60 | count))
        }
    }

    var calls: Int { inner.withLock { $0.calls } }
    var currentFault: Fault? { inner.withLock { $0.fault } }

    func setFault(_ fault: Fault?, count: Int?, of upstream: SimulatedUpstream?) {
        inner.withLock { inner in
            inner.faulty = upstream
            inner.fault = count.map { $0 < 1 } == true ? nil : fault
            inner.remaining = count
            inner.underFault = 0
        }
    }

    /// Counts a data call, and returns the fault that applies to it.
    func faultOfCall(of upstream: SimulatedUpstream) -> Fault? {
        inner.withLock { inner in
            inner.calls += 1
            guard let fault = inner.fault, inner.faulty ?? upstream == upstream else { return nil }
            inner.underFault += 1
            if fault == .sessionRevoked, inner.underFault == 1 { return nil }
            if let remaining = inner.remaining {
                inner.remaining = remaining - 1
                if remaining <= 1 { inner.fault = nil }
            }
            return fault
        }
    }

    /// Whether there were more than `limit` identical calls within the last minute.
    func isTooFrequent(_ key: CallKey, limit: Int) -> Bool {
        let now = now
        return inner.withLock { inner in
            if inner.recent.count > 2_000 {
                inner.recent = inner.recent.filter { ($0.value.last ?? 0) > now - 60 }
            }
            let recent = inner.recent[key, default: []].filter { $0 > now - 60 && $0 <= now }
            guard recent.count < limit else {
                inner.recent[key] = recent
                return true
            }
            inner.recent[key] = recent + [now]
            return false
        }
    }
}
