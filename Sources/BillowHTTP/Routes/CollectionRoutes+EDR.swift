import BillowAreas
import BillowEngine
import BillowParameters
import BillowExchange
import BillowSnapshot
import BillowTiles
import Datasets
import Geometry
import HTTPTypes
import Hummingbird
import Turbulence

/// The data queries of a collection: the values at a place and along a flight, and the features within a distance, in a
/// polygon or a box, along a route, on a line, and around airports.
///
/// Source: OGC 19-086r6 (OGC API EDR) section 8.2
extension CollectionRoutes {
    func addQueries(to router: some RouterMethods<some RequestContext>) {
        router.get("/collections/:id/position") { request, context in
            try await position(request, try collection(context.parameters))
        }
        router.get("/collections/:id/radius") { request, context in
            try await radius(request, try collection(context.parameters))
        }
        router.get("/collections/:id/area") { request, context in
            try await area(request, try collection(context.parameters), body: nil)
        }
        router.post("/collections/:id/area") { request, context in
            let body = try await JSONBody.read(ShapeBody.self, of: request, longest: ShapeBody.longest)
            return try await area(request, try collection(context.parameters), body: body)
        }
        router.get("/collections/:id/cube") { request, context in
            try await cube(request, try collection(context.parameters))
        }
        router.get("/collections/:id/trajectory") { request, context in
            try await trajectory(request, try collection(context.parameters))
        }
        router.get("/collections/:id/corridor") { request, context in
            try await corridor(request, try collection(context.parameters), body: nil)
        }
        router.post("/collections/:id/corridor") { request, context in
            let body = try await JSONBody.read(ShapeBody.self, of: request, longest: ShapeBody.longest)
            return try await corridor(request, try collection(context.parameters), body: body)
        }
        router.get("/collections/:id/locations") { request, context in
            try locations(request, try collection(context.parameters))
        }
        router.get("/collections/:id/locations/:location") { request, context in
            try await location(request, try collection(context.parameters), context.parameters.text("location"))
        }
    }

    // MARK: - Features

    /// Returns the features that contain a place. For a field it returns the values there.
    private func position(_ request: Request, _ collection: Dataset) async throws -> Response {
        guard !collection.isField else { return try await fieldPosition(request, collection, at: nil) }
        guard EDRQuery.position.isOffered(by: collection) else {
            throw ParameterProblem.notOffered(.position, collection)
        }
        return try await features(request, collection, .position) { (reader) throws(ParameterProblem) in
            .position(try PositionParameters(reader))
        }
    }

    private func radius(_ request: Request, _ collection: Dataset) async throws -> Response {
        try await features(request, collection, .radius) { (reader) throws(ParameterProblem) in
            .radius(try RadiusParameters(reader, limitKm2: areaLimitKm2))
        }
    }

    private func area(_ request: Request, _ collection: Dataset, body: ShapeBody?) async throws -> Response {
        try await features(request, collection, .area) { (reader) throws(ParameterProblem) in
            .area(try AreaParameters(reader, body: body, limitKm2: areaLimitKm2))
        }
    }

    private func cube(_ request: Request, _ collection: Dataset) async throws -> Response {
        try await features(request, collection, .cube) { (reader) throws(ParameterProblem) in
            .cube(try CubeParameters(reader))
        }
    }

    private func corridor(_ request: Request, _ collection: Dataset, body: ShapeBody?) async throws -> Response {
        try await features(request, collection, .corridor) { (reader) throws(ParameterProblem) in
            .corridor(try CorridorParameters(reader, body: body, airports: airports))
        }
    }

    /// The features of a collection within a shape that has its own parameters; or the field's grid over the shape.
    private func features(
        _ request: Request, _ collection: Dataset, _ kind: EDRQuery,
        shape: (QueryReader) throws(ParameterProblem) -> QueriedShape
    ) async throws -> Response {
        let parsed = try ShapeQueryParameters(
            QueryReader(request, known: kind.names(of: collection)), kind, of: collection,
            preferring: preferredFormat(request), shape: shape)
        let snapshot = try frames.snapshot()
        let query = try parsed.query(frames, in: snapshot)
        guard parsed.edr.format == .coverageJSON else {
            return try await answer(query, parsed.page, in: snapshot, request)
        }
        return try await grid(query, parsed.edr, parsed.page.properties, in: snapshot, request)
    }

