import BillowExchange
import BillowPacks
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

/// A query as KML. A document groups its features in folders, and the query is read once: the features of each folder
/// go to a file of their own, and the document is made of the files. So its memory is flat.
struct KMLParts: ResponseParts {
    /// The features of a folder.
    private struct Spool: Sendable {
        var file: FileWriter
        var bytes = 0
    }

    private enum Step: Sendable {
        case reading
        /// Copying a folder's features, from a place in its file on.
        case copying(KMLFolder, from: Int)
        case done
    }

    /// All folders in the order of the document; empty for a document without folders.
    private let folders: [KMLFolder]
    private let place: FileDestination
    private var reader: FeatureReader
    private var writer: FeatureWriter
    private var spools: [KMLFolder: Spool] = [:]
    private var step = Step.reading

    /// The number of bytes that are copied at once.
    private static let slice = 256 << 10

    /// - Parameters:
    ///   - writer: has already written everything before the first feature.
    ///   - place: where the folders' files are.
    init(
        _ source: FeatureSource, _ query: FeatureQuery, in snapshot: Snapshot, _ writer: FeatureWriter,
        in place: FileDestination
    ) {
        folders = KMLFolder.all(of: query.collection)
        self.place = place
        self.writer = writer
        reader = source.reader(query, in: snapshot)
    }

    /// The number of written features.
    var features: Int { writer.features }

    /// The bytes of the folders' files.
    var spooledBytes: Int { spools.values.reduce(0) { $0 + $1.bytes } }

    /// A piece is empty while features are read into the folders' files.
    mutating func next() async throws(EngineError) -> [UInt8]? {
        switch step {
        case .reading:
            // What precedes the first feature, such as the styles.
            var head = features == 0 && !folders.isEmpty ? writer.drain() : []
            try await reader.read(.piece, to: &writer)
            if folders.isEmpty { head += writer.drain() } else { try spool() }
            if reader.isAtEnd { head += nextFolder(after: nil) }
            return head
        case .copying(let folder, let start): return try copy(folder, from: start)
        case .done: return nil
        }
    }

    /// Moves the written features to the files of their folders.
    private mutating func spool() throws(EngineError) {
        do throws(PackError) {
            for (folder, bytes) in writer.drainByFolder() {
                var spool: Spool
                if let known = spools[folder] {
                    spool = known
                } else {
                    spool = Spool(file: try place.open { (_, _) throws(PackError) in }.file)
                }
                try spool.file.write(Array(bytes), at: spool.bytes)
                spool.bytes += bytes.count
                spools[folder] = spool
            }
        } catch { throw .pack(error) }
    }

    private mutating func copy(_ folder: KMLFolder, from start: Int) throws(EngineError) -> [UInt8] {
        guard let spool = spools[folder] else { return nextFolder(after: folder) }
        let bytes: [UInt8]
        do throws(PackError) {
            bytes = try spool.file.read(min(Self.slice, spool.bytes - start), at: start)
            guard !bytes.isEmpty else { throw PackError.file("a folder's file ended early") }
        } catch { throw .pack(error) }
        guard start + bytes.count == spool.bytes else {
            step = .copying(folder, from: start + bytes.count)
            return bytes
        }
        spools[folder] = nil
        writer.endFolder()
        return bytes + nextFolder(after: folder)
    }

    /// Begins the next folder that has features, or ends the document.
    private mutating func nextFolder(after folder: KMLFolder?) -> [UInt8] {
        let rest = folders[(folder.flatMap { folders.firstIndex(of: $0) }.map { $0 + 1 } ?? 0)...]
        if let next = rest.first(where: { spools[$0] != nil }) {
            writer.begin(next)
            step = .copying(next, from: 0)
        } else {
            writer.end()
            step = .done
        }
        return writer.drain()
    }
}
