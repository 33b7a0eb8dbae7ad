import BillowEngine
import BillowParameters
import BillowExchange
import BillowSnapshot
import Datasets
import Geometry
import HTTPTypes
import Hummingbird
import NIOCore
import Turbulence

/// `/changes/{collection}?since={cursor}`: what changed since an earlier answer, so that a client keeps its copy
/// current with little traffic.
struct ChangeRoutes: Sendable {
    let frames: FrameSource
    let changes: ChangeSource
    let policy: FreshnessPolicy
    let features: FeatureSource
    let work: WorkExecutor
    let airports: AirportTable
    /// The largest area that may be asked for, in km².
    let areaLimitKm2: Double

    func add(to router: some RouterMethods<some RequestContext>) {
        router.get("/changes/:collection") { request, context in
            try await answer(request, context.parameters.text("collection"))
        }
    }

    private func answer(_ request: Request, _ name: String) async throws -> Response {
        guard let collection = Catalogue.dataset(name) else { throw ParameterProblem.unknownCollection(name) }
        let asked = try ChangeParameters(
            QueryReader(request, known: ChangeParameters.names(collection)), of: collection, airports: airports,
            limitKm2: areaLimitKm2)
        let (since, hasGeometry) = (asked.since, asked.hasGeometry)
        let delta = try await changes.changes(of: asked.name, since: since, hasGeometry: hasGeometry) {
            [frames] snapshot in try asked.query(frames, in: snapshot)
        }
        let shown = policy.shown(delta.query, in: delta.snapshot)
        var headers = AnswerHeaders.make(shown, freshSeconds: 1)
        headers[.contentType] = "application/geo+json"
        headers[.cacheControl] = "no-store"
        var writer = FeatureWriter(
            collection, as: .geojson, members: CollectionMembers(delta.query, snapshot: delta.snapshot, shown: shown),
            hasGeometry: hasGeometry)
        writer.begin { json in
            json.name("since")
            if let since, !delta.isFull { json.value(since) } else { json.null() }
            json.name("cursor")
            json.value(delta.cursor)
            json.name("full")
            json.value(delta.isFull)
            json.name("removed")
            json.openArray()
            for id in delta.removed { json.rawValue(Array("\"\(id)\"".utf8)) }
            json.closeArray()
        }
        // A picture can be read once more, piece by piece: then a client that reads slowly keeps none of it.
        if delta.isFull, collection.isPicture, delta.features.reduce(0, { $0 + $1.count }) > AnswerBudget.least {
            var pieces = FeaturePieces(features.reader(delta.query, in: delta.snapshot), writer)
            let first = try await pieces.next() ?? []
            return Response(status: .ok, headers: headers, body: try StreamedAnswer.body(first, pieces, work: work))
        }
        for feature in delta.features { writer.write(encoded: feature) }
        writer.end()
        return try CompressedAnswer.make(writer.drain(), headers: headers, request: request)
    }
}
