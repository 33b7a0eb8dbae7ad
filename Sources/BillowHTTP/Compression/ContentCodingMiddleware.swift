import BillowEngine
import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import Synchronization

/// Compresses all text responses of routes and files if the client accepts it. Images are not compressed again.
///
/// A body of known length is compressed whole. If it has an entity tag, the result is cached, so that a file is
/// compressed once. A longer body, or one of unknown length, is compressed while it is sent.
struct ContentCodingMiddleware<Context: RequestContext>: RouterMiddleware {
    let work: WorkExecutor
    let compressed: CompressedBodies

    /// The smallest body for which compression is worthwhile.
    private static var least: Int { 1_000 }
    /// The largest body that is compressed whole; such bodies are in memory already.
    private static var maximumBufferedBytes: Int { 4 << 20 }

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        guard let type = response.headers[.contentType], Self.isCompressible(type) else { return response }
        response.headers.vary(by: "Accept-Encoding")
        let header = request.headers[.acceptEncoding]
        // HEAD describes the plain body: its length is useful, and some clients try to decompress the missing body.
        let coding = ContentCoding(accepted: header, Self.isVectorTile(type) ? .tiles : .text)
        guard request.method != .head, response.headers[.contentEncoding] == nil, coding != .identity else {
            return response
        }
        if response.status == .notModified {
            response.repeatTag(of: request.headers[.ifNoneMatch])
            return response
        }
        guard response.status.kind == .successful, ![.noContent, .partialContent].contains(response.status) else {
            return response
        }
        let length = response.body.contentLength
        if let length, length < (ContentCoding.isIdentityRefused(header) ? 1 : Self.least) { return response }
        if let length, length <= Self.maximumBufferedBytes {
            guard let bytes = try await bytes(of: response, request, type, coding) else { return response }
            response.body = try BytesResponse.body(of: bytes)
            response.headers[.contentLength] = String(bytes.count)
            response.headers[.eTag] = response.headers[.eTag].map { EntityTags.coded($0, coding) }
        } else {
            guard let body = try stream(response.body, coding) else { return response }
            response.body = body
            // The pieces decide about the bytes.
            response.headers[.eTag] = response.headers[.eTag].map(EntityTags.weak)
        }
        response.headers[.contentEncoding] = coding.rawValue
        // A client with compressed bytes can't resume in the middle, because a range would be of the plain bytes.
        if response.headers[.acceptRanges] != nil { response.headers[.acceptRanges] = "none" }
        return response
    }

    /// Excludes images and WOFF fonts, which are compressed already, and events, which must not be delayed.
    ///
    /// Source: RFC 9110 section 8.3.1
    private static func isCompressible(_ type: String) -> Bool {
        guard !type.hasPrefix("image/png") else { return false }
        return type.hasPrefix("text/") && type != EventRoutes.mediaType
            || ["json", "xml", "javascript", "protobuf", "vector-tile"].contains { type.contains($0) }
    }

    /// The compressed body; nil if memory is exhausted.
    private func bytes(
        of response: Response, _ request: Request, _ type: String, _ coding: ContentCoding
    ) async throws -> [UInt8]? {
        let make: @Sendable () async throws -> [UInt8]? = { [work, body = response.body] in
            let whole = BufferedBody()
            try await body.write(whole)
            // The request already had its turn in a queue, so this part of it must not be rejected.
            return try await work.run(Self.workClass(of: type), isContinuing: true) {
                coding.compress(whole.bytes, Self.isFile(type) ? .high : .low)
            }
        }
        guard let tag = response.headers[.eTag] else { return try await make() }
        return try await compressed.cache.value(
            for: CompressedBodies.Key(address: request.uri.string, tag: tag, coding: coding), make: make)
    }

    /// The work class that produced the body.
    private static func workClass(of type: String) -> WorkClass { isVectorTile(type) ? .tile : .query }

    private static func isVectorTile(_ type: String) -> Bool { type.contains("vector-tile") }

    /// Whether the body is a file of the viewer, which is compressed once.
    private static func isFile(_ type: String) -> Bool {
        type.contains("javascript") || type.hasPrefix("text/html") || type.hasPrefix("text/css")
    }

    /// A body that is compressed while it is sent; nil if memory is exhausted.
    /// - Throws: `WorkError.tooManyAnswers`.
    private func stream(_ body: ResponseBody, _ coding: ContentCoding) throws(WorkError) -> ResponseBody? {
        let reservation = try ResponseBudget.ofServer.reserve(coding.streamBytes)
        guard let stream = coding.stream() else { return nil }
        return ResponseBody { [work] writer in
            try await body.write(CompressingWriter(base: writer, stream: stream, work: work))
            withExtendedLifetime(reservation) {}
        }
    }
}

/// A cache of compressed bodies by path and entity tag, for files, documents and pages.
final class CompressedBodies: Sendable {
    struct Key: Hashable, Sendable {
        var address: String
        var tag: String
        var coding: ContentCoding
    }

    /// The viewer with its libraries takes some 2 MB.
    private static let capacity = 12 << 20

    let cache: SharedCache<Key, [UInt8]?, any Error>

    init() {
        cache = SharedCache(
            CacheBudget(bytes: Self.capacity), keyBytes: { $0.address.utf8.count + $0.tag.utf8.count }
        ) { $0?.count ?? 0 }
    }
}

extension HTTPFields {
    /// Adds the name of a request header to `Vary`.
    mutating func vary(by name: String) { self[.vary] = self[.vary].map { "\($0), \(name)" } ?? name }
}

extension Response {
    /// Gives the tag in the form in which the client has it.
    fileprivate mutating func repeatTag(of header: String?) {
        guard let tag = headers[.eTag], let header else { return }
        let forms = [EntityTags.weak(tag)] + EntityTags.codings.map { EntityTags.coded(tag, $0) }
        if let form = forms.first(where: { header.contains($0) }) { headers[.eTag] = form }
    }
}

/// Collects a body in memory.
private final class BufferedBody: ResponseBodyWriter, Sendable {
    private let taken = Mutex<[UInt8]>([])

    var bytes: [UInt8] { taken.withLock { $0 } }

    func write(_ buffer: ByteBuffer) async throws { taken.withLock { $0 += buffer.readableBytesView } }

    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}

/// Compresses written bytes, in jobs.
private struct CompressingWriter: ResponseBodyWriter {
    var base: any ResponseBodyWriter
    let stream: any CompressionStream
    let work: WorkExecutor
    private var waiting = ByteBuffer()

    /// The number of bytes that are compressed in one step, some 2 ms.
    private static var step: Int { 64 << 10 }

    init(base: any ResponseBodyWriter, stream: any CompressionStream, work: WorkExecutor) {
        self.base = base
        self.stream = stream
        self.work = work
    }

    mutating func write(_ buffer: ByteBuffer) async throws {
        waiting.writeImmutableBuffer(buffer)
        if waiting.readableBytes >= Self.step { try await compress(isLast: false) }
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
        try await compress(isLast: true)
        try await base.finish(trailingHeaders)
    }

    private mutating func compress(isLast: Bool) async throws {
        let bytes = waiting
        waiting.clear()
        let compressed = try await work.run(.query, isContinuing: true) { [stream] in
            stream.compress(Array(bytes.readableBytesView), isLast: isLast)
        }
        if !compressed.isEmpty { try await base.write(ByteBuffer(bytes: compressed)) }
    }
}
