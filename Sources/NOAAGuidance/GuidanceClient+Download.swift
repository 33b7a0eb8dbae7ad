import AsyncHTTPClient
package import UpstreamKit
import NIOCore
import NIOHTTP1

extension GuidanceClient {
    /// Downloads the selected messages of a file one by one, and resumes an earlier download.
    ///
    /// With an index, only selected messages are requested, by ranges. Without one, the file is read in pieces from the
    /// beginning; for a forecast only if its index is overdue. After an interruption, the download resumes at the next
    /// byte. If the file is replaced during the download, it starts again, once.
    ///
    /// - Parameter report: receives each event before more is read, so a slow caller slows the transfer down.
    /// - Returns: how the download ended, if nothing failed.
    /// - Throws: the error that ended it. Events reported before stay valid.
    package func download(
        _ download: GuidanceDownload, report: @escaping @Sendable (GuidanceEvent) async -> GuidanceStep
    ) async throws(UpstreamError) -> GuidanceOutcome {
        var progress = download.progress
        var session: DownloadSession?
        for _ in 0..<2 {
            let head: GuidanceFileHead
            switch try await state(of: download.file) {
            case .absent, .unchanged: return GuidanceOutcome(ending: .absent)
            case .growing: return GuidanceOutcome(ending: .growing)
            case .whole(let found): head = found
            }
            if let bytes = head.bytes, bytes > configuration.maximumFileBytes {
                throw .tooLarge(limitBytes: configuration.maximumFileBytes)
            }
            var index: MessageIndex?
            if case .present(let found, _) = try await self.index(of: download.file), !found.entries.isEmpty {
                index = found
            }
            let indexDelay = download.file.product.indexDelaySeconds
            guard index != nil || indexDelay == 0 || head.ageSeconds ?? 0 >= indexDelay else {
                return GuidanceOutcome(ending: .growing)
            }
            let isContinued = progress.validators == head.validators && !head.validators.isEmpty
            let isFirst = progress == GuidanceProgress() && session == nil
            if !isContinued { progress = GuidanceProgress() }
            let now = DownloadSession(
                download, head, index, progress, configuration, startsOver: !isContinued && !isFirst, report)
            now.add(session)
            session = now
            do throws(DownloadEnd) {
                return try await run(now)
            } catch {
                switch error {
                case .failed(let error): throw error
                case .replaced: progress = GuidanceProgress()
                }
            }
        }
        throw .unreadable(.undecodable("the file was replaced while it was read, twice"))
    }

    private func run(_ session: DownloadSession) async throws(DownloadEnd) -> GuidanceOutcome {
        if await session.begin() == .stop { return session.outcome(isEnded: false) }
        while let range = session.nextRange() {
            do throws(UpstreamError) {
                try await fetch(range, session)
            } catch {
                switch error {
                case .unreadable(.truncated), .timeout, .unreachable:
                    guard session.mayResume() else { throw .failed(error) }
                default: throw .failed(error)
                }
            }
            if session.isReplaced { throw .replaced }
            if session.isStopped { return session.outcome(isEnded: false) }
        }
        await session.finish()
        return session.outcome(isEnded: true)
    }

    /// Requests a range and passes its bytes to the session as they arrive.
    private func fetch(_ range: RangePlan.ByteRange, _ session: DownloadSession) async throws(UpstreamError) {
        let expected = range.upper.map { $0 - range.lower } ?? 0
        let account = RequestAccount(budget, try await budget.reserve(expecting: expected))
        defer { session.received(account.close()) }
        var request = request(session.file.path)
        request.headers.add(name: "range", value: range.header)
        if let condition = session.validators.rangeCondition { request.headers.add(name: "if-range", value: condition) }
        try await exchange.stream(request) { head, pieces in
            try await refuse(head, pieces)
            guard let part = try session.part(of: head, range) else { return }
            let length = part.upper.map { $0 - part.lower }
            if let length, length > expected { try account.extend(by: length - expected) }
            let slowest = (length ?? configuration.maximumFileBytes) / configuration.slowestBytesPerSecond
            pieces.allow(.seconds(slowest))
            var offset = part.lower
            let limit = part.upper ?? configuration.maximumFileBytes
            try await pieces.forEach { piece in
                account.add(piece.readableBytes)
                if offset == part.lower { try refuse(head, page: piece.readableBytesView) }
                guard offset + piece.readableBytes <= limit else {
                    guard part.upper == nil else {
                        throw UpstreamError.unreadable(.undecodable("more bytes than the answer announced"))
                    }
                    throw UpstreamError.tooLarge(limitBytes: limit)
                }
                let isOpen = await session.consume(piece.readableBytesView, at: offset)
                offset += piece.readableBytes
                // A completely used part must be read to its end, so that the connection can be reused.
                return isOpen || !session.isStopped && offset == part.upper
            }
            if session.isStopped || session.isComplete { return }
            if let upper = part.upper, offset < upper { throw UpstreamError.unreadable(.truncated) }
            if part.upper == nil { session.setFileBytes(offset) }
        }
    }
}

/// Why the download of a version ended early.
private enum DownloadEnd: Error {
    case failed(UpstreamError)
    /// There is another version now.
    case replaced
}
