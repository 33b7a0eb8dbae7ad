import Foundation

/// A file that is written and read at offsets. It is open as long as the object exists.
package final class FileWriter: Sendable {
    package let descriptor: CInt

    /// - Parameter path: the path of an existing or a new file.
    package init(creating path: String) throws(PackError) {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw Self.failure() }
    }

    /// A file without a name in the folder for temporary files. It disappears with the process.
    /// - Parameter use: may open the file by its path, which is valid only during the call.
    static func temporary<Value>(
        _ use: (String, FileWriter) throws(PackError) -> Value
    ) throws(PackError) -> (file: FileWriter, made: Value) {
        let folder = NSTemporaryDirectory()
        var name = Array((folder + (folder.hasSuffix("/") ? "" : "/") + "billow-export-XXXXXX").utf8CString)
        let descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw failure() }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        let file = FileWriter(descriptor)
        let path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { unlink(path) }
        return (file, try use(path, file))
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
