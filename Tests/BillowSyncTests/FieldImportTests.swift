import BillowExchange
import BillowFields
import BillowStore
import Foundation
import GRIBKit
import GRIBMaking
import Geometry
import TestSupport
import Testing
import Turbulence
import UpstreamSimulator

@testable import BillowSync

@Suite("Imports of grids")
struct FieldImportTests {
    private static let run = 1_795_212_000

    /// A folder for the time of a test, with an importer into an empty store.
    private func withFolder(
        simulated: Bool? = false, _ body: (URL, SQLiteStore, FileImporter) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await SQLiteStore.temporary()
        try await body(
            folder, store,
            FileImporter(store: store, now: { Instant(clamping: Self.run + 86_400) }, simulated: simulated))
    }

    private func write(_ bytes: [UInt8], _ name: String, in folder: URL) throws -> String {
        let file = folder.appending(path: name)
        try Data(bytes).write(to: file)
        return file.path
    }

    private func frames(_ store: SQLiteStore) async throws -> [FieldFrame] {
        try await store.fields(asOf: nil).index.frames
    }

    @Test("a whole file of GTG becomes a field of each level and the column, and the same again changes nothing")
    func wholeFile() async throws {
        let content = SimulatedGuidance(seed: 7, extent: .whole, every: 120)
        let file = SimulatedGuidanceFile(product: .gtg, runSeconds: Self.run, leadHours: 3)
        var bytes: [UInt8] = []
        for message in content.messages(of: file) { bytes += await content.bytes(of: message, in: file) }
        let all = bytes
        try await withFolder(simulated: true) { folder, store, importer in
            let path = try write(all, "dafs.t21z.gtg.3km.conus.f003.grib2", in: folder)
            let summary = try await importer.importFile(path)
            #expect(summary.fields == ["gtg": 52] && summary.refusedCount == 0 && summary.read == 205)
            #expect(summary.leftOut == ["another parameter than EDR": 153])
            let frame = try #require(try await frames(store).first)
            #expect(frame.identity.product == .forecast && frame.identity.lead == 10_800)
            #expect(frame.source.name == "noaa-gtg" && frame.levels.count == 52)
            for record in frame.levels {
                guard case .feet(let feet) = record.level else { continue }
                let plane = try #require(try await store.fieldPlane(row: record.row))
                let made = content.edrs(of: file, altitudeFeet: Int(feet))
                #expect(
                    zip(plane.values, made).allSatisfy { stored, made in
                        made.isNaN ? stored == FieldPlane.missing : abs(Float(stored) / 100 - made) < 0.01
                    })
            }
            let again = try await importer.importFile(path)
            #expect(again.duplicates == 52)
            #expect(try await frames(store).count == 1)
        }
    }

    private static let grids: [GRIBGrid] = {
        guard let first = LonLat(longitude: 10, latitude: 50), let last = LonLat(longitude: 19, latitude: 45) else {
            preconditionFailure("places")
        }
        // From the north-west southward, as most models list their points.
        let southward = ScanningMode(rawValue: 0)!
        return [
            GRIBGrid(
                shape: .wgs84, columns: 10, rows: 6, scanning: southward, template: .lonLat(first: first, last: last)),
            GRIBGrid(
                shape: .sphere, columns: 10, rows: 6, scanning: .normalised,
                template: .polarStereographic(
                    first: first, orientation: 15, trueLatitude: 60, south: false, dx: 20_000, dy: 20_000)),
            GRIBGrid(
                shape: .sphere, columns: 10, rows: 6, scanning: southward,
                template: .lambertConformal(
                    first: first, orientation: 15, parallels: (45, 50), dx: 20_000, dy: 20_000)),
        ]
    }()

    @Test("grids of each template come with their values in place", arguments: grids.indices)
    func templates(_ index: Int) async throws {
        let grid = Self.grids[index]
        var draft = GRIBDraft(
            grid: grid, referenceSeconds: Self.run, values: (0..<grid.count).map { Float($0) / 100 })
        draft.values[7] = .nan
        draft.lead = .hours(6)
        let bytes = try draft.message()
        try await withFolder { folder, store, importer in
            let summary = try await importer.importFile(try write(bytes, "edr.grb", in: folder))
            #expect(summary.fields == ["gtg": 1] && summary.refusedCount == 0)
            let stored = try await store.fields(asOf: nil)
            let frame = try #require(stored.index.frames.first)
            #expect(stored.grids[frame.grid] == (try grid.definition()))
            let plane = try #require(try await store.fieldPlane(row: frame.levels[0].row))
            #expect(plane.values == (0..<60).map { $0 == 7 ? FieldPlane.missing : UInt8($0) })
            #expect(frame.levels.map(\.level) == [.feet(35_000)])
        }
    }

    @Test("a grid of another centre than NOAA's has the number of the centre as its source")
    func centres() async throws {
        for (centre, source) in [(7, "noaa-gtg"), (98, "centre-98")] as [(UInt8, String)] {
            let bytes = try GRIBDraft(
                grid: Self.grids[0], referenceSeconds: Self.run, values: (0..<60).map { Float($0) / 100 }
            ).message()
            // Octet 7 of section 1.
            let message = bytes[..<22] + [centre] + bytes[23...]
            try await withFolder { folder, store, importer in
                _ = try await importer.importFile(try write(Array(message), "edr.grb", in: folder))
                #expect(try await frames(store).map(\.source.name) == [source])
            }
        }
    }

    @Test("which product a field is of is told by the file's name, its packing and its time")
    func products() async throws {
        func product(_ name: String, minutes: Int = 0, lead: Int = 0, jpeg: Bool = false) async throws -> String? {
            var draft = GRIBDraft(
                grid: Self.grids[2], referenceSeconds: Self.run + minutes * 60,
                values: (0..<60).map { Float($0) / 100 })
            draft.lead = .hours(lead)
            if jpeg { draft.packing = .jpeg2000 }
            let bytes = try draft.message()
            var found: String?
            try await withFolder { folder, _, importer in
                found = try await importer.importFile(try write(bytes, name, in: folder)).fields.keys.first
            }
            return found
        }
        #expect(try await product("gtgn.t2100z.3km.grib2") == "gtgn")
        #expect(try await product("dafs.t21z.gtg.3km.conus.f000.grib2", jpeg: true) == "gtg")
        #expect(try await product("a", minutes: 15) == "gtgn")
        #expect(try await product("a") == "gtg")
        #expect(try await product("a", jpeg: true) == "gtgn")
        #expect(try await product("a", lead: 2, jpeg: true) == "gtg")
    }

    @Test("what is broken is refused by message and reason, and the rest is accepted") func broken() async throws {
        func message(_ feet: Int, _ change: (inout GRIBDraft) -> Void = { _ in }) throws -> [UInt8] {
            var draft = GRIBDraft(
                grid: Self.grids[2], referenceSeconds: Self.run, values: (0..<60).map { Float($0) / 100 })
            draft.level = .altitude(AltitudeLevel(feet: feet))
            change(&draft)
            return try draft.message()
        }
        var cut = try message(12_000)
        cut.removeLast(20)
        let bytes =
            Array("ZCZC 001 YTXX99 KWBC\r\r\n".utf8) + (try message(10_000))
            + (try message(11_000) { $0.values[3] = -0.5 })
            + (try message(10_000)) + (try message(14_000) { $0.referenceSeconds += 200_000 })
            + (try message(15_000) { $0.level = .column }) + cut
        try await withFolder { folder, store, importer in
            let summary = try await importer.importFile(try write(bytes, "gtg.grib2", in: folder))
            #expect(
                summary.refusedMessages == [
                    "EDR outside 0–2.54": [2], "message: duplicate": [3], "a run in the future": [4],
                    "message: truncated": [6],
                ])
            #expect(summary.description.contains("refused, message: truncated: 1 (message 6)"))
            #expect(try await frames(store).first?.levels.map(\.level) == [.column, .feet(10_000)])
        }
    }

    /// A message of a level on one of the grids, with a value in its first point.
    private static func message(_ feet: Int, grid: Int = 2, first: Float = 0) throws -> [UInt8] {
        let grid = grids[grid]
        var draft = GRIBDraft(
            grid: grid, referenceSeconds: run, values: (0..<grid.count).map { Float($0) / 100 })
        draft.values[0] = first
        draft.level = .altitude(AltitudeLevel(feet: feet))
        return try draft.message()
    }

    @Test("the grid of most levels is the field's, and a message of another is refused", arguments: [0, 2, 4])
    func oddGrid(_ position: Int) async throws {
        var messages = try [10_000, 12_000, 14_000, 16_000].map { try Self.message($0) }
        messages.insert(try Self.message(12_000, grid: 1), at: position)
        let bytes = messages.flatMap(\.self)
        let (odd, rest) = (try Self.message(18_000, grid: 1), try Self.message(20_000))
        try await withFolder { folder, store, importer in
            let summary = try await importer.importFile(try write(bytes, "gtg.grib2", in: folder))
            #expect(summary.refusedMessages == ["another grid than the rest of the file": [position + 1]])
            #expect(summary.fields == ["gtg": 4] && summary.duplicates == 0)
            let feet: [UInt16] = [10_000, 12_000, 14_000, 16_000]
            #expect(try await frames(store).first?.levels.map(\.level) == feet.map { .feet($0) })
            // The stored levels decide for later files.
            let later = try await importer.importFile(try write(odd + odd + rest, "gtg-2.grib2", in: folder))
            #expect(later.fields == ["gtg": 1])
            #expect(later.refusedMessages["another grid than the rest of the file"] == [1])
            let stored = try await store.fields(asOf: nil)
            #expect(stored.index.frames.map { stored.grids[$0.grid] } == [try Self.grids[2].definition()])
        }
    }

    @Test(
        "a reference value that is no finite number is refused, in every packing",
        arguments: [Float.nan, .infinity, -.infinity], GRIBDraft.Packing.allCases.filter { $0 != .ieee })
    func reference(_ value: Float, _ packing: GRIBDraft.Packing) async throws {
        var draft = GRIBDraft(
            grid: Self.grids[2], referenceSeconds: Self.run, values: (0..<60).map { Float($0) / 100 })
        draft.packing = packing
        var bytes = try draft.message()
        var section = 16
        while bytes[section + 4] != 5 {
            section += bytes[section..<(section + 4)].reduce(0) { $0 << 8 | Int($1) }
        }
        bytes.replaceSubrange(
            (section + 11)..<(section + 15), with: withUnsafeBytes(of: value.bitPattern.bigEndian, Array.init))
        let file = bytes + (try Self.message(10_000))
        try await withFolder { folder, store, importer in
            let summary = try await importer.importFile(try write(file, "gtg.grib2", in: folder))
            #expect(summary.refusedMessages == ["message: invalid": [1]])
            #expect(try await frames(store).first?.levels.map(\.level) == [.feet(10_000)])
        }
    }

    @Test("levels out of order make the same field as levels in order") func order() async throws {
        let levels = [34_000, 12_000, 50_000, 100, 20_000]
        func frame(_ feet: [Int]) async throws -> [FieldLevel: [UInt8]] {
            var bytes: [UInt8] = []
            for feet in feet {
                var draft = GRIBDraft(
                    grid: Self.grids[2], referenceSeconds: Self.run,
                    values: (0..<60).map { Float($0 + feet / 1_000) / 100 })
                draft.level = .altitude(AltitudeLevel(feet: feet))
                bytes += try draft.message()
            }
            let file = bytes
            var planes: [FieldLevel: [UInt8]] = [:]
            try await withFolder { folder, store, importer in
                let summary = try await importer.importFile(try write(file, "gtg.grib2", in: folder))
                #expect(summary.fields == ["gtg": 5] && summary.refusedCount == 0)
                let levels = try #require(try await frames(store).first).levels
                #expect(levels.map(\.level) == feet.sorted().map { .feet(UInt16($0)) })
                for record in levels { planes[record.level] = try await store.fieldPlane(row: record.row)?.values }
            }
            return planes
        }
        let sorted = try await frame(levels.sorted())
        #expect(sorted.count == 5)
        #expect(try await frame(levels) == sorted)
        #expect(try await frame(levels.sorted().reversed()) == sorted)
    }

    @Test("a grid that says that it is a test goes only where all is simulated", arguments: [false, nil])
    func test(_ simulated: Bool?) async throws {
        var draft = GRIBDraft(
            grid: Self.grids[0], referenceSeconds: Self.run, values: (0..<60).map { Float($0) / 100 })
        draft.productionStatus = .operationalTest
        let bytes = try draft.message()
        try await withFolder(simulated: simulated) { folder, store, importer in
            let path = try write(bytes, "gtg.grib2", in: folder)
            await #expect(throws: SimulatedDataError.self) { try await importer.importFile(path) }
            #expect(try await frames(store).isEmpty)
            _ = try await store.register(try SourceID("simulator-noaa").orMissing(), merge: .keep, simulated: true)
            if simulated == nil {
                #expect(try await importer.importFile(path).fieldCount == 1)
                #expect(try await store.sources().allSatisfy { $0.simulated == true })
            } else {
                await #expect(throws: SimulatedDataError.self) { try await importer.importFile(path) }
            }
        }
    }

    @Test("real grids are not mixed with a simulated database") func simulated() async throws {
        let bytes = try GRIBDraft(
            grid: Self.grids[0], referenceSeconds: Self.run, values: (0..<60).map { Float($0) / 100 }
        ).message()
        try await withFolder { folder, store, importer in
            let simulator = try SourceID("simulator-noaa").orMissing()
            _ = try await store.register(simulator, merge: .keep, simulated: true)
            let path = try write(bytes, "gtg.grib2", in: folder)
            await #expect(throws: SimulatedDataError.self) { try await importer.importFile(path) }
            let own = FileImporter(
                store: store, now: { Instant(clamping: Self.run) }, source: simulator, simulated: nil)
            #expect(try await own.importFile(path).fieldCount == 1)
        }
    }
}
