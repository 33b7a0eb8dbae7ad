import HTTPTypes
import NIOCore
import NIOHTTP1

/// Says what was wrong where not even a request could be read, as every other error does.
///
/// Hummingbird answers such bytes with an empty 400 when its turn comes, after the answers to what came before, and closes
/// the connection. That answer gets a body here; no route gives an empty 400.
final class UnreadableRequestHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private var error: HTTPParserError?

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.error = self.error ?? error as? HTTPParserError
        context.fireErrorCaught(error)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard let error, case .head(let head) = unwrapOutboundIn(data), head.status == .badRequest,
            head.headers.first(name: "Content-Length") == "0", let answer = try? Self.answer(to: error)
        else {
            context.write(data, promise: promise)
            return
        }
        context.write(wrapOutboundOut(.head(answer.head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(answer.body))), promise: promise)
    }

    private static func answer(to error: HTTPParserError) throws -> (head: HTTPResponseHead, body: ByteBuffer) {
        let problem = problem(for: error)
        let body = try problem.body()
        var head = HTTPResponseHead(
            version: .http1_1, status: HTTPResponseStatus(statusCode: problem.status.code),
            headers: ["Connection": "close", "Content-Length": String(body.readableBytes)])
        for field in Array(problem.headers) + Array(AnswerRules.crossOrigin) {
            head.headers.replaceOrAdd(name: field.name.canonicalName, value: field.value)
        }
        return (head, body)
    }

    private static func problem(for error: HTTPParserError) -> Problem {
        switch error {
        case .headerOverflow:
            Problem(
                .urlTooLong,
                detail: "The address, or what comes with it, is too long to be read.",
                allowed: "at most \(AnswerRules.longestURL) bytes")
        case .invalidURL:
            Problem(
                .invalidPath, detail: "The address can't be read.", parameter: "path",
                allowed: "ASCII without blanks, all else percent-encoded")
        default:
            Problem(
                .invalidRequest, detail: "This is no HTTP/1.1 request: \(error.debugDescription).")
        }
    }
}
