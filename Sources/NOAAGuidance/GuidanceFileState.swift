import NIOHTTP1
import UpstreamKit

/// What the service says of a file without sending it.
package struct GuidanceFileHead: Sendable, Hashable {
    /// Its length; nil where the service doesn't say.
    package var bytes: Int?
    package var validators: GuidanceValidators
    /// Seconds since it changed, by this machine's clock; nil where the service doesn't say when.
    package var ageSeconds: Int?
    /// Whether the answer said that it is made up.
    package var isSimulated: Bool

    init(_ head: Exchange.Head, nowSeconds: Int) {
        bytes = head.headers.first(name: "content-length").flatMap { Int($0) }
        validators = GuidanceValidators(head.headers)
        isSimulated = head.isSimulated()
        ageSeconds = validators.lastModified.flatMap { RetryAfter.date($0) }.map { max(0, nowSeconds - $0) }
    }
}

/// Whether a file is there.
package enum GuidanceFileState: Sendable, Hashable {
    case absent
    /// There, but empty or changed a moment ago: still being written.
    case growing(GuidanceFileHead)
    case whole(GuidanceFileHead)
    /// Of the version that the caller has.
    case unchanged
}

/// Whether an index is there.
package enum GuidanceIndexState: Sendable, Hashable {
    case absent
    case present(MessageIndex, GuidanceValidators)
    /// Of the version that the caller has.
    case unchanged
}
