import BillowStore
import Datasets
import Foundation
import Geometry
import Testing
import Turbulence

@testable import BillowSync

/// A folder that goes with its last owner, and an inbox that watches it.
private final class Inbox: Sendable {
    let folder: URL
    let store: SQLiteStore
    let clock: ManualClock
    let upstream: InboxUpstream

    init(clock: ManualClock = ManualClock(), simulated: Bool? = nil) async throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "billow-inbox-\(UUID().uuidString)")
        store = try await SQLiteStore.temporary()
        self.clock = clock
        upstream = InboxUpstream(
            id: try SourceID("drop").orMissing(), path: folder.path, simulated: simulated, store: store,
            retentionSeconds: 86_400,
            now: { clock.now })
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    @discardableResult func scan() async throws -> SyncOutcome {
        clock.advance(2)
        return try await upstream.synchronise(now: clock.now)
    }

    func put(_ name: String, _ text: String) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(text.utf8).write(to: folder.appending(path: name))
    }

    func put(_ name: String, fixture: String) throws {
        let url = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "BillowExchangeTests/Fixtures/\(fixture)")
        try put(name, String(contentsOf: url, encoding: .utf8))
    }

    /// The names in one of its places, without its own folders.
    func names(_ place: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.appending(path: place).path)
            .filter { !["done", "refused"].contains($0) }.sorted()
    }

    func text(_ path: String) throws -> String { try String(contentsOf: folder.appending(path: path), encoding: .utf8) }
}

