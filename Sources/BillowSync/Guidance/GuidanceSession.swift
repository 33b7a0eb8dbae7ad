import AsyncHTTPClient
import NOAAGuidance
import Synchronization

/// State between rounds: the client with its budget, the progress of each product, and fetched data that is not stored
/// yet.
final class GuidanceSession: Sendable {
    struct State {
        var client: GuidanceClient?
        var cursors: [GuidanceProduct: GuidanceCursor] = [:]
        var intakes: [GuidanceFile: GuidanceIntake] = [:]
        /// Complete files that are withheld until the rest of their run is complete.
        var held: Set<GuidanceFile> = []
        /// Nowcasts of the past that the service no longer has.
        var absent: Set<GuidanceFile> = []
        /// The stored ledger.
        var ledger: RequestBudget.Ledger?
        var isRegistered = false
    }

    let state = Mutex(State())
}
