import BillowEngine
import NIOCore
import NIOHTTP1
import SpanKit

/// The bytes of exactly one request without a body.
struct RequestText {
    let bytes: ByteBuffer
    /// Where the fields begin, counted from the first byte.
    let fields: Int

    /// Returns nil for bytes of any other form.
    init?(_ bytes: ByteBuffer) {
        var (lines, first, isLast) = (0, 0, false)
        var last: UInt8 = 0
        var start = 0
        let view = bytes.readableBytesView
        for (index, byte) in zip(0..., view) {
            defer { last = byte }
            // The empty line must end the bytes.
            if isLast { return nil }
            guard byte == UInt8(ascii: "\n") else { continue }
            guard last == UInt8(ascii: "\r") else { return nil }
            if index == start + 1 { isLast = true }
            lines += 1
            if lines == 1 { first = index + 1 }
            start = index + 1
        }
        guard isLast, lines > 1 else { return nil }
        self.bytes = bytes
        fields = first
    }
}

/// The header fields of a request as bytes, and what they mean.
struct RepeatedFields {
    /// What an answer from the microcache depends on, besides the address and the condition.
    struct Meaning {
        let coding: ContentCoding
        /// The client's own id of the request.
        let id: String?
        /// The client as the log names it; nil if requests are not logged.
        let client: IPAddress?
        /// The span that the client names; nil also where no spans are recorded.
        let parent: String?

        init(of head: HTTPRequestHead, over channel: any Channel, _ journal: RequestJournal) {
            coding = CacheQuestion.coding(head.headers)
            id = head.headers.first(name: RequestIDs.header)
            parent = Spans.areRecorded ? head.headers.first(name: RequestTrace.header) : nil
            guard journal.accessLog != nil else {
                client = nil
                return
            }
            client = journal.client(over: IPAddress(channel.remoteAddress)) { name in
                let values = head.headers[name]
                return values.isEmpty ? nil : values.joined(separator: ",")
            }
        }
    }

    /// A request that has these fields.
    struct Match {
        let address: String
        /// The value of `If-None-Match`; nil without it.
        let condition: String?
    }

    /// All fields, or those to the value of `If-None-Match`.
    private let start: [UInt8]
    /// The rest, from the end of that value.
    private let end: [UInt8]
    let hasCondition: Bool
    private let meaning: Meaning

    /// Returns nil if the condition is not where its name says.
    init?(_ request: RequestText, _ meaning: Meaning) {
        self.meaning = meaning
        let fields = Array(request.bytes.readableBytesView.dropFirst(request.fields))
        let lines = fields.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let conditions = lines.filter { line in
            let name = line.prefix { $0 != UInt8(ascii: ":") }
            return String(decoding: name, as: UTF8.self).lowercased() == "if-none-match"
        }
        hasCondition = !conditions.isEmpty
        guard let condition = conditions.first else {
            (start, end) = (fields, [])
            return
        }
        guard conditions.count == 1, let colon = condition.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        start = Array(fields[...colon])
        end = Array(fields[(condition.endIndex - 1)...])
    }

    /// Whether bytes are one request for an address with these fields.
    ///
    /// - Complexity: O(bytes)
    func match(_ buffer: ByteBuffer) -> (Match, Meaning)? {
        buffer.withUnsafeReadableBytes { bytes in
            let method = Self.method
            guard bytes.count > method.count, bytes.starts(with: method) else { return nil }
            // An address has no control characters and no blanks.
            guard let blank = bytes[method.count...].firstIndex(where: { $0 <= 0x20 || $0 >= 0x7F }),
                blank > method.count, bytes[method.count] == UInt8(ascii: "/")
            else { return nil }
            let fields = blank + Self.version.count
            guard bytes.count >= fields + start.count + end.count, bytes[blank..<fields].elementsEqual(Self.version),
                Self.isEqual(bytes, fields, start), Self.isEqual(bytes, bytes.count - end.count, end)
            else { return nil }
            let value = bytes[(fields + start.count)..<(bytes.count - end.count)]
            guard hasCondition else {
                guard value.isEmpty else { return nil }
                return (Match(address: Self.text(bytes[method.count..<blank]), condition: nil), meaning)
            }
            guard value.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
            var condition = value.drop { $0 == 0x20 }
            while condition.last == 0x20 { condition.removeLast() }
            return (Match(address: Self.text(bytes[method.count..<blank]), condition: Self.text(condition)), meaning)
        }
    }

    private static func isEqual(_ bytes: UnsafeRawBufferPointer, _ position: Int, _ other: [UInt8]) -> Bool {
        UnsafeRawBufferPointer(rebasing: bytes[position..<position + other.count]).elementsEqual(other)
    }

    private static func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        String(decoding: bytes, as: UTF8.self)
    }

    private static let method = Array("GET ".utf8)
    private static let version = Array(" HTTP/1.1\r\n".utf8)
}
