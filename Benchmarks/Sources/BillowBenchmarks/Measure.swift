import Foundation

/// Clocks in nanoseconds. On a shared machine a thread's own processor time tells more than the wall.
enum Clock {
    static func wall() -> UInt64 { read(CLOCK_MONOTONIC) }
    static func thread() -> UInt64 { read(CLOCK_THREAD_CPUTIME_ID) }

    private static func read(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

/// Times of one thing done often, in nanoseconds of the thread.
struct Spread {
    private let sorted: [UInt64]

    init(_ times: [UInt64]) { sorted = times.sorted() }

    /// Does something `times` times, after once unmeasured.
    init(times: Int, _ body: () throws -> Void) rethrows {
        try body()
        self.init(
            try (0..<times).map { _ in
                let start = Clock.thread()
                try body()
                return Clock.thread() - start
            })
    }

    var minimum: UInt64 { sorted.first ?? 0 }
    var median: UInt64 { sorted.isEmpty ? 0 : sorted[sorted.count / 2] }
    var p99: UInt64 { sorted.isEmpty ? 0 : sorted[min(sorted.count * 99 / 100, sorted.count - 1)] }
    var mean: Double { Double(sorted.reduce(0, +)) / Double(max(sorted.count, 1)) }

    /// min, median, p99 and mean in microseconds.
    var text: String {
        [Double(minimum), Double(median), Double(p99), mean].map { String(format: "%10.1f", $0 / 1_000) }.joined()
    }

    /// The head of a table of `line`s.
    static var heading: String {
        "µs of one thread".padding(toLength: 34, withPad: " ", startingAt: 0)
            + ["min", "median", "p99", "mean"].map { String(repeating: " ", count: 10 - $0.count) + $0 }.joined()
    }

    static func line(_ title: String, _ spread: Spread) {
        print(title.padding(toLength: 34, withPad: " ", startingAt: 0) + spread.text)
    }
}
