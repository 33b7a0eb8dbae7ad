import AsyncHTTPClient
import BillowEngine
import BillowSync
import NOAAGuidance
import SkyPath

/// What upstreams are asked with: HTTP clients, which are shut down before the process ends, and threads to decode on.
struct UpstreamClients: Sendable {
    let standard: HTTPClient
    /// Speaks HTTP/1.1 only, as NOAA's server needs.
    let guidance: HTTPClient
    let work: any LongWork

    /// - Parameter work: the executor of the server; nil decodes where the upstream runs.
    init(work: WorkExecutor? = nil) {
        standard = HTTPClient(
            eventLoopGroupProvider: .singleton, configuration: SkyPathClient.recommendedHTTPConfiguration)
        guidance = HTTPClient(
            eventLoopGroupProvider: .singleton, configuration: GuidanceClient.recommendedHTTPConfiguration)
        self.work = work.map { BackgroundWork(executor: $0) } ?? InlineWork()
    }

    func shutdown() async throws {
        // A client that isn't shut down stops the program: the second one too, where the first one fails.
        let first: Result<Void, any Error>
        do { first = .success(try await standard.shutdown()) } catch { first = .failure(error) }
        try await guidance.shutdown()
        try first.get()
    }
}

/// The threads of the server's background work, which stand back from those that answer.
private struct BackgroundWork: LongWork {
    let executor: WorkExecutor

    func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await executor.reserve(.background) { try body() }
    }
}
