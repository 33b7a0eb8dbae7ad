import Geometry

/// What the simulated server holds at an instant: of every cell and level the newest report that had reached it.
///
/// A pure function of (world, instant, what was put in by hand): whether it was advanced second by second or built at
/// once makes no difference.
struct Picture: Sendable {
    /// How long a record is kept; beyond the six hours that are served. Seconds.
    static let keptSeconds = 6 * 3_600 + 1_800

    private static let pruneEverySeconds = 600

    private let world: World
    private var generator: ReportGenerator
    private var records: [UInt32: Held] = [:]
    /// Observed, but still on the way.
    private var pending: [Report] = []
    private var injected: [Report] = []
    /// Unix seconds.
    private(set) var now: Int
    /// Unix seconds of the newest report that has arrived, 0 where there is none.
    private(set) var lastChange = 0

    init(world: World, now: Int) {
        self.world = world
        self.now = now - Picture.keptSeconds
        generator = ReportGenerator(world: world, minute: self.now / 60)
        records.reserveCapacity(world.flights * Picture.keptSeconds / 60)
        advance(to: now)
    }

    var count: Int { records.count }

    /// Moves on. A clock that was set back, or far ahead, makes the picture anew.
    mutating func advance(to time: Int) {
        guard time != now else { return }
        guard time > now, time - now <= Picture.keptSeconds else {
            let injected = injected
            self = Picture(world: world, now: time)
            for report in injected { inject(report) }
            return
        }
        let aged = time / Picture.pruneEverySeconds > now / Picture.pruneEverySeconds
        now = time
        while generator.minute <= time / 60 { pending += generator.next() }
        takeIn()
        if aged {
            let oldest = time - Picture.keptSeconds
            records = records.filter { $0.value.report.observedAt > oldest }
            injected.removeAll { $0.observedAt <= oldest }
        }
    }

    private mutating func takeIn() {
        var later: [Report] = []
        for report in pending {
            guard report.changedAt <= now else {
                later.append(report)
                continue
            }
            lastChange = max(lastChange, report.changedAt)
            if let held = records[report.key], !report.replaces(held.report) { continue }
            records[report.key] = Held(report)
        }
        pending = later
    }

    /// Puts in a report by hand. It counts from its `changedAt` on, if it is then the newest of its cell and level.
    mutating func inject(_ report: Report) {
        injected.append(report)
        pending.append(report)
        takeIn()
    }

    /// The records that match, in order of cell and level.
    func select(_ matches: (Held) -> Bool) -> [Held] {
        records.values.filter(matches).sorted { $0.report.key < $1.report.key }
    }
}
