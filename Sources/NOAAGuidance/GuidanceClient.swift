package import AsyncHTTPClient
package import UpstreamKit
import NIOCore
import NIOHTTP1

/// Reads GTG and GTGN from NOAA's server: finds files, reads their indexes, and downloads their messages.
///
/// Every request waits for its turn in the budget; share one client, or one budget, for each address. A 403 or 429
/// means that the server blocks this address: it throws `.rateLimited`, and so does every call until the block is over.
///
/// The HTTP client is the caller's and must outlive this one: take `recommendedHTTPConfiguration`.
///
/// Source: docs/upstreams/noaa.md
package struct GuidanceClient: Sendable {
    package let configuration: GuidanceConfiguration
    package let budget: RequestBudget
    let exchange: Exchange
    private let clock: GuidanceClock

    /// - Parameters:
    ///   - ledger: what an earlier process used of the budget.
    /// - Throws: `.invalidConfiguration` with all problems.
    package init(
        configuration: GuidanceConfiguration = GuidanceConfiguration(), httpClient: HTTPClient,
        clock: GuidanceClock = .system, resuming ledger: RequestBudget.Ledger = RequestBudget.Ledger()
    ) throws(UpstreamError) {
        let problems = configuration.problems
        guard problems.isEmpty else { throw .invalidConfiguration(problems) }
        self.configuration = configuration
        self.clock = clock
        budget = RequestBudget(
            spacing: configuration.spacing, bytesPerDay: configuration.bytesPerDay,
            blockSeconds: configuration.blockSeconds, clock: clock, resuming: ledger)
        exchange = Exchange(
            httpClient: httpClient, timeout: configuration.timeout, maximumBodyBytes: 0, secrets: [],
            dialect: RefusalDialect(codeMember: nil, sendsKey: false), now: { clock.nowSeconds })
    }

    /// HTTP/1.1 only, because the server's answers over HTTP/2 are malformed; no redirects, ten seconds to connect.
    package static var recommendedHTTPConfiguration: HTTPClient.Configuration {
        var configuration = Exchange.recommendedHTTPConfiguration
        configuration.httpVersion = .http1Only
        return configuration
    }

    var nowSeconds: Int { clock.nowSeconds }

    // MARK: - Files

    /// Length and version of a file, without its body.
    ///
    /// - Parameter validators: of the version that the caller has: `.unchanged` where it is still the one.
    package func state(
        of file: GuidanceFile, since validators: GuidanceValidators = GuidanceValidators()
    ) async throws(UpstreamError) -> GuidanceFileState {
        var request = request(file.path)
        request.method = .HEAD
        validators.addConditions(to: &request.headers)
        let answer = try await answer(to: request, limit: 0)
        switch answer.head.status {
        case 200:
            let head = GuidanceFileHead(answer.head)
            if isHTML(answer.head, []) { throw .unreadable(.html) }
            if !validators.isEmpty, validators == head.validators { return .unchanged }
            let isSettled = head.ageSeconds.map { $0 >= configuration.settleSeconds } ?? true
            return isSettled && head.bytes != 0 ? .whole(head) : .growing(head)
        case 304 where !validators.isEmpty: return .unchanged
        default: return .absent
        }
    }

    /// The index of a file.
    ///
    /// - Parameter validators: of the version that the caller has: `.unchanged` where it is still the one.
    package func index(
        of file: GuidanceFile, since validators: GuidanceValidators = GuidanceValidators()
    ) async throws(UpstreamError) -> GuidanceIndexState {
        var request = request(file.indexPath)
        validators.addConditions(to: &request.headers)
        let answer = try await answer(to: request, limit: configuration.maximumIndexBytes)
        switch answer.head.status {
        case 200:
            if isHTML(answer.head, answer.bytes) { throw .unreadable(.html) }
            guard !answer.bytes.isEmpty else { throw .unreadable(.empty) }
            return .present(MessageIndex(answer.bytes), GuidanceValidators(answer.head.headers))
        case 304 where !validators.isEmpty: return .unchanged
        default: return .absent
        }
    }

    /// The files and folders of a directory; nil where there is no such directory.
    ///
    /// - Parameter directory: a path with a slash at both ends.
    package func listing(of directory: String) async throws(UpstreamError) -> DirectoryListing? {
        let answer = try await answer(to: request(directory), limit: configuration.maximumListingBytes)
        guard answer.head.status == 200 else { return nil }
        guard !answer.bytes.isEmpty else { throw .unreadable(.empty) }
        return DirectoryListing(answer.bytes)
    }

    // MARK: - The exchange

    func request(_ path: String) -> HTTPClientRequest {
        var request = HTTPClientRequest(url: configuration.baseURL + path)
        request.headers.add(name: "user-agent", value: configuration.userAgent)
        request.headers.add(name: "accept-encoding", value: "identity")
        return request
    }

    private struct SmallAnswer: Sendable {
        var head: Exchange.Head
        var bytes: [UInt8]
    }

    /// A whole small answer of status 200, 304, 404 or 410. Others are thrown.
    private func answer(to request: HTTPClientRequest, limit: Int) async throws(UpstreamError) -> SmallAnswer {
        let account = RequestAccount(budget, try await budget.turn(expecting: 0))
        defer { account.settle() }
        return try await exchange.stream(request) { head, pieces in
            try await refuse(head, pieces)
            var bytes: [UInt8] = []
            guard head.status == 200, request.method != .HEAD else { return SmallAnswer(head: head, bytes: []) }
            try await pieces.forEach { piece in
                account.add(piece.readableBytes)
                guard bytes.count + piece.readableBytes <= limit else {
                    throw UpstreamError.tooLarge(limitBytes: limit)
                }
                bytes.append(contentsOf: piece.readableBytesView)
                return true
            }
            return SmallAnswer(head: head, bytes: bytes)
        }
    }

    /// Throws the error of a status that no call knows. A block of this address holds back every call.
    func refuse(_ head: Exchange.Head, _ pieces: Exchange.Pieces) async throws {
        switch head.status {
        case 200, 206, 304, 404, 410, 416: budget.clearBlocks()
        default:
            let error = try await pieces.refusal(head)
            switch error {
            case .forbidden(let problem) where problem.status == 403:
                throw budget.block(problem, retryAfterSeconds: nil)
            case .rateLimited(let problem, let seconds): throw budget.block(problem, retryAfterSeconds: seconds)
            default: throw error
            }
        }
    }

    /// Whether an answer is a page for people, by its head or by its first bytes.
    func isHTML(_ head: Exchange.Head, _ bytes: some Collection<UInt8>) -> Bool {
        let type = head.headers.first(name: "content-type") ?? ""
        if type.lowercased().hasPrefix("text/html") { return true }
        let beginning = String(decoding: bytes.prefix(15), as: UTF8.self).lowercased()
        return beginning.hasPrefix("<!doctype") || beginning.hasPrefix("<html")
    }
}
