import AsyncHTTPClient
import NOAAGuidance
import Synchronization

/// What lasts from round to round: the client with its budget, how far each product has come, and what is fetched but
/// not stored.
final class GuidanceSession: Sendable {
    struct State {
        var client: GuidanceClient?
        var cursors: [GuidanceProduct: GuidanceCursor] = [:]
        var intakes: [GuidanceFile: GuidanceIntake] = [:]
        /// Fetched whole, and kept back until the rest of the run is.
        var held: Set<GuidanceFile> = []
        /// Nowcasts of the past that aren't there any more.
        var absent: Set<GuidanceFile> = []
        /// The ledger as the store has it.
        var ledger: RequestBudget.Ledger?
        var isRegistered = false
    }

    let state = Mutex(State())
}
