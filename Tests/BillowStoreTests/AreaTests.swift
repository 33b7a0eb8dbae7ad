import Datasets
import Geometry
import Testing
import Turbulence

@testable import BillowStore

private func batch(_ areas: [IssuedArea], replacing kind: String? = nil, at seconds: Int? = nil) throws -> Batch {
    Batch(
        source: try source("awc"), areas: areas,
        areaReplacements: seconds.map {
            [AreaReplacement(collection: .hazards, kind: kind, at: noon.advanced(by: $0))]
        } ?? [])
}

@Suite("Issued areas in the log")
struct AreaTests {
    @Test("beginnings and ends in a range are told each once as a version has them", arguments: StoreKind.all)
    func beginningsAndEndsInARangeAreToldEachOnceAsAVersionHasThem(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let first = try await store.commit(batch([area("a", from: -60, to: 60), area("b", from: 60, to: 120)]))
        let second = try await store.commit(batch([area("b", from: 60, to: 90)]))
        func changes(_ from: Int, _ to: Int, asOf version: Version) async throws -> [Int] {
            try await store.areaChanges(
                of: .hazards, in: noon.advanced(by: from)...noon.advanced(by: to), asOf: version
            ).map { $0.seconds - noon.seconds }
        }
        #expect(try await changes(-60, 200, asOf: second.version) == [-60, 60, 90])
        #expect(try await changes(-60, 200, asOf: first.version) == [-60, 60, 120])
        #expect(try await changes(-59, 89, asOf: second.version) == [60])
        #expect(try await changes(91, 200, asOf: second.version) == [])
    }

    @Test("what is written is read back to the last digit", arguments: StoreKind.all)
    func whatIsWrittenIsReadBackToTheLastDigit(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        var areas = [try area("a", text: "words \"quoted\" é"), try area("b", longitude: 179.5)]
        areas[1].statedTo = noon.advanced(by: 7_200)
        #expect(try await store.commit(batch(areas)).areas == 2)
        #expect(try await store.areas(.hazards, from: noon, to: noon.advanced(by: 1), asOf: nil) == areas)
        #expect(try await store.areas(.forecast, from: noon, to: noon.advanced(by: 1), asOf: nil).isEmpty)
    }

    @Test(
        "it holds from its start to before its end", arguments: [(-1, false), (0, true), (3_599, true), (3_600, false)])
    func itHoldsFromItsStartToBeforeItsEnd(at seconds: Int, holds: Bool) async throws {
        let store = try await makeStore()
        _ = try await store.commit(batch([area("a")]))
        let at = noon.advanced(by: seconds)
        #expect(try await store.areas(nil, from: at, to: at.advanced(by: 1), asOf: nil).isEmpty != holds)
    }

    @Test("the same again changes nothing and other content corrects", arguments: StoreKind.all)
    func theSameAgainChangesNothingAndOtherContentCorrects(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let first = try await store.commit(batch([area("a")]))
        #expect(try await store.commit(batch([area("a")])).version == first.version)
        let second = try await store.commit(batch([area("a", text: "amended")]))
        #expect(second.areas == 1 && second.version > first.version)
        let now = try await store.areas(nil, from: noon, to: .distantFuture, asOf: nil)
        #expect(now.map(\.text) == ["amended"])
        let before = try await store.areas(nil, from: noon, to: .distantFuture, asOf: first.version)
        #expect(before.map(\.text) == [nil])
    }

    @Test("issues that follow each other share an id and each holds in its time", arguments: StoreKind.all)
    func issuesThatFollowEachOtherShareAnIdAndEachHoldsInItsTime(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        _ = try await store.commit(batch([area("a", text: "first")]))
        let result = try await store.commit(
            batch([area("a", from: 1_800, text: "second")], replacing: "gairmet", at: 1_800))
        #expect(result.areas == 2)
        for (seconds, text) in [(0, "first"), (1_799, "first"), (1_800, "second"), (3_599, "second")] {
            let at = noon.advanced(by: seconds)
            #expect(try await store.areas(nil, from: at, to: at.advanced(by: 1), asOf: nil).map(\.text) == [text])
        }
    }

    @Test("a complete fetch ends what it no longer has", arguments: StoreKind.all)
    func aCompleteFetchEndsWhatItNoLongerHas(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let areas = [
            try area("kept"), try area("ended"), try area("never", from: 1_800), try area("other", kind: "sigmet"),
        ]
        let first = try await store.commit(batch(areas))
        let result = try await store.commit(batch([area("kept")], replacing: "gairmet", at: 600))
        #expect(result.areas == 2)
        func ids(_ seconds: Int, asOf version: Version? = nil) async throws -> [String] {
            let at = noon.advanced(by: seconds)
            return try await store.areas(nil, from: at, to: at.advanced(by: 1), asOf: version).map(\.id)
        }
        #expect(try await ids(599) == ["ended", "kept", "other"])
        #expect(try await ids(600) == ["kept", "other"])
        #expect(try await ids(2_000) == ["kept", "other"])
        #expect(try await ids(2_000, asOf: first.version) == ["ended", "kept", "never", "other"])
        // What has ended is not ended again.
        #expect(try await store.commit(batch([area("kept")], replacing: "gairmet", at: 660)).areas == 0)
    }

    @Test("what a bulletin replaces holds until that begins", arguments: [540, 660])
    func whatABulletinReplacesHoldsUntilThatBegins(fetchedAt: Int) async throws {
        // Convective SIGMETs begin at 55 minutes past the hour: here at 10 minutes past noon.
        func convective(_ name: String, from: Int) throws -> IssuedArea {
            var area = try area("sigmet-\(name)", kind: "sigmet", from: from, to: from + 7_200)
            area.hazard = "CONVECTIVE"
            area.issuedAt = area.validFrom
            return area
        }
        let store = try await makeStore()
        let tango = try area("sigmet-tango", kind: "sigmet", from: -7_200, to: 7_200)
        _ = try await store.commit(batch([convective("12e", from: -3_000), convective("13e", from: -3_000), tango]))
        func ids(_ seconds: Int) async throws -> [String] {
            let at = noon.advanced(by: seconds)
            return try await store.areas(nil, from: at, to: at.advanced(by: 1), asOf: nil).map(\.id)
        }
        let bulletin = try batch([convective("14e", from: 600)], replacing: "sigmet", at: fetchedAt)
        #expect(try await store.commit(bulletin).areas == 4)
        // The one that nothing replaced ends when it was missing.
        let before = fetchedAt > 599 ? ["sigmet-tango"] : []
        #expect(try await ids(599) == ["sigmet-12e", "sigmet-13e"] + before)
        #expect(try await ids(600) == ["sigmet-14e"] + before)
        #expect(try await ids(661) == ["sigmet-14e"])
        #expect(try await store.commit(bulletin).areas == 0)
    }

    @Test("a replacement needs a source", arguments: StoreKind.all)
    func aReplacementNeedsASource(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let batch = Batch(
            source: nil, areaReplacements: [AreaReplacement(collection: .hazards, kind: nil, at: noon)])
        await #expect(throws: StoreError.self) { try await store.commit(batch) }
    }

    @Test("a delta carries what came and went", arguments: StoreKind.all)
    func aDeltaCarriesWhatCameAndWent(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let first = try await store.commit(batch([area("a")]))
        _ = try await store.commit(batch([area("a", text: "amended"), area("b")]))
        let changes = try await store.changes(since: first.version)
        #expect(Set(changes.openedAreas.map(\.id)) == ["a", "b"])
        #expect(changes.closedAreas.map(\.text) == [nil])
    }
}
