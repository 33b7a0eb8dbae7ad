package import BillowPacks

/// Writes a file from one snapshot, in parts.
package protocol FileExport: Sendable {
    /// Starts the file.
    /// - Throws: `PackError`, and errors of reading.
    func begin(in place: FileDestination) async throws(EngineError) -> any FileParts
}

/// The parts of a file. Each part is a short job, and the file is complete after the last one.
package protocol FileParts: Sendable {
    var file: FileWriter { get }

    /// Writes the next part.
    /// - Returns: whether another part follows.
    mutating func next() async throws(EngineError) -> Bool

    /// The approximate current size in bytes, with that of temporary files beside it.
    var size: Int { get throws(PackError) }

    /// The number of features or tiles that are written.
    var items: Int { get }
}

extension FileExport {
    /// Writes all of it to a path.
    /// - Returns: how many features or tiles were written.
    package func write(to path: String) async throws(EngineError) -> Int {
        var parts = try await begin(in: .path(path))
        while try await parts.next() { try WorkExecutor.checkCancellation() }
        return parts.items
    }
}
