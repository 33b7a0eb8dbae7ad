import BillowEngine
import Foundation

/// The file descriptors of this process. Every connection and every open file uses one.
package enum FileDescriptors {
    /// Raises the soft limit to the hard one, and returns it.
    ///
    /// Service managers and shells set the soft limit to 1,024 for programs that use `select`, which this one doesn't.
    package static func raiseLimit() -> Int {
        var limit = rlimit()
        guard getrlimit(Self.resource, &limit) == 0 else { return smallestLimit }
        if limit.rlim_cur < limit.rlim_max {
            let before = limit.rlim_cur
            limit.rlim_cur = min(limit.rlim_max, Self.largestLimit)
            if setrlimit(Self.resource, &limit) != 0 { limit.rlim_cur = before }
        }
        return Int(clamping: min(limit.rlim_cur, Self.largestLimit))
    }

    /// The number of connections that a limit permits, after the descriptors in use and a reserve for files, upstreams
    /// and the runtime.
    ///
    /// - Parameters:
    ///   - wanted: the configured number.
    ///   - limit: the most descriptors of the process.
    ///   - used: the descriptors in use before the server starts.
    package static func connections(wanted: Int, limit: Int, used: Int) -> Int {
        let reserve = max(Self.smallestReserve, min(512, limit / 8))
        return max(1, min(wanted, limit - used - reserve))
    }

    /// The number of open descriptors.
    package static func used() -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd").count) ?? Self.smallestReserve
    }

    /// The approximate number for an idle server: event loops, the database with its readers, and standard streams.
    private static let smallestReserve = 32
    private static let smallestLimit = 1_024
    /// Replaces an infinite limit.
    private static let largestLimit = rlim_t(1 << 20)

    #if canImport(Glibc)
        private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let resource = RLIMIT_NOFILE
    #endif
}
