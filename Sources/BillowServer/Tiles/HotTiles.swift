import Synchronization
import Turbulence

/// The tiles of the newest picture that clients have asked for lately: those that they will want again when it is renewed.
final class HotTiles: Sendable {
    /// How the newest picture is asked for.
    enum Newest: Sendable, Hashable {
        /// As `latest`.
        case latest
        /// As the live frame of a timeline: the minute that now lies in.
        case liveFrame

        func instant(of publication: Publication) -> Instant {
            switch self {
            case .latest: publication.asOf
            case .liveFrame: publication.asOf.floored(toMultipleOf: 60)
            }
        }
    }

    /// A tile, whatever its instant.
    struct Tile: Sendable, Hashable {
        var request: TileService.Request
        var newest: Newest
    }

    private struct Use {
        var count: Int
        var last: Instant
    }

    private let uses = Mutex<[Tile: Use]>([:])

    /// So many are remembered; the least used go first.
    private static let capacity = 2_000
    /// Clients that want the next picture too ask at least this often.
    private static let keptSeconds = 300

    /// Notes a request for the newest picture; any other is of no interest.
    func note(_ request: TileService.Request, isLatest: Bool, publication: Publication, now: Instant) {
        let newest: Newest
        if isLatest {
            newest = .latest
        } else if request.instant == Newest.liveFrame.instant(of: publication) {
            newest = .liveFrame
        } else {
            return
        }
        var tile = Tile(request: request, newest: newest)
        tile.request.instant = .distantPast
        uses.withLock { uses in
            uses[tile, default: Use(count: 0, last: now)].count += 1
            uses[tile]?.last = now
            guard uses.count > Self.capacity else { return }
            for (tile, _) in uses.sorted(by: { $0.value.count < $1.value.count }).prefix(Self.capacity / 4) {
                uses[tile] = nil
            }
        }
    }

    /// The requests for a publication's newest picture, hottest first. Counts fade, so that old habits do.
    func requests(for publication: Publication, limit: Int) -> [TileService.Request] {
        let oldest = publication.asOf.advanced(by: -Self.keptSeconds)
        let hottest = uses.withLock { uses in
            uses = uses.filter { $0.value.last >= oldest }
            for (tile, use) in uses { uses[tile]?.count = use.count - use.count / 2 }
            return uses.sorted { $0.value.count > $1.value.count }.prefix(limit).map(\.key)
        }
        return hottest.map { tile in
            var request = tile.request
            request.instant = tile.newest.instant(of: publication)
            return request
        }
    }
}
