import TestSupport
import Testing
import UpstreamKit

private typealias Event = EventStreamParser.Event

private func message(_ data: String, id: String = "") -> Event { Event(name: "message", data: data, lastEventID: id) }

@Suite("A stream of server-sent events")
struct EventStreamTests {
    private func events(_ pieces: [[UInt8]]) throws -> [Event] {
        var parser = EventStreamParser()
        return try pieces.flatMap { piece throws(UpstreamError) in try parser.events(in: piece) }
    }

    /// The examples of the standard, and the rules that it states for each field.
    private static let table: [(text: String, events: [Event])] = [
        ("data: YHOO\ndata: +2\ndata: 10\n\n", [message("YHOO\n+2\n10")]),
        (
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
            [message("first event", id: "1"), message("second event"), message(" third event")]
        ),
        ("data\n\ndata\ndata\n\ndata:\n", [message(""), message("\n")]),
        ("data:test\n\ndata: test\n\n", [message("test"), message("test")]),
        (
            "retry: 3000\n\nid: 0a-7\nevent: data\ndata: {\"area\":\"all\"}\n\n: alive\n\n",
            [Event(name: "data", data: #"{"area":"all"}"#, lastEventID: "0a-7")]
        ),
        // An event without data is none, and its name doesn't count for the next one.
        ("event: data\n\ndata: 1\n\n", [message("1")]),
        ("id: 5\n\ndata: 1\n\ndata: 2\n\n", [message("1", id: "5"), message("2", id: "5")]),
        ("id: 5\nid: 6\0\ndata: 1\n\n", [message("1", id: "5")]),
        ("\u{FEFF}data: 1\n\n\u{FEFF}data: 2\n\n", [message("1")]),
        ("DATA: 1\nData: 2\n data: 3\nother\nother: 4\n:\n\n", []),
        ("data: a:b\n\n", [message("a:b")]),
        ("event:a\nevent: b \ndata: 1\n\n", [Event(name: "b ", data: "1", lastEventID: "")]),
        ("", []), ("\n\n\n", []), ("data: unfinished", []), ("data: unfinished\n", []),
    ]

    @Test("the events of a text, with each kind of line end, in pieces of every size")
    func table() throws {
        for (text, expected) in Self.table {
            for end in ["\n", "\r", "\r\n"] {
                let bytes = Array(text.replacing("\n", with: end).utf8)
                for size in 1...max(bytes.count, 1) {
                    let pieces = stride(from: 0, to: bytes.count, by: size).map {
                        Array(bytes[$0..<min($0 + size, bytes.count)])
                    }
                    #expect(try events(pieces) == expected, "\(text.debugDescription) by \(size)")
                }
            }
        }
    }

    @Test("random bytes give the same events in random pieces as at once")
    func chunks() throws {
        var random = SeededGenerator(seed: 19)
        let alphabet = Array("\n\n\r:data: id:event \u{0}é".utf8) + [0xFF]
        for _ in 0..<2_000 {
            let bytes = (0..<Int.random(in: 0...80, using: &random)).compactMap { _ in
                alphabet.randomElement(using: &random)
            }
            var (pieces, rest) = ([[UInt8]](), bytes[...])
            while !rest.isEmpty {
                let piece = rest.prefix(Int.random(in: 1...9, using: &random))
                pieces.append(Array(piece))
                rest = rest.dropFirst(piece.count)
            }
            #expect(try events(pieces) == events([bytes]), "\(bytes)")
        }
    }

    @Test("a line and an event have a limit", arguments: ["x", "data: ", "data: 1\n", ": "])
    func limits(_ text: String) throws {
        var parser = EventStreamParser()
        let start = Array(text.utf8)
        #expect(throws: UpstreamError.tooLarge(limitBytes: EventStreamParser.maximumBytes)) {
            for _ in 0...EventStreamParser.maximumBytes {
                _ = try parser.events(in: text.hasSuffix("\n") ? start : start + Array("xxxx".utf8))
            }
        }
    }

    @Test("each line counts, so that a comment is a sign of life")
    func lines() throws {
        var parser = EventStreamParser()
        _ = try parser.events(in: Array(": alive".utf8))
        #expect(parser.lineCount == 0)
        _ = try parser.events(in: Array("\r\n\r\n".utf8))
        #expect(parser.lineCount == 2)
    }
}
