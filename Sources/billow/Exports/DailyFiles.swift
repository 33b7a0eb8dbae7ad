import BillowStore
import Foundation
import Turbulence

/// Files of one day each, to which one run after the other appends, and their state beside them.
///
/// The state says how many bytes of each file are complete and up to which place of the log. It is replaced as a whole
/// after the bytes are durable. So a killed run leaves at most bytes behind the complete ones, which the next run cuts
/// off before it continues at the same place: nothing is written twice, and nothing is lost.
struct DailyFiles {
    /// What the files contain. Only runs of the same content may append.
    struct Content: Codable, Equatable {
        var collection: String
        var format: String
        /// The parameters, in a fixed order.
        var query: String
        /// The header of a table; empty in other formats.
        var header: String
    }

    private struct State: Codable {
        var form = 1
        var content: Content
        /// The name of the log, because versions of another one mean something else.
        var log: String
        var place: OpenedPlace
        /// The complete bytes of each file.
        var files: [String: Int]
    }

    private let folder: URL
    private let statePath: String
    private var state: State
    /// The bytes of the files that this run changed.
    private var lengths: [String: Int] = [:]
    /// Keeps other runs out of the folder.
    private let lock: FolderLock

    /// Opens the files of a folder, and cuts off what a killed run left.
    ///
    /// - Throws: `Failure` where another run is writing, where the files are of another content or log, and where one
    ///   of them was changed by others.
    init(folder path: String, _ content: Content, log: String) throws {
        folder = URL(fileURLWithPath: path, isDirectory: true)
        do { try Folder(path).make() } catch {
            throw Failure(.inputOutput, "\(path) can't be made: \(error.localizedDescription)")
        }
        lock = try FolderLock(path)
        statePath = folder.appendingPathComponent("\(content.collection).\(content.format).state").path
        guard let bytes = FileManager.default.contents(atPath: statePath) else {
            state = State(content: content, log: log, place: OpenedPlace(endOf: .zero), files: [:])
            return
        }
        guard let known = try? JSONDecoder().decode(State.self, from: bytes), known.form == 1 else {
            throw Failure(.data, "\(statePath) is no state of an export; \(Self.anew)")
        }
        guard known.content == content else {
            throw Failure(
                .usage,
                "the files in \(path) have other parameters or columns "
                    + "(\(known.content.query.isEmpty ? "none" : known.content.query)); give another folder with -o")
        }
        guard known.log == log else {
            throw Failure(
                .data,
                "the database is not the one of the last run, or it was restored or pruned by hand; \(Self.anew)")
        }
        state = known
        for (name, length) in state.files { try cut(name, to: length) }
    }

    private static let anew = "to write everything that is stored, move the files and the state out of the folder"

    /// The place up to which everything is written.
    var place: OpenedPlace { state.place }
    var changedFiles: Int { lengths.count }

    /// The name of the file of a day.
    func name(day: String) -> String { "\(state.content.collection)-\(day).\(state.content.format)" }

    /// The number of bytes of the file of a day; 0 for a new one, and for one that was moved away.
    mutating func length(day: String) throws -> Int {
        let name = name(day: day)
        if let length = lengths[name] { return length }
        let path = folder.appendingPathComponent(name).path
        let known = state.files[name]
        let exists = FileManager.default.fileExists(atPath: path)
        guard known != nil || !exists else {
            throw Failure(.usage, "\(path) exists, and no run has written it; give another folder with -o")
        }
        let length = exists ? known ?? 0 : 0
        if known != length {
            // The state knows of a file before it exists, so that a killed run's file is recognised.
            state.files[name] = length
            try save()
        }
        lengths[name] = length
        return length
    }

    /// Appends bytes to the file of a day.
    mutating func append(_ bytes: [UInt8], day: String) throws {
        let name = name(day: day)
        let start = try length(day: day)
        let path = folder.appendingPathComponent(name).path
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw FileError.system(path) }
        defer { close(descriptor) }
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes {
                pwrite(descriptor, $0.baseAddress, $0.count, off_t(start + written))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw FileError.system(path) }
            written += count
        }
        lengths[name] = start + bytes.count
    }

    /// Makes everything durable up to a place of the log.
    mutating func commit(_ place: OpenedPlace) throws {
        for (name, length) in lengths where state.files[name] != length {
            let path = folder.appendingPathComponent(name).path
            let descriptor = open(path, O_WRONLY | O_CLOEXEC)
            guard descriptor >= 0 else { throw FileError.system(path) }
            defer { close(descriptor) }
            guard fsync(descriptor) == 0 else { throw FileError.system(path) }
            state.files[name] = length
        }
        // The state must not count bytes of a file whose name is lost: it would pass for one that was moved away.
        try Folder(folder.path).sync()
        state.place = place
        try save()
    }

    private func save() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        let file = try UnfinishedFile(for: statePath)
        do {
            try file.write(Array(try encoder.encode(state)) + [0x0A])
            try file.finish(replacing: true)
        } catch {
            file.discard()
            throw error
        }
    }

    /// Cuts a file to its complete bytes. One that was moved away stays away.
    private func cut(_ name: String, to length: Int) throws {
        let path = folder.appendingPathComponent(name).path
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        guard status.st_size >= length else {
            throw Failure(.data, "\(path) is shorter than the last run left it; \(Self.anew)")
        }
        guard status.st_size == length || truncate(path, off_t(length)) == 0 else { throw FileError.system(path) }
    }
}

/// The lock of a folder, for as long as the object exists. The system releases it when the process ends.
private final class FolderLock {
    private let descriptor: Int32

    init(_ path: String) throws {
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError.system(path) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw Failure(.unavailable, "another run is writing into \(path)")
        }
    }

    deinit { close(descriptor) }
}
