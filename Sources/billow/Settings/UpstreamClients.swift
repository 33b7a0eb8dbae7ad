import AsyncHTTPClient
import BillowEngine
import BillowSync
import NOAAGuidance
import SkyPath
import TraceExport

/// The HTTP clients of upstreams, which must be shut down before the process ends, and the threads for decoding.
struct UpstreamClients: Sendable {
    let standard: HTTPClient
    /// Uses HTTP/1.1 only, which NOAA's server needs.
    let guidance: HTTPClient
    /// Decompresses bodies.
    let mirrors: HTTPClient
    /// For streams of events, which hold their connections.
    let events: HTTPClient
    let work: any ComputationExecutor

    /// - Parameters:
    ///   - work: the server's executor; nil decodes on the upstream's thread.
    ///   - recorder: records requests as spans; nil records none. Only another Billow gets the id of the trace.
    init(work: WorkExecutor? = nil, recorder: SpanRecorder? = nil) {
        func client(_ configuration: HTTPClient.Configuration, _ tracer: SpanRecorder?) -> HTTPClient {
            var configuration = configuration
            configuration.tracing.tracer = tracer
            return HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        }
        let quiet = recorder?.withoutPropagation
        standard = client(SkyPathClient.recommendedHTTPConfiguration, quiet)
        guidance = client(GuidanceClient.recommendedHTTPConfiguration, quiet)
        mirrors = client(BillowClient.recommendedHTTPConfiguration, recorder)
        events = client(MirrorListener.recommendedHTTPConfiguration, nil)
        self.work = work.map { BackgroundWork(executor: $0) } ?? InlineExecutor()
    }

    func shutdown() async throws {
        // All clients must be shut down before release, even if a shutdown fails.
        var failure: (any Error)?
        for client in [standard, guidance, mirrors, events] {
            do { try await client.shutdown() } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }
}

/// The server's threads for background work, which have a lower priority than those that serve requests.
private struct BackgroundWork: ComputationExecutor {
    let executor: WorkExecutor

    func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await executor.reserve(.background) { try body() }
    }
}
