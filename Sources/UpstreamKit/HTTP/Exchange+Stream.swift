package import AsyncHTTPClient
package import NIOCore
package import NIOHTTP1

extension Exchange {
    /// The status and headers of a response whose body has not been read.
    package struct Head: Sendable {
        package let status: Int
        package let headers: HTTPHeaders

        /// Whether a header marks the response as simulated, as Billow's simulator does.
        package func isSimulated(header: String = "x-simulated") -> Bool {
            headers.first(name: header).map { $0.lowercased() != "false" } ?? false
        }
    }

    /// The body of a response, read piece by piece. A slow reader slows down the upstream.
    package struct BodyChunks: Sendable {
        fileprivate let exchange: Exchange
        fileprivate let body: HTTPClientResponse.Body
        fileprivate let deadline: StreamDeadline

        /// Allows more time for the rest of the body.
        package func allow(_ extra: Duration) { deadline.extend(by: extra) }

        /// Reads until the end, or until `consume` returns false. Time spent in `consume` does not count.
        ///
        /// - Throws: `UpstreamError`, and the errors of `consume`.
        package func forEach(_ consume: (ByteBuffer) async throws -> Bool) async throws {
            var iterator = body.makeAsyncIterator()
            while true {
                let piece: ByteBuffer?
                do { piece = try await iterator.next() } catch {
                    // A connection that ends within the body gives a truncated response, not an unreachable host.
                    let failure = exchange.failure(error)
                    if case .unreachable = failure { throw UpstreamError.unreadable(.truncated) }
                    throw failure
                }
                guard let piece else { return }
                TransferMeter.current?.add(piece.readableBytes)
                deadline.pause()
                defer { deadline.resume() }
                guard try await consume(piece) else { return }
            }
        }

        /// The text of an error response, at most 64 KiB, as far as received.
        package func words() async throws -> [UInt8] { try await exchange.problem(body) }

        /// Converts a response with an error status to an error.
        package func refusal(_ head: Head, words: [UInt8]) -> UpstreamError {
            exchange.refusal(Response(status: head.status, headers: head.headers, bytes: words))
        }
    }

    /// Sends a request whose body is read as it arrives and never buffered whole. `read` gets responses of any status.
    ///
    /// The exchange's timeout covers the time from connecting to the last byte, unless `read` allows more. The reader
    /// enforces any limit of the size.
    /// - Parameter isEndless: whether the body has no end. The exchange's timeout doesn't apply then, and the caller
    ///   limits silence.
    package func stream<Result: Sendable>(
        _ request: HTTPClientRequest, isEndless: Bool = false,
        _ read: @escaping @Sendable (Head, BodyChunks) async throws -> Result
    ) async throws(UpstreamError) -> Result {
        let deadline = StreamDeadline(after: timeout)
        do {
            return try await withThrowingTaskGroup(of: Result?.self) { group in
                group.addTask {
                    let response = try await httpClient.execute(request, deadline: .distantFuture)
                    let head = Head(status: Int(response.status.code), headers: response.headers)
                    return try await read(head, BodyChunks(exchange: self, body: response.body, deadline: deadline))
                }
                if !isEndless {
                    group.addTask {
                        try await deadline.wait()
                        return nil
                    }
                }
                defer { group.cancelAll() }
                guard let first = try await group.next(), let result = first else { throw UpstreamError.timeout }
                return result
            }
        } catch {
            throw failure(error)
        }
    }
}
