import BillowEngine
import BillowParameters
import BillowStore
import BillowSync
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Turbulence
import JSONKit

/// `/admin/sources`: the query, the update frequency and the state of each source. It never reveals the upstream's URL
/// or access key.
struct AdminRoutes: Sendable {
    let loops: SourceLoops
    let status: SourceStatus
    let feed: EventFeed
    let fleet: FleetRole?
    let logger: Logger

    /// The longest body in bytes: far more than a ring of 250 positions with all digits needs.

    func add(to router: some RouterMethods<some RequestContext>) {
        router.get("/admin/sources") { request, _ in
            try answer(status.all().filter { $0.update != nil }, request)
        }
        router.get("/admin/sources/:id") { request, context in
            try answer(status[try steered(context.parameters).id], request)
        }
        router.patch("/admin/sources/:id") { request, context in try await change(request, context.parameters) }
        router.post("/admin/sources/:id/refresh") { request, context in
            try await refresh(request, context.parameters)
        }
        router.post("/admin/sources/:id/start") { request, context in
            let loop = try leading(context.parameters)
            try await loop.start()
            return try answer(status[loop.id], request, status: .accepted)
        }
    }

    private func steered(_ parameters: Parameters) throws(Problem) -> SourceLoop {
        let text = parameters.text("id")
        guard let loop = SourceID(text).flatMap({ loops[$0] }) else {
            throw Problem(
                .unknownSource, detail: "There is no configured source '\(text.prefix(100))'.",
                parameter: "id", value: String(text.prefix(100)),
                allowed: status.all().filter { $0.update != nil }.map(\.id).joined(separator: ", "))
        }
        return loop
    }

    /// The loop of a source that this server fetches. On another server of a fleet it doesn't run.
    private func leading(_ parameters: Parameters) throws(Problem) -> SourceLoop {
        let loop = try steered(parameters)
        guard let fleet, !fleet.isLeading() else { return loop }
        let leader = fleet.leader().map { "The server \($0) does" } ?? "No server does at present"
        throw Problem(
            .notLeading, detail: "This server doesn't fetch from the sources. \(leader); send the request there.",
            retryAfterSeconds: 1)
    }

    private func answer(_ value: some Encodable, _ request: Request, status: HTTPResponse.Status = .ok) throws
        -> Response
    {
        try JSONResponse.make(value, headers: [.cacheControl: "no-store"], status: status, request: request)
    }

    // MARK: - Changes

    private func change(_ request: Request, _ parameters: Parameters) async throws -> Response {
        let loop = try leading(parameters)
        let body = try SourceChangeBody(Data(try await request.bytes(upTo: SourceChangeBody.longest).readableBytesView))
        do { try await loop.change(by: body.members) } catch let error as SourceSettings.Problem {
            let problem = Problem(error)
            if let area = error.area { feed.failed(loop.id, await loop.settings.query, area, problem) }
            throw problem
        }
        logger.notice(
            "a source was changed",
            metadata: ["source": "\(loop.id)", "key": "\(AccessKey.ofRequest?.id ?? "none")"])
        return try answer(status[loop.id], request)
    }

    private func refresh(_ request: Request, _ parameters: Parameters) async throws -> Response {
        let loop = try leading(parameters)
        let whole = try RefreshParameters(QueryReader(request, known: RefreshParameters.names)).isFull
        do throws(SourceLoop.RequestError) { try await loop.requestSync(full: whole) } catch {
            throw Problem(error, source: loop.id)
        }
        return try answer(status[loop.id], request, status: .accepted)
    }
}
