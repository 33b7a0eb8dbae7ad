import BillowEngine
import BillowStore
import Foundation

/// Where a command writes to: a file that appears under its name when it is whole, or standard output, a device or a
/// pipe. Those get their bytes when all are there: what they have got can't be taken back, and damage that is met late
/// must be told at the beginning.
final class OutputFile: Sendable {
    private let file: UnfinishedFile
    /// Where the file goes to when it is whole; nil where it gets its name.
    private let stream: FileHandle?

    /// - Parameter database: the database of the settings.
    /// - Throws: usage where writing would replace a database.
    init(_ path: String?, sparing database: String) throws {
        guard let path else {
            stream = .standardOutput
            file = try Self.waiting()
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
                stream = handle
                file = try Self.waiting()
                return
            }
        }
        stream = nil
        file = try UnfinishedFile(for: path)
    }

    /// In the temporary folder. What a killed process left there goes with the next one.
    private static func waiting() throws(FileError) -> UnfinishedFile {
        try UnfinishedFile(for: NSTemporaryDirectory() + "/billow-output", mode: 0o600)
    }

    /// Runs what writes; gives the file its name, or leaves nothing behind of a file that didn't become whole.
    func write(_ body: () async throws -> Void) async throws {
        do {
            try await body()
            try Task.checkCancellation()
            if let stream {
                try copy(to: stream)
                file.discard()
            } else {
                try file.finish(replacing: true)
            }
        } catch {
            file.discard()
            throw error
        }
    }

    private static let pieceBytes = 1 << 20

    private func copy(to stream: FileHandle) throws {
        guard let source = FileHandle(forReadingAtPath: file.path) else { throw FileError.system(file.path) }
        while let piece = try source.read(upToCount: Self.pieceBytes), !piece.isEmpty {
            try Task.checkCancellation()
            do { try stream.write(contentsOf: piece) } catch {
                throw Failure(.inputOutput, "the output can't be written: \(error.localizedDescription)")
            }
        }
    }

    /// Runs what writes what a database shows. Damage may be met that the snapshot doesn't mark yet. Then all of the
    /// database is looked through, and the body runs once more, so that the output says that it is incomplete.
    /// - Throws: data, once all is written, where rows were left out that can't be read.
    func write(from store: SQLiteStore, _ publisher: SnapshotPublisher, _ body: () async throws -> Void) async throws {
        try await write {
            try await publisher.refresh()
            do { try await body() } catch let error as EngineError where error == .damageFound {
                try file.restart()
                try await store.survey(rest: .zero)
                try await publisher.refresh()
                try await body()
            }
        }
        let damage = store.damage
        guard damage.isEmpty else {
            throw Failure(.data, "left out what can't be read: \(damage.map(\.description).joined(separator: "; "))")
        }
    }

    /// Where what is written at places goes, in place of `write`.
    var path: String { file.path }

    func write(_ bytes: [UInt8]) throws {
        try Task.checkCancellation()
        try file.write(bytes)
    }
}
