import Hummingbird
import NIOCore

/// Sends the responses of all upstreams, either normally or with a fault of the transport.
struct Transport: Sendable {
    /// The pause between the pieces of a slow body.
    let dripInterval: Duration

    /// Applies a transport fault to a normal response.
    func response(
        _ text: ByteBuffer, _ fault: Fault?, _ context: SimulatorContext
    ) async -> Response {
        let half = text.getSlice(at: text.readerIndex, length: text.readableBytes / 2) ?? ByteBuffer()
        switch fault {
        case .truncatedBody:
            var response = JSONText.response(text)
            response.body = ResponseBody(contentLength: text.readableBytes) { writer in
                try await writer.write(half)
                throw BrokenConnection()
            }
            return response
        case .cutJSON: return JSONText.response(half)
        case .slowBody:
            let pause = dripInterval
            var response = JSONText.response(text)
            response.body = ResponseBody(contentLength: text.readableBytes) { writer in
                var rest = text
                let piece = max(16, text.readableBytes / 20)
                while let next = rest.readSlice(length: min(piece, rest.readableBytes)),
                    next.readableBytes > 0
                {
                    try await writer.write(next)
                    try await Task.sleep(for: pause)
                }
                try await writer.finish(nil)
            }
            return response
        case .htmlPage:
            return Response(
                status: .ok, headers: [.contentType: "text/html"],
                body: ResponseBody(
                    byteBuffer: ByteBuffer(string: "<!DOCTYPE html><html><body>Please log in</body></html>")))
        case .emptyBody: return JSONText.response(ByteBuffer())
        case .connectionReset:
            // A channel that is already closed is fine. The response below finds no connection.
            try? await context.channel.close().get()
            return Response(status: .ok)
        default: return JSONText.response(text)
        }
    }

    private struct BrokenConnection: Error {}
}
