import BillowEngine
import BillowPacks
import Digests
import Foundation
import Logging
import Synchronization
import Turbulence

/// The export jobs of a server, in the order in which they were made. Their number, their disk space and their lifetime
/// are limited.
///
/// A job takes its snapshot when it begins, so that waiting jobs hold none. Files have no names, so that they end with
/// the process, however it ends.
final class ExportJobs: Sendable {
    private struct JobState {
        var jobs: [ExportJob] = []
        var outcomes: [ExportJob.Status: Int] = [:]
        /// Each is told of new jobs, and of the end of jobs, after which another of the same owner may begin.
        var listeners: [AsyncStream<Void>.Continuation] = []

        func tell() { for listener in listeners { listener.yield() } }

        func index(_ id: String) -> Int? { jobs.firstIndex { $0.id == id } }

        /// The bytes of all files.
        var bytes: Int { jobs.reduce(0) { $0 + ($1.file?.size ?? $1.progress.bytes) } }
    }

    private let settings: ExportJobSettings
    private let maker: ExportFileMaker
    private let now: @Sendable () -> Instant
    private let logger: Logger
    private let state = Mutex(JobState())

    init(
        _ settings: ExportJobSettings, work: WorkExecutor, logger: Logger, now: @escaping @Sendable () -> Instant
    ) {
        self.settings = settings
        self.logger = logger
        self.now = now
        maker = ExportFileMaker(work: work, workClass: .background, place: .unnamed(folder: settings.folder))
    }

    // MARK: - Requests

    /// Adds a job. A request that is repeated while its job waits or runs gets that job.
    ///
    /// - Parameter prepare: reads the request against the current snapshot.
    /// - Throws: `Problem` for an owner with too many jobs, and without disk space.
    func add(
        _ address: String, of owner: ExportJob.Owner, prepare: @escaping @Sendable () async throws -> PreparedExport
    ) throws(Problem) -> ExportJob {
        expire()
        let job = ExportJob(
            id: Hexadecimal.text((0..<16).map { _ in UInt8.random(in: .min ... .max) }), owner: owner,
            address: address, prepare: prepare, created: now())
        let result = state.withLock { state -> Result<ExportJob, Problem> in
            let own = state.jobs.filter { $0.owner == owner }
            if let known = own.first(where: { $0.address == address && !$0.status.isFinal }) {
                return .success(known)
            }
            let busy = own.count { !$0.status.isFinal }
            guard busy < ExportJobSettings.maximumPerOwner else { return .failure(tooMany(busy, state.jobs)) }
            // The oldest finished job makes room for a new one of its owner, unless the new one is refused.
            var next = state
            if own.count >= ExportJobSettings.maximumPerOwner, let oldest = own.first(where: \.status.isFinal) {
                next.jobs.removeAll { $0.id == oldest.id }
            }
            guard next.jobs.count < ExportJobSettings.maximum else { return .failure(tooMany(busy, state.jobs)) }
            guard next.bytes < settings.diskBytes else {
                return .failure(full(settings.diskBytes, retryAfterSeconds: wait(for: state.jobs)))
            }
            state.jobs = next.jobs + [job]
            state.tell()
            return .success(job)
        }
        return try result.get()
    }

    func job(_ id: String) -> ExportJob? {
        expire()
        return state.withLock { state in state.index(id).map { state.jobs[$0] } }
    }

    /// Ends a job and removes it with its file. A running job stops after its current part.
    func dismiss(_ id: String) -> ExportJob? {
        expire()
        return state.withLock { state in
            guard let index = state.index(id) else { return nil }
            var job = state.jobs.remove(at: index)
            if !job.status.isFinal { state.outcomes[.dismissed, default: 0] += 1 }
            // Another job of its owner may begin.
            state.tell()
            job.status = .dismissed
            job.finished = job.finished ?? now()
            return job
        }
    }

    /// Removes jobs that are expired.
    func expire() {
        let now = now()
        state.withLock { state in state.jobs.removeAll { job in job.expires.map { $0 <= now } ?? false } }
    }

    private func tooMany(_ own: Int, _ jobs: [ExportJob]) -> Problem {
        let isOwn = own >= ExportJobSettings.maximumPerOwner
        return Problem(
            .tooManyJobs,
            detail: isOwn
                ? "\(own) of your export jobs wait or run, which is the limit: delete one, or wait for its end."
                : "There are \(jobs.count) export jobs, which is the limit of the server.",
            retryAfterSeconds: wait(for: jobs))
    }

