import BillowEngine
import HTTPTypes
import Hummingbird
import NIOCore

/// Answers whose pieces are made while the connection takes them.
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
