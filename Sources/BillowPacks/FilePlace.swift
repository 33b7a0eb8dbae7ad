/// Where a file is made.
package enum FilePlace: Sendable {
    /// In the folder for temporary files, without a name: nothing is left of it, however the process ends.
    case temporary
    /// In an empty file, or none yet. Who names it moves it to its place when it is whole.
    case path(String)

    /// Has the file opened.
    /// - Parameter use: opens it by a name that it may have for this long only.
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
