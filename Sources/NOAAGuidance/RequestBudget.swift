import UpstreamKit
import Synchronization

/// Limits requests: it spaces them, counts the bytes of a day, and pauses after a block.
///
/// There is one for each address of the service. The bytes of a cancelled request stay counted, and the spacing applies
/// to the next one.
package final class RequestBudget: Sendable {
    /// The part of the state that persists across restarts.
    package struct Ledger: Sendable, Hashable, Codable {
        /// The day, as days since 1970-01-01 UTC.
        package var day = 0
        /// The bytes received on that day.
        package var bytes = 0
        /// The end of the block in Unix seconds.
        package var blockedUntilSeconds = 0
        /// The number of consecutive blocks.
        package var blocks = 0

        package init() {}
    }

    /// The bytes reserved for a request, corrected by `close`.
    struct Reservation: Sendable {
        fileprivate let day: Int
        fileprivate var bytes: Int
    }

    private struct BudgetState {
        var ledger: Ledger
        /// The earliest time of the next request, since 1970.
        var next = Duration.zero
        /// The reason of the block.
        var problem = UpstreamProblem(status: 403)
    }

    private static let daySeconds = 86_400
    /// The maximum pause after consecutive blocks, in seconds.
    static let longestBlockSeconds = 3_600
    /// The name of the byte budget in an error.
    static let name = "bytes-a-day"

    private let spacing: Duration
    private let bytesPerDay: Int?
    private let blockSeconds: Int
    private let clock: GuidanceClock
    private let state: Mutex<BudgetState>

    /// - Parameters:
    ///   - spacing: the interval between the starts of two requests.
    ///   - bytesPerDay: the maximum on a day in UTC; nil for no limit.
    ///   - blockSeconds: the pause after a block; doubled with each consecutive block.
    ///   - ledger: the ledger of an earlier process.
    package init(
        spacing: Duration, bytesPerDay: Int?, blockSeconds: Int, clock: GuidanceClock,
        resuming ledger: Ledger = Ledger()
    ) {
        self.spacing = spacing
        self.bytesPerDay = bytesPerDay
        self.blockSeconds = blockSeconds
        self.clock = clock
        state = Mutex(BudgetState(ledger: ledger))
    }

    /// The used budget, for a status page and for the next process.
    package var ledger: Ledger { state.withLock { $0.ledger } }

    /// Waits for the turn of a request, and reserves its bytes.
    ///
    /// - Parameter bytes: the expected length of the response.
    /// - Throws: `.creditsSpent` if the day's bytes aren't enough, `.rateLimited` during a block, `.cancelled`.
    func reserve(expecting bytes: Int) async throws(UpstreamError) -> Reservation {
        while true {
            let now = clock.now()
            let seconds = clock.nowSeconds
            let (wait, day) = try state.withLock { (state) throws(UpstreamError) -> (Duration?, Int) in
                try check(&state, bytes, seconds)
                // If the clock was set back, requests must not wait for longer than the spacing.
                state.next = min(state.next, now + spacing)
                let wait = state.next - now
                if wait > .zero { return (wait, state.ledger.day) }
                state.next = now + spacing
                state.ledger.bytes += bytes
                return (nil, state.ledger.day)
            }
            guard let wait else { return Reservation(day: day, bytes: bytes) }
            do { try await clock.sleep(wait) } catch { throw .cancelled }
        }
    }

    private func check(_ state: inout BudgetState, _ bytes: Int, _ now: Int) throws(UpstreamError) {
        if state.ledger.day != now / Self.daySeconds {
            state.ledger.day = now / Self.daySeconds
            state.ledger.bytes = 0
        }
        let hold = min(state.ledger.blockedUntilSeconds - now, Self.longestBlockSeconds)
        if hold > 0 { throw .rateLimited(state.problem, retryAfterSeconds: hold) }
        if let bytesPerDay, state.ledger.bytes >= bytesPerDay || state.ledger.bytes + bytes > bytesPerDay {
            throw .creditsSpent(budget: Self.name, retryAfterSeconds: Self.daySeconds - now % Self.daySeconds)
        }
    }

    /// Reserves more bytes for a request that is longer than expected.
    func extend(_ reservation: inout Reservation, by bytes: Int) throws(UpstreamError) {
        let now = clock.nowSeconds
        let day = try state.withLock { (state) throws(UpstreamError) -> Int in
            try check(&state, bytes, now)
            state.ledger.bytes += bytes
            return state.ledger.day
        }
        reservation = Reservation(day: day, bytes: reservation.bytes + bytes)
    }

    /// Corrects the reservation when a request has ended, successfully or not.
    ///
    /// - Parameter received: the number of bytes in its body.
    func close(_ reservation: Reservation, received: Int) {
        state.withLock { state in
            guard state.ledger.day == reservation.day else { return }
            state.ledger.bytes = max(0, state.ledger.bytes + received - reservation.bytes)
        }
    }

    /// Resets the number of consecutive blocks after a successful response.
    func clearBlocks() {
        state.withLock { $0.ledger.blocks = 0 }
    }

    /// Records that the service blocks this address. No request is sent until the block ends.
    ///
    /// - Returns: the error for the caller to throw.
    func block(_ problem: UpstreamProblem, retryAfterSeconds: Int?) -> UpstreamError {
        let now = clock.nowSeconds
        return state.withLock { state in
            state.ledger.blocks = min(state.ledger.blocks + 1, 16)
            let own = blockSeconds << (state.ledger.blocks - 1)
            let seconds = min(max(own, retryAfterSeconds ?? 0), max(Self.longestBlockSeconds, blockSeconds))
            state.ledger.blockedUntilSeconds = now + seconds
            state.problem = problem
            return .rateLimited(problem, retryAfterSeconds: seconds)
        }
    }
}

/// The bytes that one request uses of a budget, shared with the task that receives its body.
final class RequestAccount: Sendable {
    private let budget: RequestBudget
    private let state: Mutex<(reservation: RequestBudget.Reservation, received: Int)>

    init(_ budget: RequestBudget, _ reservation: RequestBudget.Reservation) {
        self.budget = budget
        state = Mutex((reservation, 0))
    }

    /// Counts received bytes.
    func add(_ bytes: Int) { state.withLock { $0.received += bytes } }

    /// Reserves more bytes than expected.
    func extend(by bytes: Int) throws(UpstreamError) {
        try state.withLock { (state) throws(UpstreamError) in try budget.extend(&state.reservation, by: bytes) }
    }

    /// Ends the request, and returns the received bytes.
    @discardableResult func close() -> Int {
        let (reservation, received) = state.withLock { ($0.reservation, $0.received) }
        budget.close(reservation, received: received)
        return received
    }
}
