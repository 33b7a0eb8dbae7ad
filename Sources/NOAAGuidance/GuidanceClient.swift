package import AsyncHTTPClient
package import UpstreamKit
import NIOCore
import NIOHTTP1

/// A client of GTG and GTGN on NOAA's server: it finds files, reads their indexes, and downloads their messages.
///
/// Every request waits for its turn in the budget, so share one client for each server. A 403, a 429 or the server's
/// page about too many requests means that it blocks this address. The call throws `.rateLimited`, and so does every
/// other call until the block ends.
///
/// The caller owns the HTTP client, which must outlive this one; use `recommendedHTTPConfiguration`.
///
/// Source: docs/upstreams/noaa.md
package struct GuidanceClient: Sendable {
    package let configuration: GuidanceConfiguration
    package let budget: RequestBudget
    let exchange: Exchange
    private let clock: GuidanceClock

    /// - Parameters:
    ///   - ledger: the budget that an earlier process used.
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
            dialect: ErrorResponseFormat(codeMember: nil, sendsKey: false), now: { clock.nowSeconds })
    }

    /// Only HTTP/1.1, because the server's responses over HTTP/2 are malformed. No redirects, and a connect timeout of
    /// ten seconds.
    package static var recommendedHTTPConfiguration: HTTPClient.Configuration {
        var configuration = Exchange.recommendedHTTPConfiguration
        configuration.httpVersion = .http1Only
        return configuration
    }

    var nowSeconds: Int { clock.nowSeconds }

    // MARK: - Files

    /// The length and version of a file, without its body.
    ///
    /// - Parameter validators: of the version that the caller has; the result is `.unchanged` if it is current.
    package func state(
        of file: GuidanceFile, since validators: GuidanceValidators = GuidanceValidators()
    ) async throws(UpstreamError) -> GuidanceFileState {
        var request = request(file.path)
        request.method = .HEAD
        validators.addConditions(to: &request.headers)
        let answer = try await answer(to: request, limit: 0)
        switch answer.head.status {
        case 200:
            let head = GuidanceFileHead(answer.head, nowSeconds: nowSeconds)
            if !validators.isEmpty, validators == head.validators { return .unchanged }
            let isSettled = head.ageSeconds.map { $0 >= configuration.settleSeconds } ?? true
            return isSettled && head.bytes != 0 ? .whole(head) : .growing(head)
        case 304 where !validators.isEmpty: return .unchanged
        default: return .absent
        }
    }

    /// The index of a file.
    ///
    /// - Parameter validators: of the version that the caller has; the result is `.unchanged` if it is current.
    package func index(
        of file: GuidanceFile, since validators: GuidanceValidators = GuidanceValidators()
    ) async throws(UpstreamError) -> GuidanceIndexState {
        var request = request(file.indexPath)
        validators.addConditions(to: &request.headers)
        let answer = try await answer(to: request, limit: configuration.maximumIndexBytes)
        switch answer.head.status {
        case 200:
            try refuse(answer.head, page: answer.bytes)
            guard !answer.bytes.isEmpty else { throw .unreadable(.empty) }
            return .present(MessageIndex(answer.bytes), GuidanceValidators(answer.head.headers))
        case 304 where !validators.isEmpty: return .unchanged
        default: return .absent
        }
    }

    /// The files and folders of a directory; nil if it doesn't exist.
    ///
    /// - Parameter directory: a path with a slash at both ends.
    package func listing(of directory: String) async throws(UpstreamError) -> DirectoryListing? {
        let answer = try await answer(to: request(directory), limit: configuration.maximumListingBytes, isPage: true)
        guard answer.head.status == 200 else { return nil }
        guard !answer.bytes.isEmpty else { throw .unreadable(.empty) }
        let listing = DirectoryListing(answer.bytes)
        // A page without any link may be another page.
        if listing.entries.isEmpty, BlockNotice.isNotice(answer.bytes) { throw blocked(answer.head) }
        return listing
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

    /// A complete small response of status 200, 304, 404 or 410. Other statuses throw.
    private func answer(
        to request: HTTPClientRequest, limit: Int, isPage: Bool = false
    ) async throws(UpstreamError) -> SmallAnswer {
        let account = RequestAccount(budget, try await budget.reserve(expecting: 0))
        defer { account.close() }
        return try await exchange.stream(request) { head, pieces in
            try await refuse(head, pieces, allowsHTML: isPage)
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

    /// Throws the error of an unknown status, or of an HTML page instead of a file. A block of this address affects all
    /// calls.
    ///
    /// - Parameter allowsHTML: whether the response may be a page.
    func refuse(_ head: Exchange.Head, _ pieces: Exchange.BodyChunks, allowsHTML: Bool = false) async throws {
        switch head.status {
        case 200, 206:
            guard !allowsHTML, isHTML(head) else { return budget.clearBlocks() }
            if BlockNotice.isNotice(try await pieces.words()) { throw blocked(head) }
            throw UpstreamError.unreadable(.html)
        case 304, 404, 410, 416: budget.clearBlocks()
        default:
            let words = try await pieces.words()
            if BlockNotice.isNotice(head) || BlockNotice.isNotice(words) { throw blocked(head) }
            let error = pieces.refusal(head, words: words)
            switch error {
            case .forbidden(let problem) where problem.status == 403:
                throw budget.block(problem, retryAfterSeconds: nil)
            case .rateLimited(let problem, let seconds): throw budget.block(problem, retryAfterSeconds: seconds)
            default: throw error
            }
        }
    }

    private func blocked(_ head: Exchange.Head) -> UpstreamError {
        budget.block(UpstreamProblem(status: head.status, message: "over rate limit"), retryAfterSeconds: nil)
    }

    /// Rejects bytes of an HTML page whose headers didn't say so.
    func refuse(_ head: Exchange.Head, page bytes: some Collection<UInt8>) throws(UpstreamError) {
        let beginning = String(decoding: bytes.prefix(15), as: UTF8.self).lowercased()
        guard beginning.hasPrefix("<!doctype") || beginning.hasPrefix("<html") else { return }
        throw BlockNotice.isNotice(bytes) ? blocked(head) : .unreadable(.html)
    }

    private func isHTML(_ head: Exchange.Head) -> Bool {
        (head.headers.first(name: "content-type") ?? "").lowercased().hasPrefix("text/html")
    }
}
