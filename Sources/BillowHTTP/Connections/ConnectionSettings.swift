import BillowEngine

/// How long connections may be silent, and how many there may be.
package struct ConnectionSettings: Sendable {
    /// From the first byte of a request to the end of its header. Bytes that arrive one by one don't extend it.
    package var headerTimeout = Duration.seconds(15)
    /// Without a byte of a body that the server waits for.
    package var bodyTimeout = Duration.seconds(30)
    /// For a whole body, as long as the server waits for it.
    package var wholeBodyTimeout = Duration.seconds(300)
    /// Without the client taking anything of an answer.
    package var writeTimeout = Duration.seconds(60)
    /// Between two requests, and before the first one.
    package var idleTimeout = Duration.seconds(60)
    /// From the server's last byte until the client closes too.
    ///
    /// Source: nginx's `lingering_time`
    package var lingerTimeout = Duration.seconds(30)

    /// Connections at once.
    package var maximum: Int
    /// Connections at once from one address; nil for any number. The machine's own addresses aren't limited, because a
    /// reverse proxy there speaks for everybody.
    package var maximumPerAddress: Int?

    package static let defaultMaximum = 8_192

    package init(maximum: Int = defaultMaximum, maximumPerAddress: Int? = nil) {
        self.maximum = maximum
        self.maximumPerAddress = maximumPerAddress
    }

    /// Clients that may listen to events at once: at most half of all connections, so that there is room for requests.
    var maximumListeners: Int { max(1, min(1_000, maximum / 2)) }
}
