internal import Foundation

/// A file that gets its name when it is whole. Until then its name is unique, so that two writers of one file never
/// mix; and it is locked, so that the next writer removes what a killed one left, and nothing else.
package final class UnfinishedFile: Sendable {
    /// Where to write until it is whole.
    package let path: String
    private let destination: String
    private let descriptor: Int32

    private static let mark = ".unfinished-"
    /// Bytes of the destination's name that the unique name begins with, so that it never gets too long.
    private static let longestStem = 180
    /// Seconds that a file may be new and not yet locked.
    private static let unlocked = 10.0

    /// - Parameter mode: its permissions, before the process's mask.
    package init(for destination: String, mode: UInt32 = 0o666) throws(FileError) {
        let (folder, stem) = Self.place(of: destination)
        Self.removeRemains(in: folder, stem: stem)
        self.destination = destination
        path = folder.appendingPathComponent(stem + Self.mark + UUID().uuidString).path
        descriptor = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, mode_t(mode))
        guard descriptor >= 0 else { throw FileError.system(destination) }
        // Where the file system has no locks, remains stay.
        _ = flock(descriptor, LOCK_EX | LOCK_NB)
    }

    deinit { close(descriptor) }

    /// Writes bytes at its end.
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

    /// Removes what was written, so that writing begins anew.
    package func restart() throws(FileError) {
        guard ftruncate(descriptor, 0) == 0, lseek(descriptor, 0, SEEK_SET) == 0 else {
            throw FileError.system(destination)
        }
    }

    /// Gives it its name, durably.
    /// - Parameter replacing: whether a file of that name is replaced; otherwise it is an error.
    package func finish(replacing: Bool) throws(FileError) {
        guard fsync(descriptor) == 0 else { throw FileError.system(destination) }
        if replacing {
            guard rename(path, destination) == 0 else { throw FileError.system(destination) }
        } else if link(path, destination) == 0 {
            unlink(path)
        } else {
            // A file system without hard links.
            guard errno != EEXIST, FileIdentity(destination) == nil, rename(path, destination) == 0 else {
                throw FileError(path: destination, reason: "it exists already")
            }
        }
        let folder = open(Self.place(of: destination).folder.path, O_RDONLY | O_CLOEXEC)
        guard folder >= 0 else { return }
        // The name may be lost with the power; the file isn't.
        fsync(folder)
        close(folder)
    }

    /// Removes it, and what SQLite put beside it.
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

    /// Removes what writers left that were killed: nobody holds its lock.
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

/// What the system says against writing a file.
package struct FileError: Error, Sendable, CustomStringConvertible {
    package var path: String
    package var reason: String

    package var description: String { "\(path) can't be written: \(reason)" }

    /// The last error of the system.
    package static func system(_ path: String) -> FileError {
        FileError(path: path, reason: String(cString: strerror(errno)))
    }
}

/// The names that a database has, which nothing else may be written to.
package struct DatabaseNames: Sendable {
    private let names: [String]

    package init(_ database: String) { names = ([""] + DatabaseFile.companions).map { database + $0 } }

    /// Whether a path leads to this very database or a file beside it, by whichever link.
    func include(_ path: String) -> Bool {
        let identity = FileIdentity(path)
        let place = Self.resolved(path)
        return names.contains { Self.resolved($0) == place || identity != nil && FileIdentity($0) == identity }
    }

    /// Whether writing to a path would replace the database, a file beside it, or any other database of ours.
    package func areLost(byWriting path: String) -> Bool {
        if include(path) { return true }
        let place = Self.resolved(path)
        let bases = [""] + DatabaseFile.companions
        return bases.contains { place.hasSuffix($0) && DatabaseFile(path: String(place.dropLast($0.count))).wasOurs() }
    }

    /// An absolute path without links, of a file that need not exist.
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
