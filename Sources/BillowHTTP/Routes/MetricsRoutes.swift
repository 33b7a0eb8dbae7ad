import BillowEngine
import HTTPTypes
import Hummingbird
import NIOCore

/// `/metrics`: for Prometheus, with a key of scope `admin`.
struct MetricsRoutes: Sendable {
    let source: MetricsSource

    func add(to router: some RouterMethods<some RequestContext>) {
        router.get("/metrics") { _, _ in
            let text = await source.exposition().text
            return Response(
                status: .ok, headers: [.contentType: Exposition.mediaType, .cacheControl: "no-store"],
                body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
        }
    }
}

/// Takes a key from `Authorization: Bearer` too, as Prometheus sends it: its older versions send no other header.
struct BearerKeyMiddleware<Context: RequestContext>: RouterMiddleware {
    private static var scheme: String { "bearer " }

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var request = request
        if request.headers[.apiKey] == nil, let text = request.headers[.authorization],
            text.lowercased().hasPrefix(Self.scheme)
        {
            var head = request.head
            head.headerFields[.apiKey] = String(text.dropFirst(Self.scheme.count))
            request = Request(head: head, body: request.body)
        }
        var response = try await next(request, context)
        response.headers.vary(by: "Authorization")
        return response
    }
}
