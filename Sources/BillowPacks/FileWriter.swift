import Foundation

/// A file that is written and read at places. It is open for as long as the object lives.
package final class FileWriter: Sendable {
    package let descriptor: CInt

    /// - Parameter path: a file that exists, or none yet.
    package init(creating path: String) throws(PackError) {
        descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw Self.failure() }
    }

    /// A file without a name in the folder for temporary files: nothing is left of it, however the process ends.
    /// - Parameter use: what has to open it by a name, which it has for that long.
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

    /// Writes bytes at a place.
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

    /// Reads bytes at a place; fewer at the end.
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

    /// Bytes of the file.
    package var size: Int {
        get throws(PackError) {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw Self.failure() }
            return Int(status.st_size)
        }
    }
}
