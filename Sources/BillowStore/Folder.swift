internal import Foundation

/// A folder whose names survive a loss of power. To synchronise a file doesn't make its name durable.
///
/// Source: POSIX, fsync and rename, https://pubs.opengroup.org/onlinepubs/9799919799/functions/fsync.html; Linux,
/// https://man7.org/linux/man-pages/man2/fsync.2.html
package struct Folder: Sendable {
    package let path: String

    package init(_ path: String) { self.path = path }

    /// The folder of a file.
    package init(of file: String) { path = URL(fileURLWithPath: file).deletingLastPathComponent().path }

    /// Makes the names in the folder durable. This does nothing if the process may not read the folder, or if the file
    /// system can't synchronise folders.
    /// - Throws: the error of a disk that fails.
    package func sync() throws(FileError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP else { throw FileError.system(path) }
    }

    /// Makes the folder and those around it that are missing, durably.
    /// - Parameter permissions: those of new folders, before the process's umask; nil for the system's.
    /// - Throws: the system's error, or a `FileError`.
    package func make(permissions: Int? = nil) throws {
        var missing: [URL] = []
        var folder = URL(fileURLWithPath: path, isDirectory: true).standardizedFileURL
        while FileIdentity(folder.path) == nil, folder.pathComponents.count > 1 {
            missing.append(folder)
            folder.deleteLastPathComponent()
        }
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true,
            attributes: permissions.map { [.posixPermissions: $0] })
        for folder in missing { try Folder(of: folder.path).sync() }
    }
}
