import TestSupport
import Testing

@testable import NOAAGuidance

@Suite("Frames of messages")
struct FrameTests {
    private static let limit = 10_000

    private func changed(_ bytes: [UInt8], _ index: Int, to value: UInt8) -> [UInt8] {
        var bytes = bytes
        bytes[index] = value
        return bytes
    }

    private func refusal(_ bytes: [UInt8], isExact: Bool = true, limit: Int = limit) -> MessageFrame.FrameError? {
        do throws(MessageFrame.FrameError) {
            _ = try MessageFrame.check(bytes, isExact: isExact, limit: limit)
            return nil
        } catch {
            return error
        }
    }

    @Test("GRIB, edition, length and 7777 are checked, each with its own refusal") func table() {
        let good = frame(100)
        #expect(refusal(good) == nil && refusal(frame(20)) == nil)
        #expect(refusal(changed(good, 0, to: 0)) == .notGRIB)
        #expect(refusal(Array("<html><body>Not here</body></html>".utf8)) == .notGRIB)
        #expect(refusal(changed(good, 7, to: 1)) == .edition(1))
        #expect(refusal(changed(good, 15, to: 99)) == .wrongLength(stated: 99, expected: 100))
        #expect(refusal(changed(good, 15, to: 101)) == .wrongLength(stated: 101, expected: 100))
        #expect(refusal(changed(good, 15, to: 3)) == .wrongLength(stated: 3, expected: 20))
        #expect(refusal(changed(good, 8, to: 255)) == .tooLong(stated: .max, limit: Self.limit))
        #expect(refusal(changed(good, 98, to: 0)) == .missingEnd)
        #expect(refusal(Array(good.prefix(15))) == .cutOff(stated: 16, present: 15))
        #expect(refusal(good + [1, 2], isExact: false) == nil)
        #expect(refusal(good, limit: 99) == .tooLong(stated: 100, limit: 99))
    }

    // MARK: A file in pieces

    private func messages(_ results: [FrameResult]) -> [[UInt8]] {
        results.compactMap { if case .message(_, _, _, let bytes) = $0 { bytes } else { nil } }
    }

    private func codes(_ results: [FrameResult]) -> [String] {
        results.compactMap { if case .refused(let refusal, _, _, _) = $0 { refusal.code } else { nil } }
    }

    private func split(_ file: [UInt8], _ generator: inout SeededGenerator) -> [FrameResult] {
        var reader = SequentialReader(limit: Self.limit)
        var results: [FrameResult] = []
        while reader.needed < file.count {
            // A piece may repeat what is there already.
            let from = max(0, reader.needed - Int.random(in: 0...5, using: &generator))
            let to = min(file.count, reader.needed + Int.random(in: 1...90, using: &generator))
            results += reader.consume(file[from..<to], at: from)
        }
        return results + reader.finish()
    }

    @Test("a file in pieces of any length gives its messages, numbered and placed") func pieces() {
        var generator = SeededGenerator(seed: 1)
        for round in 0..<200 {
            let frames = (0..<12).map { frame(Int.random(in: 20...300, using: &generator), seed: $0 + round) }
            let results = split(frames.flatMap(\.self), &generator)
            #expect(messages(results) == frames && codes(results).isEmpty)
            var offset = 0
            for (index, result) in results.enumerated() {
                guard case .message(let number, let place, _, let bytes) = result else { continue }
                #expect(number == index + 1 && place == offset)
                offset += bytes.count
            }
        }
    }

