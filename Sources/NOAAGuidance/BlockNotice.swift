import NIOHTTP1
import UpstreamKit

/// Recognises the notice by which NOAA's servers block an address after too many requests. It is a page with status
/// 200, or with 302 and no location.
///
/// Source: docs/upstreams/noaa.md, "Limits"
enum BlockNotice {
    private static let markers = ["over rate limit", "abusive-user-block"]
    /// The number of bytes to search; the marker is at the page's beginning.
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
