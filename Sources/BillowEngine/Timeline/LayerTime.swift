package import BillowSnapshot
package import BillowTimeline
package import BillowTiles
package import Turbulence

/// How a layer stands in time: how often it is new, and what of the log its picture at an instant shows.
package struct LayerTime: Sendable {
    /// What a picture is made of.
    package enum Content: Sendable {
        /// What was observed in the history before it.
        case history(ObservedKind)
        /// The aircraft seen lately, and their tracks of so many seconds.
        case positions(trackSeconds: Int)
        case areas(IssuedArea.Collection)
        /// Turbulence polygons: our own, made of observations, or where they are asked for issued ones.
        case polygons
    }

    package let layer: Layer
    /// The property of a feature that holds its own time, of layers whose features have one.
    var timeProperty: String?
    var contents: [Content]

    package var id: String { layer.rawValue }

    /// Of every layer.
    package static let all: [LayerTime] = [
        LayerTime(.turbulence, [.history(.observations)]),
        LayerTime(.hexagons, [.history(.observations)], timeProperty: "observedAt"),
        LayerTime(.polygons, [.polygons]),
        LayerTime(.pireps, [.history(.reports)], timeProperty: "observedAt"),
        LayerTime(.hazards, [.areas(.hazards)], timeProperty: "validFrom"),
        LayerTime(.forecast, [.areas(.forecast)], timeProperty: "validFrom"),
        LayerTime(.traffic, [.positions(trackSeconds: 0)], timeProperty: "observedAt"),
        LayerTime(.tracks, [.positions(trackSeconds: PictureSource.trackSeconds)], timeProperty: "observedTo"),
    ]

    private init(_ layer: Layer, _ contents: [Content], timeProperty: String? = nil) {
        self.layer = layer
        self.contents = contents
        self.timeProperty = timeProperty
    }

    /// Of some layers, in their order.
    package static func list(of layers: LayerList) -> [LayerTime] { layers.layers.compactMap(of) }

    package static func of(_ layer: Layer) -> LayerTime? { all.first { $0.layer == layer } }

    /// How far back before an instant it looks for aircraft, where they are dropped so many seconds after they were seen last.
    func positionsSeconds(trafficDropSeconds: Int) -> Int {
        contents.map { content in
            if case .positions(let trackSeconds) = content { max(trackSeconds + 60, trafficDropSeconds) } else { 0 }
        }.max() ?? 0
    }

    /// How far back before an instant layers look, by kind of data, in seconds. Aircraft and areas are as they were fetched
    /// last: no earlier fetch is needed to show them.
    package static func lookBack(of layers: some Sequence<LayerTime>, _ filter: Filter) -> [DataKind: Int] {
        var lookBack: [DataKind: Int] = [:]
        for layer in layers {
            for content in layer.contents {
                let seconds =
                    switch content {
                    case .history, .polygons: filter.lookBackSeconds
                    case .positions(let trackSeconds): trackSeconds
                    case .areas: 0
                    }
                lookBack[layer.layer.kind] = max(lookBack[layer.layer.kind] ?? 0, seconds)
            }
        }
        return lookBack
    }

    package static func lookBack(of layers: LayerList, _ filter: Filter) -> [DataKind: Int] {
        lookBack(of: list(of: layers), filter)
    }

    /// The history that layers show of what was observed; 0 where they show none.
    package static func historySeconds(of layers: LayerList, _ filter: Filter) -> Int {
        let lookBack = lookBack(of: layers, filter)
        return lookBack[.observations] ?? lookBack[.reports] ?? 0
    }

    /// What its picture at an instant shows, where aircraft are dropped so many seconds after they were seen last.
    func seen(at instant: Instant, filter: Filter, trafficDropSeconds: Int) -> [SeenData] {
        contents.flatMap { content -> [SeenData] in
            switch content {
            case .history(let kind):
                // Features of observations have trends, which look back further.
                [
                    .observed(
                        kind, at: instant,
                        lookBackSeconds: filter.lookBackSeconds + (kind == .observations ? Frame.trendSeconds : 0))
                ]
            case .positions:
                [
                    .observed(
                        .positions, at: instant,
                        lookBackSeconds: positionsSeconds(trafficDropSeconds: trafficDropSeconds))
                ]
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
package struct TimelineSettings: Sendable {
    package var defaults: TimelineDefaults
    /// When a layer is new, by its id; every minute where nothing is said.
    package var updates: [String: UpdateRule]
    /// The layers that have such a rule, and of them those that may be new at their changes: what is made of areas.
    package static let layers = LayerTime.all.map(\.id)
    package static let layersWithChanges = LayerTime.all.filter { layer in
        layer.contents.contains { if case .areas = $0 { true } else { false } }
    }.map(\.id)

    package init(
        defaults: TimelineDefaults = TimelineDefaults(),
        updates: [String: UpdateRule] = [
            "traffic": .every(seconds: 10), "forecast": .every(seconds: 3_600), "hazards": .changes,
        ]
    ) {
        self.defaults = defaults
        self.updates = updates
    }

    package func update(of layer: LayerTime) -> UpdateRule { updates[layer.id] ?? .every(seconds: 60) }
}
