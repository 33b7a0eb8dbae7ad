import Datasets
package import Geometry
package import Turbulence

/// A query to an upstream: the types of data, the areas, and the history.
///
/// Source: docs/upstreams/skypath.md, "Areas" (DataQuery of the iOS SDK)
package struct DataQuery: Sendable, Hashable {
    /// A type of data, by SkyPath's own name, which sessions and queries use too. Each is the type of the origin of a
    /// dataset in the catalogue.
    package enum SkyPathType: String, Sendable, Hashable, CaseIterable, Comparable {
        case turbulence
        /// The upstream's own turbulence polygons.
        case polygons
        case nowcast
        /// Live flights.
        case flights
        case pireps

        /// The collections that it feeds.
        package var collections: [String] {
            datasets.map(\.id)
        }

        var datasets: [Dataset] { Catalogue.datasets(of: origin) }

        fileprivate var origin: Dataset.Origin { Dataset.Origin("skypath", rawValue) }

        package static func < (a: SkyPathType, b: SkyPathType) -> Bool { a.rawValue < b.rawValue }
    }

    /// A part of the query's area.
    package enum Area: String, Sendable, Hashable, CaseIterable, Comparable {
        case corridor
        case viewport
        case global
        /// The whole query, for an upstream that fetches it in one round.
        case all

        package static func < (a: Area, b: Area) -> Bool { a.rawValue < b.rawValue }
    }

    /// The scope of a type of data.
    package enum Scope: String, Sendable, Hashable, CaseIterable {
        /// Only inside `polygon` and `viewport`.
        case areas
        /// The whole world.
        case global
    }

    /// An empty set requests nothing.
    package var types: Set<SkyPathType>
    package var severities: SeveritySet
    package var history: History
    package var category: AircraftCategory
    /// Whether polygons are requested for the whole world, and all other types too, unless there is a `polygon`.
    package var global: Bool
    /// Scopes of single types, which take precedence over `global`.
    package var scopes: [SkyPathType: Scope]
    /// A route's corridor, or any other persistent area.
    package var polygon: AreaRing?
    /// The visible region of a client. A new one replaces the old one and its data; it doesn't persist across restarts.
    package var viewport: AreaRing?
    /// Whether the upstream's turbulence polygons are requested for every history up to the query's, or for that one
    /// only.
    package var polygonsUpTo: Bool

    package init(
        types: Set<SkyPathType> = [.turbulence], severities: SeveritySet = .all, history: History = .default,
        category: AircraftCategory = .default, global: Bool = true, scopes: [SkyPathType: Scope] = [:],
        polygon: AreaRing? = nil, viewport: AreaRing? = nil, polygonsUpTo: Bool = false
    ) {
        self.types = types
        self.severities = severities
        self.history = history
        self.category = category
        self.global = global
        self.scopes = scopes
        self.polygon = polygon
        self.viewport = viewport
        self.polygonsUpTo = polygonsUpTo
    }

    /// Whether a type is requested for the whole world. A query without a polygon has no persistent area, so the world
    /// replaces it.
    ///
    /// Source: docs/upstreams/skypath.md, "Areas" (polygons may cover the world, other types only areas)
    package func isGlobal(_ type: SkyPathType) -> Bool {
        if let scope = scopes[type] { return scope == .global }
        return global && (type == .polygons || polygon == nil)
    }

    /// The kinds of data that it requests.
    package var kinds: Set<FeedKind> { kinds(of: types) }

    /// The kinds of data of some of its types.
    func kinds(of some: Set<SkyPathType>) -> Set<FeedKind> {
        Set(some.flatMap { Catalogue.kinds(of: $0.origin) })
    }

    /// Whether the query selects any data.
    package var asksForAnything: Bool { !areas.isEmpty && !severities.isEmpty }

    /// The areas for which a type is requested; empty if it isn't requested.
    package func areas(of type: SkyPathType) -> [Area] {
        guard types.contains(type) else { return [] }
        return [polygon == nil ? nil : .corridor, viewport == nil ? nil : .viewport, isGlobal(type) ? .global : nil]
            .compactMap { $0 }
    }

    /// The areas for which any type is requested.
    package var areas: [Area] {
        let all = Set(types.flatMap(areas(of:)))
        return [.corridor, .viewport, .global].filter(all.contains)
    }

    /// The areas for which a collection is requested.
    package func areas(ofCollection collection: String) -> [Area] {
        let all = Set(types.filter { $0.collections.contains(collection) }.flatMap(areas(of:)))
        return [.corridor, .viewport, .global].filter(all.contains)
    }

    /// Whether a persistent area includes a cell's turbulence. Upstreams assign a cell to an area by its centre.
    func isCoveredPersistently(_ cell: Cell) -> Bool {
        areas(of: .turbulence).contains { area in
            switch area {
            case .corridor: polygon?.contains(H3.center(of: cell)) ?? false
            case .global: true
            case .viewport, .all: false
            }
        }
    }

    /// The area in which a cell's turbulence is requested; nil outside all.
    package func area(of cell: Cell) -> Area? { area(.turbulence) { $0.touches(cell) } }

    /// The area in which a type of data is requested at a place; nil outside all.
    package func area(of place: LonLat, _ type: SkyPathType) -> Area? { area(type) { $0.contains(place) } }

    private func area(_ type: SkyPathType, _ isWithin: (AreaRing) -> Bool) -> Area? {
        if let viewport, isWithin(viewport) { return .viewport }
        if let polygon, isWithin(polygon) { return .corridor }
        return isGlobal(type) ? .global : nil
    }

    /// Whether a type of data is requested at a place.
    func contains(_ place: LonLat, _ type: SkyPathType) -> Bool { isGlobal(type) || area(of: place, type) != nil }
}

