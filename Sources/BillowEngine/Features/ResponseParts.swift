/// The parts of a streamed response. A part is computed only after the connection has accepted the previous one.
package protocol ResponseParts: Sendable {
    /// nil after the last one.
    mutating func next() async throws(EngineError) -> [UInt8]?
    /// Whether it is known already that no part follows.
    var isAtEnd: Bool { get }
}

extension ResponseParts {
    package var isAtEnd: Bool { false }
}