    /// Returns the features that a line meets, in the order of the flight. For a field it returns the values.
    private func trajectory(_ request: Request, _ collection: Dataset) async throws -> Response {
        guard !collection.isField else { return try await fieldTrajectory(request, collection) }
        return try await features(request, collection, .trajectory) { (reader) throws(ParameterProblem) in
            .trajectory(try TrajectoryParameters(reader, of: collection, airports: airports))
        }
    }

    // MARK: - Fields

    /// The format that `Accept` prefers.
    private func preferredFormat(_ request: Request) -> DataFormat {
        let accepted = AcceptedMedia(request.headers[.accept])
        let coverage = accepted.weight(of: DataFormat.coverageJSON.mediaType)
        return coverage > accepted.weight(of: DataFormat.geoJSON.mediaType) ? .coverageJSON : .geoJSON
    }

    /// - Parameter location: the place in place of `coords`.
    private func fieldPosition(_ request: Request, _ collection: Dataset, at location: LonLat?) async throws -> Response
    {
        let names = (location == nil ? EDRQuery.position : .locations).names(of: collection)
        let parsed = try FieldPositionParameters(
            try QueryReader(request, known: names), of: collection, at: location,
            preferring: preferredFormat(request))
        let snapshot = try frames.snapshot()
        let instant = try parsed.instant(frames, collection, in: snapshot)
        var dataStatus = policy.dataStatus(
            LayerList(collection), of: parsed.region, at: instant, filter: parsed.filter, in: snapshot)
        if let frame = snapshot.field(at: instant, parsed.filter), !parsed.levels.isKnown(of: frame) {
            dataStatus.isIncomplete = true
        }
        let levels = try await frames.fieldLevels(
            at: parsed.place, parsed.levels, instant: instant, filter: parsed.filter, in: snapshot)
        let query = FeatureQuery(collection, at: instant, filter: parsed.filter)
        let members = CollectionMembers(query, snapshot: snapshot, dataStatus: dataStatus)
        switch parsed.format {
        case .coverageJSON:
            var coverage = CoverageWriter(collection, members: members, parameters: parsed.properties)
            coverage.write(profileAt: parsed.place, levels)
            return try dataAnswer(coverage.end(), .coverageJSON, dataStatus, in: snapshot, request)
        case .geoJSON:
            var writer = FeatureWriter(collection, as: .geojson, members: members, properties: parsed.properties)
            writer.begin()
            for level in levels { writer.write(Feature(level, at: parsed.place)) }
            writer.end()
            return try dataAnswer(writer.drain(), .geoJSON, dataStatus, in: snapshot, request)
        }
    }

    private func fieldTrajectory(_ request: Request, _ collection: Dataset) async throws -> Response {
        let parsed = try FieldTrajectoryParameters(
            try QueryReader(request, known: EDRQuery.trajectory.names(of: collection)), of: collection,
            preferring: preferredFormat(request), airports: airports)
        let snapshot = try frames.snapshot()
        let instant = try parsed.instant(frames, collection, in: snapshot)
        let found = try await frames.fieldTrajectory(parsed.points(at: instant), filter: parsed.filter, in: snapshot)
        var dataStatus = policy.dataStatus(
            LayerList(collection), of: parsed.area.map(GeographicRegion.area) ?? .everywhere, at: instant,
            filter: parsed.filter,
            in: snapshot)
        if found.points.contains(where: { $0.sample == nil }) { dataStatus.isIncomplete = true }
        let members = CollectionMembers(
            FeatureQuery(collection, at: instant, filter: parsed.filter), snapshot: snapshot, dataStatus: dataStatus)
        switch parsed.format {
        case .coverageJSON:
            var coverage = CoverageWriter(collection, members: members, parameters: parsed.properties)
            coverage.write(found)
            return try dataAnswer(coverage.end(), .coverageJSON, dataStatus, in: snapshot, request)
        case .geoJSON:
            var writer = FeatureWriter(collection, as: .geojson, members: members, properties: parsed.properties)
            writer.begin()
            for (number, point) in found.points.enumerated() {
                writer.write(Feature(point, number: number, hasTimes: parsed.hasTimes))
            }
            writer.end()
            return try dataAnswer(writer.drain(), .geoJSON, dataStatus, in: snapshot, request)
        }
    }

