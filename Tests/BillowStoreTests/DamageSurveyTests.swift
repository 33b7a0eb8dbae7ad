import Foundation
import GRDB
import TestSupport
import Testing
import Turbulence

@testable import BillowStore

@Suite("A survey for damage")
struct DamageSurveyTests: DamagedFiles {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test("a survey jumps over years without a row, also where the page before them can't be read")
    func surveyOfFewRows() async throws {
        let path = try await makeFile(count: 1_200)
        let store = try await SQLiteStore.open(path: path)
        _ = try await store.commit(observation(at: -40 * 365 * 86_400))
        try store.close()
        #expect(try overwrite(path, pagesOf: "observation") { [$0[0]] } == 1)
        let damaged = try await SQLiteStore.open(path: path)
        try await damaged.survey(rest: .zero)
        #expect(damaged.register.probes < 1_000, "\(damaged.register.probes)")
        #expect(damaged.damage.first?.gaps == 1)
    }

    @Test("a survey finds nothing wrong with rows that come while it runs")
    func surveyBesideNewSources() async throws {
        let store = try await SQLiteStore.open(path: folder.path("a.sqlite"))
        _ = try await store.register(source("skypath"), merge: .replace, simulated: false)
        // It rests after each hour of the log.
        for hour in 0..<8 { _ = try await store.commit(try observation(id: "o\(hour)", at: hour * 7_200)) }
        async let survey: Void = store.survey(rest: .milliseconds(40))
        for number in 0..<40 {
            let name = "late-\(number)"
            _ = try await store.register(source(name), merge: .keep, simulated: false)
            _ = try await store.commit(
                Batch(
                    source: source(name), positions: [try position("00000\(number % 9 + 1)", at: number, source: name)])
            )
            try await Task.sleep(for: .milliseconds(25))
        }
        try await survey
        #expect(store.damage == [])
    }

    @Test("a page of keys that can't be read is said, and ends no survey of what else is damaged")
    func surveyGoesOn() async throws {
        let path = try await makeFile(count: 5)
        let sound = try await SQLiteStore.open(path: path)
        for number in 0..<400 {
            _ = try await sound.commit(
                Batch(
                    source: source("awc"),
                    positions: [try position(String(format: "%06x", number), at: number * 60)]))
        }
        _ = try await sound.commit(
            Batch(source: nil, observations: [try observation(id: "x", at: 9)], reporter: "key"))
        try sound.close()
        for table in ["accessKey", "sourceControl", "reporter", "sourceValue"] {
            #expect(try overwrite(path, pagesOf: table) { $0 } >= 1)
        }
        #expect(try overwrite(path, pagesOf: "position") { [$0[$0.count / 2]] } == 1)
        let store = try await SQLiteStore.open(path: path)
        try await store.survey(rest: .zero)
        #expect(
            Set(store.damage.map(\.table)) == [.accessKey, .persistedOverride, .reporter, .sourceValue, .position])
        // And where nothing was surveyed yet, by whoever needs them first.
        for (table, read) in [
            (StoredTable.accessKey, { (store: SQLiteStore) async throws in _ = try await store.accessKeys() }),
            (.persistedOverride, { store in _ = try await store.persistedOverride(of: source("skypath")) }),
            (.sourceValue, { store in _ = try await store.values(of: source("skypath")) }),
            (
                .reporter,
                { store in
                    // A new one, which the table's index doesn't name.
                    _ = try await store.commit(
                        Batch(source: nil, observations: [try observation(id: "y")], reporter: "other key"))
                }
            ),
        ] {
            let store = try await SQLiteStore.open(path: path)
            await #expect(throws: StoreError.self) { try await read(store) }
            #expect(store.damage.map(\.table) == [table])
        }
    }
}
