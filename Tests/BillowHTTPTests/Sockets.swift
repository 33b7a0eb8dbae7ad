import EngineTestSupport
import Foundation
import HTTPTypes
import Hummingbird
import JSONKit
import NIOCore

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A client that sends and reads bytes as a test says, over a real socket. No wait lasts longer than five minutes.
final class RawClient: Sendable {
    private let descriptor: Int32

    /// - Parameter receiveBuffer: how much the kernel takes in for a client that doesn't read.
    init(port: Int, receiveBuffer: Int32? = nil) throws {
        #if canImport(Glibc)
            let stream = Int32(SOCK_STREAM.rawValue)
        #else
            let stream = SOCK_STREAM
        #endif
        descriptor = socket(AF_INET, stream, 0)
        guard descriptor >= 0 else { throw Missing(description: "a socket") }
        if var receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        var limit = timeval(tv_sec: 300, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: port)
        let result = address.withSockAddr { connect(descriptor, $0, socklen_t($1)) }
        guard result == 0 else { throw Missing(description: "a connection: \(errno)") }
    }

    deinit { close(descriptor) }

    /// - Returns: whether the server still takes it.
    @discardableResult
    func write(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        #if canImport(Glibc)
            let flags = Int32(MSG_NOSIGNAL)
        #else
            let flags: Int32 = 0
        #endif
        return send(descriptor, bytes, bytes.count, flags) == bytes.count
    }

    /// Ends what is sent; answers can still come.
    func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// What comes until the server closes, until a text has come, or for five minutes.
    func read(until text: String? = nil) async -> String {
        await withCheckedContinuation { continuation in
            Thread { [self] in
                var all: [UInt8] = []
                var bytes = [UInt8](repeating: 0, count: 65_536)
                while true {
                    let count = recv(descriptor, &bytes, bytes.count, 0)
                    guard count > 0 else { break }
                    all += bytes[..<count]
                    if let text, String(decoding: all, as: UTF8.self).contains(text) { break }
                }
                continuation.resume(returning: String(decoding: all, as: UTF8.self))
            }.start()
        }
    }

    /// What answers some bytes until the server closes.
    static func answer(to text: String, port: Int) async throws -> String {
        let client = try RawClient(port: port)
        client.write(text)
        return await client.read()
    }
}

extension World {
    /// Serves the application over a socket of its own.
    func listening(_ test: @escaping @Sendable (Int) async throws -> Void) async throws {
        let (ports, port) = AsyncStream<Int>.makeStream()
        let server = application.server { port.yield($0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try? await server.run()
                port.finish()
            }
            for await number in ports {
                try await test(number)
                break
            }
            group.cancelAll()
        }
    }
}
