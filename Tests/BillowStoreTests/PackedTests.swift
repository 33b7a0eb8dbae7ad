import TestSupport
import Testing
import Turbulence

@testable import BillowStore

@Suite("Packed parts in the store")
struct PackedTests {
    /// The one that noon begins.
    private let part = ArchivePart(noon)
    private let bytes: [UInt8] = [0, 1, 2, 255]

    private func pack(_ store: any SQLStore, _ part: ArchivePart, _ bytes: [UInt8]? = nil) async throws -> Version {
        let rows = try await store.rows(of: part)
        #expect(try await store.savePacked(bytes ?? self.bytes, of: rows))
        return rows.version
    }

    @Test("a part is packed as of the version that last changed it, and every later one", arguments: StoreKind.all)
    func aPartIsPackedAsOfTheVersionThatLastChangedItAndEveryLaterOne(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        _ = try await store.commit(observation(id: "a", at: 10))
        let version = try await store.commit(observation(id: "a", severity: 3, at: 10)).version
        _ = try await store.commit(observation(at: -5_000))
        let rows = try await store.rows(of: part)
        #expect(rows.version == version && rows.rows.map(\.intensity.severity) == [.moderate])
        #expect(try await pack(store, part) == version)
        #expect(try await store.packed(part, asOf: version) == bytes)
        #expect(try await store.packed(part, asOf: Version(rawValue: 99)) == bytes)
        #expect(try await store.packed(part, asOf: Version(rawValue: version.rawValue - 1)) == nil)
        #expect(try await store.packed(ArchivePart(number: part.number + 1), asOf: version) == nil)
        #expect(try await store.packedParts() == [part])
        // Another rule changes what replaces what, and no row.
        _ = try await store.register(source("skypath"), merge: .keep, simulated: false)
        #expect(try await store.packed(part, asOf: store.head().version) == bytes)
    }

    @Test("a change of any of its seconds ends it", arguments: StoreKind.all, [0, 1_199])
    func aChangeOfAnyOfItsSecondsEndsIt(_ kind: StoreKind, second: Int) async throws {
        let store = try await makeStore(kind)
        _ = try await store.commit(observation(at: 600))
        _ = try await pack(store, part)
        let changed = try await store.commit(observation(cell: 5, at: second)).version
        #expect(try await store.packed(part, asOf: changed) == nil)
        #expect(try await store.unpackedParts(in: part...part) == [part])
        #expect(try await pack(store, part, []) == changed)
        #expect(try await store.packed(part, asOf: changed) == [])
        #expect(try await store.rows(of: part).rows.count == 2)
    }

    @Test("a part read before a change or a deletion is not stored as packed", arguments: StoreKind.all)
    func whatWasReadBeforeAChangeOrADeletionIsNotKept(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        _ = try await store.commit(observation(cell: 1, at: 10), observation(cell: 2, at: 11, source: "awc"))
        let before = try await store.rows(of: part)
        _ = try await store.commit(observation(cell: 3, at: 12))
        #expect(try await !store.savePacked(bytes, of: before))
        let after = try await store.rows(of: part)
        let pruning = Pruning(before: noon.advanced(by: 20), sources: [try source("awc")])
        #expect(try await store.prune(pruning).observations == 1)
        #expect(try await !store.savePacked(bytes, of: after))
        #expect(try await store.packedParts().isEmpty)
        // What never held anything has no version to be packed at.
        #expect(try await !store.savePacked(bytes, of: store.rows(of: ArchivePart(number: 5))))
    }

    @Test("a deletion takes what is packed of its parts along and nothing else", arguments: StoreKind.all)
    func aDeletionTakesWhatIsPackedOfItsPartsAlongAndNothingElse(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let parts = [-2, -1, 0].map { ArchivePart(number: part.number + $0) }
        var imported = Batch(source: nil, observations: [try observation(cell: 1, at: -2_400)])
        imported.importedBefore = .distantFuture
        _ = try await store.commit(imported)
        _ = try await store.commit(observation(cell: 2, at: -1), observation(cell: 3, at: 0))
        for part in parts { _ = try await pack(store, part) }
        _ = try await store.prune(Pruning(before: noon, sparesImports: true))
        #expect(try await store.packedParts() == [parts[0], parts[2]])
        let head = try await store.head().version
        #expect(try await store.packed(parts[0], asOf: head) == bytes)
        #expect(try await store.packed(parts[2], asOf: head) == bytes)
        _ = try await store.prune(Pruning(before: noon.advanced(by: 5), changesPictures: true))
        #expect(try await store.packedParts().isEmpty)
    }

    @Test("what is to be packed is found the newest first and empty parts are left out", arguments: StoreKind.all)
    func whatIsToBePackedIsFoundTheNewestFirstAndEmptyPartsAreLeftOut(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let seconds = [-40_000_000, -90_000, -4_000, -1, 0, 1_199, 1_200]
        for (cell, second) in seconds.enumerated() {
            _ = try await store.commit(observation(cell: cell + 1, at: second))
        }
        let all = Set(seconds.map { ArchivePart(noon.advanced(by: $0)) }).sorted(by: >)
        let range = ArchivePart(number: 0)...ArchivePart(number: part.number + 100)
        // A step that ends with a part's first second has seconds of the part before it, too.
        #expect(try await Set(store.unpackedParts(in: range)).isSuperset(of: all))
        let found = try await store.unpackedParts(in: range)
        #expect(found == found.sorted(by: >) && found.count <= all.count + 3)
        for part in found { _ = try await pack(store, part) }
        #expect(try await store.unpackedParts(in: range).isEmpty)
        _ = try await store.commit(observation(cell: 60, at: -89_000))
        let changed = ArchivePart(noon.advanced(by: -89_000))
        #expect(try await store.unpackedParts(in: range) == [changed])
        #expect(try await store.unpackedParts(in: part...range.upperBound).isEmpty)
        let gone = part
        try await store.writing { db in try SQLiteStore.discardPacked([gone], db) }
        #expect(try await store.unpackedParts(in: range) == [part, changed])
        #expect(try await store.problems().isEmpty)
    }

    @Test("a backup has them and so has the file after reopening")
    func aBackupHasThemAndSoHasTheFileAfterReopening() async throws {
        let folder = try TemporaryFolder()
        let store = try await SQLiteStore.open(path: folder.path("a.sqlite"))
        _ = try await store.register(source("skypath"), merge: .replace, simulated: false)
        _ = try await store.commit(observation(at: 10))
        let many = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 3) }
        let version = try await pack(store, part, many)
        try await store.backup(to: folder.path("b.sqlite"))
        try store.close()
        for name in ["a.sqlite", "b.sqlite"] {
            let store = try await SQLiteStore.open(path: folder.path(name))
            #expect(try await store.packed(part, asOf: version) == many)
        }
    }
}
