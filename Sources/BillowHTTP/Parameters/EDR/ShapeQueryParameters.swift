package import BillowEngine
package import BillowSnapshot
package import Datasets

/// The shape by which a query of OGC API EDR selects features.
package enum QueriedShape {
    case position(PositionParameters)
    case radius(RadiusParameters)
    case area(AreaParameters)
    case cube(CubeParameters)
    case corridor(CorridorParameters)
    case trajectory(TrajectoryParameters)

    /// The altitudes in feet that the shape itself names, and the parameter that does.
    fileprivate var heights: (feet: ClosedRange<Double>, parameter: String)? {
        switch self {
        case .position, .radius, .area: nil
        case .cube(let cube): cube.heights
        case .corridor(let corridor): corridor.heights
        case .trajectory(let trajectory): trajectory.heights
        }
    }

    fileprivate func restrict(_ query: inout FeatureQuery) {
        switch self {
        case .position(let position): position.restrict(&query)
        case .radius(let radius): query.area = radius.area
        case .area(let area): query.area = area.area
        // `bbox` is a parameter of all features.
        case .cube: break
        case .corridor(let corridor):
            query.area = corridor.area
            query.route = corridor.along(from: query.instant)
        case .trajectory(let trajectory): trajectory.restrict(&query)
        }
    }
}

/// The parameters of queries of OGC API EDR for features in a shape, and for the field's grid over it: those of
/// `FeatureParameters`, the shape, `EDRParameters` and `PageParameters`. A grid has no pages and no shapes of features.
package struct ShapeQueryParameters {
    package let page: PageParameters
    package let edr: EDRParameters
    private let features: FeatureParameters
    private let shape: QueriedShape

    /// - Parameters:
    ///   - format: the one that the client prefers, unless `f` names one.
    ///   - shape: reads the shape's own parameters.
    package init(
        _ reader: QueryReader, _ query: EDRQuery, of collection: Dataset, preferring format: DataFormat,
        shape: (QueryReader) throws(ParameterProblem) -> QueriedShape
    ) throws {
        features = try FeatureParameters(reader, of: collection)
        self.shape = try shape(reader)
        edr = try EDRParameters(
            reader, query, of: collection, preferring: format, heights: self.shape.heights)
        page = try PageParameters(reader, of: collection)
        guard edr.format == .coverageJSON else { return }
        for name in ["limit", "after", "shape"] where reader.has(name) {
            throw reader.invalid(name, reader.text(name) ?? "", "left out where f is CoverageJSON")
        }
    }

    /// The query for these parameters at a snapshot.
    /// - Throws: `EngineError.timeOutsideLog` for a time outside the log.
    package func query(_ frames: FrameSource, in snapshot: Snapshot) throws(EngineError) -> FeatureQuery {
        var query = try features.query(frames, in: snapshot)
        shape.restrict(&query)
        if let altitudes = edr.altitudes { query.filter.altitudes = altitudes }
        return query
    }
}

/// The parameters of `/collections/{id}/cube`, beside `EDRParameters`.
///
/// | name | type | range | default |
/// | --- | --- | --- | --- |
/// | `bbox` | four numbers in degrees, or six with feet | the earth, 0…65000 ft | required |
///
/// Source: OGC 19-086r6 (OGC API EDR) section 8.2.4
package struct CubeParameters: Sendable {
    /// The heights of a `bbox` of six numbers; nil for one of four.
    package let heights: (feet: ClosedRange<Double>, parameter: String)?

    package init(_ reader: QueryReader) throws(ParameterProblem) {
        _ = try reader.required("bbox", "west,south,east,north in degrees")
        heights = try reader.bboxHeights().map { (feet: $0, parameter: "bbox") }
    }
}
