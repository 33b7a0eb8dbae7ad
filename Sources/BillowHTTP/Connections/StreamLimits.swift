import NIOCore
import NIOHTTP2

/// The limits of an HTTP/2 connection.
enum StreamLimits {
    /// The most requests of a connection at a time.
    ///
    /// Source: RFC 9113 section 6.5.2 (no fewer than 100)
    static let concurrent = 100
    /// The most resets of streams in `window`, above which the connection is closed. A map that is moved resets its
    /// tiles' streams.
    ///
    /// Source: CVE-2023-44487 (rapid reset)
    static let resets = 1_000
    /// The most frames of a kind that carries no request, for example PING, in `window`.
    static let controlFrames = 1_000
    static let window = TimeAmount.seconds(30)
    /// The most bytes of a header. Those above `RequestRulesHandler.largestHeader` get a response; above this one, the
    /// connection is closed.
    static let headerBytes = 2 * RequestRulesHandler.largestHeader
    /// The most CONTINUATION frames of a header.
    ///
    /// Source: VU#421644 (endless CONTINUATION)
    static let continuations = 5

    static var configuration: NIOHTTP2Handler.Configuration {
        var connection = NIOHTTP2Handler.ConnectionConfiguration()
        connection.initialSettings = [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: concurrent),
            HTTP2Setting(parameter: .maxHeaderListSize, value: headerBytes),
        ]
        connection.maximumSequentialContinuationFrames = continuations
        connection.controlFrameRateLimit.maximumCount = controlFrames
        connection.controlFrameRateLimit.windowLength = window
        var stream = NIOHTTP2Handler.StreamConfiguration()
        stream.streamResetFrameRateLimit.maximumCount = resets
        stream.streamResetFrameRateLimit.windowLength = window
        return NIOHTTP2Handler.Configuration(connection: connection, stream: stream)
    }
}

/// The last handler of an HTTP/2 connection. It closes the connection of a client that breaks the protocol or its
/// limits, after the client was told.
///
/// Source: RFC 9113 section 5.4.1
final class StreamErrorHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