private let good =
    (#"{"type":"Feature","properties":{"h3":"852a30c3fffffff","altitude":39000,"severity":2,"#
        + #""observedAt":"2026-11-20T22:00:00Z"},"geometry":null}"#)

@Suite("The inbox")
struct InboxTests {
    @Test("a file whose source column is another one uses up no numbers, and holds no other file up")
    func manySources() async throws {
        let inbox = try await Inbox()
        let names = (0..<300).map { good.replacing("\"h3\"", with: "\"source\":\"N\($0)XY\",\"h3\"") }
        try inbox.put("a.geojsonl", names.joined(separator: "\n"))
        try inbox.put("b.geojsonl", good)
        try inbox.put("c.geojsonl", names.prefix(FileImporter.maximumNewSources).joined(separator: "\n"))
        try await inbox.scan()
        #expect(try await inbox.scan().skipped == [.refusedFile: 1])
        #expect(try inbox.names("refused") == ["a.geojsonl", "a.geojsonl.reason.txt"])
        #expect(try inbox.text("refused/a.geojsonl.reason.txt").contains("N0XY"))
        #expect(try inbox.names("done") == ["b.geojsonl", "c.geojsonl"])
        #expect(try await inbox.store.sources().count == 1 + FileImporter.maximumNewSources)
        await #expect(throws: TooManySourcesError.self) {
            let store = try await SQLiteStore.temporary()
            _ = try await FileImporter(store: store, now: { inbox.clock.now })
                .importFile(inbox.folder.appending(path: "refused/a.geojsonl").path)
        }
    }

    @Test("a file is imported at the second scan and moved")
    func aFileIsTakenAtTheSecondLookAndMoved() async throws {
        let inbox = try await Inbox()
        #expect(try await inbox.scan() == SyncOutcome())
        try inbox.put("a.geojsonl", good + "\n" + good)
        #expect(try await inbox.scan().accepted == 0)
        #expect(try inbox.names() == ["a.geojsonl"])
        let outcome = try await inbox.scan()
        #expect(outcome.accepted == 1 && outcome.duplicates == 1 && outcome.skipped.isEmpty)
        #expect(try inbox.names().isEmpty)
        #expect(try inbox.names("done") == ["a.geojsonl"])
        #expect(try inbox.names("refused").isEmpty)
        #expect(try await inbox.store.allRows().count == 1)
        #expect(try await inbox.store.sources().map(\.id.name) == ["drop"])
    }

    @Test("the same file again changes nothing")
    func theSameFileAgainChangesNothing() async throws {
        let inbox = try await Inbox()
        try inbox.put("a.geojsonl", good)
        try await inbox.scan()
        try await inbox.scan()
        let head = try await inbox.store.head()
        try inbox.put("a.geojsonl", good)
        try await inbox.scan()
        let outcome = try await inbox.scan()
        #expect(outcome.accepted == 0 && outcome.duplicates == 1)
        #expect(try await inbox.store.head() == head)
        #expect(try inbox.names("done") == ["a-2.geojsonl", "a.geojsonl"])
    }

    @Test("a file that grows or is not there yet waits")
    func aFileThatGrowsOrIsNotThereYetWaits() async throws {
        let inbox = try await Inbox()
        try inbox.put("grows.geojsonl", good)
        for name in [".hidden.geojson", "b.geojson.part", "c.tmp"] { try inbox.put(name, good) }
        try await inbox.scan()
        try inbox.put("grows.geojsonl", good + "\n")
        try await inbox.scan()
        #expect(try await inbox.store.allRows().isEmpty)
        try await inbox.scan()
        #expect(try await inbox.store.allRows().count == 1)
        #expect(try inbox.names() == [".hidden.geojson", "b.geojson.part", "c.tmp"])
    }

    @Test("unusable files are rejected with their reason")
    func whatCanNotBeUsedIsRefusedWithItsReason() async throws {
        let inbox = try await Inbox()
        try inbox.put("a.xml", "<xml/>")
        try inbox.put("b", "")
        try inbox.put("c.geojsonl", good.replacing("852a30c3fffffff", with: "nonsense"))
        try inbox.put("d.geojsonl", good + "\n" + good.replacing("39000", with: "-1"))
        try await inbox.scan()
        let outcome = try await inbox.scan()
        #expect(outcome.skipped[.refusedFile] == 3 && outcome.accepted == 1)
        #expect(
            try inbox.names("refused")
                == ["a.xml", "a.xml.reason.txt", "b", "b.reason.txt", "c.geojsonl", "c.geojsonl.reason.txt"])
        #expect(try inbox.text("refused/a.xml.reason.txt").contains("'<xml/>'"))
        #expect(try inbox.text("refused/c.geojsonl.reason.txt").contains("nonsense"))
        // What could be taken is; what could not stands beside it.
        #expect(try inbox.names("done") == ["d.geojsonl", "d.geojsonl.reason.txt"])
        #expect(try inbox.text("done/d.geojsonl.reason.txt").contains("-1"))
    }

    @Test("a process that dies before the move loses and doubles nothing")
    func aProcessThatDiesBeforeTheMoveLosesAndDoublesNothing() async throws {
        let inbox = try await Inbox()
        try inbox.put("pirep.json", fixture: "pirep_json_florida_2026-07-21T20Z.json")
        try inbox.put("usa_sigmets_2025-12-19T0218.geojson", fixture: "usa_sigmets_2025-12-19T0218.geojson")
        let clock = inbox.clock
        let importer = FileImporter(store: inbox.store, now: { clock.now })
        for name in try inbox.names() { _ = try await importer.importFile(inbox.folder.appending(path: name).path) }
        let head = try await inbox.store.head()
        try await inbox.scan()
        try await inbox.scan()
        #expect(try await inbox.store.head() == head)
        #expect(try inbox.names().isEmpty)
        #expect(try inbox.names("done").count == 2)
        let at = try Instant("2025-12-19T02:20:00Z").orMissing()
        #expect(try await inbox.store.areas(.hazards, from: at, to: at.advanced(by: 1), asOf: nil).count == 9)
        #expect(try await inbox.store.allRows().count == 33)
    }

    @Test("what says it is simulated is not mixed with real data")
    func whatSaysItIsSimulatedIsNotMixedWithRealData() async throws {
        let inbox = try await Inbox()
        let clock = inbox.clock
        try inbox.put("export.geojson", #"{"type":"FeatureCollection","simulated":true,"features":[\#(good)]}"#)
        let path = inbox.folder.appending(path: "export.geojson").path
        await #expect(throws: SimulatedDataError(source: nil)) {
            try await FileImporter(store: inbox.store, now: { clock.now }).importFile(path)
        }
        #expect(try await inbox.store.head().version == .zero)
        _ = try await FileImporter(store: inbox.store, now: { clock.now }, simulated: true).importFile(path)
        #expect(try await inbox.store.allRows().count == 1)
    }

    /// What is known of the database is compared with what a file is, as `billow import` does it.
    @Test("real data is not accepted into a simulated database nor the other way round")
    func realDataIsNotTakenIntoASimulatedDatabaseNorTheOtherWayRound() async throws {
        let made = #"{"type":"FeatureCollection","simulated":true,"features":[\#(good)]}"#
        let rows: [(database: Bool?, inbox: Bool?, file: String, isTaken: Bool)] = [
            (true, nil, good, false), (true, false, good, false), (true, true, good, true),
            (true, nil, made, true), (true, false, made, false), (true, true, made, true),
            (false, nil, good, true), (false, false, good, true), (false, true, good, false),
            (false, nil, made, false), (false, false, made, false), (false, true, made, false),
            (nil, nil, good, true), (nil, nil, made, false), (nil, false, good, true), (nil, true, made, true),
        ]
        for row in rows {
            let inbox = try await Inbox(simulated: row.inbox)
            if let database = row.database {
                // A source of the file's name is known already, too.
                for name in ["sky", "drop"] {
                    _ = try await inbox.store.register(
                        try SourceID(name).orMissing(), merge: .keep, simulated: database)
                }
            }
            try inbox.put("a.geojson", row.file)
            _ = try await inbox.scan()
            _ = try? await inbox.scan()
            #expect(try await inbox.store.allRows().isEmpty == !row.isTaken, "\(row)")
        }
    }

    @Test("a long name holds nothing up", arguments: [200, 242, 250, 255])
    func aLongNameHoldsNothingUp(length: Int) async throws {
        let inbox = try await Inbox()
        let name = "b" + String(repeating: "x", count: length - 6) + ".json"
        // Other text too, whose characters take several bytes.
        let wide = String(repeating: "ü", count: (length - 6) / 2) + ".json"
        for _ in 1...2 {
            for bad in [name, wide] { try inbox.put(bad, "{}") }
            try inbox.put("zz.geojsonl", good)
            try await inbox.scan()
            try await inbox.scan()
            #expect(try inbox.names().isEmpty)
        }
        let refused = try inbox.names("refused")
        #expect(refused.count == 8 && refused.filter { $0.hasSuffix(".reason.txt") }.count == 4)
        #expect(refused.allSatisfy { $0.utf8.count <= 255 })
        #expect(try inbox.names("done") == ["zz-2.geojsonl", "zz.geojsonl"])
    }

    @Test("a file that can not be moved costs the others nothing and is read once")
    func aFileThatCanNotBeMovedCostsTheOthersNothingAndIsReadOnce() async throws {
        let inbox = try await Inbox()
        try await inbox.scan()
        // Its place is taken by something that can't be written into.
        try FileManager.default.removeItem(at: inbox.folder.appending(path: "refused"))
        try FileManager.default.createSymbolicLink(
            at: inbox.folder.appending(path: "refused"), withDestinationURL: URL(filePath: "/proc"))
        try inbox.put("a.xml", "<xml/>")
        try inbox.put("z.geojsonl", good)
        try await inbox.scan()
        for number in 1...3 {
            let error = await #expect(throws: SyncError.self) { try await inbox.scan() }
            #expect(error?.code == .inbox && error?.message.contains("a.xml") == true)
            #expect(error?.outcome.accepted == (number == 1 ? 1 : 0))
            #expect(error?.outcome.skipped[.refusedFile] == (number == 1 ? 1 : nil))
        }
        #expect(try inbox.names("done") == ["z.geojsonl"])
        try FileManager.default.removeItem(at: inbox.folder.appending(path: "refused"))
        try await inbox.scan()
        #expect(try inbox.names("refused") == ["a.xml", "a.xml.reason.txt"])
    }

    @Test("links and folders are left alone")
    func linksAndFoldersAreLeftAlone() async throws {
        let inbox = try await Inbox()
        try inbox.put("done-elsewhere", good)
        try FileManager.default.createSymbolicLink(
            at: inbox.folder.appending(path: "link.geojsonl"),
            withDestinationURL: inbox.folder.appending(path: "done-elsewhere"))
        try FileManager.default.createDirectory(
            at: inbox.folder.appending(path: "sub"), withIntermediateDirectories: true)
        for _ in 0..<3 { try await inbox.scan() }
        #expect(try inbox.names() == ["link.geojsonl", "sub"])
    }

    @Test("a folder that can not be made is said and tried again")
    func aFolderThatCanNotBeMadeIsSaidAndTriedAgain() async throws {
        let inbox = try await Inbox()
        try Data().write(to: inbox.folder)
        let error = await #expect(throws: SyncError.self) { try await inbox.scan() }
        #expect(error?.code == .inbox && error?.kind == .transient)
        try FileManager.default.removeItem(at: inbox.folder)
        try await inbox.scan()
        #expect(try inbox.names("done").isEmpty)
    }

    @Test("what is older than the retention when it comes is an import and the rest ages")
    func whatIsOlderThanTheRetentionWhenItComesIsAnImportAndTheRestAges() async throws {
        let inbox = try await Inbox()
        let old = good.replacing("2026-11-20", with: "2026-07-20").replacing("852a30c3fffffff", with: "852a3043fffffff")
        try inbox.put("a.geojsonl", good + "\n" + old)
        try await inbox.scan()
        #expect(try await inbox.scan().accepted == 2)
        let later = inbox.clock.now.advanced(by: 30 * 86_400)
        #expect(try await inbox.store.prune(Pruning(before: later, sparesImports: true)).observations == 1)
        #expect(try await inbox.store.allRows().map(\.observedAt) == [try Instant("2026-07-20T22:00:00Z").orMissing()])
    }

    @Test("a file before the first fetch does not say whether data is made up")
    func aFileBeforeTheFirstFetchDoesNotSayWhetherDataIsMadeUp() async throws {
        let inbox = try await Inbox()
        try inbox.put("a.geojsonl", good)
        try await inbox.scan()
        #expect(try await inbox.scan().accepted == 1)
        #expect(try await inbox.store.sources().map(\.simulated) == [nil])
    }

    @Test("a quiet folder is noted once a minute")
    func aQuietFolderIsNotedOnceAMinute() async throws {
        let inbox = try await Inbox()
        try await inbox.scan()
        // Before its first file its content is unknown.
        #expect(try await inbox.store.sources().isEmpty)
        inbox.clock.advance(60)
        _ = try await inbox.store.register(inbox.upstream.id, merge: .keep, simulated: false)
        try await inbox.scan()
        let first = try await inbox.store.source().fetchedAt
        try await inbox.scan()
        #expect(try await inbox.store.source().fetchedAt == first)
        inbox.clock.advance(60)
        try await inbox.scan()
        #expect(try await inbox.store.source().fetchedAt == inbox.clock.now)
    }
}
