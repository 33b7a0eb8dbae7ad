import Foundation

/// The place of a new file.
package enum FileDestination: Sendable, Hashable {
    /// A file without a name in a folder. It disappears with the process.
    case unnamed(folder: String)
    /// The path of an empty or missing file. The caller moves it to its final name when it is complete.
    case path(String)

    /// A file without a name in the folder for temporary files.
    package static let temporary = FileDestination.unnamed(folder: NSTemporaryDirectory())

    /// The place of the parts of this file that are written first: beside it, if it has no name.
    package var ofParts: FileDestination {
        switch self {
        case .unnamed: self
        case .path: .temporary
        }
    }

    /// Creates the file and opens it.
    /// - Parameter use: opens the file by its path, which may be valid only during the call.
    package func open<Value>(
        _ use: (String, FileWriter) throws(PackError) -> Value
    ) throws(PackError) -> (file: FileWriter, made: Value) {
        switch self {
        case .unnamed(let folder): return try FileWriter.unnamed(in: folder, use)
        case .path(let path):
            let file = try FileWriter(creating: path)
            return (file, try use(path, file))
        }
    }
}