    @Test("a broken message is refused alone, and the rest of the file is used") func broken() {
        var generator = SeededGenerator(seed: 2)
        let frames = (0..<9).map { frame(60 + 13 * $0, seed: $0) }
        let damages: [(([UInt8]) -> [UInt8], String)] = [
            ({ Array($0.dropLast($0.count / 2)) }, "missing-end"),
            ({ self.changed($0, 15, to: $0[15] + 1) }, "missing-end"),
            ({ self.changed($0, 15, to: $0[15] - 1) }, "missing-end"), ({ self.changed($0, 7, to: 1) }, "edition"),
            ({ self.changed($0, 10, to: 1) }, "too-long"), ({ self.changed($0, 15, to: 0) }, "wrong-length"),
            ({ self.changed($0, 2, to: 0) }, "not-grib"),
        ]
        for (damage, code) in damages {
            var file = frames
            for index in [2, 5] { file[index] = damage(frames[index]) }
            let results = split(file.flatMap(\.self), &generator)
            #expect(messages(results) == frames.indices.filter { $0 != 2 && $0 != 5 }.map { frames[$0] }, "\(code)")
            #expect(codes(results) == [code, code])
        }
    }

    @Test("a file that ends inside a message says so") func cutOff() {
        var generator = SeededGenerator(seed: 6)
        let file = frame(100) + frame(200).prefix(150)
        let results = split(Array(file), &generator)
        #expect(messages(results) == [frame(100)] && codes(results) == ["cut-off"])
        #expect(codes(split(Array(frame(100) + frame(200).prefix(9)), &generator)) == ["cut-off"])
        #expect(codes(split(Array("<!DOCTYPE html><html></html>".utf8), &generator)) == ["not-grib"])
        #expect(split([], &generator).isEmpty)
    }

    @Test("random bytes end, hold little and give no message") func random() {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<100 {
            let noise = (0..<3_000).map { _ in Array("GRIB\u{0}\u{2}7".utf8).randomElement(using: &generator) ?? 0 }
            let results = split(noise, &generator)
            for bytes in messages(results) { #expect(refusal(bytes) == nil) }
        }
    }

    @Test("an indexed reader takes its messages out of any ranges that cover them") func indexed() {
        var generator = SeededGenerator(seed: 8)
        for _ in 0..<200 {
            let frames = (0..<15).map { frame(Int.random(in: 20...200, using: &generator), seed: $0) }
            var spans: [MessageSpan] = []
            var offset = 0
            for (index, bytes) in frames.enumerated() {
                spans.append(MessageSpan(number: index + 1, lower: offset, upper: offset + bytes.count, keys: []))
                offset += bytes.count
            }
            let wanted = spans.filter { _ in Bool.random(using: &generator) }
            let file = frames.flatMap(\.self)
            var reader = IndexedReader(wanted, limit: Self.limit)
            var results: [FrameResult] = []
            while let needed = reader.needed {
                let from = max(0, needed - Int.random(in: 0...30, using: &generator))
                results += reader.consume(
                    file[from..<min(file.count, needed + Int.random(in: 1...300, using: &generator))], at: from)
            }
            #expect(messages(results) == wanted.map { frames[$0.number - 1] } && reader.finish().isEmpty)
        }
    }

    @Test("a last message of unknown end ends with the file; what never came is cut off") func unknownEnd() {
        let spans = [
            MessageSpan(number: 1, lower: 0, upper: 100, keys: []),
            MessageSpan(number: 2, lower: 100, upper: nil, keys: []),
        ]
        var reader = IndexedReader(spans, limit: Self.limit)
        #expect(messages(reader.consume(frame(100) + frame(40), at: 0)) == [frame(100)])
        #expect(messages(reader.finish()) == [frame(40)])
        var short = IndexedReader(spans, limit: Self.limit)
        _ = short.consume(frame(100).prefix(50), at: 0)
        #expect(codes(short.finish()) == ["cut-off", "cut-off"])
        var told = IndexedReader(spans, limit: Self.limit)
        told.setFileBytes(140)
        #expect(messages(told.consume(frame(100) + frame(40), at: 0)).count == 2)
        // A span longer than any message isn't held.
        var huge = IndexedReader([MessageSpan(number: 1, lower: 0, upper: 50_000, keys: [])], limit: 100)
        #expect(codes(huge.consume(frame(50_000), at: 0)) == ["too-long"])
        #expect(huge.needed == nil)
    }
}
