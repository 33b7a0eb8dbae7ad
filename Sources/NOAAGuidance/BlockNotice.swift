import NIOHTTP1
import UpstreamKit

/// How NOAA's servers say that an address made too many requests: a page that comes under 200, or under 302 without a
/// place to go to.
///
/// Source: docs/upstreams/noaa.md, "Limits"
enum BlockNotice {
    private static let markers = ["over rate limit", "abusive-user-block"]
    /// The page names itself at its beginning. Bytes.
    private static let searched = 2_048

    static func isNotice(_ bytes: some Collection<UInt8>) -> Bool {
        let text = String(decoding: bytes.prefix(searched), as: UTF8.self).lowercased()
        return markers.contains { text.contains($0) }
    }

    static func isNotice(_ head: Exchange.Head) -> Bool {
        guard (300..<400).contains(head.status) else { return false }
        guard let place = head.headers.first(name: "location") else { return true }
        return place.lowercased().contains("abusive-user-block")
    }
}
