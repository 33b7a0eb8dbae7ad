import EngineTestSupport
import HTTPTypes
import HummingbirdCore
import JSONKit
import NIOCore
import Testing

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

@Suite("Bodies of answers")
struct AnswerBodyTests {
    private struct Collector: ResponseBodyWriter {
        let onWrite: (ByteBuffer) -> Void
        mutating func write(_ buffer: ByteBuffer) async throws { onWrite(buffer) }
        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {}
    }

    @Test(
        "a large body is sent in parts that together equal it",
        arguments: [0, 1, 1 << 20, 1 << 20 + 1, 3_500_000])
    func pieces(count: Int) async throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
        var pieces: [ByteBuffer] = []
        let body = try BytesResponse.body(of: bytes)
        #expect(body.contentLength == count)
        try await body.write(Collector { pieces.append($0) })
        #expect(pieces.flatMap { Array($0.readableBytesView) } == bytes)
        #expect(pieces.allSatisfy { $0.readableBytes <= 1 << 20 })
    }
}
