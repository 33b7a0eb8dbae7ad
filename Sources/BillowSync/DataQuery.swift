public import Geometry
public import Turbulence

/// What is asked of an upstream: which data, where, and how far back.
///
/// Source: SkyPath iOS SDK reference 2.2, DataQuery
public struct DataQuery: Sendable, Hashable {
    /// A sort of data that an upstream has.
    public enum DataType: String, Sendable, Hashable, CaseIterable, Comparable {
        case turbulence
        /// The upstream's own turbulence polygons.
        case polygons
        case nowcast
        /// Live flights.
        case flights
        case pireps

        /// The collections that it ends up in.
        public var collections: [String] {
            switch self {
            case .turbulence: ["turbulence"]
            case .polygons: ["polygons"]
            case .nowcast: ["forecast"]
            case .flights: ["traffic", "tracks"]
            case .pireps: ["pireps"]
            }
        }

        public static func < (a: DataType, b: DataType) -> Bool { a.rawValue < b.rawValue }
    }

    /// Which part of the query something lies in.
    public enum Area: String, Sendable, Hashable, CaseIterable, Comparable {
        case corridor
        case viewport
        case global
        /// Everything at once.
        case all

        public static func < (a: Area, b: Area) -> Bool { a.rawValue < b.rawValue }
    }

    /// Empty: nothing is asked for.
    public var types: Set<DataType>
    public var severities: SeveritySet
    public var history: History
    public var category: AircraftCategory
    /// The whole world; else only inside `polygon` and `viewport`.
    public var global: Bool
    /// A route's corridor, or any other area that is wanted for long.
    public var polygon: AreaRing?
    /// What somebody looks at now. A new one replaces the old one and its data; it isn't kept across restarts.
    public var viewport: AreaRing?
    /// Whether the upstream's turbulence polygons are asked for every history up to the asked one, or for that one only.
    public var polygonsUpTo: Bool

    /// - Parameter global: nil is the world unless there is a polygon.
    public init(
        types: Set<DataType> = [.turbulence], severities: SeveritySet = .all, history: History = .default,
        category: AircraftCategory = .default, global: Bool? = nil, polygon: AreaRing? = nil,
        viewport: AreaRing? = nil, polygonsUpTo: Bool = false
    ) {
        self.types = types
        self.severities = severities
        self.history = history
        self.category = category
        self.global = global ?? (polygon == nil)
        self.polygon = polygon
        self.viewport = viewport
        self.polygonsUpTo = polygonsUpTo
    }

    /// The kinds of data that it brings. An upstream's own polygons are of the same air as its turbulence, and tell nothing of
    /// the age of that.
    public var kinds: Set<DataKind> { kinds(of: types) }

    /// The kinds of data that some of its types bring.
    func kinds(of some: Set<DataType>) -> Set<DataKind> {
        Set(
            some.map { type in
                switch type {
                case .turbulence, .polygons: .observations
                case .nowcast: .forecasts
                case .flights: .positions
                case .pireps: .reports
                }
            }
        ).subtracting(types.contains(.turbulence) && !some.contains(.turbulence) ? [.observations] : [])
    }

    /// Whether there is anything to ask for.
    public var asksForAnything: Bool { !types.isEmpty && !areas.isEmpty && !severities.isEmpty }

    /// The parts that it has.
    public var areas: [Area] {
        [polygon == nil ? nil : .corridor, viewport == nil ? nil : .viewport, global ? .global : nil].compactMap { $0 }
    }

    /// Where a cell lies; nil outside all.
    public func area(of cell: Cell) -> Area? { area { $0.touches(cell) } }

    /// Where a place lies; nil outside all.
    public func area(of place: LonLat) -> Area? { area { $0.contains(place) } }

    private func area(_ isWithin: (AreaRing) -> Bool) -> Area? {
        if let viewport, isWithin(viewport) { return .viewport }
        if let polygon, isWithin(polygon) { return .corridor }
        return global ? .global : nil
    }

    /// Whether a place lies in it.
    public func contains(_ place: LonLat) -> Bool { global || area(of: place) != nil }

    /// Whether what was fetched for another query is not enough for this one. A shorter history, fewer severities, types or
    /// areas never need a fetch.
    public func needsData(after old: DataQuery) -> Bool {
        guard asksForAnything else { return false }
        return !old.asksForAnything || !types.isSubset(of: old.types) || !severities.isSubset(of: old.severities)
            || history > old.history || (types.contains(.polygons) && polygonsUpTo && !old.polygonsUpTo)
            || category != old.category
            || (global && !old.global)
            || (polygon != nil && polygon != old.polygon) || (viewport != nil && viewport != old.viewport)
    }
}
