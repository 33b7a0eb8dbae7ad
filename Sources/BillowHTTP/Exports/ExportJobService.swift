import ServiceLifecycle

/// Runs export jobs until the server stops, and removes them all then.
struct ExportJobService: Service {
    let jobs: ExportJobs

    func run() async throws {
        jobs.removeLeftovers()
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                for _ in 0..<ExportJobSettings.maximumConcurrent {
                    let changes = jobs.changes()
                    group.addTask {
                        for await _ in changes { while !Task.isCancelled, await jobs.runNext() {} }
                    }
                }
            }
        }
        jobs.removeAll()
    }
}
