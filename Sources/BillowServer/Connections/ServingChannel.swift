import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// A connection of HTTP/1.1 as Hummingbird sets it up, with what is kept answered first, bodies and answers kept in step, and a
/// word on what can't be read.
struct ServingChannel: ServerChildChannel {
    private let http: HTTP1Channel
    private let answers: KeptAnswers

    init(responder: @escaping HTTPChannelHandler.Responder, answers: KeptAnswers) {
        http = HTTP1Channel(responder: RequestBodyHandler.telling(responder))
        self.answers = answers
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<HTTP1Channel.Value> {
        http.setup(channel: channel, logger: logger).flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
            try pipeline.addHandlers(
                [KeptAnswerHandler(answers), RequestBodyHandler(), UnreadableRequestHandler()],
                position: .after(decoder))
            return value
        }
    }

    func handle(value: HTTP1Channel.Value, logger: Logger) async {
        let requester = WorkRequester()
        // Fails where the connection is closed already: then it has been told of that, too.
        try? await value.channel.pipeline.addHandler(ClientPresenceHandler(requester), position: .first)
        if !value.channel.isActive { requester.leave() }
        await WorkRequester.$current.withValue(requester) { await http.handle(value: value, logger: logger) }
    }
}
