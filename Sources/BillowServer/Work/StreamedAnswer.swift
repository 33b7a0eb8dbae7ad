import HTTPTypes
import Hummingbird
import NIOCore

/// An answer made piece by piece: the next one is made only when the connection has taken the last.
protocol AnswerPieces: Sendable {
    /// nil after the last one.
    mutating func next() async throws -> [UInt8]?
}

enum StreamedAnswer {
    /// - Parameters:
    ///   - first: the first of the pieces; what can't be asked shows in it, while there is still a status to say it.
    ///   - pieces: gives those behind it, each in a job of its own.
    /// - Throws: `WorkError.tooManyAnswers`.
    static func body(
        _ first: [UInt8], _ pieces: some AnswerPieces, work: WorkExecutor, budget: AnswerBudget = .shared
    ) throws(WorkError) -> ResponseBody {
        let hold = try budget.hold(AnswerBudget.stream)
        return ResponseBody { [first, pieces] writer in
            var pieces = pieces
            var piece: [UInt8]? = first
            while let bytes = piece {
                piece = nil
                try await BytesAnswer.write(bytes, to: &writer)
                (pieces, piece) = try await work.run(.query, isContinuing: true) { [pieces] in
                    var pieces = pieces
                    let piece = try await pieces.next()
                    return (pieces, piece)
                }
            }
            try await writer.finish(nil)
            withExtendedLifetime(hold) {}
        }
    }
}
