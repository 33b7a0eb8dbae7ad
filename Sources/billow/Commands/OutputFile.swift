import BillowEngine
import BillowStore
import Foundation

/// The output of a command: a file that appears under its name when it is complete, or standard output, a device or a
/// pipe. These get their bytes only at the end, because written bytes can't be withdrawn, and damage that is found late
/// must be reported at the beginning.
final class OutputFile: Sendable {
    private let file: UnfinishedFile
    /// The final path of the file; nil for other outputs.
    private let stream: FileHandle?

    /// - Parameter database: the database of the settings.
    /// - Throws: a usage error if the output would replace a database.
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

    /// A path in the temporary folder. Files of a killed process are removed by the next one.
    private static func waiting() throws(FileError) -> UnfinishedFile {
        try UnfinishedFile(for: NSTemporaryDirectory() + "/billow-output", mode: 0o600)
    }

    /// Runs a function that writes. Then it gives the file its final name, or removes it after an error.
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

    /// Runs a function that writes the content of a database. If it finds damage that the snapshot doesn't mark yet,
    /// the whole database is surveyed and the function runs again, so that the output is marked as incomplete.
    /// - Throws: a data error after writing, if unreadable rows were left out.
    func write(from store: any SQLStore, _ publisher: SnapshotPublisher, _ body: () async throws -> Void) async throws {
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
            throw Failure(.data, "left out unreadable data: \(damage.map(\.description).joined(separator: "; "))")
        }
    }

    /// The path for output that is written at offsets, in place of `write`.
    var path: String { file.path }

    func write(_ bytes: [UInt8]) throws {
        try Task.checkCancellation()
        try file.write(bytes)
    }
}
