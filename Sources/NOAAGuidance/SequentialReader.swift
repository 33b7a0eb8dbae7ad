/// Splits a file without an index into its messages while it arrives. It buffers at most one message and a piece.
struct SequentialReader: Sendable {
    private let limit: Int
    private var buffer: [UInt8] = []
    /// The buffer's offset in the file.
    private var start: Int
    private var number: Int
    /// Whether the bytes at the start of the buffer belong to a message that was already rejected.
    private var isSearching = false

    /// - Parameters:
    ///   - offset: the offset of a message.
    ///   - number: the number of that message.
    ///   - limit: the maximum length of a message in bytes.
    init(offset: Int = 0, number: Int = 1, limit: Int) {
        start = offset
        self.number = number
        self.limit = limit
    }

    /// The offset of the next byte that the reader needs.
    var needed: Int { start + buffer.count }

    /// Consumes bytes of the file and returns the completed messages. Bytes that it already has are skipped.
    ///
    /// - Precondition: the bytes begin at `needed` or before.
    mutating func consume(_ bytes: some RandomAccessCollection<UInt8>, at offset: Int) -> [FrameResult] {
        precondition(offset <= needed)
        buffer.append(contentsOf: bytes.dropFirst(needed - offset))
        return split(isEnd: false)
    }

    /// Ends the file, and returns the remaining results.
    mutating func finish() -> [FrameResult] { split(isEnd: true) }

    private mutating func split(isEnd: Bool) -> [FrameResult] {
        var results: [FrameResult] = []
        var index = 0
        func refuse(_ refusal: MessageFrame.FrameError) {
            results.append(.refused(refusal, number: number, offset: start + index, keys: []))
        }
        while index < buffer.count {
            if isSearching {
                while index < buffer.count, !MessageFrame.isBeginning(buffer, at: index) { index += 1 }
                // A possible message can only be recognised once its edition has arrived.
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
            do throws(MessageFrame.FrameError) {
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
                // Bytes that only resemble a message have no number.
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
