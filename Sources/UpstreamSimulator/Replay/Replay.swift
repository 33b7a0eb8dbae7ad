import Foundation

/// A folder of captured responses of real upstreams, which a simulator serves with their times shifted to the present.
///
/// A file is recognised by the start of its name (`states_all`, `gairmet_json`), in the folder or any subfolder. Each
/// upstream reads its own files when the simulator starts. Unknown files are ignored.
package struct Replay: Sendable {
    /// A captured response.
    package struct File: Sendable {
        /// The path relative to the folder, such as `opensky/states_all.json`.
        package let path: String
        fileprivate let url: URL

        package var name: String { url.lastPathComponent }

        /// - Throws: `ReplayError.unreadableFile`.
        package func bytes() throws(ReplayError) -> [UInt8] {
            do { return Array(try Data(contentsOf: url)) } catch {
                throw .unreadableFile(path: path, reason: error.localizedDescription)
            }
        }
    }

    /// The files in the order of their paths.
    package let files: [File]

    /// - Throws: `ReplayError.noFolder`.
    package init(folder: String) throws(ReplayError) {
        let root = URL(fileURLWithPath: folder, isDirectory: true).standardizedFileURL
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: root.path, isDirectory: &isFolder), isFolder.boolValue,
            let walk = FileManager.default.enumerator(atPath: root.path)
        else { throw .noFolder(folder) }
        let paths = walk.compactMap { $0 as? String }.sorted()
        files = paths.map { File(path: $0, url: root.appendingPathComponent($0)) }
            .filter { !$0.name.hasPrefix(".") && !$0.url.hasDirectoryPath }
    }

    /// The files of a product, by the start of their names.
    package func files(named prefix: String) -> [File] { files.filter { $0.name.hasPrefix(prefix) } }
}

/// The shift of a product's times. A report's shift is constant while the simulator runs, so it ages. A live picture is
/// shifted at every call, so it is always as fresh as when it was captured.
struct ReplayShift: Sendable {
    /// The product's newest captured time in Unix seconds.
    let newest: Int
    /// The start of the simulator in Unix seconds.
    let startedAt: Int

    /// The seconds to add to a report's time.
    var fixed: Int { startedAt - newest }

    /// The seconds to add to the times of a live picture requested at `now`.
    func live(now: Int) -> Int { now - newest }
}

package enum ReplayError: Error, Sendable, Hashable, CustomStringConvertible {
    case noFolder(String)
    /// The file system refuses a file.
    case unreadableFile(path: String, reason: String)
    /// A file's content is no captured answer.
    case unreadable(path: String, reason: String)

    package var description: String {
        switch self {
        case .noFolder(let folder): "\(folder) is no folder that can be read"
        case .unreadableFile(let path, let reason): "\(path) can't be read: \(reason)"
        case .unreadable(let path, let reason): "\(path) can't be replayed: \(reason)"
        }
    }
}
