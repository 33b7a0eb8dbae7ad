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

/// `/collections/{id}/position`, `…/area` and `…/corridor`: the values at a place, the features inside a polygon, and
/// those along a route, in the order of the flight.
///
/// Source: OGC 19-086r6 (OGC API EDR) sections 8.2.1, 8.2.5 and 8.2.8
extension CollectionRoutes {
    func addAreas(to router: some RouterMethods<some RequestContext>) {
        router.get("/collections/:id/position") { request, context in
            try await position(request, context.parameters)
        }
        router.get("/collections/:id/area") { request, context in
            try await area(request, context.parameters, body: nil)
        }
        router.post("/collections/:id/area") { request, context in
            let body = try await JSONBody.read(ShapeBody.self, of: request, longest: ShapeBody.longest)
            return try await area(request, context.parameters, body: body)
        }
        router.get("/collections/:id/corridor") { request, context in
            try await corridor(request, context.parameters, body: nil)
        }
        router.post("/collections/:id/corridor") { request, context in
            let body = try await JSONBody.read(ShapeBody.self, of: request, longest: ShapeBody.longest)
            return try await corridor(request, context.parameters, body: body)
        }
    }

    private func position(_ request: Request, _ parameters: Parameters) async throws -> Response {
        let collection = try collection(parameters)
        guard collection.content == .field else { throw ParameterProblem.noPositions(collection) }
        let asked = try FieldPositionParameters(try QueryReader(request, known: FieldPositionParameters.names))
        let snapshot = try frames.snapshot()
        let instant = try asked.instant(frames, collection, in: snapshot)
        var shown = policy.shown(
            LayerList(collection), of: asked.region, at: instant, filter: asked.filter, in: snapshot)
        if let frame = snapshot.field(at: instant, asked.filter), !asked.levels.isKnown(of: frame) {
            shown.isIncomplete = true
        }
        let bytes = try await work.run(.query) { [shown] in
            let levels = try await frames.fieldLevels(
                at: asked.place, asked.levels, instant: instant, filter: asked.filter, in: snapshot)
            let query = FeatureQuery(collection, at: instant, filter: asked.filter)
            var writer = FeatureWriter(
                collection, as: .geojson, members: CollectionMembers(query, snapshot: snapshot, shown: shown))
            writer.begin()
            for level in levels { writer.write(Feature(level, at: asked.place)) }
            writer.end()
            return writer.drain()
        }
        var headers = AnswerHeaders.make(shown, freshSeconds: frames.freshSeconds(of: snapshot))
        headers[.contentType] = "application/geo+json"
        return try BytesAnswer.make(bytes, headers: headers, request: request)
    }

    private func area(_ request: Request, _ parameters: Parameters, body: ShapeBody?) async throws -> Response {
        try await features(request, parameters, within: AreaParameters.names) { reader in
            let place = try AreaParameters(reader, body: body, limitKm2: areaLimitKm2)
            return { query in query.area = place.area }
        }
    }

    private func corridor(_ request: Request, _ parameters: Parameters, body: ShapeBody?) async throws -> Response {
        try await features(request, parameters, within: CorridorParameters.names) { reader in
            let route = try CorridorParameters(reader, body: body, airports: airports)
            return { query in
                query.area = route.area
                query.route = route.along(from: query.instant)
            }
        }
    }

    /// The features of a collection within a shape that has its own parameters.
    /// - Parameter place: parses these parameters, and returns a function that adds the shape to a query.
    private func features(
        _ request: Request, _ parameters: Parameters, within names: Set<String>,
        _ place: (QueryReader) throws -> (inout FeatureQuery) -> Void
    ) async throws -> Response {
        let collection = try collection(parameters)
        let reader = try QueryReader(
            request, known: FeatureParameters.names(collection).union(PageParameters.names).union(names))
        let asked = try FeatureParameters(reader, of: collection)
        let restrict = try place(reader)
        let page = try PageParameters(reader)
        let snapshot = try frames.snapshot()
        var query = try asked.query(frames, in: snapshot)
        restrict(&query)
        return try await answer(query, page, in: snapshot, request)
    }
}
