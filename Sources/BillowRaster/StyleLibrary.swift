import Foundation

/// Why a folder of styles can't be used.
public enum StyleError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The folder can't be read.
    case unreadableFolder(path: String, reason: String)
    /// The files have problems, listed in the order of the files' names.
    case invalid(folder: String, problems: [StyleProblem])

    public var description: String {
        switch self {
        case .unreadableFolder(let path, let reason): "the styles folder \(path) can't be read: \(reason)"
        case .invalid(let folder, let problems):
            "the styles in \(folder) have \(problems.count == 1 ? "a problem" : "\(problems.count) problems"):\n"
                + problems.map { "  \($0)" }.joined(separator: "\n")
        }
    }
}

/// All styles of a folder, read and validated once at start.
public struct StyleLibrary: Sendable {
    /// The id of the style that every library must have.
    public static let defaultID = "skypath"

    /// The styles: the default first, the others by id.
    public let styles: [Style]
    /// The style `skypath`.
    public let `default`: Style

    /// The style with that id; nil if there is none.
    public subscript(id: String) -> Style? { styles.first { $0.id == id } }

    /// Reads every `*.json` of a folder.
    ///
    /// - Throws: `StyleError`, with all problems of all files together.
    public init(folder: String) throws(StyleError) {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder).filter {
                $0.hasSuffix(".json") && !$0.hasPrefix(".")
            }.sorted()
        } catch { throw .unreadableFolder(path: folder, reason: error.localizedDescription) }

        var problems: [StyleProblem] = []
        var styles: [Style] = []
        for name in names {
            let url = URL(filePath: folder, directoryHint: .isDirectory).appending(path: name)
            var file = StyleFile(name: name)
            do {
                if let style = file.read(try Data(contentsOf: url)) { styles.append(style) }
                problems += file.problems
            } catch {
                problems.append(
                    StyleProblem(
                        file: name, key: "", value: "unreadable: \(error.localizedDescription)",
                        allowed: "a JSON file"))
            }
        }
        let defaultFile = StyleLibrary.defaultID + ".json"
        if !names.contains(defaultFile) {
            problems.append(
                StyleProblem(file: defaultFile, key: "", value: "missing", allowed: "every library has this style"))
        }
        guard problems.isEmpty, let standard = styles.first(where: { $0.id == StyleLibrary.defaultID }) else {
            throw .invalid(folder: folder, problems: problems)
        }
        self.default = standard
        self.styles = [standard] + styles.filter { $0.id != StyleLibrary.defaultID }
    }
}
