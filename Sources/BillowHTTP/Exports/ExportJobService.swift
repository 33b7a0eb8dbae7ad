import ServiceLifecycle

/// Runs export jobs until the server stops, and removes them all then.
struct ExportJobService: Service {
    let jobs: ExportJobs

    /// The time after which a new job is found.
    private static let pause = Duration.milliseconds(200)

    func run() async throws {
        jobs.removeLeftovers()
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                for _ in 0..<ExportJobSettings.maximumConcurrent { group.addTask { await work() } }
            }
        }
        jobs.removeAll()
    }

    private func work() async {
        while !Task.isCancelled {
            if await jobs.runNext() { continue }
            // Only shutdown ends the sleep early.
            do { try await Task.sleep(for: Self.pause) } catch { return }
        }
    }
}
