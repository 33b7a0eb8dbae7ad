import BillowPacks
import HTTPTypes
import Hummingbird
import NIOCore
import NIOPosix

/// A complete export. Its file has no name, so that the system removes it.
final class ExportedFile: Sendable {
    let size: Int
    /// A hash of the bytes, so that it is equal on every server.
    let entityTag: String
    /// The path and query of the part that follows this one; nil for the last part, and for a whole export.
    let nextPart: String?
    private let file: FileWriter

    init(_ file: FileWriter, size: Int, entityTag: String, nextPart: String? = nil) {
        self.file = file
        self.size = size
        self.entityTag = entityTag
        self.nextPart = nextPart
    }

    /// The answer to a request: the whole file, the requested range of it, or only its headers.
    ///
    /// - Parameters:
    ///   - headers: the headers of the content, including `Cache-Control`.
    ///   - use: held until the body is sent, or dropped.
    func response(
        _ headers: HTTPFields, _ request: Request, _ context: some RequestContext, holding use: ExportFiles.Use? = nil
    ) throws -> Response {
        var headers = headers
        headers[.eTag] = "\"\(entityTag)\""
        headers[.acceptRanges] = "bytes"
        if EntityTags(request.headers[.ifNoneMatch]).match(entityTag) {
            return Response(status: .notModified, headers: headers)
        }
        let isPartWanted = request.headers[.ifRange].map { $0 == headers[.eTag] } ?? true
        switch isPartWanted ? ByteRange(request.headers[.range], of: size) : .whole {
        case .whole:
            headers[.contentLength] = String(size)
            let body = request.method == .head ? ResponseBody() : body(0..<size, use)
            return Response(status: .ok, headers: headers, body: body)
        case .part(let range) where request.method != .head:
            headers[.contentLength] = String(range.count)
            headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(size)"
            return Response(status: .partialContent, headers: headers, body: body(range, use))
        case .part:
            // A range has a meaning only for GET.
            headers[.contentLength] = String(size)
            return Response(status: .ok, headers: headers)
        case .unsatisfiable:
            return try Problem.unsatisfiableRange(of: size, request, context)
        }
    }

    /// A range of the file, which is read while it is sent.
    private func body(_ range: Range<Int>, _ use: ExportFiles.Use?) -> ResponseBody {
        ResponseBody(contentLength: range.count) { [self] writer in
            for start in stride(from: range.lowerBound, to: range.upperBound, by: BytesResponse.slice) {
                let part = start..<min(start + BytesResponse.slice, range.upperBound)
                try await writer.write(try await NIOThreadPool.singleton.runIfActive { try self.read(part) })
            }
            try await writer.finish(nil)
            withExtendedLifetime(use) {}
        }
    }

    private func read(_ range: Range<Int>) throws -> ByteBuffer {
        let bytes = try file.read(range.count, at: range.lowerBound)
        guard bytes.count == range.count else { throw PackError.file("it ended early") }
        return ByteBuffer(bytes: bytes)
    }
}
