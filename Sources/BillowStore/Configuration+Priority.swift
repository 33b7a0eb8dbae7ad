import Dispatch
import GRDB

extension Configuration {
    /// GRDB's defaults, but for the priority of its queues. GRDB asks for a high one, and Dispatch reports each thread
    /// that may not have it: a service without privileges had several lines a minute in its journal.
    static var atDefaultPriority: Configuration {
        var configuration = Configuration()
        configuration.qos = .default
        return configuration
    }
}
