import Datasets
import Foundation
import Geometry
import Turbulence

@testable import AviationFormats
@testable import BillowExchange
@testable import BillowRaster
@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters
@testable import BillowSnapshot
@testable import BillowTiles
@testable import BillowTimeline
@testable import OpenSky
@testable import SkyPath

/// The parsers of foreign text and of bytes from a disk. Each gets any bytes, and must accept or refuse them. None may
/// trap, or give what its types forbid. Driven by libFuzzer (`make fuzz`), and over the corpus by the tests.
public enum FuzzTarget: String, CaseIterable, Sendable {
    /// `z/x/y.png`, then layers and time.
    case tile
    /// A query string of pictures, features and timelines.
    case query
    case style
    /// GeoJSON, lines, sequences and CSV of every kind.
    case file
    case skypath
    case aviationweather
    case opensky
    /// Bodies of areas, routes and alerts, and well-known text.
    case body
    /// Packed parts of the archive.
    case packed
    /// Messages of GRIB2, and their values.
    case grib
    /// NOAA's files as they come, their indexes, and its directories.
    case guidance

    /// Any fixed time.
    private static let now = Instant(clamping: 1_795_262_400)

    public func run(_ bytes: [UInt8]) {
        switch self {
        case .tile: Self.tile(String(decoding: bytes, as: UTF8.self))
        case .query: Self.query(String(decoding: bytes, as: UTF8.self))
        case .style:
            var file = StyleFile(name: "fuzz.json")
            let style = file.read(Data(bytes))
            precondition((style == nil) == !file.problems.isEmpty, "a style or its problems")
        case .file: Self.file(bytes)
        case .skypath: Self.skyPath(bytes)
        case .aviationweather:
            _ = try? PilotReportDecoder.decode(Data(bytes))
            _ = try? HazardDecoder.catalogue.decode(Data(bytes))
        case .opensky:
            _ = try? OpenSkyReplyReader.states(bytes)
            _ = try? OpenSkyReplyReader.flights(bytes)
            _ = try? OpenSkyReplyReader.track(bytes)
        case .body: Self.body(bytes)
        case .packed: Self.packed(bytes)
        case .grib: GRIBFuzz.run(bytes)
        case .guidance: GuidanceFuzz.run(bytes)
        }
    }

    private static func tile(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 4, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 5 else { return }
        if let path = try? TilePath(z: parts[0], x: parts[1], y: parts[2]) {
            let side = 1 << path.coord.z
            precondition((0...22).contains(path.coord.z), "zoom")
            precondition((0..<side).contains(path.coord.x) && (0..<side).contains(path.coord.y), "row and column")
        }
        if let list = try? LayerList(parts[3]) {
            precondition((1...10).contains(list.layers.count) && Set(list.layers).count == list.layers.count, "layers")
        }
        _ = try? QueryReader.time(parts[4])
    }

    private static func query(_ text: String) {
        let pairs = text.split(separator: "&").map { pair in
            pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        }
        let reader = QueryReader(Dictionary(pairs.map { ($0[0], $0.count > 1 ? $0[1] : "") }) { first, _ in first })
        if let filter = try? reader.filter(of: Catalogue.layers, for: .pictures) {
            precondition(filter.altitudes.minimum < filter.altitudes.maximum, "altitudes")
        }
        if let region = try? reader.region(defaultWidth: 640) {
            precondition((0...22).contains(region.zoom) && region.metresPerPixel > 0, "region")
            let content = MapContent(LayerList(.hazards), of: PictureData(instant: now), in: region)
            precondition(content.blocks.isEmpty, "nothing")
        }
        _ = try? reader.datetime()
        _ = try? reader.time()
        _ = try? reader.polygonMode()
        _ = try? reader.labels()
        _ = try? PolygonShape(reader)
        _ = reader.passedOn(QueryReader.filterNames)
        if let asked = try? reader.timeline(TimelineDefaults()),
            let timeline = try? asked.resolved(now: now, defaults: TimelineDefaults())
        {
            let times = timeline.times()
            precondition(times.count <= timeline.intervals && times == times.sorted() && !times.isEmpty, "frames")
        }
    }

    private static func file(_ bytes: [UInt8]) {
        // As it comes from a disk: the cut may be anywhere, and makes no difference.
        func items(cut: Int) -> [ImportItem] {
            var reader = ImportReader(now: now)
            var items = reader.read(bytes[..<cut])
            items += reader.read(bytes[cut...])
            return items + reader.finish()
        }
        precondition(items(cut: 0) == items(cut: bytes.count / 2), "pieces")
    }

    private static func skyPath(_ bytes: [UInt8]) {
        let reader = SkyPathReplyReader(wire: SkyPathWire(), limits: SkyPathLimits())
        _ = try? reader.corridor(bytes)
        _ = try? reader.map(bytes)
        _ = try? reader.hexagons(bytes, parent: 0x8029_FFFF_FFFF_FFFF)
        let assumed = AssumedReader(limits: SkyPathLimits())
        _ = try? assumed.areas(bytes)
        _ = try? assumed.flights(bytes)
        _ = try? assumed.pilotReports(bytes)
    }

    private static func packed(_ bytes: [UInt8]) {
        _ = try? WindowPart(ArchivePart(now), packed: bytes)
        // The checksum, and whose it is, would hold nearly everything up.
        guard bytes.count >= PackedHeader.length else { return }
        var sealed = bytes
        sealed.replaceSubrange(
            8..<12, with: withUnsafeBytes(of: UInt32(ArchivePart(now).number).littleEndian, Array.init))
        PackedHeader.seal(&sealed)
        guard let part = try? WindowPart(ArchivePart(now), packed: sealed) else { return }
        let again = try? WindowPart(ArchivePart(now), packed: part.packed())
        precondition(again?.packed() == part.packed(), "the same rows once more")
        let rules = SourceID("fuzz").map { id in
            [SourceRecord(number: SourceNumber(rawValue: 0), id: id, merge: .replace)]
        }
        let frame = Frame(
            window: Window(joining: [part], sources: rules ?? []), at: part.part.end.advanced(by: -1), filter: Filter(),
            table: SeverityTable())
        let known = frame.currentObservations()
        precondition(known.allSatisfy { ArchivePart($0.row.observedAt) == part.part }, "rows of the part")
        precondition((frame.plane().count > 0) || known.isEmpty, "cells of records")
    }

    private static func body(_ bytes: [UInt8]) {
        _ = WellKnownText.shape(String(decoding: bytes, as: UTF8.self))
        if let body = try? JSONDecoder().decode(ShapeBody.self, from: Data(bytes)) { _ = body }
        if let body = try? JSONDecoder().decode(AlertBody.self, from: Data(bytes)) {
            _ = try? body.request(.large, areaLimitKm2: 10_000_000)
        }
    }
}
