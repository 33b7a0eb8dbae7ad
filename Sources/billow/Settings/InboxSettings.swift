import BillowSync
import Foundation

/// A source of kind `inbox`.
struct InboxSettings: Sendable, Hashable {
    /// The folder.
    var path: String
}

extension InboxSettings {
    /// nil if the section is invalid.
    init?(_ section: SettingsReader.Section) {
        let path = section.value("path", expected: "the path of a folder, which is made where there is none") { path in
            // The path must not name a file.
            path.isEmpty
                || FileManager.default.fileExists(atPath: path) && !FileManager.default.isFolder(path) ? nil : path
        }
        section.require("path")
        guard let path else { return nil }
        self.init(path: path)
    }
}

extension SettingsReader.Section {
    /// The canonical path of an inbox's folder; nil for another kind of source.
    func inboxFolder() -> String? {
        guard value("kind", expected: InboxUpstream.kind, { $0 }) == InboxUpstream.kind else { return nil }
        return value("path", expected: "the path of a folder", { $0 }).map { path in
            URL(filePath: path, directoryHint: .isDirectory).standardizedFileURL.resolvingSymlinksInPath().path
        }
    }
}
