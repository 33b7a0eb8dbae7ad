import BillowRaster
import Foundation
import Geometry
import TestSupport
import Testing
import Turbulence

@testable import BillowTiles

/// What GDAL, a reader that none of us wrote, makes of our vector tiles. `Scripts/setup test` installs it; without it
/// these tests fail.
@Suite("Vector tiles as GDAL reads them")
struct GDALTests {
    private struct Collection: Decodable {
        struct Feature: Decodable {
            var properties: [String: Value]
            var geometry: Geometry
        }

        struct Geometry: Decodable {
            var type: String
            var coordinates: Coordinates
        }

        var features: [Feature]
    }

    /// Nested lists of positions, flat.
    private struct Coordinates: Decodable {
        var places: [[Double]] = []

        init(from decoder: any Decoder) throws {
            if let place = try? decoder.singleValueContainer().decode([Double].self) {
                places = [place]
            } else {
                places = try decoder.singleValueContainer().decode([Coordinates].self).flatMap(\.places)
            }
        }
    }

    /// A property as the decoder of the tests writes it.
    private struct Value: Decodable {
        var text: String?

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                text = nil
            } else if let flag = try? container.decode(Bool.self) {
                text = "\(flag)"
            } else if let number = try? container.decode(Int.self) {
                text = "\(number)"
            } else if let number = try? container.decode(Double.self) {
                text = "\(number)"
            } else {
                text = try container.decode(String.self)
            }
        }
    }

    private struct Failed: Error {
        var words: String
    }

    /// A layer of a tile, in its own coordinates.
    private static func read(_ file: URL, layer: String, _ coord: TileCoord) throws -> Collection {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "ogr2ogr", "-f", "GeoJSON", "/vsistdout/", "MVT:\(file.path)", layer, "-oo", "X=\(coord.x)", "-oo",
            "Y=\(coord.y)", "-oo", "Z=\(coord.z)", "-oo", "CLIP=NO", "-lco", "COORDINATE_PRECISION=9",
        ]
        let output = file.deletingLastPathComponent().appending(path: "\(layer).json")
        try Data().write(to: output)
        process.standardOutput = try FileHandle(forWritingTo: output)
        try process.runWithDeadline()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failed(words: "ogr2ogr ended with \(process.terminationStatus): run Scripts/setup test")
        }
        return try JSONDecoder().decode(Collection.self, from: Data(contentsOf: output))
    }

    @Test("every feature has the same id, properties and vertices, in every kind of geometry")
    func same() throws {
        let coord = try #require(TileCoord(z: 6, x: 33, y: 21))
        func place(_ x: Double, _ y: Double) -> Point { Point(x: (33 + x) / 64, y: (21 + y) / 64) }
        let properties: [(name: String, value: VectorTile.Value)] = [
            ("name", .text("Böe „severe“")), ("whole", .integer(-38_000)), ("edr", .number(0.31)),
            ("ground", .flag(true)),
        ]
        var tile = VectorTile(coord)
        tile.add(
            layer: "points",
            [
                VectorTile.Feature(id: 9_007_199_254_740_991, shape: .point(place(0.5, 0.25)), properties: properties),
                VectorTile.Feature(id: 2, shape: .point(place(-0.01, 1.01)), properties: []),
            ])
        tile.add(
            layer: "lines",
            [
                VectorTile.Feature(
                    id: 3, shape: .lines([[place(-1, 0.5), place(0.3, 0.6), place(2, 0.1)]]), properties: properties)
            ])
        let square = [place(0.1, 0.1), place(0.9, 0.1), place(0.9, 0.9), place(0.1, 0.9)]
        let hole = [place(0.4, 0.4), place(0.6, 0.4), place(0.5, 0.7)]
        tile.add(
            layer: "areas",
            [
                VectorTile.Feature(id: 4, shape: .polygons([[square, hole]]), properties: properties),
                VectorTile.Feature(
                    id: 5, shape: .polygons([[[place(-3, -3), place(4, -3), place(4, 4), place(-3, 4)]]]),
                    properties: []),
            ])
        // The cells of a real picture.
        let cells = VectorTile.cells(of: TilePainterTests.patchwork, in: coord).cells.prefix(200)
        tile.add(
            layer: "cells",
            cells.map { dense, severity in
                VectorTile.Feature(
                    id: UInt64(dense), shape: VectorTile.shape(dense: Int(dense), resolution: 5),
                    properties: [("severity", .integer(Int(severity.rawValue)))])
            })

        let folder = FileManager.default.temporaryDirectory.appending(path: "billow-gdal-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "tile.mvt")
        try Data(tile.bytes).write(to: file)

        let edge = 20_037_508.342789244
        let side = 2 * edge / Double(1 << coord.z)
        for layer in try DecodedVectorTile(tile.bytes).layers {
            let theirs = try Self.read(file, layer: layer.name, coord).features
            #expect(theirs.count == layer.features.count, "\(layer.name)")
            for (feature, other) in zip(layer.features, theirs) {
                #expect(other.properties["mvt_id"]?.text == feature.id.map { "\($0)" }, "\(layer.name)")
                for (name, value) in feature.properties { #expect(other.properties[name]?.text == value, "\(name)") }
                let seen = other.geometry.coordinates.places.map { place in
                    SIMD2(
                        Int((((place[0] + edge) / side - Double(coord.x)) * 4_096).rounded()),
                        Int((((edge - place[1]) / side - Double(coord.y)) * 4_096).rounded()))
                }
                #expect(Set(seen) == Set(feature.parts.joined()), "\(layer.name) \(feature.id ?? 0)")
            }
        }
    }
}
