import GRIBKit
import GRIBMaking
import Testing

@Suite("Messages of a stream")
struct GRIBMessagesTests {
    /// What a stream gives, in a word each.
    static func words(_ items: [GRIBMessages.Element]) -> [String] {
        items.map { item in
            switch item {
            case .message(let message): "message at \(message.offset)"
            case .refused(let reason, _, let offset): "\(reason.code.rawValue) at \(offset)"
            }
        }
    }

    static func message(feet: Int) throws -> [UInt8] {
        var draft = Samples.draft()
        draft.level = .altitude(AltitudeLevel(feet: feet))
        return try draft.message()
    }

    @Test("are the same however the stream is cut", arguments: [1, 7, 100, 1_000])
    func pieces(_ length: Int) throws {
        let first = try Self.message(feet: 10_000)
        let second = try Self.message(feet: 11_000)
        let stream = Array("<html>GRI".utf8) + first + Array("GGRIGRIB".utf8) + second.dropLast(9) + second + [0, 0]
        var messages = GRIBMessages()
        var items: [GRIBMessages.Element] = []
        for start in stride(from: 0, to: stream.count, by: length) {
            items += messages.read(stream[start..<min(start + length, stream.count)])
        }
        items += messages.finish()
        #expect(Self.words(items) == Self.words(GRIBMessages.items(in: stream)))
        #expect(messages.messages == 2)
        #expect(messages.foreignBytes == 9 + 4 + 2)
        #expect(messages.refusals == [.wrongEdition: 1, .missingEnd: 1])
    }

    @Test("are refused as truncated where the stream ends, at any byte")
    func truncated() throws {
        let message = try Self.message(feet: 10_000)
        for count in 0..<message.count {
            let items = GRIBMessages.items(in: Array(message.prefix(count)))
            #expect(Self.words(items) == (count < 4 ? [] : ["truncated at 0"]), "\(count) bytes")
        }
        #expect(Self.words(GRIBMessages.items(in: message)) == ["message at 0"])
    }

    enum Damage: CaseIterable {
        case cutInHalf, firstEdition, tooLong, longerByOne, shorterByOne, noEnd, sectionTooLong, sectionMissing
        case lengthOfAll

        func apply(_ message: [UInt8]) throws -> (bytes: [UInt8], code: GRIBError.Code) {
            var bytes = message
            switch self {
            case .cutInHalf: return (Array(bytes.prefix(bytes.count / 2)), .missingEnd)
            case .firstEdition:
                bytes[7] = 1
                return (bytes, .wrongEdition)
            case .tooLong:
                Patch.put(1 << 40, octets: 8, at: 8, in: &bytes)
                return (bytes, .tooLong)
            case .longerByOne:
                Patch.put(bytes.count + 1, octets: 8, at: 8, in: &bytes)
                return (bytes, .missingEnd)
            case .shorterByOne:
                Patch.put(bytes.count - 1, octets: 8, at: 8, in: &bytes)
                return (bytes, .missingEnd)
            case .noEnd:
                bytes[bytes.count - 1] = 0x38
                return (bytes, .missingEnd)
            case .sectionTooLong:
                try Patch.set(4, 1, octets: 4, to: 1 << 20, in: &bytes)
                return (bytes, .lengthMismatch)
            case .sectionMissing:
                bytes.removeSubrange(try Patch.section(4, of: bytes))
                Patch.put(bytes.count, octets: 8, at: 8, in: &bytes)
                return (bytes, .sectionOrder)
            case .lengthOfAll:
                Patch.put(0, octets: 8, at: 8, in: &bytes)
                return (bytes, .lengthMismatch)
            }
        }
    }

    @Test("behind a broken one are still found", arguments: Damage.allCases)
    func resynchronises(_ damage: Damage) throws {
        let good = try Self.message(feet: 20_000)
        let (broken, code) = try damage.apply(Self.message(feet: 10_000))
        let items = GRIBMessages.items(in: broken + good)
        #expect(Self.words(items) == ["\(code.rawValue) at 0", "message at \(broken.count)"])
        // Numbers count what was refused, as a file's index does.
        guard case .message(let message) = items[1] else { return }
        #expect(message.number == 2)
    }

    @Test("are refused where they say again what an earlier one said")
    func duplicates() throws {
        let first = try Self.message(feet: 10_000)
        let second = try Self.message(feet: 11_000)
        let items = GRIBMessages.items(in: first + second + first)
        #expect(Self.words(items).map { $0.split(separator: " ")[0] } == ["message", "message", "duplicate"])
        guard case .refused(let reason, let number, _) = items[2] else { return }
        #expect(reason == .duplicate(of: 1) && number == 3)
    }

    @Test("may have several fields, which share grid and bitmap")
    func fields() throws {
        let first = try Self.message(feet: 10_000)
        let second = try Self.message(feet: 11_000)
        func sections(_ message: [UInt8], _ numbers: ClosedRange<Int>) throws -> [ArraySlice<UInt8>] {
            try numbers.map { message[try Patch.section($0, of: message)] }
        }
        var shared = second
        try Patch.set(6, 6, octets: 1, to: 254, in: &shared)
        let bitmap = ArraySlice([0, 0, 0, 6, 6, 254] as [UInt8])
        let several = Patch.message(
            try [
                sections(first, 1...1), sections(first, 3...7), sections(second, 4...5), [bitmap],
                sections(second, 7...7),
            ]
            .flatMap { $0 })
        let message = try Samples.message(several)
        #expect(message.fields.map(\.level) == [10_000, 11_000].map { .altitude(AltitudeLevel(feet: $0)) })
        let fields = try [0, 1].map { try GRIBField(message, field: $0).values }
        #expect(GRIBFieldTests.differences(fields[0], fields[1], within: 0).isEmpty)
        #expect(fields[1].contains { $0.isNaN })
        // The same field twice is refused within a message, too.
        let twice = Patch.message(try sections(first, 1...1) + sections(first, 3...7) + sections(first, 4...7))
        #expect(Self.words(GRIBMessages.items(in: twice)) == ["duplicate at 0"])
    }

    @Test("are no more, and no longer, than the limits allow")
    func limits() throws {
        let stream = try Self.message(feet: 10_000) + Self.message(feet: 11_000)
        var limits = GRIBLimits()
        limits.messages = 1
        #expect(Self.words(GRIBMessages.items(in: stream, limits: limits)).last?.hasPrefix("too-many") == true)
        var messages = GRIBMessages(limits: limits)
        let beginnings = Array(repeating: Array("GRIB".utf8), count: 1_000).flatMap { $0 }
        #expect(Self.words(messages.read(beginnings) + messages.read(stream) + messages.finish()).count == 2)
        limits = GRIBLimits()
        limits.messageBytes = 100
        #expect(
            Self.words(GRIBMessages.items(in: stream, limits: limits)).allSatisfy { $0.hasPrefix("too-long") })
    }

    @Test("are accepted or refused, and decoded or refused, whatever octet is changed")
    func changedOctets() throws {
        for packing in GRIBDraft.Packing.allCases {
            var draft = Samples.draft()
            draft.packing = packing
            let message = try draft.message()
            for place in message.indices {
                for value in [0, 1, 0x7F, 0x80, 0xFF, message[place] ^ 1] {
                    var bytes = message
                    bytes[place] = value
                    for case .message(let message) in GRIBMessages.items(in: bytes) { _ = try? GRIBField(message) }
                }
            }
        }
    }
}
