package import BillowPacks
package import BillowSnapshot
import BillowTiles
import Datasets
import Foundation
import JSONKit
import Turbulence

/// A pack as a file.
package struct PackFile: FileExport {
    private let source: PackSource
    private let request: PackRequest
    private let snapshot: Snapshot

    package init(_ source: PackSource, _ request: PackRequest, in snapshot: Snapshot) {
        self.source = source
        self.request = request
        self.snapshot = snapshot
    }

    package func begin(in place: FileDestination) async throws(EngineError) -> any FileParts {
        switch request.form {
        case .tileset(let format):
            return try TilesetParts(source, request, request.scenes[0], format, in: snapshot, place)
        case .frames(let format):
            return try ArchiveParts(source, request, format, in: snapshot, place)
        case .foreFlight:
            return try ArchiveParts(source, request, .mbtiles, in: snapshot, place)
        }
    }

    /// Updates a copy of an MBTiles file of the same layers and query to the content of this pack. Pictures with
    /// unchanged content are not drawn. The file is complete only when this returns.
    /// - Returns: the number of changed, added and removed tiles.
    /// - Throws: `EngineError.pack` for a file that can't be updated; the errors of making tiles.
    package func update(copy path: String) async throws(EngineError) -> Int {
        let file: MBTilesFile
        do {
            file = try MBTilesFile(changing: path, form: request.tiles)
            try Self.check(try file.metadata(), isOf: request)
        } catch { throw .pack(error) }
        let all = request.cover.tiles
        let scene = request.scenes[0]
        let metadata = try await source.metadata(of: scene, request, in: snapshot)
        // A tag identifies all inputs of a picture, including size, style and filters. Tiles with another tag are
        // drawn.
        let wanted = Set(all)
        do { try file.removeTiles { !wanted.contains($0) } } catch { throw .pack(error) }
        for start in stride(from: 0, to: all.count, by: TilesetParts.tiles) {
            try WorkExecutor.checkCancellation()
            let part = all[start..<min(start + TilesetParts.tiles, all.count)]
            let made = try await source.tiles(part, of: scene, request, in: snapshot) { (coord) throws(PackError) in
                try file.tag(at: coord)
            }
            // Removes vector tiles that no longer have features.
            let there = Set(made.map(\.coord))
            do {
                try file.add(made)
                for coord in part where !there.contains(coord) { try file.remove(coord) }
            } catch { throw .pack(error) }
        }
        do { try file.finish(metadata) } catch { throw .pack(error) }
        return file.changes
    }
}

extension PackFile {
    /// Checks that a file was made for a request: for the same layers and parameters.
    fileprivate static func check(_ metadata: [String: String], isOf request: PackRequest) throws(PackError) {
        let layers = request.layers.description
        guard metadata["layers"] == layers else {
            throw .foreign("it has the layers \(metadata["layers"] ?? "none"), and the request \(layers)")
        }
        let query = metadata["query"] ?? ""
        guard query == request.query else {
            throw .foreign("it was made with the query '\(query)', and the request has '\(request.query)'")
        }
    }
}

/// The parts of a tileset.
struct TilesetParts: FileParts {
    let file: FileWriter
    private let writer: any TilesetWriter
    private let source: PackSource
    private let request: PackRequest
    private let scene: FrameSource.Scene
    private let snapshot: Snapshot
    /// The number of written tiles.
    private var done = 0

    /// The number of tiles of a part: some 50 ms of work.
    static let tiles = 256

    init(
        _ source: PackSource, _ request: PackRequest, _ scene: FrameSource.Scene, _ format: TilesetFormat,
        in snapshot: Snapshot, _ place: FileDestination
    ) throws(EngineError) {
        self.source = source
        self.request = request
        self.scene = scene
        self.snapshot = snapshot
        do {
            (file, writer) = try place.open { (path, file) throws(PackError) -> any TilesetWriter in
                switch format {
                case .mbtiles: try MBTilesFile(creating: path, form: request.tiles)
                case .pmtiles: PMTilesFile(file, form: request.tiles)
                }
            }
        } catch { throw .pack(error) }
    }

    var size: Int { get throws(PackError) { try file.size } }
    var items: Int { done }

    mutating func next() async throws(EngineError) -> Bool {
        try WorkExecutor.checkCancellation()
        let all = request.cover.tiles
        let part = all[done..<min(done + Self.tiles, all.count)]
        let made = try await source.tiles(part, of: scene, request, in: snapshot)
        done = part.endIndex
        let isLast = done == all.count
        let metadata = isLast ? try await source.metadata(of: scene, request, in: snapshot) : nil
        do {
            try writer.add(made)
            if let metadata { try writer.finish(metadata) }
        } catch { throw .pack(error) }
        return !isLast
    }
}

