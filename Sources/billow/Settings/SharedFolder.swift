import Foundation

/// A folder that Billow is installed with. It lies beside the executable, as `make install` and the image put it
/// (`bin/billow` and `share/billow`), or in a source tree.
struct SharedFolder: Sendable {
    /// The viewer, with its map library, base map and airports.
    static let viewer = SharedFolder("Public", has: "index.html")
    /// The styles.
    static let styles = SharedFolder("Styles", has: "skypath.json")

    let name: String
    /// A file that identifies the folder, because another folder may have its name, such as `Public` in a home folder.
    private let mark: String

    private init(_ name: String, has mark: String) {
        self.name = name
        self.mark = mark
    }

    /// The candidates in order of precedence: beside the executable, in the source trees around it, and in the working
    /// folder.
    func candidates(executable: String, workingFolder: String) -> [String] {
        let bin = URL(filePath: executable).resolvingSymlinksInPath().deletingLastPathComponent().standardizedFileURL
        var candidates = [bin.deletingLastPathComponent().appending(path: "share/billow/\(name)").path]
        var folder = bin
        while folder.path != "/" {
            folder.deleteLastPathComponent()
            if Self.isSourceTree(folder) { candidates.append(folder.appending(path: name).path) }
        }
        let own = URL(filePath: workingFolder, directoryHint: .isDirectory).standardizedFileURL
        let path = own.appending(path: name).path
        return candidates.contains(path) ? candidates : candidates + [path]
    }

    /// The first candidate that is the folder; nil if there is none.
    func find(executable: String, workingFolder: String) -> String? {
        candidates(executable: executable, workingFolder: workingFolder).first {
            FileManager.default.fileExists(atPath: "\($0)/\(mark)")
        }
    }

    private static func isSourceTree(_ folder: URL) -> Bool {
        FileManager.default.fileExists(atPath: folder.appending(path: "Package.swift").path)
    }

    // MARK: This process

    /// The candidates of this process.
    var candidates: [String] {
        candidates(executable: Self.executable, workingFolder: FileManager.default.currentDirectoryPath)
    }

    /// The path of the folder for this process. If there is none, the path in an installation.
    var path: String {
        find(executable: Self.executable, workingFolder: FileManager.default.currentDirectoryPath)
            ?? candidates.first ?? name
    }

    /// This program's file, independent of the name it was called by.
    private static let executable = Bundle.main.executablePath ?? CommandLine.arguments.first ?? ""
}
