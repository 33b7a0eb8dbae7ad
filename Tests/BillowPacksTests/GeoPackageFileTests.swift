import BillowExchange
import Datasets
import Foundation
import Geometry
import TestSupport
import Testing
import Turbulence

@testable import BillowPacks

@Suite("A GeoPackage's file")
struct GeoPackageFileTests {
    private struct Read: Decodable {
        var features: Int
        var found: Int
        var extent: [Double?]
    }

    private struct Question: Encodable { var package: String }

    private static func random(_ count: Int) throws -> [Feature] {
        var random = SeededGenerator(seed: UInt64(count))
        func share() -> Double { Double(random.next() >> 11) / Double(1 << 53) }
        return try (0..<count).map { number in
            let (longitude, latitude) = (358 * share() - 179, 178 * share() - 89)
            let (width, height) = (share(), share())
            let corners = [(0.0, 0.0), (width, 0), (width, height), (0, height)].map {
                (longitude + $0.0, latitude + $0.1)
            }
            let outline = try corners.map { try #require(LonLat(longitude: $0.0, latitude: min($0.1, 90))) }
            return Feature(
                id: "\(number)", geometry: .polygon(try #require(MultiPolygon(outline: outline)).polygons[0]),
                properties: [("severity", .integer(number % 5))])
        }
    }

    private func write(_ features: [Feature], sortedAtOnce: Int, pieces: Int) throws -> Read {
        let url = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).gpkg")
        defer { try? FileManager.default.removeItem(at: url) }
        let file = try GeoPackageFile(
            creating: url.path, GeoPackageTable(.hazards, isSimulated: false), sortedAtOnce: sortedAtOnce)
        var writer = FeatureWriter(.hazards, in: .rows)
        writer.begin()
        for (number, feature) in features.enumerated() {
            if number % 3 == 0, case .polygon(let rings) = feature.geometry {
                // Polygon by polygon, as large features come.
                writer.begin(polygonsOf: feature)
                if number % 6 == 0 { try file.add(writer.drain()) }
                writer.write(polygon: rings)
                writer.end(polygonsOf: feature)
            } else {
                writer.write(feature)
            }
            if number % pieces == 0 { try file.add(writer.drain()) }
        }
        writer.end()
        try file.add(writer.drain())
        #expect(file.features == features.count)
        try file.finish(
            GeoPackageMetadata(
                title: "Test", description: "A <test> & more", changed: .distantPast, members: [("a", "<&\">")],
                style: nil))
        return try Oracle.ask("geopackages.py", Question(package: url.path))
    }

    @Test(
        "the spatial index finds what it should, whatever the number of features and stretches",
        arguments: [
            (0, 10), (1, 10), (51, 100), (52, 100), (103, 60), (3_000, 1_000), (20_000, 3_000), (20_000, 100_000),
        ])
    func index(features: Int, sortedAtOnce: Int) throws {
        let read = try write(try Self.random(features), sortedAtOnce: sortedAtOnce, pieces: 100)
        #expect(read.features == features)
        #expect(read.found >= features * 9 / 10)
        #expect((read.extent[0] == nil) == (features == 0))
    }

    @Test("no property of a dataset has the name of a column that every table has")
    func names() {
        for dataset in Catalogue.all {
            let names = dataset.properties.map { $0.name.description.lowercased() }
            #expect(Set(names).isDisjoint(with: ["fid", "id", "geom", "simulated"]) && Set(names).count == names.count)
            #expect(names.allSatisfy { !$0.contains("\"") })
        }
    }
}
