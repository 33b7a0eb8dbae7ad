import BillowEngine
import Foundation

/// The descriptors that this process may have. Every connection takes one, and so does every open file.
package enum FileDescriptors {
    /// Raises the soft limit to the hard one, and returns it.
    ///
    /// Service managers and shells keep the soft limit at 1,024 for programs that use `select`, which this one doesn't.
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

    /// How many connections a limit allows beside the descriptors in use and a reserve for files, upstreams and the
    /// runtime.
    ///
    /// - Parameters:
    ///   - wanted: the setting.
    ///   - limit: descriptors that the process may have.
    ///   - used: descriptors that it has before it serves.
    package static func connections(wanted: Int, limit: Int, used: Int) -> Int {
        let reserve = max(Self.smallestReserve, min(512, limit / 8))
        return max(1, min(wanted, limit - used - reserve))
    }

    /// How many descriptors are open.
    package static func used() -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd").count) ?? Self.smallestReserve
    }

    /// An idle server has about this many: event loops, the database with its readers, and standard streams.
    private static let smallestReserve = 32
    private static let smallestLimit = 1_024
    /// A limit of infinity is no number of descriptors.
    private static let largestLimit = rlim_t(1 << 20)

    #if canImport(Glibc)
        private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
        private static let resource = RLIMIT_NOFILE
    #endif
}
