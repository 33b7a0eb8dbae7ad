import BillowEngine
import BillowParameters
import BillowStore
import HTTPTypes
import Hummingbird
import JSONKit
import Turbulence

/// `POST /export/{file}` makes an export in the background; `/jobs/{job}` tells how far it is, and
/// `/jobs/{job}/results` gives the file.
///
/// The words follow OGC API – Processes, where a job has a status and results.
///
/// Source: OGC 18-062r2 sections 7.11 to 7.14
struct ExportJobRoutes: Sendable {
    let exports: ExportRoutes
    let jobs: ExportJobs
    let publicURL: String?
    let work: WorkExecutor

    func add(to router: some RouterMethods<some RequestContext>) {
        router.post("/export/:file") { request, context in try await create(request, context.parameters) }
        router.get("/jobs/:job") { request, context in try status(request, context.parameters) }
        router.delete("/jobs/:job") { request, context in try dismiss(request, context.parameters) }
        router.get("/jobs/:job/results") { request, context in try results(request, context) }
        router.head("/jobs/:job/results") { request, context in try results(request, context) }
    }

    private struct Body: Encodable {
        var id: String
        var status: String
        var export: String
        var created: String
        var started: String?
        var finished: String?
        var expires: String?
        var version: Int64?
        /// Features, or tiles of packs.
        var items: Int
        var bytes: Int
        var problem: JSONValue?
        var links: [Link]
    }

    private func create(_ request: Request, _ parameters: Parameters) async throws -> Response {
        let file = parameters.text("file")
        // A mistake in the request is reported now. The job reads the request again when it begins.
        let prepared = try await work.run(.query) { [exports] in try await exports.prepare(file, request) }
        let key = AccessKey.ofRequest.map { ExportJob.Owner.key($0.id) }
        let owner = key ?? ClientAddress.ofRequest.map { .address($0) } ?? .thisMachine
        let job = try jobs.add("/export/\(prepared.address)", of: owner) { [exports] in
            try await exports.prepare(file, request)
        }
        var response = try answer(job, request, status: .accepted)
        response.headers[.location] = path(job)
        return response
    }

    private func status(_ request: Request, _ parameters: Parameters) throws -> Response {
        _ = try QueryReader(request, known: [])
        return try answer(try job(parameters), request)
    }

    private func dismiss(_ request: Request, _ parameters: Parameters) throws -> Response {
        _ = try QueryReader(request, known: [])
        let id = parameters.text("job")
        guard let job = jobs.dismiss(id) else { throw Self.unknown(id) }
        return try answer(job, request)
    }

    private func results(_ request: Request, _ context: some RequestContext) throws -> Response {
        _ = try QueryReader(request, known: [])
        let job = try job(context.parameters)
        if let problem = job.problem { throw problem }
        guard let file = job.file else {
            throw Problem(
                .resultNotReady, detail: "The export is \(job.status.rawValue); /jobs/\(job.id) tells how far it is.",
                retryAfterSeconds: Self.retrySeconds)
        }
        var headers = job.headers
        headers[.cacheControl] = "private, no-cache"
        headers.link(toNext: file.nextPart, request, publicURL)
        return try file.response(headers, request, context)
    }

    private static let retrySeconds = 1

    private func path(_ job: ExportJob) -> String { "/jobs/\(job.id)" }

    private func job(_ parameters: Parameters) throws(Problem) -> ExportJob {
        let id = parameters.text("job")
        guard let job = jobs.job(id) else { throw Self.unknown(id) }
        return job
    }

    private static func unknown(_ id: String) -> Problem {
        Problem(
            .unknownJob, detail: "There is no export job with this id; finished jobs expire.", parameter: "job",
            value: String(id.prefix(100)), allowed: "the id of a job that was made and has not expired")
    }

    private func answer(_ job: ExportJob, _ request: Request, status: HTTPResponse.Status = .ok) throws -> Response {
        let base = BaseURL.of(request, publicURL)
        var links: [Link] = []
        if job.status != .dismissed {
            links.append(Link("self", base + AddressSigner.signed(path(job)), title: "How far the job is"))
        }
        if job.file != nil, job.status == .successful {
            links.append(
                Link(
                    "http://www.opengis.net/def/rel/ogc/1.0/results",
                    base + AddressSigner.signed("\(path(job))/results"),
                    type: job.headers[.contentType] ?? "application/octet-stream", title: "The file"))
        }
        var headers: HTTPFields = [.cacheControl: "no-store"]
        if !job.status.isFinal { headers[.retryAfter] = String(Self.retrySeconds) }
        let body = Body(
            id: job.id, status: job.status.rawValue, export: job.address, created: job.created.description,
            started: job.started?.description, finished: job.finished?.description,
            expires: job.expires?.description, version: job.version, items: job.progress.items,
            bytes: job.progress.bytes, problem: try job.problem?.document, links: links)
        return try JSONResponse.make(body, headers: headers, status: status, request: request)
    }
}
