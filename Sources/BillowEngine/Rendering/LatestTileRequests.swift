import Synchronization
package import Turbulence

/// The tiles of the latest frame that clients requested recently, and will request again after its renewal.
package final class LatestTileRequests: Sendable {
    /// The kind of request for the latest frame.
    enum Newest: Sendable, Hashable {
        /// The time `latest`.
        case latest
        /// The live frame of a timeline: the current minute.
        case liveFrame

        func instant(of publication: Publication) -> Instant {
            switch self {
            case .latest: publication.asOf
            case .liveFrame: publication.asOf.floored(toMultipleOf: 60)
            }
        }
    }

    /// A tile, regardless of its instant.
    struct Tile: Sendable, Hashable {
        var request: TileRequest
        var newest: Newest
    }

    private struct RequestCount {
        var count: Int
        var last: Instant
    }

    private struct CountState {
        var counts: [Tile: RequestCount] = [:]
        /// The bytes of the tiles' keys.
        var bytes = 0

        mutating func remove(_ tile: Tile) {
            if counts.removeValue(forKey: tile) != nil { bytes -= tile.request.estimatedBytes }
        }

        /// Removes a quarter of the tiles, least used first. The next eviction is as many new tiles later, so a
        /// request costs constant time on average.
        mutating func evict() {
            var excess = max(1, counts.count / 4)
            let numbers = counts.values.map(\.count).sorted()
            let threshold = numbers[excess - 1]
            excess -= numbers.prefix { $0 < threshold }.count
            counts = counts.filter { tile, entry in
                let isEvicted = entry.count < threshold || entry.count == threshold && excess > 0
                if isEvicted {
                    bytes -= tile.request.estimatedBytes
                    if entry.count == threshold { excess -= 1 }
                }
                return !isEvicted
            }
        }
    }

    private let state = Mutex(CountState())

    /// The most tiles, and the most bytes of their keys; the least used are evicted first.
    private static let capacity = 2_000
    private static let maximumBytes = 2 << 20
    /// A tile expires after this time: clients that follow the latest frame request it more often.
    private static let expirySeconds = 300

    package init() {}

    /// Records a request for the latest frame. Other requests are ignored.
    ///
    /// - Returns: whether the tile was requested before.
    @discardableResult
    package func note(_ request: TileRequest, isLatest: Bool, publication: Publication, now: Instant) -> Bool {
        let newest: Newest
        if isLatest {
            newest = .latest
        } else if request.instant == Newest.liveFrame.instant(of: publication) {
            newest = .liveFrame
        } else {
            return false
        }
        var tile = Tile(request: request, newest: newest)
        tile.request.instant = .distantPast
        return state.withLock { state in
            if let index = state.counts.index(forKey: tile) {
                state.counts.values[index].count += 1
                state.counts.values[index].last = now
                return true
            }
            state.counts[tile] = RequestCount(count: 1, last: now)
            state.bytes += tile.request.estimatedBytes
            if state.counts.count > Self.capacity || state.bytes > Self.maximumBytes { state.evict() }
            return false
        }
    }

    /// The requests for a publication's latest frame, most frequent first. Counts decay, so that old requests lose
    /// weight.
    func requests(for publication: Publication, limit: Int) -> [TileRequest] {
        let oldest = publication.asOf.advanced(by: -Self.expirySeconds)
        let frequent = state.withLock { state in
            for (tile, entry) in state.counts where entry.last < oldest { state.remove(tile) }
            for (tile, entry) in state.counts { state.counts[tile]?.count = entry.count - entry.count / 2 }
            return state.counts.sorted { $0.value.count > $1.value.count }.prefix(limit).map(\.key)
        }
        return frequent.map { tile in
            var request = tile.request
            request.instant = tile.newest.instant(of: publication)
            return request
        }
    }
}
