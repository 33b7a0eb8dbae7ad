import BillowExchange
package import BillowPacks
package import BillowRaster
package import BillowSnapshot
import Turbulence

/// A whole query as KMZ: a ZIP archive with the document `doc.kml`, which is compressed while it is made.
///
/// Source: OGC 07-147r2 (KML 2.2) annex C
package struct KMZExport: FileExport {
    private let document: FeatureExport
    private let time: Instant

    /// - Parameter style: the colours of severities.
    package init(
        features: FeatureSource, query: FeatureQuery, snapshot: Snapshot, dataStatus: DataStatus, style: Style?
    ) {
        document = FeatureExport(
            features: features, query: query, format: .kml, snapshot: snapshot, dataStatus: dataStatus, style: style)
        time = snapshot.publication.asOf
    }

    package func begin(in place: FileDestination) async throws(EngineError) -> any FileParts {
        do {
            let (file, archive) = try place.open { (_, file) throws(PackError) in
                let archive = ZipFile(file, at: time)
                try archive.begin("doc.kml")
                return archive
            }
            return KMZParts(file: file, archive: archive, pieces: document.parts(in: place.ofParts))
        } catch { throw .pack(error) }
    }
}

/// The parts of a KMZ file.
private struct KMZParts: FileParts {
    let file: FileWriter
    let archive: ZipFile
    var pieces: FeatureExport.Parts

    var size: Int { get throws(PackError) { archive.size + pieces.spooledBytes } }
    var items: Int { pieces.features }

    mutating func next() async throws(EngineError) -> Bool {
        try WorkExecutor.checkCancellation()
        let piece = try await pieces.next()
        do {
            if let piece {
                try archive.append(piece)
            } else {
                try archive.end()
                try archive.finish()
            }
        } catch { throw .pack(error) }
        return piece != nil
    }
}