/// The requests of a round, by type. Two equal values request the same data.
package struct SyncRequest: Sendable, Hashable {
    /// One type of data.
    struct DataRequest: Sendable, Hashable {
        var type: DataQuery.SkyPathType
        /// The requested areas, in addition to the world.
        var rings: Set<AreaRing>
        var isGlobal: Bool
        var severities: SeveritySet
        /// The requested histories. Polygons are computed for each history separately; for other types the longest
        /// includes the others.
        var histories: Set<History>
        /// Only for turbulence.
        var category: AircraftCategory?

        /// Whether data that was fetched for this request satisfies another one.
        func serves(_ required: DataRequest) -> Bool {
            guard type == required.type, category == required.category, severities.isSuperset(of: required.severities),
                isGlobal || !required.isGlobal && rings.isSuperset(of: required.rings)
            else { return false }
            if type == .polygons { return histories.isSuperset(of: required.histories) }
            guard let longest = histories.max(), let wanted = required.histories.max() else {
                return histories == required.histories
            }
            return longest >= wanted
        }
    }

    var parts: Set<DataRequest> = []

    /// Creates an empty query, for upstreams that have no query.
    package init() {}

    /// The requests of a query.
    /// - Parameter types: limits the types; nil for all.
    init(_ query: DataQuery, types: Set<DataQuery.SkyPathType>? = nil) {
        parts = Set(
            query.types.intersection(types ?? query.types).compactMap { type in
                query.areas(of: type).isEmpty ? nil : DataRequest(type, query)
            })
    }

    var types: Set<DataQuery.SkyPathType> { Set(parts.map(\.type)) }

    /// Whether data that was fetched for this request satisfies another one.
    func serves(_ required: SyncRequest) -> Bool {
        required.parts.allSatisfy { part in parts.contains { $0.serves(part) } }
    }
}

extension SyncRequest.DataRequest {
    /// The request for a type in all areas of a query.
    init(_ type: DataQuery.SkyPathType, _ query: DataQuery) {
        let histories: Set<History> =
            switch type {
            case .turbulence, .pireps: [query.history]
            case .polygons: Set(query.polygonHistories)
            case .nowcast, .flights: []
            }
        let isGlobal = query.isGlobal(type)
        self.init(
            type: type, rings: isGlobal ? [] : Set([query.polygon, query.viewport].compactMap { $0 }),
            isGlobal: isGlobal,
            severities: query.severities, histories: histories, category: type == .turbulence ? query.category : nil)
    }

    /// The request for turbulence in one area.
    init?(turbulenceOf query: DataQuery, in area: DataQuery.Area) {
        guard query.areas(of: .turbulence).contains(area) else { return nil }
        self.init(.turbulence, query)
        isGlobal = area == .global
        rings = Set([area == .corridor ? query.polygon : area == .viewport ? query.viewport : nil].compactMap { $0 })
    }
}

extension DataQuery {
    /// The histories for which the upstream's own polygons are requested.
    var polygonHistories: [History] { polygonsUpTo ? History.allCases.filter { $0 <= history } : [history] }
}
