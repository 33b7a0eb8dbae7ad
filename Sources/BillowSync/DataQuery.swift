import Datasets
package import Geometry
package import Turbulence

/// What is asked of an upstream: which data, where, and how far back.
///
/// Source: docs/upstreams/skypath.md, "Areas" (DataQuery of the iOS SDK)
package struct DataQuery: Sendable, Hashable {
    /// A sort of data that SkyPath has, by the upstream's own word; a session and a query name it so. What becomes of it
    /// is the catalogue's to say: each is the type of a dataset's origin.
    package enum DataType: String, Sendable, Hashable, CaseIterable, Comparable {
        case turbulence
        /// The upstream's own turbulence polygons.
        case polygons
        case nowcast
        /// Live flights.
        case flights
        case pireps

        /// The collections that it ends up in.
        package var collections: [String] {
            datasets.map(\.id)
        }

        var datasets: [Dataset] { Catalogue.datasets(of: origin) }

        fileprivate var origin: Dataset.Origin { Dataset.Origin("skypath", rawValue) }

        package static func < (a: DataType, b: DataType) -> Bool { a.rawValue < b.rawValue }
    }

    /// Which part of the query something lies in.
    package enum Area: String, Sendable, Hashable, CaseIterable, Comparable {
        case corridor
        case viewport
        case global
        /// Everything at once.
        case all

        package static func < (a: Area, b: Area) -> Bool { a.rawValue < b.rawValue }
    }

    /// Where a type of data is wanted.
    package enum Scope: String, Sendable, Hashable, CaseIterable {
        /// Inside `polygon` and `viewport` only.
        case areas
        /// In the whole world.
        case global
    }

    /// Empty: nothing is asked for.
    package var types: Set<DataType>
    package var severities: SeveritySet
    package var history: History
    package var category: AircraftCategory
    /// Whether polygons are wanted of the whole world; and all other types too, unless there is a `polygon`.
    package var global: Bool
    /// Scopes of single types, which come before `global`.
    package var scopes: [DataType: Scope]
    /// A route's corridor, or any other area that is wanted for long.
    package var polygon: AreaRing?
    /// What somebody looks at now. A new one replaces the old one and its data; it isn't kept across restarts.
    package var viewport: AreaRing?
    /// Whether the upstream's turbulence polygons are asked for every history up to the asked one, or for that one
    /// only.
    package var polygonsUpTo: Bool

    package init(
        types: Set<DataType> = [.turbulence], severities: SeveritySet = .all, history: History = .default,
        category: AircraftCategory = .default, global: Bool = true, scopes: [DataType: Scope] = [:],
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

    /// Whether a type is wanted of the whole world.
    ///
    /// Source: docs/upstreams/skypath.md, "Areas" (the world is for polygons, all else for areas)
    /// A query without a polygon has no area that lasts, so there the world stands for it.
    package func isGlobal(_ type: DataType) -> Bool {
        if let scope = scopes[type] { return scope == .global }
        return global && (type == .polygons || polygon == nil)
    }

    /// The kinds of data that it brings.
    package var kinds: Set<DataKind> { kinds(of: types) }

    /// The kinds of data that some of its types bring.
    func kinds(of some: Set<DataType>) -> Set<DataKind> {
        Set(some.flatMap { Catalogue.kinds(of: $0.origin) })
    }

    /// Whether there is anything to ask for.
    package var asksForAnything: Bool { !areas.isEmpty && !severities.isEmpty }

    /// The areas in which a type is wanted; empty where it isn't asked for.
    package func areas(of type: DataType) -> [Area] {
        guard types.contains(type) else { return [] }
        return [polygon == nil ? nil : .corridor, viewport == nil ? nil : .viewport, isGlobal(type) ? .global : nil]
            .compactMap { $0 }
    }

    /// The areas in which some type is wanted.
    package var areas: [Area] {
        let all = Set(types.flatMap(areas(of:)))
        return [.corridor, .viewport, .global].filter(all.contains)
    }

    /// The areas in which data of a collection is wanted.
    package func areas(ofCollection collection: String) -> [Area] {
        let all = Set(types.filter { $0.collections.contains(collection) }.flatMap(areas(of:)))
        return [.corridor, .viewport, .global].filter(all.contains)
    }

    /// Whether an area that lasts brings a cell's turbulence: upstreams place a cell by its centre.
    func isLasting(_ cell: Cell) -> Bool {
        areas(of: .turbulence).contains { area in
            switch area {
            case .corridor: polygon?.contains(H3.center(of: cell)) ?? false
            case .global: true
            case .viewport, .all: false
            }
        }
    }

    /// In which area a cell's turbulence is wanted; nil outside all.
    package func area(of cell: Cell) -> Area? { area(.turbulence) { $0.touches(cell) } }

    /// In which area a type of data at a place is wanted; nil outside all.
    package func area(of place: LonLat, _ type: DataType) -> Area? { area(type) { $0.contains(place) } }

    private func area(_ type: DataType, _ isWithin: (AreaRing) -> Bool) -> Area? {
        if let viewport, isWithin(viewport) { return .viewport }
        if let polygon, isWithin(polygon) { return .corridor }
        return isGlobal(type) ? .global : nil
    }

    /// Whether a type of data is wanted at a place.
    func contains(_ place: LonLat, _ type: DataType) -> Bool { isGlobal(type) || area(of: place, type) != nil }
}

/// What a round asks an upstream for, type by type. Two that are equal ask for the same.
package struct SyncRequest: Sendable, Hashable {
    /// One type of data.
    struct Part: Sendable, Hashable {
        var type: DataQuery.DataType
        /// The areas that it is wanted in, beside the world.
        var rings: Set<AreaRing>
        var isGlobal: Bool
        var severities: SeveritySet
        /// How far back. Polygons are made for each history apart; of all else the longest has the others.
        var histories: Set<History>
        /// Of turbulence only.
        var category: AircraftCategory?

        /// Whether what was fetched for this has all that another asks for.
        func serves(_ asked: Part) -> Bool {
            guard type == asked.type, category == asked.category, severities.isSuperset(of: asked.severities),
                isGlobal || !asked.isGlobal && rings.isSuperset(of: asked.rings)
            else { return false }
            if type == .polygons { return histories.isSuperset(of: asked.histories) }
            guard let longest = histories.max(), let wanted = asked.histories.max() else {
                return histories == asked.histories
            }
            return longest >= wanted
        }
    }

    var parts: Set<Part> = []

    /// For what has no query.
    package init() {}

    /// All of a query.
    /// - Parameter types: only these.
    init(_ query: DataQuery, types: Set<DataQuery.DataType>? = nil) {
        parts = Set(
            query.types.intersection(types ?? query.types).compactMap { type in
                query.areas(of: type).isEmpty ? nil : Part(type, query)
            })
    }

    var types: Set<DataQuery.DataType> { Set(parts.map(\.type)) }

    /// Whether what was fetched for this has all that another asks for.
    func serves(_ asked: SyncRequest) -> Bool {
        asked.parts.allSatisfy { part in parts.contains { $0.serves(part) } }
    }
}

extension SyncRequest.Part {
    /// A type in all areas of a query.
    init(_ type: DataQuery.DataType, _ query: DataQuery) {
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

    /// Turbulence in one area.
    init?(turbulenceOf query: DataQuery, in area: DataQuery.Area) {
        guard query.areas(of: .turbulence).contains(area) else { return nil }
        self.init(.turbulence, query)
        isGlobal = area == .global
        rings = Set([area == .corridor ? query.polygon : area == .viewport ? query.viewport : nil].compactMap { $0 })
    }
}

extension DataQuery {
    /// The histories that the upstream's own polygons are asked for.
    var polygonHistories: [History] { polygonsUpTo ? History.allCases.filter { $0 <= history } : [history] }
}
