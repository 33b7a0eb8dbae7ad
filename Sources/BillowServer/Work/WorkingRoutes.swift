import HTTPTypes
import Hummingbird
import NIOCore
import ServiceLifecycle

/// Routes whose handlers are jobs of a class.
struct WorkingRoutes<Base: RouterMethods>: RouterMethods {
    typealias Context = Base.Context

    let base: Base
    let workClass: WorkClass
    let work: WorkExecutor

    @discardableResult
    func on<Responder: HTTPResponder>(
        _ path: RouterPath, method: HTTPRequest.Method, responder: Responder
    ) -> Self where Responder.Context == Context {
        _ = base.on(
            path, method: method, responder: WorkResponder(responder: responder, workClass: workClass, work: work))
        return self
    }

    func add(middleware: any MiddlewareProtocol<Request, Response, Context>) -> Self {
        WorkingRoutes(base: base.add(middleware: middleware), workClass: workClass, work: work)
    }
}

/// Answers by a job. The body of the request is read before: a client that sends it slowly would hold the turn.
private struct WorkResponder<Responder: HTTPResponder>: HTTPResponder where Responder.Context: Sendable {
    let responder: Responder
    let workClass: WorkClass
    let work: WorkExecutor

    /// Bytes of a body, for all routes of these classes.
    private static var longestBody: Int { 256 << 10 }

    @Sendable
    func respond(to request: Request, context: Responder.Context) async throws -> Response {
        var request = request
        if ![.get, .head, .delete].contains(request.method) {
            request.body = RequestBody(buffer: try await request.bytes(upTo: Self.longestBody))
        }
        return try await work.run(workClass) { [request, responder] in
            try await responder.respond(to: request, context: context)
        }
    }
}

extension RouterMethods {
    /// Where routes go whose handlers are jobs of a class.
    func working(_ workClass: WorkClass, _ work: WorkExecutor) -> WorkingRoutes<Self> {
        WorkingRoutes(base: self, workClass: workClass, work: work)
    }
}

/// A service on the threads of a class.
struct ReservedService: Service {
    let service: any Service
    let workClass: WorkClass
    let work: WorkExecutor

    func run() async throws { try await work.reserve(workClass) { try await service.run() } }
}

extension Problem {
    /// What a client is told whose work is not done. The one place where errors of work become answers.
    init(_ error: WorkError) {
        let detail =
            switch error {
            case .overloaded(let workClass):
                "More is asked for than the server can do just now: the queue for \(workClass.summary) is full."
            case .tooManyAnswers: "Too many large answers are on their way to other clients just now."
            }
        self.init(.overloaded, detail: detail, retryAfterSeconds: error.retryAfterSeconds)
    }
}

extension WorkClass {
    fileprivate var summary: String {
        switch self {
        case .tile, .renewal: "tiles"
        case .map: "maps"
        case .animation: "animations"
        case .query: "queries"
        case .intake: "observations sent in"
        case .background, .publication: "background work"
        }
    }
}