/// The parts of an archive with a tileset for each frame.
struct ArchiveParts: FileParts {
    let file: FileWriter
    private let archive: ZipFile
    private let source: PackSource
    private let request: PackRequest
    private let format: TilesetFormat
    private let snapshot: Snapshot
    private var frame = 0
    private var tileset: TilesetParts?
    /// The tiles of the finished frames.
    private var finished = 0
    /// Where the tilesets are made.
    private let place: FileDestination
    private var ends: [Instant] = []

    init(
        _ source: PackSource, _ request: PackRequest, _ format: TilesetFormat, in snapshot: Snapshot,
        _ place: FileDestination
    ) throws(EngineError) {
        self.source = source
        self.request = request
        self.format = format
        self.snapshot = snapshot
        self.place = place.ofParts
        do {
            (file, archive) = try place.open { _, file in ZipFile(file, at: snapshot.publication.asOf) }
        } catch { throw .pack(error) }
    }

    var size: Int { get throws(PackError) { try file.size + (tileset?.size ?? 0) } }
    var items: Int { finished + (tileset?.items ?? 0) }

    mutating func next() async throws(EngineError) -> Bool {
        guard frame < request.scenes.count else {
            try await finish()
            return false
        }
        let scene = request.scenes[frame]
        if tileset == nil { tileset = try TilesetParts(source, request, scene, format, in: snapshot, place) }
        guard try await tileset?.next() == false, let made = tileset?.file else { return true }
        do { try archive.add(path(of: scene), made) } catch { throw .pack(error) }
        ends.append(try await source.validUntil(scene, request, in: snapshot))
        finished += tileset?.items ?? 0
        tileset = nil
        frame += 1
        return true
    }

    private var name: String { request.layers.description.replacing(",", with: "-") }
    private var folder: String {
        let first = request.scenes[0].instant.compact
        return "billow-\(name)-\(first)"
    }

    private func path(of scene: FrameSource.Scene) -> String {
        let file = "\(name)-\(scene.instant.compact).\(format.rawValue)"
        return request.form == .foreFlight ? "\(folder)/layers/\(file)" : file
    }

    private func finish() async throws(EngineError) {
        let manifest = request.form == .foreFlight ? foreFlightManifest : frameManifest
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let path = request.form == .foreFlight ? "\(folder)/manifest.json" : "manifest.json"
        let bytes: [UInt8]
        do { bytes = Array(try encoder.encode(manifest)) } catch { throw .encoding("\(error)") }
        var legend: [UInt8]?
        if let scene = request.scenes.last, request.form != .foreFlight {
            legend = try await source.metadata(of: scene, request, in: snapshot).legend
        }
        do {
            try archive.add(path, bytes)
            if let legend { try archive.add("legend.png", legend, isCompressed: true) }
            try archive.finish()
        } catch { throw .pack(error) }
    }

    /// The frames with their times and files.
    private var frameManifest: JSONValue {
        let isSimulated = source.dataStatus(request.scenes[0], request, in: snapshot).freshness.isSimulated
        return .object([
            "layers": .array(request.layers.layers.map { .string($0.id) }), "format": .string(format.rawValue),
            "tiles": .string(request.tiles.rawValue), "version": .number(Double(snapshot.publication.version.rawValue)),
            "generated": .string(snapshot.publication.asOf.description), "simulated": .bool(isSimulated),
            "attribution": .string(PackSource.attribution(of: request.layers.layers, isSimulated: isSimulated)),
            "legend": .string("legend.png"), "query": .string(request.query),
            "frames": .array(
                zip(request.scenes, ends).map { scene, end in
                    let dataStatus = source.dataStatus(scene, request, in: snapshot)
                    return .object([
                        "time": .string(scene.instant.description), "validUntil": .string(end.description),
                        "file": .string(path(of: scene)), "stale": .bool(dataStatus.freshness.isStale),
                        "incomplete": .bool(dataStatus.isIncomplete || !scene.isWhole),
                    ])
                }),
        ])
    }

    /// Source: docs/http/packs.md, "ForeFlight"
    private var foreFlightManifest: JSONValue {
        let isSimulated = source.dataStatus(request.scenes[0], request, in: snapshot).freshness.isSimulated
        let first = request.scenes[0].instant
        let last = ends.last ?? first
        return .object([
            "name": .string((isSimulated ? "SIMULATED " : "") + "Billow \(request.layers.title) \(first.displayText)"),
            "abbreviation": .string("BILLOW"), "version": .number(Double(snapshot.publication.version.rawValue)),
            "effectiveDate": .string(Self.plain(first)), "expirationDate": .string(Self.plain(last)),
            "organizationName": .string("Billow"),
        ])
    }

    /// Formats an instant as `20261121T02:30:00`, in UTC.
    private static func plain(_ instant: Instant) -> String {
        let text = instant.description
        return "\(text.prefix(10).replacing("-", with: ""))\(text.dropFirst(10).dropLast())"
    }
}
