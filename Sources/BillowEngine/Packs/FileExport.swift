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

    /// The approximate current size of the file in bytes.
    var size: Int { get throws(PackError) }
}
