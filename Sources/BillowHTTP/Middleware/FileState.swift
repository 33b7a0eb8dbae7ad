import Foundation

#if canImport(CDispatch)
    // On Linux, in this module, the compiler finds `stat` in the headers of Dispatch.
    import CDispatch
#endif

/// What a file's caches depend on.
struct FileState: Equatable, Sendable {
    let size: Int
    let modified: Date
    let isFolder: Bool

    /// The state of a file or folder, or of the target of a symbolic link, since an installation may link the viewer's
    /// libraries; nil for anything else.
    init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        let type = status.st_mode & S_IFMT
        guard type == S_IFREG || type == S_IFDIR else { return nil }
        #if canImport(Darwin)
            let time = status.st_mtimespec
        #else
            let time = status.st_mtim
        #endif
        size = Int(status.st_size)
        modified = Date(timeIntervalSince1970: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9)
        isFolder = type == S_IFDIR
    }
}
