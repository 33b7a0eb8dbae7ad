import Synchronization
package import Turbulence

/// The tiles of the latest frame that clients requested recently, and will request again after its renewal.
package final class HotTiles: Sendable {
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

    private struct Use {
        var count: Int
        var last: Instant
    }

    private struct CountState {
        var uses: [Tile: Use] = [:]
        /// The bytes of the tiles' keys.
        var bytes = 0

        mutating func remove(_ tile: Tile) {
            if uses.removeValue(forKey: tile) != nil { bytes -= tile.request.keptBytes }
        }
    }

    private let state = Mutex(CountState())

    /// The most tiles, and the most bytes of their keys; the least used are evicted first.
    private static let capacity = 2_000
    private static let mostBytes = 2 << 20
    /// A tile expires after this time: clients that follow the latest frame request it more often.
    private static let keptSeconds = 300

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
            let isKnown = state.uses[tile] != nil
            if !isKnown { state.bytes += tile.request.keptBytes }
            state.uses[tile, default: Use(count: 0, last: now)].count += 1
            state.uses[tile]?.last = now
            guard state.uses.count > Self.capacity || state.bytes > Self.mostBytes else {
                return isKnown
            }
            let least = state.uses.sorted { $0.value.count < $1.value.count }.prefix(max(1, state.uses.count / 4))
            for (tile, _) in least { state.remove(tile) }
            return isKnown
        }
    }

    /// The requests for a publication's latest frame, hottest first. Counts decay, so that old requests lose weight.
    func requests(for publication: Publication, limit: Int) -> [TileRequest] {
        let oldest = publication.asOf.advanced(by: -Self.keptSeconds)
        let hottest = state.withLock { state in
            for (tile, use) in state.uses where use.last < oldest { state.remove(tile) }
            for (tile, use) in state.uses { state.uses[tile]?.count = use.count - use.count / 2 }
            return state.uses.sorted { $0.value.count > $1.value.count }.prefix(limit).map(\.key)
        }
        return hottest.map { tile in
            var request = tile.request
            request.instant = tile.newest.instant(of: publication)
            return request
        }
    }
}
