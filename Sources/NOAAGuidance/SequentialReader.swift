/// Splits a file that has no index into its messages while it comes. Holds at most one message and a piece.
struct SequentialReader: Sendable {
    private let limit: Int
    private var buffer: [UInt8] = []
    /// Where in the file the buffer begins.
    private var start: Int
    private var number: Int
    /// Whether the bytes at the beginning of the buffer belong to something refused already.
    private var isSearching = false

    /// - Parameters:
    ///   - offset: where a message begins.
    ///   - number: the number of that message.
    ///   - limit: the longest message taken, in bytes.
    init(offset: Int = 0, number: Int = 1, limit: Int) {
        start = offset
        self.number = number
        self.limit = limit
    }

    /// The next byte of the file that the reader lacks.
    var needed: Int { start + buffer.count }

    /// Takes bytes of the file and gives what became whole. Bytes that it has already are passed over.
    ///
    /// - Precondition: the bytes begin at `needed` or before.
    mutating func take(_ bytes: some RandomAccessCollection<UInt8>, at offset: Int) -> [FrameResult] {
        precondition(offset <= needed)
        buffer.append(contentsOf: bytes.dropFirst(needed - offset))
        return split(isEnd: false)
    }

    /// The file ends here: gives what is left.
    mutating func finish() -> [FrameResult] { split(isEnd: true) }

    private mutating func split(isEnd: Bool) -> [FrameResult] {
        var results: [FrameResult] = []
        var index = 0
        func refuse(_ refusal: MessageFrame.Refusal) {
            results.append(.refused(refusal, number: number, offset: start + index, keys: []))
        }
        while index < buffer.count {
            if isSearching {
                while index < buffer.count, !MessageFrame.isBeginning(buffer, at: index) { index += 1 }
                // What may begin a message is not known before its edition is there.
                guard buffer.count - index >= MessageFrame.headerBytes else {
                    if isEnd { index = buffer.count }
                    break
                }
                isSearching = false
            }
            guard buffer.count - index >= MessageFrame.headerBytes else {
                guard isEnd else { break }
                refuse(.cutOff(stated: MessageFrame.headerBytes, present: buffer.count - index))
                index = buffer.count
                break
            }
            do throws(MessageFrame.Refusal) {
                let length = try MessageFrame.length(buffer, at: index, limit: limit)
                guard buffer.count - index >= length else {
                    guard isEnd else { break }
                    throw .cutOff(stated: length, present: buffer.count - index)
                }
                guard MessageFrame.hasEnd(buffer, upTo: index + length) else { throw .missingEnd }
                results.append(
                    .message(
                        number: number, offset: start + index, keys: [], bytes: Array(buffer[index..<index + length])))
                index += length
                number += 1
            } catch {
                refuse(error)
                // Something that only looked like a message has no number.
                if error != .notGRIB { number += 1 }
                index += 1
                isSearching = true
            }
        }
        buffer.removeFirst(index)
        start += index
        return results
    }
}
