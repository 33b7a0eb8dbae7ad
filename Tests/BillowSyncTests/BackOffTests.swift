import Testing
import UpstreamKit

@Suite("Back-off")
struct BackOffTests {
    private let minute = BackOff(interval: .seconds(60))

    @Test("without failure the wait is the interval")
    func withoutFailureItIsTheInterval() {
        for random in [0, 0.5, 0.999] {
            #expect(minute.delay(failures: 0, retryAfterSeconds: nil, random: random) == .seconds(60))
            #expect(minute.delay(failures: -1, retryAfterSeconds: nil, random: random) == .seconds(60))
        }
    }

    @Test("it doubles up to the maximum")
    func itDoublesUpToTheMaximum() {
        let delays = (1...6).map { minute.delay(failures: $0, retryAfterSeconds: nil, random: 0.5) }
        #expect(delays == [60, 120, 240, 480, 600, 600].map { .seconds($0) })
        #expect(minute.delay(failures: .max, retryAfterSeconds: nil, random: 0.5) == .seconds(600))
    }

    @Test("the spread is a fifth either way", arguments: 1...12)
    func theSpreadIsAFifthEitherWay(failures: Int) {
        let middle = minute.delay(failures: failures, retryAfterSeconds: nil, random: 0.5)
        func delay(_ random: Double) -> Duration {
            minute.delay(failures: failures, retryAfterSeconds: nil, random: random)
        }
        func isNear(_ a: Duration, _ b: Duration) -> Bool { a - b < .milliseconds(1) && b - a < .milliseconds(1) }
        #expect(isNear(delay(0), middle * 0.8))
        #expect(isNear(delay(1), middle * 1.2))
        for random in [-1, -Double.infinity, Double.nan] { #expect(delay(random) == delay(0)) }
        for random in [2, Double.infinity] { #expect(delay(random) == delay(1)) }
        #expect(delay(0.3) < delay(0.4))
    }

    @Test("a longer Retry-After is obeyed")
    func anUpstreamThatAsksForMoreGetsIt() {
        #expect(minute.delay(failures: 1, retryAfterSeconds: 86_400, random: 0) == .seconds(86_400))
        #expect(minute.delay(failures: 1, retryAfterSeconds: 10, random: 0.5) == .seconds(60))
        #expect(minute.delay(failures: 1, retryAfterSeconds: -10, random: 0.5) == .seconds(60))
    }

    @Test("a failed request is never repeated sooner than a successful one")
    func aFailureIsNeverAskedAgainSoonerThanASuccessIs() {
        let hour = BackOff(interval: .seconds(3_600))
        #expect(hour.delay(failures: 1, retryAfterSeconds: nil, random: 0.5) == .seconds(3_600))
        #expect(hour.delay(failures: 9, retryAfterSeconds: nil, random: 0.5) == .seconds(3_600))
    }

    @Test("wild intervals do not trap")
    func wildIntervalsDoNotTrap() {
        for interval in [Duration.zero, .seconds(-5), .nanoseconds(1), .seconds(1 << 56)] {
            let backOff = BackOff(interval: interval)
            for failures in [0, 1, 40, .max] {
                _ = backOff.delay(failures: failures, retryAfterSeconds: .max, random: 1)
            }
        }
        #expect(BackOff(interval: .zero).delay(failures: 1, retryAfterSeconds: nil, random: 0.5) == .seconds(1))
    }
}
