import BillowExchange
package import BillowPacks
package import BillowRaster
package import BillowSnapshot
import Datasets
import Turbulence

/// A whole query as a GeoPackage, written piece by piece.
package struct GeoPackageExport: FileExport {
    private let features: FeatureSource
    private let query: FeatureQuery
    private let snapshot: Snapshot
    private let dataStatus: DataStatus
    private let style: Style?
    private let request: String

    /// - Parameters:
    ///   - style: the colours for QGIS; nil lets QGIS choose.
    ///   - request: the parameters of the request, for the file's metadata.
    package init(
        features: FeatureSource, query: FeatureQuery, snapshot: Snapshot, dataStatus: DataStatus, style: Style?,
        request: String
    ) {
        self.features = features
        self.query = query
        self.snapshot = snapshot
        self.dataStatus = dataStatus
        self.style = style
        self.request = request
    }

    package func begin(in place: FileDestination) async throws(EngineError) -> any FileParts {
        let metadata = try await metadata()
        let table = GeoPackageTable(query.collection, isSimulated: dataStatus.freshness.isSimulated)
        let file: FileWriter
        let package: GeoPackageFile
        do {
            (file, package) = try place.open { (path, _) throws(PackError) in
                try GeoPackageFile(creating: path, table)
            }
        } catch { throw .pack(error) }
        let export = FeatureExport(
            features: features, query: query, in: .rows, snapshot: snapshot, dataStatus: dataStatus)
        return GeoPackageParts(
            file: file, package: package, pieces: export.parts(isAhead: true), metadata: metadata)
    }

    private func metadata() async throws(EngineError) -> GeoPackageMetadata {
        let collection = query.collection
        let freshness = dataStatus.freshness
        let isInstant = collection.isPicture && !query.isInterval
        var title = collection.title
        var members: [(name: String, value: String)] = [("collection", collection.id)]
        if isInstant {
            let end = try await features.frames.validUntil(
                [collection], at: query.instant, filter: query.filter, hasIssuedPolygons: true, in: snapshot)
            title += ", \(query.instant.displayText), valid until \(end.displayText)"
            members += [("time", query.instant.description), ("valid_until", end.description)]
        }
        let words = dataStatus.warnings(asOf: snapshot.publication.asOf)
        if !words.isEmpty { title += ", \(words.joined(separator: ", "))" }
        let attribution = PackSource.attribution(of: [collection], isSimulated: freshness.isSimulated)
        members += [
            ("attribution", attribution), ("simulated", "\(freshness.isSimulated)"), ("stale", "\(freshness.isStale)"),
            ("incomplete", "\(dataStatus.isIncomplete)"), ("version", "\(snapshot.publication.version.rawValue)"),
            ("query", request),
        ]
        if let time = freshness.dataTime { members.append(("data_time", time.description)) }
        if let time = freshness.completeSince { members.append(("complete_since", time.description)) }
        if let field = dataStatus.field { members.append(("field", field.displayText)) }
        return GeoPackageMetadata(
            title: title,
            description: "\(collection.summary) \(attribution)."
                + (freshness.isSimulated ? "" : " Not for operational use."),
            changed: snapshot.publication.asOf, members: members,
            style: style.map { QGISStyle(collection, $0).tableStyle })
    }
}

/// The parts of a GeoPackage.
private struct GeoPackageParts: FileParts {
    let file: FileWriter
    let package: GeoPackageFile
    var pieces: FeatureExport.Parts
    let metadata: GeoPackageMetadata

    var size: Int { get throws(PackError) { try file.size } }
    var items: Int { package.features }

    mutating func next() async throws(EngineError) -> Bool {
        try WorkExecutor.checkCancellation()
        let piece = try await pieces.next()
        do {
            if let piece { try package.add(piece) } else { try package.finish(metadata) }
        } catch { throw .pack(error) }
        return piece != nil
    }
}
