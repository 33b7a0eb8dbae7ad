import BillowEngine
import BillowPacks
import Digests
import HTTPTypes
import Hummingbird
import NIOCore
import NIOPosix
import ServiceLifecycle
import Synchronization
import Turbulence

/// Exports as complete files, for clients that send range requests. A range needs the length of the whole, and all
/// ranges must be of one version.
///
/// The file of a URL is reused while clients read it, even if the data changes. It is an unlinked file in the temporary
/// folder, so that the system removes it.
final class ExportFiles: Sendable {
    /// A written export.
    final class File: Sendable {
        let size: Int
        /// A hash of the bytes, so that it is equal on every server.
        let entityTag: String
        private let file: FileWriter

        fileprivate init(_ file: FileWriter, size: Int, entityTag: String) {
            self.file = file
            self.size = size
            self.entityTag = entityTag
        }

        /// A range of the file, which is read while it is sent.
        func body(_ range: Range<Int>) -> ResponseBody {
            ResponseBody(contentLength: range.count) { [self] writer in
                for start in stride(from: range.lowerBound, to: range.upperBound, by: BytesResponse.slice) {
                    let part = start..<min(start + BytesResponse.slice, range.upperBound)
                    try await writer.write(try await NIOThreadPool.singleton.runIfActive { try self.read(part) })
                }
                try await writer.finish(nil)
            }
        }

        private func read(_ range: Range<Int>) throws -> ByteBuffer {
            let bytes = try file.read(range.count, at: range.lowerBound)
            guard bytes.count == range.count else { throw PackError.file("it ended early") }
            return ByteBuffer(bytes: bytes)
        }
    }

    /// The current file of a URL.
    struct Pinned: Sendable {
        /// The export request; its headers describe the data.
        var export: PreparedExport
        var file: File
    }

    private struct Pin {
        var number: Int
        var export: PreparedExport
        var since: Instant
        var lastUsed: Instant
    }

    private struct Key: Hashable, Sendable {
        var address: String
        var number: Int
    }

    private struct PinState {
        var pins: [String: Pin] = [:]
        var number = 0
        var writing = 0
    }

    /// The most bytes of all files, and of one.
    static let maximumBytes = 1 << 30
    static let largest = maximumBytes / 2 - (1 << 20)
    /// The seconds after the last read for which a file is reused, and the longest reuse: later clients get newer data.
    private static let idleSeconds = 60
    private static let longestSeconds = 900
    /// The most files that are written concurrently, so that other queries aren't delayed.
    private static let maximumConcurrentWrites = 4

    private let work: WorkExecutor
    private let now: @Sendable () -> Instant
    private let state = Mutex(PinState())
    private let files: SharedCache<Key, File?, any Error>
    private let largest: Int

    init(work: WorkExecutor, largest: Int = ExportFiles.largest, now: @escaping @Sendable () -> Instant) {
        self.work = work
        self.now = now
        self.largest = largest
        files = SharedCache(CacheBudget(bytes: Self.maximumBytes)) { $0?.size ?? 0 }
    }

    /// The number of files, and their bytes.
    var statistics: CacheStatistics { files.statistics }

    /// The file of an export, which is written first if there is none.
    /// - Returns: nil for an export that is too large, or if the disk has no room.
    /// - Throws: `WorkError.overloaded`; errors of reading.
    func file(of export: PreparedExport) async throws -> Pinned? {
        expire()
        let pin = state.withLock { state -> Pin in
            let now = now()
            if var pin = state.pins[export.address] {
                pin.lastUsed = now
                state.pins[export.address] = pin
                return pin
            }
            state.number += 1
            let pin = Pin(number: state.number, export: export, since: now, lastUsed: now)
            state.pins[export.address] = pin
            return pin
        }
        let key = Key(address: export.address, number: pin.number)
        do {
            let file = try await files.value(for: key) { [self] in try await write(pin.export) }
            return file.map { Pinned(export: pin.export, file: $0) }
        } catch {
            removePin(key)
            // Text can be streamed without a file.
            if case .text = export.content, error is PackError { return nil }
            throw error
        }
    }

    /// Removes files that are no longer read.
    func expire() {
        let now = now()
        let old = state.withLock { state -> [Key] in
            let old = state.pins.filter {
                now.seconds - $0.value.lastUsed.seconds > Self.idleSeconds
                    || now.seconds - $0.value.since.seconds > Self.longestSeconds
            }
            for address in old.keys { state.pins[address] = nil }
            return old.map { Key(address: $0.key, number: $0.value.number) }
        }
        for key in old { files.remove(key) }
    }

    private func removePin(_ key: Key) {
        state.withLock { state in
            if state.pins[key.address]?.number == key.number { state.pins[key.address] = nil }
        }
    }

    private func write(_ export: PreparedExport) async throws -> File? {
        let hasTurn = state.withLock { state in
            guard state.writing < Self.maximumConcurrentWrites else { return false }
            state.writing += 1
            return true
        }
        guard hasTurn else { throw WorkError.overloaded(.query) }
        defer { state.withLock { $0.writing -= 1 } }
        switch export.content {
        case .text(let export): return try await write(export)
        case .file(let export): return try await make(export)
        }
    }

    /// - Returns: nil for an export that is too large.
    private func write(_ export: FeatureExport) async throws -> File? {
        let (file, _) = try FileDestination.temporary.open { _, _ in }
        var pieces = export.parts(isAhead: true)
        let hash = SHA256()
        var size = 0
        while true {
            // Several clients may wait for the file, so it does not end with the client that started it.
            let (rest, piece) = try await work.run(.query, isContinuing: true) { [pieces] in
                var pieces = pieces
                let piece = try await pieces.next()
                return (pieces, piece)
            }
            guard let piece else { break }
            pieces = rest
            guard size + piece.count <= largest else { return nil }
            hash.update(piece)
            try await NIOThreadPool.singleton.runIfActive { [size] in try file.write(piece, at: size) }
            size += piece.count
        }
        return File(file, size: size, entityTag: Self.entityTag(hash))
    }

    /// - Throws: `PackError.tooLarge`; errors of writing.
    private func make(_ export: any FileExport) async throws -> File {
        var parts = try await work.run(.query, isContinuing: true) { try await export.begin(in: .temporary) }
        var isWhole = false
        while !isWhole {
            let (rest, goesOn, size) = try await work.run(.query, isContinuing: true) { [parts] in
                var parts = parts
                let goesOn = try await parts.next()
                return (parts, goesOn, try parts.size)
            }
            guard size <= largest else { throw PackError.tooLarge(bytes: size, limit: largest) }
            parts = rest
            isWhole = !goesOn
        }
        let file = parts.file
        let hash = SHA256()
        var size = 0
        while true {
            let bytes = try await NIOThreadPool.singleton.runIfActive { [size] in
                try file.read(Self.hashedBytes, at: size)
            }
            guard !bytes.isEmpty else { break }
            hash.update(bytes)
            size += bytes.count
        }
        return File(file, size: size, entityTag: Self.entityTag(hash))
    }

    private static let hashedBytes = 1 << 20

    private static func entityTag(_ hash: consuming SHA256) -> String { Hexadecimal.text(hash.finalize().prefix(16)) }
}

/// Periodically removes export files that are no longer read.
struct ExportExpiry: Service {
    let files: ExportFiles

    private static let interval = Duration.seconds(30)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while true {
                // Only shutdown ends the sleep early.
                do { try await Task.sleep(for: Self.interval) } catch { return }
                files.expire()
            }
        }
    }
}
