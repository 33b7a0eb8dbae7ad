import BillowExchange
import BillowRaster
import BillowSnapshot
import Datasets
import Turbulence

extension KMLStyle {
    /// The KML style of a query's document.
    init(_ query: FeatureQuery, _ dataStatus: DataStatus, _ style: Style?, in snapshot: Snapshot) {
        let collection = query.collection
        let warnings = dataStatus.warnings(asOf: snapshot.publication.asOf)
        let attribution = PackSource.attribution(of: [collection], isSimulated: dataStatus.freshness.isSimulated)
        var colours: [Severity: Colours] = [:]
        for severity in Severity.allCases {
            guard let paint = style?[severity] else { continue }
            colours[severity] = Colours(
                fill: Self.bytes(paint.fill.colour), border: Self.bytes(paint.border?.colour ?? paint.fill.colour))
        }
        self.init(
            name: ([collection.title, query.instant.displayText] + warnings).joined(separator: ", "),
            description: "\(collection.summary) \(attribution)."
                + (dataStatus.freshness.isSimulated ? "" : " Not for operational use."), colours: colours)
    }

    private static func bytes(_ colour: StraightColour) -> [UInt8] {
        [colour.red, colour.green, colour.blue, colour.alpha]
    }
}

/// A query as KML, folder by folder. A document groups its features in folders, so the query is read once per folder.
/// That costs time but no memory.
struct KMLParts: ResponseParts {
    private let source: FeatureSource
    private let query: FeatureQuery
    private let snapshot: Snapshot
    private var writer: FeatureWriter
    private var folders: ArraySlice<KMLFolder>
    private var reader: FeatureReader?
    private var isDone = false

    /// - Parameter writer: has already written everything before the first feature.
    init(_ source: FeatureSource, _ query: FeatureQuery, in snapshot: Snapshot, _ writer: FeatureWriter) {
        self.source = source
        self.query = query
        self.snapshot = snapshot
        self.writer = writer
        folders = KMLFolder.all(of: query.collection)[...]
        if folders.isEmpty { reader = source.reader(query, in: snapshot) }
    }

    /// The number of written features.
    var features: Int { writer.features }

    mutating func next() async throws(EngineError) -> [UInt8]? {
        guard !isDone else { return nil }
        if reader == nil {
            guard let folder = folders.popFirst() else {
                isDone = true
                writer.end()
                return writer.drain()
            }
            writer.begin(folder)
            reader = source.reader(query(of: folder), in: snapshot)
        }
        // The writer skips features of other folders, so a piece may be empty.
        try await reader?.read(.piece, to: &writer)
        if reader?.isAtEnd == true {
            reader = nil
            if folders.isEmpty {
                isDone = true
                writer.end()
            }
        }
        return writer.drain()
    }

    /// Observations are independent of each other, so the query reads only the folder's observations.
    private func query(of folder: KMLFolder) -> FeatureQuery {
        guard query.collection.isOfRows else { return query }
        var query = query
        switch folder {
        case .severity(let severity):
            query.filter.severities = query.filter.severities.intersection(SeveritySet([severity]))
        case .other: query.hasNothing = true
        }
        return query
    }
}
