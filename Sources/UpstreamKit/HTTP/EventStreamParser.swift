/// Parses a stream of server-sent events, in pieces as they arrive. It buffers one line and one event at most.
///
/// The reconnection time (`retry`) is ignored, because upstreams are called again by a back-off.
///
/// Source: HTML Living Standard, section 9.2.6 (interpreting an event stream)
package struct EventStreamParser: Sendable {
    /// A dispatched event.
    package struct Event: Sendable, Hashable {
        /// `message` if the stream names no other.
        package var name: String
        /// The lines of data, with line feeds between them.
        package var data: String
        /// The id of this event, or else of an earlier one; empty if there was none.
        package var lastEventID: String

        package init(name: String, data: String, lastEventID: String) {
            self.name = name
            self.data = data
            self.lastEventID = lastEventID
        }
    }

    /// The most bytes of a line, and of an event's data.
    package static let maximumBytes = 16 << 10

    private var line: [UInt8] = []
    private var isFirstLine = true
    private var endedWithCarriageReturn = false
    private var name = ""
    private var data: [UInt8] = []
    private var lastEventID = ""
    /// The lines that ended so far. A comment is one, so that a heartbeat counts.
    package private(set) var lineCount = 0

    package init() {}

    /// Parses the next bytes, and returns the events that they complete.
    /// - Throws: `tooLarge` if a line or the data of an event is longer than `maximumBytes`.
    package mutating func events(in bytes: some Sequence<UInt8>) throws(UpstreamError) -> [Event] {
        var events: [Event] = []
        for byte in bytes {
            let followsCarriageReturn = endedWithCarriageReturn
            endedWithCarriageReturn = byte == UInt8(ascii: "\r")
            switch byte {
            // The two bytes are the end of one line.
            case UInt8(ascii: "\n") where followsCarriageReturn: break
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                if let event = try endLine() { events.append(event) }
            default:
                guard line.count < Self.maximumBytes else { throw .tooLarge(limitBytes: Self.maximumBytes) }
                line.append(byte)
            }
        }
        return events
    }

    private mutating func endLine() throws(UpstreamError) -> Event? {
        defer { line.removeAll(keepingCapacity: true) }
        lineCount += 1
        if isFirstLine, line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        isFirstLine = false
        guard !line.isEmpty else { return dispatch() }
        let colon = line.firstIndex(of: UInt8(ascii: ":"))
        var value = colon.map { line[($0 + 1)...] } ?? []
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        // A comment has an empty name, which is no field's.
        switch String(decoding: line[..<(colon ?? line.endIndex)], as: UTF8.self) {
        case "event": name = String(decoding: value, as: UTF8.self)
        case "data":
            guard data.count + value.count < Self.maximumBytes else { throw .tooLarge(limitBytes: Self.maximumBytes) }
            data += value + [UInt8(ascii: "\n")]
        case "id" where !value.contains(0): lastEventID = String(decoding: value, as: UTF8.self)
        default: break
        }
        return nil
    }

    /// Ends an event. Without data there is none.
    private mutating func dispatch() -> Event? {
        defer {
            name = ""
            data.removeAll(keepingCapacity: true)
        }
        guard !data.isEmpty else { return nil }
        return Event(
            name: name.isEmpty ? "message" : name, data: String(decoding: data.dropLast(), as: UTF8.self),
            lastEventID: lastEventID)
    }
}
