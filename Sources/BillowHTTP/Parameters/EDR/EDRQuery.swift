package import Datasets

/// The data queries of OGC API EDR, with what each collection offers of them. Routes, links, `data_queries` and the
/// OpenAPI description derive from it.
///
/// Source: OGC 19-086r6 (OGC API EDR) section 8.2
package enum EDRQuery: String, Sendable, CaseIterable {
    case items, position, radius, area, cube, trajectory, corridor, locations

    /// Fields have values at a place, and areas may contain it. Points and lines have no extent.
    package func isOffered(by collection: Dataset) -> Bool {
        self != .position || collection.isField || collection.geometry == .polygon
    }

    /// The formats of a collection, the default first.
    package func formats(of collection: Dataset) -> [DataFormat] {
        switch self {
        case .items: [.geoJSON]
        case .position, .radius, .area, .cube, .trajectory, .corridor, .locations:
            collection.isField ? [.geoJSON, .coverageJSON] : [.geoJSON]
        }
    }

    /// The parameters that a collection reads.
    package func names(of collection: Dataset) -> Set<String> {
        let features = FeatureParameters.names(collection).union(PageParameters.names)
        let queried = features.union(EDRParameters.names)
        return switch self {
        case .items: features
        case .position:
            collection.isField ? FieldPositionParameters.names : queried.union(PositionParameters.names)
        case .radius: queried.union(RadiusParameters.names)
        case .area: queried.union(AreaParameters.names)
        case .cube: queried
        case .trajectory:
            collection.isField ? FieldTrajectoryParameters.names : queried.union(TrajectoryParameters.names)
        case .corridor: queried.union(CorridorParameters.names)
        case .locations:
            collection.isField
                ? FieldPositionParameters.names.subtracting(["coords"])
                : queried.union(RadiusParameters.names).subtracting(["coords"])
        }
    }

    /// The parameters without which a GET is refused. A corridor and a trajectory have `coords` or `route`.
    package var requiredNames: Set<String> {
        switch self {
        case .position, .area: ["coords"]
        case .radius: ["coords", "within"]
        case .cube: ["bbox"]
        case .items, .trajectory, .corridor, .locations: []
        }
    }

    /// A sentence for lists of queries.
    package func title(of collection: Dataset) -> String {
        switch self {
        case .items: "The features, in pages"
        case .position: collection.isField ? "The values at a place" : "Features that contain a place"
        case .radius: "Features within a distance of a place"
        case .area: "Features in a polygon"
        case .cube: "Features in a box of positions and altitudes"
        case .trajectory: collection.isField ? "The values along a flight" : "Features that a line meets"
        case .corridor: "Features along a route"
        case .locations: collection.isField ? "The values at airports" : "Features around airports"
        }
    }
}

extension Dataset {
    /// Whether it is a turbulence field, with a value at every place.
    package var isField: Bool { content == .field }
}