    private func full(_ limit: Int, retryAfterSeconds: Int? = nil) -> Problem {
        Problem(
            .exportsFull, detail: "The files of export jobs may take \(limit) bytes of the disk, and it is used up.",
            retryAfterSeconds: retryAfterSeconds)
    }

    /// The seconds until the next job expires, at most a minute.
    private func wait(for jobs: [ExportJob]) -> Int {
        let next = jobs.compactMap(\.expires).min().map { $0.seconds - now().seconds } ?? 60
        return min(60, max(1, next))
    }

    /// The number of jobs of each status.
    var counts: [ExportJob.Status: Int] {
        state.withLock { state in state.jobs.reduce(into: [:]) { $0[$1.status, default: 0] += 1 } }
    }

    /// The number of jobs that ended with each status.
    var outcomes: [ExportJob.Status: Int] { state.withLock { $0.outcomes } }

    /// The bytes of all files.
    var bytes: Int { state.withLock { $0.bytes } }

    // MARK: - Work

    /// A sequence with an element at once, and one when another job may begin. Changes during a job are told once,
    /// after it.
    func changes() -> AsyncStream<Void> {
        let (changes, listener) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { state in
            state.listeners.append(listener)
            listener.yield()
        }
        return changes
    }

    /// Removes the files whose names an earlier process could not remove.
    func removeLeftovers() {
        FileWriter.removeLeftovers(in: settings.folder, changedBefore: Date(timeIntervalSinceNow: -60))
    }

    /// Removes all jobs. Running ones stop after their current part.
    func removeAll() { state.withLock { $0.jobs = [] } }

    /// Makes the export of the next job. The jobs of an owner run one after the other.
    /// - Returns: whether there was a job.
    func runNext() async -> Bool {
        let now = now()
        let next = state.withLock { state -> ExportJob? in
            let busy = Set(state.jobs.filter { $0.status == .running }.map(\.owner))
            let index = state.jobs.firstIndex { $0.status == .accepted && !busy.contains($0.owner) }
            guard let index else { return nil }
            state.jobs[index].status = .running
            state.jobs[index].started = now
            return state.jobs[index]
        }
        guard let next else { return false }
        do {
            let export = try await next.prepare()
            change(next.id) { $0.version = export.version }
            let file = try await maker.file(of: export) { progress, file in try note(progress, of: next.id, file) }
            end(next.id, .successful) { job in
                job.headers = export.headers
                job.file = file
                job.progress.bytes = file.size
            }
        } catch {
            // A job that was removed has no one to tell.
            guard !Task.isCancelled, self.job(next.id) != nil else { return true }
            let problem = Problem(of: error)
            logger.warning(
                "an export job failed", metadata: ["export": "\(next.address)", "error": "\(error)"])
            end(next.id, .failed) { job in
                job.problem = problem ?? Problem(.internalError, detail: "The export failed; the error was logged.")
                job.progress.bytes = 0
            }
        }
        return true
    }

    private func change(_ id: String, _ body: (inout ExportJob) -> Void) {
        state.withLock { state in
            if let index = state.index(id) { body(&state.jobs[index]) }
        }
    }

    private func end(_ id: String, _ status: ExportJob.Status, _ body: (inout ExportJob) -> Void) {
        let now = now()
        state.withLock { state in
            guard let index = state.index(id) else { return }
            state.jobs[index].status = status
            state.jobs[index].finished = now
            state.jobs[index].expires = now.advanced(by: settings.keepSeconds)
            body(&state.jobs[index])
            state.outcomes[status, default: 0] += 1
            state.tell()
        }
    }

    /// Notes the progress of a job.
    /// - Throws: `EngineError.cancelled` for a job that was removed; `Problem` without disk space.
    private func note(_ progress: ExportFileMaker.Progress, of id: String, _ file: FileWriter) throws {
        let bytes = try state.withLock { state throws(EngineError) -> Int in
            guard let index = state.index(id) else { throw .cancelled }
            state.jobs[index].progress = progress
            return state.bytes
        }
        try WorkExecutor.checkCancellation()
        guard bytes <= settings.diskBytes else { throw full(settings.diskBytes) }
        guard file.freeBytes ?? .max >= ExportJobSettings.reserveBytes else {
            throw Problem(
                .exportsFull,
                detail: "Fewer than \(ExportJobSettings.reserveBytes) bytes of the disk are free, which jobs leave to "
                    + "the database.")
        }
    }
}
