import NOAAGuidance

/// Follows one download: passes its events to the intake, and stores a slow download in portions.
actor DownloadFollower {
    private let upstream: NOAAUpstream
    private let intake: GuidanceIntake
    private let client: GuidanceClient
    private let portion: Duration
    private var last = ContinuousClock.now
    /// The outcome of the portions.
    private(set) var outcome = SyncOutcome()

    init(_ upstream: NOAAUpstream, _ intake: GuidanceIntake, _ client: GuidanceClient, every seconds: Int) {
        self.upstream = upstream
        self.intake = intake
        self.client = client
        portion = .seconds(seconds)
    }

    func note(_ event: GuidanceEvent) async -> GuidanceStep {
        do throws(SyncError) {
            if case .began(let plan) = event { try await upstream.register(answerIsSimulated: plan.isSimulated) }
            let step = await intake.note(event)
            if step == .goOn, upstream.storesPortions, last.duration(to: .now) > portion {
                last = .now
                var portions = SyncOutcome()
                try await upstream.commit([intake], completedAt: nil, client, &portions)
                outcome.add(portions)
            }
            return step
        } catch {
            await intake.fail(error)
            return .stop
        }
    }
}
