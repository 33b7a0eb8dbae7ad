import BillowFields
import BillowStore
import Datasets
import EngineTestSupport
import Geometry
import JSONKit
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP

@Suite("Extents of collections")
struct ExtentTests {
    private static let retention = 7 * 86_400

    /// An area of a dataset, valid between two seconds from noon.
    private func area(
        _ collection: IssuedArea.DatasetNumber, _ id: String, _ kind: String, from: Int, to: Int, history: Int? = nil
    ) throws -> IssuedArea {
        let corners = try [(0.0, 0.0), (1, 0), (1, 1), (0, 1)].map { try place(-80 + $0, 40 + $1) }
        return IssuedArea(
            collection: collection, id: id, source: try source("awc"), kind: kind, severity: .moderate,
            validFrom: noon.advanced(by: from), validTo: noon.advanced(by: to), historySeconds: history,
            geometry: try MultiPolygon(outline: corners).orMissing())
    }

    /// Records of each dataset: within the retention, before it, at its edges, and in the future where that is
    /// possible. The oldest area ends last.
    private func batch() throws -> Batch {
        let awc = try source("awc")
        let old = -Self.retention - 4_000
        var areas: [IssuedArea] = []
        for (number, dataset) in Catalogue.all.enumerated() {
            guard let collection = dataset.issuedAreas, let kind = dataset.areaKinds.first?.id else { continue }
            areas += [
                try area(collection, "long", kind, from: old - 100 * number, to: 90_000 + number),
                try area(collection, "short", kind, from: old, to: old + 600),
                try area(collection, "now", kind, from: -60, to: 60, history: collection == .polygons ? 7_200 : nil),
            ]
        }
        let aircraft = try ["4ca001", "4ca002"].map { try ICAO24($0).orMissing("an address") }
        let positions = try aircraft.flatMap { address in
            try [old, old + 60, -120, -60, 0].map { seconds in
                AircraftPosition(
                    icao24: address, place: try place(10 + Double(seconds % 7), 50), source: awc,
                    observedAt: noon.advanced(by: seconds))
            }
        }
        let grid = try TestField.grid()
        let runs: [(FieldProduct, Int, Int)] = [
            (.nowcast, -600, 0), (.forecast, -7_200, 7_200), (.forecast, -7_200, 14_400),
        ]
        let fields = try runs.map {
            try TestField.draft($0.0, run: noon.advanced(by: $0.1), lead: $0.2, number: 60, on: grid)
        }
        let observations = try [old, -3_600, -60, 0].map {
            try observation(id: "o\($0)", try cell(10, 50), at: $0, source: "awc")
        }
        let reports = try [old - 5, -60, 0].map { seconds in
            PilotReport(
                id: "p\(seconds)", place: try place(-80, 26), observedAt: noon.advanced(by: seconds), type: "PIREP",
                aircraft: nil, altitudeFeet: 35_000,
                turbulence: [
                    TurbulenceGroup(
                        severity: .moderate, intensity: "MOD", baseFeet: nil, topFeet: nil, type: nil, frequency: nil)
                ], text: "UA /TB MOD", source: awc)
        }
        return Batch(
            source: awc, observations: observations, pilotReports: reports, areas: areas, positions: positions,
            fields: fields)
    }

    /// The times that a feature names, by property.
    private func times(_ feature: JSON, _ dataset: Dataset) -> [(name: String, time: Instant)] {
        let properties = dataset.properties.filter { $0.type == .instant || $0.type == .instants }
        return properties.flatMap { property -> [(name: String, time: Instant)] in
            // A run and an issue are before what they are about.
            guard !["run", "issuedAt"].contains("\(property.name)") else { return [] }
            let value = feature.property("\(property.name)")
            let texts = value?.array?.compactMap(\.string) ?? [value?.string].compactMap { $0 }
            return texts.compactMap { text in Instant(text).map { (name: "\(property.name)", time: $0) } }
        }
    }

    @Test("the interval of a collection covers the times of every feature that it has", arguments: Catalogue.all)
    func covering(_ dataset: Dataset) async throws {
        let batch = try batch()
        try await withWorld { world in
            _ = try await world.store.commit(batch)
            try await world.refresh()
            let path = "/collections/\(dataset.id)"
            let texts = try await world.json(path)["extent"]?["temporal"]?["interval"]?[0]?.items.compactMap(\.string)
            let ends = (texts ?? []).compactMap { Instant($0) }
            try #require(ends.count == 2, "\(texts ?? [])")
            // The interval itself selects them all, and so do the instants of pictures.
            var queries = ["datetime=../..", "datetime=\(ends[0])/\(ends[1])", "time=latest"]
            for seconds in [-Self.retention, -60, 0, 7_200] {
                queries.append("datetime=\(noon.advanced(by: seconds))")
            }
            var features = 0
            for query in queries {
                for feature in try await world.json("\(path)/items?\(query)&limit=10000").features {
                    features += 1
                    for (name, time) in times(feature, dataset) {
                        #expect(time >= ends[0] && time <= ends[1], "\(query): \(name) \(time) is outside \(ends)")
                    }
                }
            }
            #expect(features > 0)
            // An interval that is given as the extent selects what open ends do.
            let open = try await world.json("\(path)/items?datetime=../..&limit=10000").features.count
            let interval = "datetime=\(ends[0])/\(ends[1])"
            let closed = try await world.json("\(path)/items?\(interval)&limit=10000").features.count
            #expect(open == closed)
        }
    }

    @Test(
        "the interval of areas ends with the last end of validity", arguments: Catalogue.all.filter { $0.areas != nil })
    func lastEnd(_ dataset: Dataset) async throws {
        let batch = try batch()
        try await withWorld { world in
            _ = try await world.store.commit(batch)
            try await world.refresh()
            let last = batch.areas.filter { $0.collection == dataset.areas }.map(\.validTo).max()
            let interval = try await world.json("/collections/\(dataset.id)")["extent"]?["temporal"]?["interval"]?[0]
            #expect(interval?[1]?.string == last?.description)
            // Frames end a second earlier, because at its end an area is over.
            let tiles = try await world.json("/tiles/\(dataset.id).json")
            #expect(tiles["time"]?["extent"]?[1]?.string == last?.advanced(by: -1).description)
        }
    }
}