    /// The field on a grid over the query's box or area.
    private func grid(
        _ query: FeatureQuery, _ edr: EDRParameters, _ properties: Set<String>?, in snapshot: Snapshot,
        _ request: Request
    ) async throws -> Response {
        let dataStatus = policy.dataStatus(query, in: snapshot)
        var coverage = CoverageWriter(
            query.collection, members: CollectionMembers(query, snapshot: snapshot, dataStatus: dataStatus),
            parameters: properties)
        if !query.hasNothing, let box = query.area?.area.box ?? query.box {
            let found = try await frames.fieldGrid(
                over: box, edr.levels, area: query.area, at: query.instant, filter: query.filter, in: snapshot)
            if let found { coverage.write(found) }
        }
        return try dataAnswer(coverage.end(), .coverageJSON, dataStatus, in: snapshot, request)
    }

    private func dataAnswer(
        _ bytes: [UInt8], _ format: DataFormat, _ dataStatus: DataStatus, in snapshot: Snapshot, _ request: Request
    ) throws -> Response {
        var headers = ResponseHeaders.make(dataStatus, freshSeconds: frames.freshSeconds(of: snapshot))
        headers[.contentType] = format.mediaType
        headers.vary(by: "Accept")
        return try BytesResponse.make(bytes, headers: headers, request: request)
    }

    // MARK: - Locations

    private func locations(_ request: Request, _ collection: Dataset) throws -> Response {
        let parsed = try LocationParameters(QueryReader(request, known: LocationParameters.names))
        let snapshot = try frames.snapshot()
        let extent = snapshot.featureExtent(of: collection)
        let path = "\(BaseURL.of(request, publicURL))\(request.uri.path)"
        let names = collection.propertyNames
        var writer = FeatureWriter(collection, as: .geojson)
        writer.begin()
        for icao in airports.indicators {
            guard let place = airports.place(icao: icao), parsed.box?.contains(place) ?? true else { continue }
            if let limit = parsed.limit, writer.features == limit { break }
            var json = JSONWriter()
            json.openObject()
            json.name("type")
            json.value("Feature")
            json.name("id")
            json.value(icao)
            json.name("geometry")
            json.rawValue(FeatureWriter.bytes(of: .point(place)))
            json.name("properties")
            json.openObject()
            json.name("label")
            json.value(icao)
            json.name("datetime")
            json.value("\(extent.lowerBound)/\(extent.upperBound)")
            json.name("parameter-name")
            json.openArray()
            for name in names { json.value(name) }
            json.closeArray()
            json.name("edrqueryendpoint")
            json.value("\(path)/\(icao)")
            json.closeObject()
            json.closeObject()
            writer.write(encoded: json.bytes)
        }
        let count = writer.features
        writer.end { json in
            json.name("numberReturned")
            json.value(Int64(count))
        }
        return try BytesResponse.make(
            writer.drain(), headers: [.contentType: DataFormat.geoJSON.mediaType, .cacheControl: "no-cache"],
            request: request)
    }

    private func location(_ request: Request, _ collection: Dataset, _ icao: String) async throws -> Response {
        guard let place = airports.place(icao: icao) else {
            throw Problem(
                .unknownFeature, detail: "There is no location '\(icao.prefix(100))'.", parameter: "locId",
                value: String(icao.prefix(100)),
                allowed: "the ICAO code of one of \(airports.indicators.count) airports, which /locations lists")
        }
        guard !collection.isField else { return try await fieldPosition(request, collection, at: place) }
        return try await features(request, collection, .locations) { (reader) throws(ParameterProblem) in
            .radius(try RadiusParameters(reader, around: place, limitKm2: areaLimitKm2))
        }
    }
}
