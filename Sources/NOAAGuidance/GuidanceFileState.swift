import NIOHTTP1
import UpstreamKit

/// The service's metadata of a file.
package struct GuidanceFileHead: Sendable, Hashable {
    /// The length in bytes; nil if it isn't given.
    package var bytes: Int?
    package var validators: GuidanceValidators
    /// The seconds since the last change, by the local clock; nil if it isn't given.
    package var ageSeconds: Int?
    /// Whether the response is marked as simulated.
    package var isSimulated: Bool

    init(_ head: Exchange.Head, nowSeconds: Int) {
        bytes = head.headers.first(name: "content-length").flatMap { Int($0) }
        validators = GuidanceValidators(head.headers)
        isSimulated = head.isSimulated()
        ageSeconds = validators.lastModified.flatMap { RetryAfter.date($0) }.map { max(0, nowSeconds - $0) }
    }
}

/// The state of a file.
package enum GuidanceFileState: Sendable, Hashable {
    case absent
    /// The file exists, but is empty or changed very recently: it is still being written.
    case growing(GuidanceFileHead)
    case whole(GuidanceFileHead)
    /// It has the version that the caller has.
    case unchanged
}

/// The state of an index.
package enum GuidanceIndexState: Sendable, Hashable {
    case absent
    case present(MessageIndex, GuidanceValidators)
    /// It has the version that the caller has.
    case unchanged
}
