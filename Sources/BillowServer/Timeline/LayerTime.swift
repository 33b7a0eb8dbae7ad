import BillowSnapshot
public import BillowTimeline
import BillowTiles
import Turbulence

/// How a layer stands in time: how often it is new, and what of the log its picture at an instant shows.
struct LayerTime: Sendable {
    /// What a picture is made of.
    enum Content: Sendable {
        /// What was observed in the history before it.
        case history(ObservedKind)
        /// The aircraft seen lately, and their tracks of so many seconds.
        case positions(trackSeconds: Int)
        case areas(IssuedArea.Collection)
        /// Turbulence polygons: our own, made of observations, or where they are asked for issued ones.
        case polygons
    }

    let layer: Layer
    /// Whether frames of it say more than one does.
    var animates: Bool
    /// The property of a feature that holds its own time, of layers whose features have one.
    var timeProperty: String?
    /// Whether it has pictures of times to come.
    var reachesAhead: Bool
    var contents: [Content]

    var id: String { layer.rawValue }

    /// Of every layer.
    static let all: [LayerTime] = [
        LayerTime(.turbulence, [.history(.observations)]),
        LayerTime(.hexagons, [.history(.observations)], timeProperty: "observedAt"),
        LayerTime(.polygons, [.polygons]),
        LayerTime(.pireps, [.history(.reports)], timeProperty: "observedAt"),
        LayerTime(.hazards, [.areas(.hazards)], timeProperty: "validFrom", reachesAhead: true),
        LayerTime(.forecast, [.areas(.forecast)], timeProperty: "validFrom", reachesAhead: true),
        LayerTime(.traffic, [.positions(trackSeconds: 0)], timeProperty: "observedAt"),
        LayerTime(
            .tracks, [.positions(trackSeconds: PictureSource.trackSeconds)], timeProperty: "observedAt",
            animates: false),
    ]

    private init(
        _ layer: Layer, _ contents: [Content], timeProperty: String? = nil, reachesAhead: Bool = false,
        animates: Bool = true
    ) {
        self.layer = layer
        self.contents = contents
        self.timeProperty = timeProperty
        self.reachesAhead = reachesAhead
        self.animates = animates
    }

    /// Of some layers, in their order.
    static func list(of layers: LayerList) -> [LayerTime] {
        layers.layers.compactMap { layer in all.first { $0.layer == layer } }
    }

    /// What its picture at an instant shows, where aircraft are dropped so many seconds after they were seen last.
    func seen(at instant: Instant, filter: Filter, trafficDropSeconds: Int) -> [SeenData] {
        contents.flatMap { content -> [SeenData] in
            switch content {
            case .history(let kind): [.observed(kind, at: instant, lookBackSeconds: filter.lookBackSeconds)]
            case .positions(let trackSeconds):
                [.observed(.positions, at: instant, lookBackSeconds: max(trackSeconds + 60, trafficDropSeconds))]
            case .areas(let collection): [.areas(collection, at: instant)]
            case .polygons:
                // Where nobody issued any, ours are drawn.
                [.observed(.observations, at: instant, lookBackSeconds: filter.lookBackSeconds)]
                    + (filter.prefersIssuedPolygons ? [.areas(.polygons, at: instant)] : [])
            }
        }
    }
}

/// The server's settings of timelines.
public struct TimelineSettings: Sendable {
    public var defaults: TimelineDefaults
    /// How often a layer is new, in seconds, by its id; 60 where nothing is said.
    public var updateSeconds: [String: Int]
    /// The layers that have an interval.
    public static let layers = LayerTime.all.map(\.id)

    public init(
        defaults: TimelineDefaults = TimelineDefaults(),
        updateSeconds: [String: Int] = ["traffic": 10, "forecast": 3_600]
    ) {
        self.defaults = defaults
        self.updateSeconds = updateSeconds
    }

    func updateSeconds(of layer: String) -> Int { updateSeconds[layer] ?? 60 }
}
