import BillowEngine

/// The timeouts and limits of connections.
package struct ConnectionSettings: Sendable {
    /// The time from the first byte of a request to the end of its header. Single bytes don't extend it.
    package var headerTimeout = Duration.seconds(15)
    /// The longest time without a byte of a body that the server waits for.
    package var bodyTimeout = Duration.seconds(30)
    /// The longest time for a whole body that the server waits for.
    package var wholeBodyTimeout = Duration.seconds(300)
    /// The longest time in which the client reads nothing of a response.
    package var writeTimeout = Duration.seconds(60)
    /// The longest time between two requests, and before the first one.
    package var idleTimeout = Duration.seconds(60)
    /// The longest time from the server's last byte until the client closes too.
    ///
    /// Source: nginx's `lingering_time`, https://nginx.org/en/docs/http/ngx_http_core_module.html
    package var lingerTimeout = Duration.seconds(30)

    /// The most open connections.
    package var maximum: Int
    /// The most connections from one address; nil for no limit. Addresses of this machine aren't limited, because a
    /// reverse proxy on it connects for all its clients.
    package var maximumPerAddress: Int?

    /// The proxies whose words about their clients are believed, and whose connections aren't limited.
    package var trustedProxies: [AddressBlock] = []
    /// The most requests from one address; nil for no limit.
    package var rateLimit: RateLimit?

    package static let defaultMaximum = 8_192

    package init(maximum: Int = defaultMaximum, maximumPerAddress: Int? = nil) {
        self.maximum = maximum
        self.maximumPerAddress = maximumPerAddress
    }

    /// The most clients that may listen to events: at most half of all connections, so that requests have room.
    var maximumListeners: Int { max(1, min(1_000, maximum / 2)) }
}
