import BillowEngine
import BillowParameters
import BillowStore
import BillowSync
import BillowExchange
import BillowSnapshot
import Datasets
import Geometry
import HTTPTypes
import Hummingbird
import NIOCore
import Turbulence

/// `/changes/{collection}?since={cursor}`: the changes since an earlier answer, so that a client keeps its copy current
/// with little traffic.
struct ChangeRoutes: Sendable {
    let frames: FrameSource
    let changes: ChangeSource
    let policy: FreshnessPolicy
    let features: FeatureSource
    let work: WorkExecutor
    let airports: AirportTable
    /// The largest area that may be requested, in km².
    let areaLimitKm2: Double

    func add(to router: some RouterMethods<some RequestContext>) {
        router.get("/changes/:collection") { request, context in
            try await answer(request, context.parameters.text("collection"))
        }
    }

    private func answer(_ request: Request, _ name: String) async throws -> Response {
        guard let collection = Catalogue.dataset(name) else { throw ParameterProblem.unknownCollection(name) }
        let parsed = try ChangeParameters(
            QueryReader(request, known: ChangeParameters.names(collection)), of: collection, airports: airports,
            limitKm2: areaLimitKm2)
        let (since, hasGeometry) = (parsed.since, parsed.hasGeometry)
        let delta = try await changes.changes(of: parsed.name, since: since, hasGeometry: hasGeometry) {
            [frames] (snapshot) throws(EngineError) in try parsed.query(frames, in: snapshot)
        }
        let dataStatus = policy.dataStatus(delta.query, in: delta.snapshot)
        var headers = ResponseHeaders.make(dataStatus, freshSeconds: 1)
        headers[.contentType] = "application/geo+json"
        headers[.cacheControl] = "no-store"
        var writer = FeatureWriter(
            collection, as: .geojson,
            members: CollectionMembers(delta.query, snapshot: delta.snapshot, dataStatus: dataStatus),
            hasGeometry: hasGeometry)
        let logs = parsed.isForMirror ? try await mirroredLogs(in: delta.snapshot) : []
        writer.begin { json in
            if parsed.isForMirror {
                Self.writeMirror(logs: logs, sources: delta.snapshot.sources, to: &json)
            }
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
        // All features of a frame can be read again, piece by piece. So a slow client holds no large answer.
        if delta.isFull, collection.isPicture, delta.features.reduce(0, { $0 + $1.count }) > ResponseBudget.least {
            var pieces = FeatureParts(features.reader(delta.query, in: delta.snapshot), writer)
            let first = try await pieces.next() ?? []
            return try StreamedResponse.make(first, pieces, headers: headers, request: request, work: work)
        }
        for feature in delta.features { writer.write(encoded: feature) }
        writer.end()
        return try CompressedResponse.make(writer.drain(), headers: headers, request: request)
    }

    /// The log of this server, and those that it mirrors itself. A server that finds its own among them would mirror
    /// itself.
    private func mirroredLogs(in snapshot: Snapshot) async throws -> [String] {
        var logs = [snapshot.log]
        for source in snapshot.sources where source.isMirror {
            let values = try await frames.reading(in: snapshot) { () async throws(StoreError) in
                try await features.store.values(of: source.id)
            }
            logs += BillowUpstream.mirroredLogs(values)
        }
        return logs
    }

    private static func writeMirror(logs: [String], sources: [SourceRecord], to json: inout JSONWriter) {
        func write(_ texts: [String], to json: inout JSONWriter) {
            json.openArray()
            for text in texts { json.value(text) }
            json.closeArray()
        }
        json.name("mirror")
        json.openObject()
        json.name("logs")
        write(logs, to: &json)
        // Of these sources, a newer value supersedes the one before it at its place.
        json.name("computed")
        write(sources.filter { $0.merge == .replace }.map(\.id.name), to: &json)
        json.closeObject()
    }
}
