/// The place of a new file.
package enum FileDestination: Sendable {
    /// A file without a name in the folder for temporary files. It disappears with the process.
    case temporary
    /// The path of an empty or missing file. The caller moves it to its final name when it is complete.
    case path(String)

    /// Creates the file and opens it.
    /// - Parameter use: opens the file by its path, which may be valid only during the call.
    package func open<Value>(
        _ use: (String, FileWriter) throws(PackError) -> Value
    ) throws(PackError) -> (file: FileWriter, made: Value) {
        switch self {
        case .temporary: return try FileWriter.temporary(use)
        case .path(let path):
            let file = try FileWriter(creating: path)
            return (file, try use(path, file))
        }
    }
}
