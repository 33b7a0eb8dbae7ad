/// An answer made piece by piece: the next one is made only when the connection has taken the last.
package protocol AnswerPieces: Sendable {
    /// nil after the last one.
    mutating func next() async throws -> [UInt8]?
}
