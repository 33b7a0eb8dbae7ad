import EngineTestSupport
import BillowSnapshot
import BillowStore
import Geometry
import Logging
import Synchronization
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine

/// A real store that counts how often the archive's rows are read, and may have forgotten or damaged what is packed.
private final class CountingStore: WrappedStore {
    enum Packing: Sendable {
        case kept
        case none
        case damaged
        case unreadable
        case full
    }

    let store: SQLiteStore
    let packing: Mutex<Packing>
    let reads = Mutex(0)

    init(_ store: SQLiteStore, _ packing: Packing = .kept) {
        self.store = store
        self.packing = Mutex(packing)
    }

    func rows(from: Instant, to: Instant, asOf version: Version?) async throws(StoreError) -> Rows {
        reads.withLock { $0 += 1 }
        return try await store.rows(from: from, to: to, asOf: version)
    }

    func packed(_ part: ArchivePart, asOf version: Version) async throws(StoreError) -> [UInt8]? {
        switch packing.withLock({ $0 }) {
        case .none: return nil
        case .unreadable: throw .corrupt(path: "a.sqlite", reason: "database disk image is malformed")
        case .kept, .full: return try await store.packed(part, asOf: version)
        case .damaged:
            var bytes = try await store.packed(part, asOf: version) ?? []
            if !bytes.isEmpty { bytes[bytes.count / 2] ^= 4 }
            return bytes
        }
    }

    func savePacked(_ bytes: [UInt8], of rows: PartRows) async throws(StoreError) -> Bool {
        if case .full = packing.withLock({ $0 }) { throw .failed("the disk that holds a.sqlite is full") }
        return try await store.savePacked(bytes, of: rows)
    }
}

/// A server that has only just started: nothing of the archive is in memory.
private struct Server {
    let store: CountingStore
    let publisher: SnapshotPublisher
    let frames: FrameSource
    let snapshot: Snapshot

    init(_ store: CountingStore, now: Instant = noon, logger: Logger = World.quiet()) async throws {
        self.store = store
        publisher = SnapshotPublisher(
            store: store, lifetimes: DataLifetimes(retentionSeconds: 7 * 86_400), severityTable: SeverityTable(),
            now: { now },
            logger: logger)
        try await publisher.refresh()
        store.reads.withLock { $0 = 0 }
        frames = FrameSource(publisher: publisher, store: store, logger: logger)
        snapshot = try frames.snapshot()
    }

    init(_ world: World, _ packing: CountingStore.Packing = .kept, logger: Logger = World.quiet()) async throws {
        try await self.init(CountingStore(world.store, packing), now: world.clock.now, logger: logger)
    }

    var reads: Int { store.reads.withLock { $0 } }

    func packer(_ logger: Logger = World.quiet()) -> ArchivePacker {
        ArchivePacker(archive: frames.archive, publisher: publisher, frames: frames, rest: .zero, logger: logger)
    }

    func pack() async throws -> Int { try await packer().pack() }

    /// What is seen at an instant, now or as it was at a version.
    func content(_ instant: Instant, _ filter: Filter, at version: Version? = nil) async throws -> FrameContent {
        let snapshot = version.map(snapshot.superseded(at:)) ?? snapshot
        let frame = try await frames.frame(at: instant, filter: filter, in: snapshot)
        let plane = try await frames.plane(at: instant, filter: filter, in: snapshot)
        return FrameContent(
            records: frame.currentObservations(),
            plane: ArchiveTests.chunks.flatMap { Array(plane.values(inChunk: $0)) })
    }
}

private struct FrameContent: Equatable {
    var records: [CurrentObservation]
    var plane: [UInt8]
}

@Suite("The archive")
struct ArchiveTests {
    private static let span = 20 * 3_600
    private static let cells = (0..<30).compactMap { Cell(dense: 500_000 + $0 * 11) }

    /// Observations of the twenty hours before noon, dense enough that they replace each other.
    private static func observations(_ count: Int, seed: UInt64, from: Int = -span, to: Int = -1) throws
        -> [Observation]
    {
        var random = SeededGenerator(seed: seed)
        return try (0..<count).map { number in
            let isMeasured = Bool.random(using: &random)
            return try observation(
                id: number % 5 == 0 ? "s\(seed)-\(number)" : nil, cells.randomElement(using: &random).orMissing(),
                altitude: Int.random(in: 30...34, using: &random),
                severity: isMeasured ? nil : Severity(rawValue: UInt8.random(in: 0...4, using: &random)),
                edr: isMeasured ? Double.random(in: 0...1, using: &random) : nil,
                at: Int.random(in: from...to, using: &random), category: Bool.random(using: &random) ? "C60" : nil,
                source: ["skypath", "other", "import", "awc"].randomElement(using: &random).orMissing())
        }
    }

