/// A streamed answer. The next piece is computed only after the connection has accepted the previous one.
package protocol AnswerPieces: Sendable {
    /// nil after the last one.
    mutating func next() async throws(EngineError) -> [UInt8]?
}
