import NIOCore
import NIOHTTP1

/// The head of an answer in the form of HTTP/1.1, without the fields that differ between its uses.
struct EncodedHead: Sendable {
    static let age = "Age"

    /// The status line and the fields.
    private let bytes: ByteBuffer

    /// Returns nil for an answer whose body has no known length: it would have another framing.
    ///
    /// - Parameter isUnchanged: whether it becomes the head of 304, which describes no body.
    ///
    /// Source: RFC 9112 sections 4 and 6
    init?(_ head: HTTPResponseHead, isUnchanged: Bool) {
        let isUnchanged = isUnchanged || head.status == .notModified
        guard head.version == .http1_1, !head.headers.contains(name: "Transfer-Encoding"),
            isUnchanged || head.headers.contains(name: Self.length)
        else { return nil }
        let status = isUnchanged ? HTTPResponseStatus.notModified : head.status
        var bytes = ByteBuffer()
        bytes.reserveCapacity(Self.usualBytes)
        bytes.writeStaticString("HTTP/1.1 ")
        bytes.writeString(String(status.code))
        bytes.writeStaticString(" ")
        bytes.writeString(status.reasonPhrase)
        bytes.writeStaticString("\r\n")
        for (name, value) in head.headers where !isUnchanged || !Self.describesBody(name) {
            bytes.writeString(name)
            bytes.writeStaticString(": ")
            bytes.writeString(value)
            bytes.writeStaticString("\r\n")
        }
        self.bytes = bytes
    }

    /// The bytes that it takes in memory.
    var capacity: Int { bytes.storageCapacity }

    /// Whether a field tells the type or the length of the body.
    static func describesBody(_ name: String) -> Bool {
        switch name.utf8.count {
        case type.utf8.count: name.lowercased() == type
        case length.utf8.count: name.lowercased() == length
        default: false
        }
    }

    private static let type = "content-type"
    private static let length = "content-length"
    private static let usualBytes = 1_024

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
