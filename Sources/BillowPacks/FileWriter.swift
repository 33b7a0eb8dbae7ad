package import Foundation

/// A file that is written and read at offsets. It is open as long as the object exists.
package final class FileWriter: Sendable {
    package let descriptor: CInt

    /// - Parameter path: the path of an existing or a new file.
    package init(creating path: String) throws(PackError) {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw Self.failure() }
    }

    /// The names that unnamed files have while they are opened: this, and six more characters. No file of a person is
    /// named so.
    private static let prefix = ".billow-unfinished-export-"
    private static let randomCharacters = "XXXXXX"

    /// A file without a name in a folder. It disappears with the process.
    /// - Parameter use: may open the file by its path, which is valid only during the call.
    static func unnamed<Value>(
        in folder: String, _ use: (String, FileWriter) throws(PackError) -> Value
    ) throws(PackError) -> (file: FileWriter, made: Value) {
        var name = Array((folder + (folder.hasSuffix("/") ? "" : "/") + prefix + randomCharacters).utf8CString)
        let descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw failure() }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        let file = FileWriter(descriptor)
        let path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { unlink(path) }
        return (file, try use(path, file))
    }

    /// Removes files whose name a process could not remove, because it was killed while it opened them.
    /// - Parameter before: files that were changed later may still be opened by another process.
    package static func removeLeftovers(in folder: String, changedBefore before: Date) {
        let manager = FileManager.default
        let length = prefix.utf8.count + randomCharacters.utf8.count
        for name in (try? manager.contentsOfDirectory(atPath: folder)) ?? [] {
            guard name.hasPrefix(prefix), name.utf8.count == length else { continue }
            let path = folder + (folder.hasSuffix("/") ? "" : "/") + name
            let changed = try? manager.attributesOfItem(atPath: path)[.modificationDate] as? Date
            // A file that can't be removed costs space only.
            if let changed, changed < before { unlink(path) }
        }
    }

    /// The free bytes of the file's disk for an unprivileged process; nil if the system does not tell.
    package var freeBytes: Int? {
        var status = statvfs()
        guard fstatvfs(descriptor, &status) == 0 else { return nil }
        return Int(clamping: UInt64(status.f_bavail) * UInt64(status.f_frsize))
    }

    private init(_ descriptor: CInt) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    package static func failure() -> PackError { .file(String(cString: strerror(errno))) }

    /// Writes bytes at an offset.
    package func write(_ bytes: [UInt8], at place: Int) throws(PackError) {
        var error: PackError?
        bytes.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let count = pwrite(
                    descriptor, bytes.baseAddress.map { $0 + done }, bytes.count - done, off_t(place + done))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else {
                    error = Self.failure()
                    return
                }
                done += count
            }
        }
        if let error { throw error }
    }

    /// Reads bytes at an offset. Fewer bytes mean the end of the file.
    package func read(_ count: Int, at place: Int) throws(PackError) -> [UInt8] {
        var error: PackError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, done in
            done = 0
            while done < count {
                let got = pread(descriptor, buffer.baseAddress.map { $0 + done }, count - done, off_t(place + done))
                if got < 0, errno == EINTR { continue }
                if got < 0 { error = Self.failure() }
                if got <= 0 { return }
                done += got
            }
        }
        if let error { throw error }
        return bytes
    }

    /// The size of the file in bytes.
    package var size: Int {
        get throws(PackError) {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw Self.failure() }
            return Int(status.st_size)
        }
    }
}
