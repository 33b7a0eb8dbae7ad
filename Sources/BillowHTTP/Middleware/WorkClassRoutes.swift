import BillowEngine
import HTTPTypes
import Hummingbird
import NIOCore

/// Routes whose handlers run as jobs of a work class.
struct WorkClassRoutes<Base: RouterMethods>: RouterMethods {
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
        WorkClassRoutes(base: base.add(middleware: middleware), workClass: workClass, work: work)
    }
}

/// Runs a handler as a job. It reads the request's body first, because a slow client would otherwise occupy the job's
/// turn.
private struct WorkResponder<Responder: HTTPResponder>: HTTPResponder where Responder.Context: Sendable {
    let responder: Responder
    let workClass: WorkClass
    let work: WorkExecutor

    /// The longest body in bytes, for all routes of these classes.
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
    /// A group of routes whose handlers run as jobs of a work class.
    func working(_ workClass: WorkClass, _ work: WorkExecutor) -> WorkClassRoutes<Self> {
        WorkClassRoutes(base: self, workClass: workClass, work: work)
    }
}
