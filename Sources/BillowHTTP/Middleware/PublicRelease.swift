import BillowEngine
import Digests
import NIOCore

/// The scripts, styles and data of the viewer at one moment, under one version.
///
/// A page names its files by the version: `assets/VERSION/viewer.js`. Such an address never changes its content, so
/// that a browser caches it for ever. Modules import each other by relative paths, so files of two versions never mix.
struct PublicRelease: Sendable {
    /// 16 hexadecimal digits of the SHA-256 of all paths and contents.
    let version: String
    /// The files by their paths, which begin with a slash. Pages are left out, because they contain the version.
    let files: [String: PublicFiles.File]

    /// What a page has in place of the version.
    static let placeholder = "assets/current/"
    static let folder = "/assets/"

    init(files: [String: PublicFiles.File]) {
        self.files = files
        let list = files.keys.sorted().map { "\($0) \(files[$0]?.entityTag ?? "")\n" }.joined()
        version = Hexadecimal.text(SHA256.hash(Array(list.utf8)).prefix(8))
    }

    /// The version and the file's path of a path below `/assets/`; nil for another path.
    static func parts(of path: String) -> (version: Substring, path: String)? {
        guard path.hasPrefix(folder) else { return nil }
        let rest = path.dropFirst(folder.count)
        guard let slash = rest.firstIndex(of: "/") else { return nil }
        return (rest[..<slash], String(rest[slash...]))
    }

    /// A page with the version in its addresses.
    func fill(_ page: PublicFiles.File) -> PublicFiles.File {
        guard page.hasAssets, let bytes = page.bytes else { return page }
        let text = String(buffer: bytes).replacing(Self.placeholder, with: "assets/\(version)/")
        return PublicFiles.File(made: text, path: page.path)
    }
}
