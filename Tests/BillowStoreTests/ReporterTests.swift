import Geometry
import Testing
import Turbulence

@testable import BillowStore

@Suite("Observations belong to the key that sent them")
struct ReporterTests {
    private func batch(_ reporter: String?, _ observations: Observation..., most: Int? = nil) -> Batch {
        Batch(
            source: nil, observations: observations, reporter: reporter,
            registration: SourceRegistration(
                Set(observations.map(\.source)), simulatedByDefault: false, sourcesPerReporter: most))
    }

    /// The public ids and severities of all that counts.
    private func shown(_ store: any SQLStore) async throws -> [String: UInt8?] {
        let page = try await store.page(after: nil, from: .distantPast, to: .distantFuture, limit: .max)
        let pairs = page.map { row, details in (details.id ?? row.key.id, row.intensity.severity?.rawValue) }
        return try #require(
            Dictionary(pairs) { first, _ in first }.count == pairs.count ? Dictionary(uniqueKeysWithValues: pairs) : nil
        )
    }

    @Test(
        "no other reporter corrects an observation by its id, and both have public ids of their own",
        arguments: StoreKind.all)
    func sameID(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        #expect(try await store.commit(batch("a", observation(id: "x", severity: 4, source: "efb"))).accepted == 1)
        let other = try await store.commit(batch("b", observation(id: "x", severity: 0, source: "efb")))
        #expect(other.accepted == 1 && other.corrected == 0)
        var seen = try await shown(store)
        #expect(seen["x"] == 4 && seen.count == 2)
        // Each can still correct its own.
        let later = try await store.commit(batch("b", observation(id: "x", severity: 1, source: "efb")))
        #expect(later.corrected == 1)
        #expect(try await store.commit(batch("b", observation(id: "x", severity: 1, source: "efb"))).duplicates == 1)
        #expect(try await store.commit(batch("a", observation(id: "x", severity: 3, source: "efb"))).corrected == 1)
        seen = try await shown(store)
        #expect(seen["x"] == 3 && seen.values.sorted { $0 ?? 0 < $1 ?? 0 } == [1, 3])
        #expect(try await store.observation(id: "x")?.row.intensity.severity?.rawValue == 3)
        let key = try #require(seen.keys.first { $0 != "x" })
        #expect(try await store.observation(id: key)?.row.intensity.severity?.rawValue == 1)
        // No one may send the public id of another's observation.
        let thief = try await store.commit(batch("c", observation(id: key, severity: 4, at: 60, source: "efb")))
        #expect(thief.accepted == 1 && thief.corrected == 0)
        #expect(try await store.observation(id: key)?.row.intensity.severity?.rawValue == 1)
        #expect(try await store.problems().isEmpty)
    }

    @Test(
        "no other reporter corrects an observation without id by the id that it is shown with", arguments: StoreKind.all
    )
    func madeID(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        _ = try await store.commit(batch("a", observation(severity: 4, source: "efb")))
        let key = try #require(try await shown(store).keys.first)
        for seconds in [0, 60] {
            let other = try await store.commit(
                batch("b", observation(id: key, severity: 0, at: seconds, source: "efb")))
            #expect(other.corrected == 0)
        }
        #expect(try await shown(store)[key] == 4)
        // Its own reporter does.
        #expect(try await store.commit(batch("a", observation(id: key, severity: 2, source: "efb"))).corrected == 1)
        #expect(try await shown(store)[key] == 2)
    }

    @Test("the same content of two keys is two observations, of one key one", arguments: StoreKind.all)
    func sameContent(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        for reporter in ["a", "b"] {
            #expect(try await store.commit(batch(reporter, observation(source: "efb"))).accepted == 1)
            #expect(try await store.commit(batch(reporter, observation(source: "efb"))).duplicates == 1)
        }
        #expect(try await store.contents().count == 2)
    }

    @Test(
        "what was fetched, imported or stored before belongs to no key: the same is there already, other is another",
        arguments: StoreKind.all)
    func withoutReporter(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        _ = try await store.commit(observation(id: "x", source: "awc"), observation(cell: 30_000, source: "awc"))
        let same = try await store.commit(
            batch("a", observation(id: "x", source: "awc"), observation(cell: 30_000, source: "awc")))
        #expect(same.duplicates == 2)
        let other = try await store.commit(batch("a", observation(id: "x", severity: 0, source: "awc")))
        #expect(other.accepted == 1 && other.corrected == 0)
        #expect(try await shown(store)["x"] == 2)
    }

    @Test("an export of it all comes back as the same, and an import corrects anybody's", arguments: StoreKind.all)
    func imported(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        _ = try await store.commit(
            batch(
                "a", observation(id: "x", severity: 4, source: "efb"), observation(severity: 1, source: "efb")))
        _ = try await store.commit(batch("b", observation(id: "x", severity: 0, source: "efb")))
        let page = try await store.page(after: nil, from: .distantPast, to: .distantFuture, limit: .max)
        let exported = zip(page, try await store.contents()).map { page, observation in
            var observation = observation
            observation.id = page.details.id ?? page.row.key.id
            return observation
        }
        let head = try await store.head()
        #expect(try await store.commit(Batch(source: nil, observations: exported)).duplicates == 3)
        #expect(try await store.head() == head)
        #expect(try await store.commit(observation(id: "x", severity: 2, source: "efb")).corrected == 1)
        #expect(try await shown(store)["x"] == 2)
        // It is still the reporter's.
        #expect(try await store.commit(batch("a", observation(id: "x", severity: 3, source: "efb"))).corrected == 1)
        #expect(try await shown(store)["x"] == 3)
    }

    @Test("a key that takes the id of a fetched observation doesn't hide it", arguments: StoreKind.all)
    func idOfAnotherSource(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        _ = try await store.commit(observation(id: "x", severity: 3, source: "skypath"))
        _ = try await store.commit(batch("a", observation(id: "x", severity: 1, source: "efb")))
        #expect(try await shown(store).count == 2)
        #expect(try await store.observation(id: "x")?.row.intensity.severity?.rawValue == 3)
        #expect(try await store.commit(batch("a", observation(id: "x", severity: 0, source: "efb"))).corrected == 1)
        #expect(try await store.observation(id: "x")?.row.intensity.severity?.rawValue == 3)
    }

    // MARK: Sources

    @Test("a key names a few sources; one that names more changes nothing", arguments: StoreKind.all)
    func sourcesOfKey(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        let known = try await store.sources()
        let many = try (0..<300).map { try observation(cell: 20_000 + $0, source: "name\($0)") }
        var all = Batch(source: nil, observations: many, reporter: "a")
        all.registration = SourceRegistration(
            Set(many.map(\.source)), simulatedByDefault: false, sourcesPerReporter: 4)
        await #expect(throws: StoreError.self) { try await store.commit(all) }
        #expect(try await store.sources() == known)
        #expect(try await store.contents().isEmpty)
        // Four are fine, over any number of batches, known ones among them; the fifth isn't, nor is it registered.
        for name in ["awc", "efb", "efb", "x", "y", "awc"] {
            let result = try await store.commit(batch("a", observation(id: name, source: name), most: 4))
            #expect(result.accepted + result.duplicates == 1)
        }
        let error = await #expect(throws: StoreError.self) {
            try await store.commit(batch("a", observation(source: "z"), most: 4))
        }
        guard case .tooManySourcesOfReporter(4, let named) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(named.map(\.name).sorted() == ["awc", "efb", "x", "y"])
        #expect(try await store.sources().count == known.count + 3)
        // Another key has names of its own to give.
        #expect(try await store.commit(batch("b", observation(source: "z"), most: 4)).accepted == 1)
    }

    @Test("neither reporters nor files use up the numbers that the settings need", arguments: StoreKind.all)
    func reserved(_ kind: StoreKind) async throws {
        let store = try await makeStore(kind)
        for number in 0..<SourceRecord.most {
            let one = try batch("key\(number)", observation(source: "name\(number)"), most: 4)
            do { _ = try await store.commit(one) } catch StoreError.tooManySources { break }
        }
        #expect(try await store.sources().count == SourceRecord.most - SourceRecord.reserved)
        await #expect(throws: StoreError.self) {
            try await store.commit(batch(nil, observation(source: "imported")))
        }
        _ = try await store.register(source("new-upstream"), merge: .replace, simulated: false)
    }
}
