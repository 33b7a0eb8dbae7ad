import BillowEngine
import BillowPacks
import ServiceLifecycle
import Synchronization
import Turbulence

/// Exports as complete files, for clients that send range requests. A range needs the length of the whole, and all
/// ranges must be of one version.
///
/// The file of a URL is reused while clients read it in parts, even if the data changes. A client that reads a whole
/// file needs no earlier part. It gets the newest file, or a new one if that is older than pictures in a cache may be.
///
/// A file is unlinked and in the temporary folder, so that the system removes it.
final class ExportFiles: Sendable {
    /// How a request reads the file of a URL.
    enum Reading: Sendable, Hashable {
        /// From its beginning to its end in one response, which needs no part of an earlier file.
        case whole
        /// In parts, which must all be of one file. The tag is that of the file whose parts the client has, if it names
        /// one.
        case parts(tag: String?)
    }

    /// A file of a URL.
    struct Pinned: Sendable {
        /// The export request; its headers describe the data.
        var export: PreparedExport
        var file: ExportedFile
        /// Keeps the file one of the URL's. Whoever reads the file holds it until the last byte is sent.
        var use: Use
    }

    private struct Pin {
        var number: Int
        var export: PreparedExport
        var since: Instant
        /// Requests that wait for the file or read it.
        var users = 0
        /// When the last one of them ended.
        var lastUsed: Instant
        /// The tag of the complete file.
        var entityTag: String?
    }

    /// The use of a URL's file by one request. It ends with its last reference, however the request ends.
    final class Use: Sendable {
        private let files: ExportFiles
        private let key: Key

        fileprivate init(_ files: ExportFiles, _ key: Key) {
            self.files = files
            self.key = key
        }

        deinit { files.endUse(key) }
    }

    fileprivate struct Key: Hashable, Sendable {
        var address: String
        var number: Int
    }

    private struct PinState {
        /// The files of each address, the oldest first. An address without files has no entry.
        var pins: [String: [Pin]] = [:]
        var number = 0
        var writing = 0

        /// The file that a request reads; nil if it needs a new one.
        func pin(of address: String, for reading: Reading, at now: Instant) -> Pin? {
            let known = pins[address] ?? []
            switch reading {
            case .whole: return known.last { now.seconds - $0.since.seconds <= ExportFiles.freshSeconds }
            case .parts(let tag):
                // Without a tag, a part may be of any file that others read. The oldest stays the same for all of them.
                return tag.flatMap { tag in known.first { $0.entityTag == tag } } ?? known.first
            }
        }

        /// Changes a file, if it is still one of the address's.
        mutating func update(_ key: Key, _ change: (inout Pin) -> Void) {
            guard let index = pins[key.address]?.firstIndex(where: { $0.number == key.number }) else { return }
            change(&pins[key.address, default: []][index])
        }

        mutating func remove(_ isUnwanted: (Pin) -> Bool) -> [Key] {
            var removed: [Key] = []
            for (address, known) in pins {
                let unwanted = known.filter(isUnwanted)
                guard !unwanted.isEmpty else { continue }
                removed += unwanted.map { Key(address: address, number: $0.number) }
                let rest = known.filter { !isUnwanted($0) }
                pins[address] = rest.isEmpty ? nil : rest
            }
            return removed
        }
    }

    /// The most bytes of all files, and of one.
    static let maximumBytes = 1 << 30
    static let largest = maximumBytes / 2 - (1 << 20)
    /// The seconds after the last use for which a file is reused, and the longest reuse: later clients get newer data.
    private static let idleSeconds = 60
    private static let longestSeconds = 900
    /// The greatest age of a file that a client gets from its beginning: that of pictures in a cache. Other clients may
    /// still read older files in parts.
    private static let freshSeconds = 60
    /// The most files that are written concurrently, so that other queries aren't delayed.
    private static let maximumConcurrentWrites = 4

    private let maker: ExportFileMaker
    private let now: @Sendable () -> Instant
    private let state = Mutex(PinState())
    private let files: SharedCache<Key, ExportedFile?, any Error>
    private let largest: Int

    init(work: WorkExecutor, largest: Int = ExportFiles.largest, now: @escaping @Sendable () -> Instant) {
        maker = ExportFileMaker(work: work, workClass: .query, place: .temporary)
        self.now = now
        self.largest = largest
        files = SharedCache(CacheBudget(bytes: Self.maximumBytes)) { $0?.size ?? 0 }
    }

    /// The number of files, and their bytes.
    var statistics: CacheStatistics { files.statistics }

    /// The file of an export, which is written first if there is none.
    /// - Returns: nil for an export that is too large, or if the disk has no room, where it can be streamed instead.
    /// - Throws: `WorkError.overloaded`; errors of reading.
    func file(of export: PreparedExport, for reading: Reading = .parts(tag: nil)) async throws -> Pinned? {
        expire()
        let pin = state.withLock { state -> Pin in
            let now = now()
            var pin: Pin
            if let known = state.pin(of: export.address, for: reading, at: now) {
                pin = known
            } else {
                state.number += 1
                pin = Pin(number: state.number, export: export, since: now, lastUsed: now)
                state.pins[export.address, default: []].append(pin)
            }
            pin.users += 1
            state.update(Key(address: export.address, number: pin.number)) { $0.users = pin.users }
            return pin
        }
        let key = Key(address: export.address, number: pin.number)
        let use = Use(self, key)
        do {
            let file = try await files.value(for: key) { [self] in try await write(pin.export) }
            state.withLock { state in state.update(key) { $0.entityTag = file?.entityTag } }
            return file.map { Pinned(export: pin.export, file: $0, use: use) }
        } catch {
            _ = state.withLock { state in state.remove { $0.number == key.number } }
            if export.isStreamable, error is PackError { return nil }
            throw error
        }
    }

    /// Removes files that are no longer read.
    func expire() {
        let now = now()
        let old = state.withLock { state in
            state.remove {
                $0.users == 0 && now.seconds - $0.lastUsed.seconds > Self.idleSeconds
                    || now.seconds - $0.since.seconds > Self.longestSeconds
            }
        }
        for key in old { files.remove(key) }
    }

    private func endUse(_ key: Key) {
        let now = now()
        state.withLock { state in
            state.update(key) { pin in
                pin.users -= 1
                pin.lastUsed = now
            }
        }
    }

    /// - Returns: nil for an export that is too large and can be streamed.
    private func write(_ export: PreparedExport) async throws -> ExportedFile? {
        let hasTurn = state.withLock { state in
            guard state.writing < Self.maximumConcurrentWrites else { return false }
            state.writing += 1
            return true
        }
        guard hasTurn else { throw WorkError.overloaded(.query) }
        defer { state.withLock { $0.writing -= 1 } }
        do {
            return try await maker.file(of: export) { [largest] progress, _ in
                guard progress.bytes <= largest else {
                    throw PackError.tooLarge(bytes: progress.bytes, limit: largest)
                }
            }
        } catch PackError.tooLarge {
            if export.isStreamable { return nil }
            throw PackError.tooLarge(bytes: largest + 1, limit: largest)
        }
    }
}

/// Periodically removes export files that are no longer read, and expired jobs.
struct ExportExpiry: Service {
    let files: ExportFiles
    let jobs: ExportJobs

    private static let interval = Duration.seconds(30)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while true {
                // Only shutdown ends the sleep early.
                do { try await Task.sleep(for: Self.interval) } catch { return }
                files.expire()
                jobs.expire()
            }
        }
    }
}
