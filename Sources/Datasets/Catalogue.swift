package import Turbulence

/// The datasets that there are.
public enum Catalogue {
    /// In the order in which lists name them. A new dataset is a line here.
    public static let all: [Dataset] = [
        .observations, .turbulence, .hexagons, .polygons, .pireps, .hazards, .forecast, .advisories, .gtg,
        .traffic, .tracks,
    ]

    /// Those that can be drawn.
    public static let layers: [Dataset] = all.filter { $0.drawing != nil }

    /// The layers of a picture of everything, the lowest first.
    package static let stack: [Dataset] = layers.filter { layer in !layers.contains { $0.parts.contains(layer.id) } }
        .sorted { $0.stacking < $1.stacking }

    /// The layers of which a person chooses, the lowest first.
    package static let menu: [Dataset] = layers.filter(\.parts.isEmpty).sorted { $0.stacking < $1.stacking }

    /// The kinds of areas that there are.
    package static let areaKinds: [Dataset.AreaKind] = all.flatMap(\.areaKinds)

    /// The dataset whose areas are of a kind.
    package static func dataset(ofAreaKind id: String) -> Dataset? {
        all.first { $0.areaKinds.contains { $0.id == id } }
    }

    /// The types of an upstream service's data, each once, in the order of the datasets.
    package static func types(of service: String) -> [String] {
        all.flatMap(\.origins).filter { $0.service == service }.map(\.type).reduce(into: []) { types, type in
            if !types.contains(type) { types.append(type) }
        }
    }

    /// The kinds of data that datasets are made of, each once.
    package static let kinds: [DataKind] = once(all.flatMap(\.kinds))

    /// The kinds of data that issued areas are of, each once.
    package static let kindsOfAreas: [DataKind] = once(all.compactMap(\.kindOfAreas))

    /// The kind of data that the areas of a collection are; nil for one that no dataset has.
    package static func kind(of areas: IssuedArea.Collection) -> DataKind? {
        areas == .polygons ? .polygons : dataset(of: areas)?.kind
    }

    /// The kinds of data that a type of an upstream's data becomes.
    package static func kinds(of origin: Dataset.Origin) -> Set<DataKind> {
        Set(datasets(of: origin).map { $0.kind(of: origin) })
    }

    private static func once(_ kinds: [DataKind]) -> [DataKind] {
        kinds.reduce(into: []) { kinds, kind in
            if !kinds.contains(kind) { kinds.append(kind) }
        }
    }

    /// The datasets that a type of an upstream's data becomes.
    package static func datasets(of origin: Dataset.Origin) -> [Dataset] {
        all.filter { $0.origins.contains(origin) }
    }

    private static let byID = Dictionary(uniqueKeysWithValues: all.map { ($0.id, $0) })

    /// The dataset with an id; nil for none.
    public static func dataset(_ id: some StringProtocol) -> Dataset? { byID[String(id)] }

    /// The layer with an id; nil for none, and for a dataset that is not drawn.
    public static func layer(_ id: some StringProtocol) -> Dataset? {
        dataset(id).flatMap { $0.drawing == nil ? nil : $0 }
    }

    /// The dataset of a collection of areas; nil for the upstream's own turbulence polygons, which `polygons` shows.
    package static func dataset(of areas: IssuedArea.Collection) -> Dataset? { all.first { $0.areas == areas } }
}
