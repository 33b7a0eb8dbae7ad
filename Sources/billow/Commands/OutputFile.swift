import BillowEngine
import BillowStore
import Foundation
import Synchronization

/// Where a command writes to: standard output, a device or pipe, or a file that appears under its name when it is
/// whole.
final class OutputFile: Sendable {
    private enum Sink {
        case stream(FileHandle)
        case file(UnfinishedFile)
    }

    private let sink: Sink
    private let written = Atomic(false)

    /// - Parameter database: the database of the settings.
    /// - Throws: usage where writing would replace a database.
    init(_ path: String?, sparing database: String) throws {
        guard let path else {
            sink = .stream(.standardOutput)
            return
        }
        guard !DatabaseNames(database).areLost(byWriting: path) else {
            throw Failure(.usage, "\(path) is a database, or a file that belongs to one: give another file to write to")
        }
        var status = stat()
        if stat(path, &status) == 0 {
            switch status.st_mode & S_IFMT {
            case S_IFREG: break
            case S_IFDIR: throw Failure(.inputOutput, "\(path) can't be written: it is a folder")
            default:
                guard let handle = FileHandle(forWritingAtPath: path) else { throw FileError.system(path) }
                sink = .stream(handle)
                return
            }
        }
        sink = .file(try UnfinishedFile(for: path))
    }

    /// Runs what writes; gives the file its name, or leaves nothing behind of a file that didn't become whole.
    func write(_ body: () async throws -> Void) async throws {
        do {
            try await body()
            try Task.checkCancellation()
            if case .file(let file) = sink { try file.finish(replacing: true) }
        } catch {
            if case .file(let file) = sink { file.discard() }
            throw error
        }
    }

    /// Runs what writes what a database shows. Where damage is met that the snapshot doesn't mark yet, it is run once
    /// more, so that what is written says that it is incomplete.
    /// - Throws: data, once all is written, where rows were left out that can't be read.
    func write(from store: SQLiteStore, _ publisher: SnapshotPublisher, _ body: () async throws -> Void) async throws {
        try await write {
            try await publisher.refresh()
            do { try await body() } catch let error as EngineError where error == .damageFound {
                guard try restart() else { throw error }
                try await publisher.refresh()
                try await body()
            }
        }
        let damage = store.damage
        guard damage.isEmpty else {
            throw Failure(.data, "left out what can't be read: \(damage.map(\.description).joined(separator: "; "))")
        }
    }

    /// - Returns: whether writing can begin anew.
    private func restart() throws -> Bool {
        guard written.load(ordering: .relaxed) else { return true }
        guard case .file(let file) = sink else { return false }
        try file.restart()
        return true
    }

    func write(_ bytes: [UInt8]) throws {
        try Task.checkCancellation()
        written.store(true, ordering: .relaxed)
        switch sink {
        case .file(let file): try file.write(bytes)
        case .stream(let handle):
            do { try handle.write(contentsOf: bytes) } catch {
                throw Failure(.inputOutput, "the output can't be written: \(error.localizedDescription)")
            }
        }
    }
}
