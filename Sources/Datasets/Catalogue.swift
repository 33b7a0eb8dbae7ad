package import AviationFormats
package import Turbulence

/// The catalogue of all datasets.
public enum Catalogue {
    /// All datasets in the order of lists. A new dataset is added here.
    public static let all: [Dataset] = [
        .observations, .turbulence, .hexagons, .polygons, .pireps, .hazards, .forecast, .advisories, .gtg,
        .traffic, .tracks,
    ]

    /// The datasets with a drawing.
    public static let layers: [Dataset] = all.filter { $0.drawing != nil }

    /// The layers of a picture of everything, from bottom to top.
    package static let stack: [Dataset] = layers.filter { layer in !layers.contains { $0.parts.contains(layer.id) } }
        .sorted { $0.stacking < $1.stacking }

    /// The layers in the menu, from bottom to top.
    package static let menu: [Dataset] = layers.filter(\.parts.isEmpty).sorted { $0.stacking < $1.stacking }

    /// The datasets whose areas are warnings in force, such as SIGMETs.
    package static let warnings: [Dataset] = all.filter(\.isWarning)

    /// All kinds of areas.
    package static let areaKinds: [Dataset.AreaKind] = all.flatMap(\.areaKinds)

    /// The products of hazards that become areas.
    package static let hazardProducts: [HazardProduct] = areaKinds.compactMap(\.product)

    /// The dataset with areas of a kind.
    package static func dataset(ofAreaKind id: String) -> Dataset? {
        all.first { $0.areaKinds.contains { $0.id == id } }
    }

    /// The kind of areas that a type of an upstream's data becomes, and the number of their dataset; nil for a type
    /// without areas.
    package static func areas(of origin: Dataset.Origin) -> (kind: Dataset.AreaKind, number: IssuedArea.DatasetNumber)?
    {
        areasOfOrigins[origin]
    }

    private static let areasOfOrigins = {
        var areas: [Dataset.Origin: (kind: Dataset.AreaKind, number: IssuedArea.DatasetNumber)] = [:]
        for dataset in all {
            guard let number = dataset.issuedAreas else { continue }
            for kind in dataset.areaKinds { if let origin = kind.origin { areas[origin] = (kind, number) } }
        }
        return areas
    }()

    /// The types of an upstream service's data without repeats, in the order of the datasets.
    package static func types(of service: String) -> [String] {
        all.flatMap(\.origins).filter { $0.service == service }.map(\.type).reduce(into: []) { types, type in
            if !types.contains(type) { types.append(type) }
        }
    }

    /// The kinds of data that an upstream service provides.
    package static func kinds(of service: String) -> Set<FeedKind> {
        Set(all.flatMap { dataset in dataset.origins.filter { $0.service == service }.map(dataset.kind(of:)) })
    }

    /// The kinds of data of all datasets, without repeats.
    package static let kinds: [FeedKind] = once(all.flatMap(\.kinds))

    /// The kinds of data of issued areas, without repeats.
    package static let kindsOfAreas: [FeedKind] = once(all.compactMap(\.kindOfAreas))

    /// The kind of data of a collection's areas; nil for a collection without a dataset.
    package static func kind(of areas: IssuedArea.DatasetNumber) -> FeedKind? {
        all.first { $0.issuedAreas == areas }?.kindOfAreas
    }

    /// The kinds of data that a type of an upstream's data is converted to.
    package static func kinds(of origin: Dataset.Origin) -> Set<FeedKind> {
        Set(datasets(of: origin).map { $0.kind(of: origin) })
    }

    private static func once(_ kinds: [FeedKind]) -> [FeedKind] {
        kinds.reduce(into: []) { kinds, kind in
            if !kinds.contains(kind) { kinds.append(kind) }
        }
    }

    /// The datasets that a type of an upstream's data is converted to.
    package static func datasets(of origin: Dataset.Origin) -> [Dataset] {
        all.filter { $0.origins.contains(origin) }
    }

    private static let byID = Dictionary(uniqueKeysWithValues: all.map { ($0.id, $0) })

    /// The dataset with an id; nil if there is none.
    public static func dataset(_ id: some StringProtocol) -> Dataset? { byID[String(id)] }

    /// The layer with an id; nil if there is none, or if the dataset isn't drawn.
    public static func layer(_ id: some StringProtocol) -> Dataset? {
        dataset(id).flatMap { $0.drawing == nil ? nil : $0 }
    }

    /// The dataset of a collection of areas; nil for the upstream's own turbulence polygons, which `polygons` shows.
    package static func dataset(of areas: IssuedArea.DatasetNumber) -> Dataset? { all.first { $0.areas == areas } }
}
