import NIOCore
import NIOHTTP1

/// The head of an answer in the form of HTTP/1.1, without the fields that differ between its uses.
struct EncodedHead: Sendable {
    static let age = "Age"

    /// The status line and the fields.
    private let bytes: ByteBuffer

    /// Returns nil for an answer whose body has no known length: it would have another framing.
    ///
    /// Source: RFC 9112 sections 4 and 6
    init?(_ head: HTTPResponseHead) {
        guard head.version == .http1_1, !head.headers.contains(name: "Transfer-Encoding"),
            head.status == .notModified || head.headers.contains(name: "Content-Length")
        else { return nil }
        var bytes = ByteBuffer()
        bytes.writeString("HTTP/1.1 \(head.status.code) \(head.status.reasonPhrase)\r\n")
        for (name, value) in head.headers where head.status != .notModified || name.lowercased() != "content-length" {
            bytes.writeString("\(name): \(value)\r\n")
        }
        self.bytes = bytes
    }

    /// The whole head.
    /// - Parameters:
    ///   - age: in seconds; 0 is not stated.
    ///   - id: the id of the request.
    func complete(age: Int, id: String, _ allocator: ByteBufferAllocator) -> ByteBuffer {
        var head = allocator.buffer(capacity: bytes.readableBytes + Self.room)
        head.writeImmutableBuffer(bytes)
        if age > 0 {
            head.writeStaticString("Age: ")
            head.writeString(String(age))
            head.writeStaticString("\r\n")
        }
        head.writeString(RequestIDs.header)
        head.writeStaticString(": ")
        head.writeString(id)
        head.writeStaticString("\r\n\r\n")
        return head
    }

    /// The bytes of an age and of an id with their names.
    private static let room = 128
}
