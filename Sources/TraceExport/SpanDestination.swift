package import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// Where spans go.
package enum SpanDestination: Sendable {
    /// A file of lines, each a request of OTLP, as a collector writes and reads them. A full file is renamed, with
    /// `.1` at its end, and replaces the one before.
    ///
    /// Source: OpenTelemetry Protocol File Exporter, https://opentelemetry.io/docs/specs/otel/protocol/file-exporter/
    case file(String, limit: Int = 64 << 20)
    /// A collector that takes OTLP over HTTP.
    ///
    /// Source: OpenTelemetry Protocol 1.7, "OTLP/HTTP"
    case collector(String, HTTPClient)

    /// Why spans could not be exported.
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// The time that a collector has for its answer.
    private static let patience = TimeAmount.seconds(5)

    /// A destination for the address of a collector, such as `http://127.0.0.1:4318/v1/traces`.
    package static func collector(at address: String) -> SpanDestination {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: HTTPClient.Configuration.Timeout(connect: patience, read: patience))
        // The export of spans makes no spans.
        configuration.tracing.tracer = nil
        return .collector(address, HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration))
    }

    func send(_ line: [UInt8]) async throws {
        switch self {
        case .file(let path, let limit): try Self.append(line, to: path, limit: limit)
        case .collector(let address, let client):
            var request = HTTPClientRequest(url: address)
            request.method = .POST
            request.headers.add(name: "Content-Type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: line))
            let response = try await client.execute(request, timeout: Self.patience)
            // A body that isn't read would keep the connection busy.
            _ = try await response.body.collect(upTo: 1 << 20)
            guard (200..<300).contains(response.status.code) else {
                throw Failure(description: "the collector answered with \(response.status.code)")
            }
        }
    }

    func shutDown() async {
        if case .collector(_, let client) = self {
            // Nothing waits for the client any more.
            try? await client.shutdown()
        }
    }

    /// Opens the file for each write, so that a program that rotates it needs no signal.
    private static func append(_ line: [UInt8], to path: String, limit: Int) throws {
        var status = stat()
        if stat(path, &status) == 0, Int(status.st_size) + line.count > limit { _ = rename(path, path + ".1") }
        let file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw Failure(description: "\(path): \(String(cString: strerror(errno)))") }
        defer { close(file) }
        var rest = line[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            guard written > 0 || errno == EINTR else {
                throw Failure(description: "\(path): \(String(cString: strerror(errno)))")
            }
            rest = rest.dropFirst(max(0, written))
        }
    }
}