    static let chunks = Set(cells.map { Int($0.dense) / 343 }).sorted()

    private static func filters() throws -> [Filter] {
        [
            Filter(), Filter(history: .sixHours), Filter(history: .halfHour, severities: SeveritySet([.moderate])),
            Filter(history: .fourHours, altitudes: try AltitudeRange(minimumFeet: 31_000, maximumFeet: 33_000)),
        ]
    }

    /// Random instants look the same to a server with what is packed and to one that has only rows, now and at
    /// versions.
    private func compare(_ world: World, seed: UInt64, versions: [Version?] = [nil]) async throws -> Server {
        let packed = try await Server(world)
        let rows = try await Server(world, .none)
        var random = SeededGenerator(seed: seed)
        var seen = 0
        for _ in 0..<6 {
            // Not so early that it reaches empty parts, which aren't packed.
            let instant = noon.advanced(by: -Int.random(in: 4 * 3_600..<Self.span - 7 * 3_600, using: &random))
            let filter = try Self.filters().randomElement(using: &random).orMissing()
            let version = try versions.randomElement(using: &random).orMissing()
            let content = try await packed.content(instant, filter, at: version)
            #expect(
                try await rows.content(instant, filter, at: version) == content,
                "\(instant) \(filter) \(version as Any)")
            seen += content.records.count
        }
        #expect(seen > 20)
        return packed
    }

    @Test("pictures from packed parts equal pictures from rows, after any inserts, changes and deletions")
    func sameAsRows() async throws {
        let seed: UInt64 = 1
        try await withWorld { world in
            try await world.insert(Self.observations(1_500, seed: seed))
            #expect(try await compare(world, seed: seed).reads > 15)
            let parts = try await Server(world).pack()
            // All that ended before what archived pictures look at, and not the hours that are live alone.
            #expect(parts > 40 && parts <= 20 * 3 - 8)
            #expect(try await Server(world).pack() == 0)
            #expect(try await compare(world, seed: seed + 1).reads == 0)

            // Imports, corrections by id and values that replace within their second, into days long past.
            try await world.insert(Self.observations(40, seed: seed + 10, to: -12 * 3_600))
            try await world.insert(
                Self.observations(1_000, seed: seed, to: -1).filter { $0.id != nil }.prefix(40).map {
                    var corrected = $0
                    corrected.intensity = .reported(.moderateSevere, edr: nil)
                    return corrected
                })
            let changed = try await compare(world, seed: seed + 2)
            #expect(changed.reads > 0)
            #expect(try await changed.pack() > 15)
            #expect(try await compare(world, seed: seed + 3).reads == 0)

            // A complete fetch no longer has some.
            let day = noon.advanced(by: -10 * 3_600)
            _ = try await world.store.commit(
                Batch(
                    source: try source("skypath"),
                    retraction: Retraction(
                        from: day.advanced(by: -7_200), to: day, covers: { $0.altitude.lowest.thousands > 31 },
                        standing: [:])))
            try await world.refresh()
            let retracted = try await compare(world, seed: seed + 4)
            #expect(try await (5...8).contains(retracted.pack()))
            #expect(try await compare(world, seed: seed + 5).reads == 0)

            // As it was at every version: what changed since is read from rows, all else need not be.
            let head = try await world.store.head().version
            let versions = (1...head.rawValue).map { Optional(Version(rawValue: $0)) }
            _ = try await compare(world, seed: seed + 6, versions: versions)

            // A rule changes every picture and no row.
            _ = try await world.store.register(try source("other"), merge: .keep, simulated: false)
            #expect(try await compare(world, seed: seed + 7).reads == 0)
        }
    }

    @Test("rows that retention or an operator deletes are removed from packed parts too")
    func deleted() async throws {
        try await withWorld { world in
            try await world.insert(Self.observations(1_500, seed: 3))
            _ = try await Server(world).pack()
            let middle = noon.advanced(by: -12 * 3_600 - 500)
            let gone = try await world.store.prune(Pruning(before: middle, sparesImports: true))
            #expect(gone.observations > 300)
            let pruned = try await compare(world, seed: 4)
            #expect(pruned.reads > 0)
            // Steps with nothing left in them are forgotten, and with them the part is none to be packed.
            #expect(try await pruned.pack() == 1)
            #expect(try await compare(world, seed: 5).reads <= pruned.reads)
            _ = try await world.store.prune(
                Pruning(before: noon.advanced(by: -7_200), sources: [try source("awc")], changesPictures: true))
            let other = try await compare(world, seed: 6)
            #expect(try await other.pack() > 15)
            let records = try await Server(world).content(noon.advanced(by: -6 * 3_600), Filter(history: .sixHours))
                .records
            #expect(!records.isEmpty && !records.contains { $0.source.name == "awc" })
        }
    }

    @Test("a part that is damaged is read from its rows, said once, and packed anew", arguments: [false, true])
    func damaged(isUnreadable: Bool) async throws {
        try await withWorld { world in
            try await world.insert(Self.observations(600, seed: 8))
            _ = try await Server(world).pack()
            let log = LogKeeper()
            let server = try await Server(world, isUnreadable ? .unreadable : .damaged, logger: log.logger)
            let rows = try await Server(world, .none)
            let instants = [-12, -13, -12].map { noon.advanced(by: $0 * 3_600) }
            for instant in instants {
                #expect(try await server.content(instant, Filter()) == rows.content(instant, Filter()))
            }
            #expect(server.reads == rows.reads && rows.reads > 8)
            #expect(log.messages.count == rows.reads)
            #expect(log.messages.allSatisfy { $0.contains("damaged") })
            server.store.packing.withLock { $0 = .kept }
            #expect(try await server.pack() == rows.reads)
            #expect(try await server.pack() == 0)
        }
    }

    @Test("where nothing can be written, nothing but the packing suffers")
    func full() async throws {
        try await withWorld { world in
            try await world.insert(Self.observations(600, seed: 9))
            let server = try await Server(world, .full)
            let log = LogKeeper()
            let packer = server.packer(log.logger)
            let failure = await packer.attempt(after: nil)
            #expect(await packer.attempt(after: failure) == failure && failure?.description.contains("is full") == true)
            #expect(log.messages.count == 1 && log.messages.allSatisfy { $0.contains("could not be packed") })
            let rows = try await Server(world, .none)
            let instant = noon.advanced(by: -12 * 3_600)
            #expect(try await server.content(instant, Filter()) == rows.content(instant, Filter()))
            server.store.packing.withLock { $0 = .kept }
            #expect(await packer.attempt(after: failure) == nil && log.messages.count == 2)
            #expect(try await server.pack() == 0)
        }
    }

    @Test("a check finds packed rows that are not the log's, and changes nothing")
    func check() async throws {
        try await withWorld { world in
            try await world.insert(Self.observations(600, seed: 10))
            let server = try await Server(world)
            let parts = try await server.pack()
            let archive = server.frames.archive
            #expect(try await archive.check() == (parts, []))
            // Whole, and another part's rows; then no rows at all.
            let wrong = ArchivePart(noon.advanced(by: -11 * 3_600))
            let rows = try await world.store.rows(of: wrong)
            #expect(try await world.store.savePacked(WindowPart(wrong, rows: []).packed(), of: rows))
            let junk = ArchivePart(noon.advanced(by: -12 * 3_600))
            #expect(try await world.store.savePacked([1, 2, 3], of: world.store.rows(of: junk)))
            let found = try await archive.check()
            #expect(found.parts == parts)
            #expect(
                found.problems == [
                    "the packed rows of \(junk.start) differ: 3 bytes are too few or too many",
                    "the packed rows of \(wrong.start) differ: they are not the rows of the log",
                ])
            #expect(try await archive.check() == found)
            #expect(try await world.store.packedParts().count == parts)
        }
    }

    @Test("two servers on one file pack it once, and live hours aren't packed")
    func several() async throws {
        try await withWorld { world in
            try await world.insert(Self.observations(1_000, seed: 11))
            let (first, second) = (try await Server(world), try await Server(world))
            async let one = first.pack()
            async let other = second.pack()
            #expect(try await one + other >= 40)
            #expect(try await Server(world).pack() == 0)
            let live = try await world.store.unpackedParts(
                in: ArchivePart(noon.advanced(by: -4 * 3_600))...ArchivePart(noon))
            #expect(live.count > 5)
            #expect(live.allSatisfy { $0.end > first.snapshot.liveFrom.advanced(by: 6 * 3_600) })
        }
    }
}

/// Keeps what is logged.
private final class LogKeeper: Sendable {
    private let kept = Mutex<[String]>([])
    var messages: [String] { kept.withLock { $0 } }

    var logger: Logger { Logger(label: "test") { _ in Handler(keeper: self) } }

    private struct Handler: LogHandler {
        let keeper: LogKeeper
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.notice
        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { keeper.kept.withLock { $0.append("\(event.message)") } }
    }
}
