import Foundation

/// A folder of captured answers of real upstreams, which a simulator serves again with their times moved to the
/// present.
///
/// A file is recognised by the beginning of its name (`states_all`, `gairmet_json`), in the folder or any below it.
/// Each upstream reads its own files when the simulator starts; files that none knows are left alone.
package struct Replay: Sendable {
    /// A captured answer.
    package struct File: Sendable {
        /// Relative to the folder, `opensky/states_all.json`.
        package let path: String
        fileprivate let url: URL

        package var name: String { url.lastPathComponent }

        /// - Throws: `ReplayError.unreadable`.
        package func bytes() throws(ReplayError) -> [UInt8] {
            do { return Array(try Data(contentsOf: url)) } catch {
                throw .unreadable(path: path, reason: error.localizedDescription)
            }
        }
    }

    /// In the order of their paths.
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

    /// The files of a product, by the beginning of their names.
    package func files(named prefix: String) -> [File] { files.filter { $0.name.hasPrefix(prefix) } }
}

/// How far the times of a product are moved. A report keeps its moved time for as long as the simulator runs, and
/// ages; a live picture is as new at every call as it was when it was captured.
struct ReplayShift: Sendable {
    /// Unix seconds of the product's newest time, as captured.
    let newest: Int
    /// Unix seconds when the simulator started.
    let startedAt: Int

    /// Seconds to add to the time of a report.
    var fixed: Int { startedAt - newest }

    /// Seconds to add to the times of a live picture asked for at `now`.
    func live(now: Int) -> Int { now - newest }
}

package enum ReplayError: Error, Sendable, Hashable, CustomStringConvertible {
    case noFolder(String)
    case unreadable(path: String, reason: String)

    package var description: String {
        switch self {
        case .noFolder(let folder): "\(folder) is no folder that can be read"
        case .unreadable(let path, let reason): "\(path) can't be replayed: \(reason)"
        }
    }
}
