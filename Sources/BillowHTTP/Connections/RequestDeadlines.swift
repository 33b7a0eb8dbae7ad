import NIOCore

/// The handler that limits the waits of a request. `RequestRulesHandler` reports the boundaries of requests and
/// responses to it.
protocol RequestDeadlines: AnyObject {
    /// Whether the first line of the current header is complete.
    var hasRequestLine: Bool { get }
    /// The reason why the current request is abandoned; nil if it isn't.
    var timeout: Problem? { get }

    func headerEnded(_ context: ChannelHandlerContext)
    func requestEnded(_ context: ChannelHandlerContext)
    func answerEnded(_ context: ChannelHandlerContext)
    /// Treats all further input as no request.
    func requestWasRefused()
}
