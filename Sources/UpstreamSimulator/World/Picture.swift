import Geometry

/// The data of the simulated server at an instant: the newest report of every cell and level that had arrived.
///
/// It is a pure function of world, instant and manual additions. A picture that was advanced second by second equals
/// one that was built at once.
struct Picture: Sendable {
    /// The retention of records in seconds, longer than the six hours that are served.
    static let retentionSeconds = 6 * 3_600 + 1_800

    private static let pruneEverySeconds = 600

    private let world: World
    /// The seconds of the world that pass in a second of the clock. Its reports are moved to the clock's times.
    private let speed: Int
    private var generator: ReportGenerator
    private var records: [UInt32: PlacedReport] = [:]
    /// Reports that were observed but haven't arrived yet.
    private var pending: [Report] = []
    private var injected: [Report] = []
    /// The time of the picture in Unix seconds.
    private(set) var now: Int
    /// The time of the newest arrived report in Unix seconds; 0 if there is none.
    private(set) var lastChange = 0

    init(world: World, now: Int, speed: Int = 1) {
        self.world = world
        self.speed = speed
        self.now = now - Picture.retentionSeconds
        generator = ReportGenerator(world: world, minute: self.now * speed / 60)
        records.reserveCapacity(world.flights * speed * Picture.retentionSeconds / 60)
        advance(to: now)
    }

    var count: Int { records.count }

    /// Advances to a time. If the clock was set back, or far ahead, the picture is rebuilt.
    mutating func advance(to time: Int) {
        guard time != now else { return }
        guard time > now, time - now <= Picture.retentionSeconds else {
            let injected = injected
            self = Picture(world: world, now: time, speed: speed)
            for report in injected { inject(report) }
            return
        }
        let aged = time / Picture.pruneEverySeconds > now / Picture.pruneEverySeconds
        now = time
        while generator.minute <= time * speed / 60 { pending += generator.next().map { $0.observed(speed) } }
        applyPending()
        if aged {
            let oldest = time - Picture.retentionSeconds
            records = records.filter { $0.value.report.observedAt > oldest }
            injected.removeAll { $0.observedAt <= oldest }
        }
    }

    private mutating func applyPending() {
        var later: [Report] = []
        for report in pending {
            guard report.changedAt <= now else {
                later.append(report)
                continue
            }
            lastChange = max(lastChange, report.changedAt)
            if let placed = records[report.key], !report.replaces(placed.report) { continue }
            records[report.key] = PlacedReport(report)
        }
        pending = later
    }

    /// Adds a report manually. It counts from its `changedAt` on, if it is then the newest of its cell and level.
    mutating func inject(_ report: Report) {
        injected.append(report)
        pending.append(report)
        applyPending()
    }

    /// The records that match, in the order of cell and level.
    func select(_ matches: (PlacedReport) -> Bool) -> [PlacedReport] {
        records.values.filter(matches).sorted { $0.report.key < $1.report.key }
    }
}
