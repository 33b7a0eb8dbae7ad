package import Datasets
package import Geometry
package import Turbulence

/// A query to an upstream: the types of data, the areas, and the history.
package struct DataQuery: Sendable, Hashable {
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
    package var types: Set<QueryType>
    package var severities: SeveritySet
    package var history: History
    package var category: AircraftCategory
    /// Whether types are requested for the whole world. Where there is a `polygon`, only worldwide types are.
    package var global: Bool
    /// Scopes of single types, which take precedence over `global`.
    package var scopes: [QueryType: Scope]
    /// A route's corridor, or any other persistent area.
    package var polygon: AreaRing?
    /// The visible region of a client. A new one replaces the old one and its data; it doesn't persist across restarts.
    package var viewport: AreaRing?
    /// Whether data that is computed for each history separately, such as the upstream's own polygons, is requested for
    /// every history up to the query's, or for that one only.
    package var polygonsUpTo: Bool

    package init(
        types: Set<QueryType> = QueryType.requestedByDefault, severities: SeveritySet = .all,
        history: History = .default,
        category: AircraftCategory = .default, global: Bool = true, scopes: [QueryType: Scope] = [:],
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
    package func isGlobal(_ type: QueryType) -> Bool {
        if let scope = scopes[type] { return scope == .global }
        return global && (type.isWorldwide || polygon == nil)
    }

    /// The kinds of data that it requests.
    package var kinds: Set<FeedKind> { kinds(of: types) }

    /// The kinds of data of some of its types.
    func kinds(of some: Set<QueryType>) -> Set<FeedKind> {
        Set(some.flatMap { Catalogue.kinds(of: $0.origin) })
    }

    /// Whether the query selects any data.
    package var requestsAnything: Bool { !areas.isEmpty && !severities.isEmpty }

    /// The areas for which a type is requested; empty if it isn't requested.
    package func areas(of type: QueryType) -> [Area] {
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

    /// Whether a type of data is requested at a place.
    func contains(_ place: LonLat, _ type: QueryType) -> Bool {
        isGlobal(type) || [viewport, polygon].contains { $0?.contains(place) ?? false }
    }

    /// Where the query requests a dataset.
    package func requestedAreas(of dataset: Dataset) -> RequestedAreas {
        let feeding = types.union(scopes.keys).filter { $0.datasets.contains(dataset) }
        // Data of a type that is no longer requested lies where the query requests any.
        let isGlobal = feeding.isEmpty ? global && polygon == nil : feeding.contains { self.isGlobal($0) }
        return RequestedAreas(viewport: viewport, polygon: polygon, isGlobal: isGlobal)
    }

    /// The areas in which a dataset is requested.
    package struct RequestedAreas: Sendable {
        fileprivate var viewport: AreaRing?
        fileprivate var polygon: AreaRing?
        fileprivate var isGlobal: Bool

        /// The area that a cell lies in; nil outside all.
        package func area(of cell: Cell) -> Area? { area { $0.touches(cell) } }

        /// The area that a place lies in; nil outside all.
        package func area(of place: LonLat) -> Area? { area { $0.contains(place) } }

        private func area(_ isWithin: (AreaRing) -> Bool) -> Area? {
            if let viewport, isWithin(viewport) { return .viewport }
            if let polygon, isWithin(polygon) { return .corridor }
            return isGlobal ? .global : nil
        }
    }
}

/// The requests of a round, by type. Two equal values request the same data.
package struct SyncRequest: Sendable, Hashable {
    /// One type of data.
    struct DataRequest: Sendable, Hashable {
        var type: QueryType
        /// The requested areas, in addition to the world.
        var rings: Set<AreaRing>
        var isGlobal: Bool
        var severities: SeveritySet
        /// The requested histories. Of a type that isn't computed for each history separately, the longest includes
        /// the others.
        var histories: Set<History>
        /// nil for a type that does not depend on it.
        var category: AircraftCategory?

        /// Whether data that was fetched for this request satisfies another one.
        func serves(_ required: DataRequest) -> Bool {
            guard type == required.type, category == required.category, severities.isSuperset(of: required.severities),
                isGlobal || !required.isGlobal && rings.isSuperset(of: required.rings)
            else { return false }
            if type.reach == .eachHistory { return histories.isSuperset(of: required.histories) }
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
    init(_ query: DataQuery, types: Set<QueryType>? = nil) {
        parts = Set(
            query.types.intersection(types ?? query.types).compactMap { type in
                query.areas(of: type).isEmpty ? nil : DataRequest(type, query)
            })
    }

    var types: Set<QueryType> { Set(parts.map(\.type)) }

    /// Whether data that was fetched for this request satisfies another one.
    func serves(_ required: SyncRequest) -> Bool {
        required.parts.allSatisfy { part in parts.contains { $0.serves(part) } }
    }
}

extension SyncRequest.DataRequest {
    /// The request for a type in all areas of a query.
    init(_ type: QueryType, _ query: DataQuery) {
        let histories: Set<History> =
            switch type.reach {
            case .present: []
            case .history: [query.history]
            case .eachHistory: Set(query.separateHistories)
            }
        let isGlobal = query.isGlobal(type)
        self.init(
            type: type, rings: isGlobal ? [] : Set([query.polygon, query.viewport].compactMap { $0 }),
            isGlobal: isGlobal,
            severities: query.severities, histories: histories, category: type.dependsOnCategory ? query.category : nil)
    }

    /// The request for a type in one area of a query; nil if it isn't requested there.
    init?(_ type: QueryType, _ query: DataQuery, in area: DataQuery.Area) {
        guard query.areas(of: type).contains(area) else { return nil }
        self.init(type, query)
        isGlobal = area == .global
        rings = Set([area == .corridor ? query.polygon : area == .viewport ? query.viewport : nil].compactMap { $0 })
    }
}

extension DataQuery {
    /// The histories for which data is requested that is computed for each history separately.
    var separateHistories: [History] { polygonsUpTo ? History.allCases.filter { $0 <= history } : [history] }
}
