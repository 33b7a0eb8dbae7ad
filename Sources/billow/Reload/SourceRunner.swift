import BillowSync
import ServiceLifecycle
import Synchronization
import Turbulence

/// Runs the loops of the configured sources, each until it is stopped or the server ends.
struct SourceRunner: Sendable {
    /// The states of sources and their loops, which others look up.
    let states: SourceStates
    let loops: SourceLoops
    /// Decides whether this server syncs; nil where no other server could.
    let leadership: Leadership?
    let makeUpstream: @Sendable (Settings.Source) throws -> any Upstream
    let makeLoop: @Sendable (Settings.Source, any Upstream) -> SourceLoop
    /// Wraps a loop, so that it runs on threads of its own.
    let wrap: @Sendable (any Service) -> any Service

    /// A loop that runs.
    struct RunningLoop: Sendable {
        private let id: SourceID
        private let runner: SourceRunner
        private let stopping: AsyncStream<Void>.Continuation
        private let ended: AsyncStream<Void>

        fileprivate init(
            _ id: SourceID, _ runner: SourceRunner, stopping: AsyncStream<Void>.Continuation,
            ended: AsyncStream<Void>
        ) {
            self.id = id
            self.runner = runner
            self.stopping = stopping
            self.ended = ended
        }

        /// Cancels the loop and waits for its end. What it has committed stays; the rest is requested again.
        func stop() async {
            stopping.finish()
            for await _ in ended {}
            runner.loops.remove(id)
            runner.states.remove(id)
        }
    }

    /// A source's loop, which runs while this server leads.
    private func service(_ source: Settings.Source, _ upstream: any Upstream) -> any Service {
        let first = wrap(makeLoop(source, upstream))
        guard let leadership else { return first }
        let start = FirstStart()
        return LeaderOnly(leadership: leadership) {
            start.isFirst ? first : wrap(makeLoop(source, try makeUpstream(source)))
        }
    }

    /// Makes a source's loop and starts it in a group.
    func start(
        _ source: Settings.Source, _ upstream: any Upstream, in group: inout ThrowingDiscardingTaskGroup<any Error>
    ) -> RunningLoop {
        let service = service(source, upstream)
        let (stopped, stopping) = AsyncStream<Void>.makeStream()
        let (ended, ending) = AsyncStream<Void>.makeStream()
        group.addTask {
            defer { ending.finish() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await service.run() }
                group.addTask { for await _ in stopped {} }
                _ = try await group.next()
                group.cancelAll()
            }
        }
        return RunningLoop(source.id, self, stopping: stopping, ended: ended)
    }
}

/// Whether something happens for the first time.
private final class FirstStart: Sendable {
    private let hasBeen = Atomic(false)

    /// true once.
    var isFirst: Bool { !hasBeen.exchange(true, ordering: .relaxed) }
}
