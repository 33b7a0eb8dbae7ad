package import BillowEngine
package import BillowSnapshot
package import BillowTiles
package import Turbulence

/// The time in requests of OGC interfaces: now, an instant, or an interval, whose end is shown.
package enum OGCTime: Sendable, Hashable {
    case latest
    case instant(Instant)
    /// An instant outside all years with data, as text.
    case beyond(String)
    /// nil is an open end.
    case interval(Instant?, Instant?)

    /// The words for the latest frame.
    private static let latestWords: Set = ["", "current", "latest", "default"]

    package static let expected =
        "current, an instant (2026-11-21T02:30:00Z), or an interval a/b, of which the picture of its end is shown"

    /// Parses the `TIME` of WMS and WMTS; nil for an invalid text. The resolution of an interval is ignored.
    ///
    /// Source: OGC 06-042 (WMS 1.3.0) annex D
    package init?(_ text: String) {
        if Self.latestWords.contains(text.lowercased()) {
            self = .latest
            return
        }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        if parts.count == 1 {
            guard let seconds = Instant.unixSeconds(text, fraction: true) else { return nil }
            self = Instant(seconds: seconds).map { .instant($0) } ?? .beyond(text)
            return
        }
        guard parts.count == 2 || parts.count == 3 && parts[2].hasPrefix("P") else { return nil }
        var ends: [Instant?] = []
        for part in parts.prefix(2) {
            if part.isEmpty || part == ".." {
                ends.append(nil)
                continue
            }
            guard let seconds = Instant.unixSeconds(part, fraction: true) else { return nil }
            ends.append(Instant(clamping: seconds))
        }
        if let start = ends[0], let end = ends[1], start > end { return nil }
        self = .interval(ends[0], ends[1])
    }

    /// Converts the `datetime` of OGC APIs.
    init(_ datetime: DatetimeParameter) {
        switch datetime {
        case .instant(let instant): self = .instant(instant)
        case .interval(let start, let end): self = .interval(start, end)
        }
    }

    /// The instant to show. An interval beyond the layers' extent shows the last frame inside it.
    package func requested(of layers: LayerList, _ frames: FrameSource, in snapshot: Snapshot) -> RequestedTime {
        switch self {
        case .latest: return .latest
        case .instant(let instant): return .instant(instant)
        case .beyond(let text): return .beyond(text)
        case .interval(let start, let end):
            let extent = frames.extent(of: layers.layers, in: snapshot)
            guard let end, end <= extent.upperBound else {
                if let start, start > extent.upperBound { return .instant(start) }
                // An open end means now, not the end of a forecast.
                if end == nil, start.map({ $0 <= snapshot.publication.asOf }) ?? true { return .latest }
                return .instant(extent.upperBound)
            }
            return .instant(end)
        }
    }
}
