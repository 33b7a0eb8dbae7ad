import UpstreamKit
import Synchronization

/// How often and how much may be requested: spaces requests, counts the bytes of a day, and holds back after a block.
///
/// One for each address of the service. What a cancelled request used stays counted, and the spacing holds for the
/// next one.
package final class RequestBudget: Sendable {
    /// What outlives a restart.
    package struct Ledger: Sendable, Hashable, Codable {
        /// Days since 1970-01-01 UTC.
        package var day = 0
        /// Received on that day.
        package var bytes = 0
        /// The service wants no request before. Unix seconds.
        package var blockedUntilSeconds = 0
        /// Blocks in a row.
        package var blocks = 0

        package init() {}
    }

    /// What one request has taken of the budget, to be corrected by `settle`.
    struct Reservation: Sendable {
        fileprivate let day: Int
        fileprivate var bytes: Int
    }

    private struct BudgetState {
        var ledger: Ledger
        /// The earliest time of the next request, since 1970.
        var next = Duration.zero
        /// Why the service wants no request.
        var problem = UpstreamProblem(status: 403)
    }

    private static let daySeconds = 86_400
    /// The longest hold after blocks in a row, in seconds.
    static let longestBlockSeconds = 3_600
    /// The name of the byte budget in an error.
    static let name = "bytes-a-day"

    private let spacing: Duration
    private let bytesPerDay: Int?
    private let blockSeconds: Int
    private let clock: GuidanceClock
    private let state: Mutex<BudgetState>

    /// - Parameters:
    ///   - spacing: between the beginnings of two requests.
    ///   - bytesPerDay: of a day in UTC; nil for any number.
    ///   - blockSeconds: how long nothing is requested after a block; doubled with each block in a row.
    ///   - ledger: of an earlier process.
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

    /// What has been used, for a status page and for the next process.
    package var ledger: Ledger { state.withLock { $0.ledger } }

    /// Waits for the turn of a request, and takes its bytes from the day's.
    ///
    /// - Parameter bytes: how many the answer is expected to have.
    /// - Throws: `.creditsSpent` where the day's bytes don't suffice, `.rateLimited` during a block, `.cancelled`.
    func turn(expecting bytes: Int) async throws(UpstreamError) -> Reservation {
        while true {
            let now = clock.now()
            let seconds = clock.nowSeconds
            let (wait, day) = try state.withLock { (state) throws(UpstreamError) -> (Duration?, Int) in
                try check(&state, bytes, seconds)
                // A clock that was set back must not hold requests back for longer than the spacing.
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

    /// Takes more bytes for a request that turns out longer than expected.
    func extend(_ reservation: inout Reservation, by bytes: Int) throws(UpstreamError) {
        let now = clock.nowSeconds
        let day = try state.withLock { (state) throws(UpstreamError) -> Int in
            try check(&state, bytes, now)
            state.ledger.bytes += bytes
            return state.ledger.day
        }
        reservation = Reservation(day: day, bytes: reservation.bytes + bytes)
    }

    /// A request has ended, well or not.
    ///
    /// - Parameter received: how many bytes its body had.
    func settle(_ reservation: Reservation, received: Int) {
        state.withLock { state in
            guard state.ledger.day == reservation.day else { return }
            state.ledger.bytes = max(0, state.ledger.bytes + received - reservation.bytes)
        }
    }

    /// The service answered well: a block after this is the first in a row.
    func clearBlocks() {
        state.withLock { $0.ledger.blocks = 0 }
    }

    /// The service refuses this address for a while. Nothing is requested until that has passed.
    ///
    /// - Returns: what the caller throws.
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

/// What one request uses of a budget, shared with the task that receives its body.
final class RequestAccount: Sendable {
    private let budget: RequestBudget
    private let state: Mutex<(reservation: RequestBudget.Reservation, received: Int)>

    init(_ budget: RequestBudget, _ reservation: RequestBudget.Reservation) {
        self.budget = budget
        state = Mutex((reservation, 0))
    }

    /// Bytes have arrived.
    func add(_ bytes: Int) { state.withLock { $0.received += bytes } }

    /// More bytes are coming than expected.
    func extend(by bytes: Int) throws(UpstreamError) {
        try state.withLock { (state) throws(UpstreamError) in try budget.extend(&state.reservation, by: bytes) }
    }

    /// The request has ended. Bytes received.
    @discardableResult func settle() -> Int {
        let (reservation, received) = state.withLock { ($0.reservation, $0.received) }
        budget.settle(reservation, received: received)
        return received
    }
}
