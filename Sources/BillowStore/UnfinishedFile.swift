internal import Foundation

/// A file that gets its final name when it is complete. Until then its name is unique, so that two writers of one file
/// never mix. It is also locked: the next writer removes the file of a killed one, and no other.
package final class UnfinishedFile: Sendable {
    /// The path for writing until the file is complete.
    package let path: String
    private let destination: String
    private let descriptor: Int32

    private static let mark = ".unfinished-"
    /// The maximum number of bytes that the unique name takes from the destination's name, which limits its length.
    private static let longestStem = 180
    /// The seconds for which a new file may be unlocked.
    private static let unlocked = 10.0

    /// - Parameters:
    ///   - mode: its permissions, before the process's umask.
    ///   - stem: the file in the same folder whose next writer removes the remains; nil for the destination. For a
    ///     destination whose name no second writer has.
    package init(for destination: String, mode: UInt32 = 0o666, besides stem: String? = nil) throws(FileError) {
        let (folder, stem) = Self.place(of: stem ?? destination)
        Self.removeRemains(in: folder, stem: stem)
        self.destination = destination
        path = folder.appendingPathComponent(stem + Self.mark + UUID().uuidString).path
        descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, mode_t(mode))
        guard descriptor >= 0 else { throw FileError.system(destination) }
        // On a file system without locks, leftover files stay.
        _ = flock(descriptor, LOCK_EX | LOCK_NB)
    }

    deinit { close(descriptor) }

    /// Appends bytes.
    package func write(_ bytes: [UInt8]) throws(FileError) {
        let failure = bytes.withUnsafeBytes { bytes -> FileError? in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = UnsafeRawBufferPointer(rebasing: rest).withMemoryRebound(to: UInt8.self) {
                    Foundation.write(descriptor, $0.baseAddress, $0.count)
                }
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { return FileError.system(destination) }
                rest = rest.dropFirst(count)
            }
            return nil
        }
        if let failure { throw failure }
    }

    /// The number of bytes that are copied at once.
    private static let bytesAtOnce = 1 << 20

    /// Appends the bytes of another file.
    package func append(contentsOf source: String) throws(FileError) {
        let input = open(source, O_RDONLY | O_CLOEXEC)
        guard input >= 0 else { throw FileError.system(source, "read") }
        defer { close(input) }
        var buffer = [UInt8](repeating: 0, count: Self.bytesAtOnce)
        while true {
            let count = read(input, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw FileError.system(source, "read") }
            guard count > 0 else { return }
            try write(Array(buffer[..<count]))
        }
    }

    /// Truncates the file, to restart writing.
    package func restart() throws(FileError) {
        guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else {
            throw FileError.system(destination)
        }
    }

    /// Gives the file its final name, durably.
    /// - Parameter replacing: whether an existing file of that name is replaced; otherwise it is an error.
    /// - Throws: also after the naming, if the disk fails to make the name durable.
    package func finish(replacing: Bool) throws(FileError) {
        guard fsync(descriptor) == 0 else { throw FileError.system(destination) }
        if replacing {
            guard rename(path, destination) == 0 else { throw FileError.system(destination) }
        } else {
            try takeFreeName()
        }
        try Folder(of: destination).sync()
    }

    /// Gives the file its final name if no file has it.
    private func takeFreeName() throws(FileError) {
        if link(path, destination) == 0 {
            unlink(path)
            return
        }
        guard errno != EEXIST, FileIdentity(destination) == nil else {
            throw FileError(path: destination, reason: "it exists already")
        }
        // A fallback for file systems without hard links.
        guard rename(path, destination) == 0 else { throw FileError.system(destination) }
    }

    /// Removes the file and SQLite's files beside it.
    package func discard() { Self.remove(path) }

    private static func remove(_ path: String) {
        for suffix in DatabaseFile.companions + [""] { unlink(path + suffix) }
    }

    private static func place(of destination: String) -> (folder: URL, stem: String) {
        let url = URL(fileURLWithPath: destination)
        return (
            url.deletingLastPathComponent(),
            String(decoding: url.lastPathComponent.utf8.prefix(longestStem), as: UTF8.self)
        )
    }

    /// Removes the files of killed writers, which no process has locked.
    private static func removeRemains(in folder: URL, stem: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        for name in names where name.hasPrefix(stem + mark) {
            guard UUID(uuidString: String(name.dropFirst(stem.count + mark.count))) != nil else { continue }
            let path = folder.appendingPathComponent(name).path
            let changed = try? FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
            guard let changed, -changed.timeIntervalSinceNow > unlocked else { continue }
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { remove(path) }
            close(descriptor)
        }
    }
}

/// A failed file operation, with the system's reason.
package struct FileError: Error, Sendable, CustomStringConvertible {
    package var path: String
    package var reason: String
    /// What could not be done, as a participle.
    package var action = "written"

    package var description: String { "\(path) can't be \(action): \(reason)" }

    /// The system's last error.
    package static func system(_ path: String, _ action: String = "written") -> FileError {
        FileError(path: path, reason: String(cString: strerror(errno)), action: action)
    }
}

/// The names of a database's files, which no output may overwrite.
package struct DatabaseNames: Sendable {
    private let names: [String]

    package init(_ database: String) { names = ([""] + DatabaseFile.companions).map { database + $0 } }

    /// Whether a path leads to this database or a file beside it, through any link.
    func include(_ path: String) -> Bool {
        let identity = FileIdentity(path)
        let place = Self.resolved(path)
        return names.contains { Self.resolved($0) == place || identity != nil && FileIdentity($0) == identity }
    }

    /// Whether writing to a path would replace this database, a file beside it, or any other Billow database.
    package func areLost(byWriting path: String) -> Bool {
        if include(path) { return true }
        let place = Self.resolved(path)
        let bases = [""] + DatabaseFile.companions
        return bases.contains {
            place.hasSuffix($0) && DatabaseFile(path: String(place.dropLast($0.count))).isBillowFile()
        }
    }

    /// The absolute path without links of a file that may not exist.
    private static func resolved(_ path: String) -> String {
        var url = URL(fileURLWithPath: path).standardizedFileURL
        for _ in 0..<40 {
            guard let next = try? FileManager.default.destinationOfSymbolicLink(atPath: url.path) else { break }
            url = URL(fileURLWithPath: next, relativeTo: url.deletingLastPathComponent()).standardizedFileURL
        }
        return url.deletingLastPathComponent().resolvingSymlinksInPath().appendingPathComponent(url.lastPathComponent)
            .path
    }
}
