import NIOCore
import NIOHTTP1
import Synchronization
import UpstreamKit

/// The download of one version of a file: the remaining messages, and the results so far.
final class DownloadSession: Sendable {
    private enum Reader {
        case indexed(IndexedReader)
        case sequential(SequentialReader)
    }

    private struct SessionState {
        var reader: Reader
        var fileBytes: Int?
        var resumptions = 0
        var isReplaced = false
        var isCutOff = false
        var isStopped = false
        var messages = 0
        var refused: [String: Int] = [:]
        var bytes = 0
        var lastNumber = 0

        var isComplete: Bool {
            if case .indexed(let reader) = reader { return reader.needed == nil }
            return false
        }
    }

    let file: GuidanceFile
    let validators: GuidanceValidators
    private let plan: GuidanceEvent.Plan
    private let ranges: [RangePlan.ByteRange]
    private let missing: Set<GuidanceMessageKey>
    private let expectedMessages: Int
    private let pieceBytes: Int
    private let maximumResumptions: Int
    private let report: @Sendable (GuidanceEvent) async -> GuidanceStep
    private let state: Mutex<SessionState>

    init(
        _ download: GuidanceDownload, _ head: GuidanceFileHead, _ index: MessageIndex?, _ progress: GuidanceProgress,
        _ configuration: GuidanceConfiguration, startsOver: Bool,
        _ report: @escaping @Sendable (GuidanceEvent) async -> GuidanceStep
    ) {
        file = download.file
        validators = head.validators
        expectedMessages = download.expectedMessages
        pieceBytes = configuration.rangeBytes
        maximumResumptions = configuration.maximumResumptions
        self.report = report
        let limit = configuration.maximumMessageBytes
        let reader: Reader
        let byteCount: Int?
        var messageCount: Int?
        if let index {
            let spans = index.spans(fileBytes: head.bytes)
            let selection = download.selection
            let wanted = spans.filter { span in
                span.keys.contains { selection.contains($0) && !progress.keys.contains($0) }
                    // Messages beyond the end aren't written yet.
                    && (head.bytes.map { span.lower < $0 && (span.upper ?? $0) <= $0 } ?? true)
            }
            let there = Set(spans.flatMap(\.keys)).intersection(wanted.flatMap(\.keys)).union(progress.keys)
            missing = (selection.keys ?? Set(spans.flatMap(\.keys))).subtracting(there)
            ranges = RangePlan.ranges(
                wanted, gapBytes: configuration.gapBytes, longestBytes: configuration.rangeBytes)
            reader = .indexed(IndexedReader(wanted, limit: limit))
            messageCount = wanted.count
            let lengths = ranges.compactMap { range in range.upper.map { $0 - range.lower } }
            byteCount = lengths.count == ranges.count ? lengths.reduce(0, +) : nil
        } else {
            missing = []
            ranges = []
            reader = .sequential(
                SequentialReader(offset: progress.nextOffset, number: progress.nextNumber, limit: limit))
            byteCount = head.bytes.map { max(0, $0 - progress.nextOffset) }
        }
        let pieces = byteCount.map { ($0 + configuration.rangeBytes - 1) / configuration.rangeBytes }
        plan = GuidanceEvent.Plan(
            file: download.file, validators: head.validators, startsOver: startsOver, messageCount: messageCount,
            byteCount: byteCount, requestCount: index == nil ? pieces : ranges.count,
            refusedLines: index?.refused ?? [:], isSimulated: head.isSimulated)
        state = Mutex(
            SessionState(reader: reader, fileBytes: head.bytes, lastNumber: index == nil ? progress.nextNumber - 1 : 0))
    }

    var isReplaced: Bool { state.withLock { $0.isReplaced } }
    var isStopped: Bool { state.withLock { $0.isStopped } }
    /// Whether all selected messages have been downloaded.
    var isComplete: Bool { state.withLock { $0.isComplete } }

    /// Adds the counts of the session of an earlier version.
    func add(_ earlier: DownloadSession?) {
        guard let earlier else { return }
        let (messages, refused, bytes, resumptions) = earlier.state.withLock {
            ($0.messages, $0.refused, $0.bytes, $0.resumptions)
        }
        state.withLock { state in
            state.messages += messages
            state.refused.merge(refused, uniquingKeysWith: +)
            state.bytes += bytes
            state.resumptions = resumptions
        }
    }

    func begin() async -> GuidanceStep { await deliver(.began(plan)) }

    // MARK: - Ranges

    /// The next range to request; nil if nothing remains.
    func nextRange() -> RangePlan.ByteRange? {
        state.withLock { state in
            switch state.reader {
            case .indexed(let reader):
                guard let needed = reader.needed, state.fileBytes.map({ needed < $0 }) ?? true,
                    let range = ranges.first(where: { $0.upper.map { needed < $0 } ?? true })
                else { return nil }
                return RangePlan.ByteRange(lower: max(needed, range.lower), upper: range.upper)
            case .sequential(let reader):
                let needed = reader.needed
                if let end = state.fileBytes, needed >= end { return nil }
                return RangePlan.ByteRange(
                    lower: needed, upper: min(needed + pieceBytes, state.fileBytes ?? .max))
            }
        }
    }

    /// Whether the download may resume after an interruption; the number of resumptions is limited.
    func mayResume() -> Bool {
        state.withLock { state in
            guard state.resumptions < maximumResumptions else { return false }
            state.resumptions += 1
            return true
        }
    }

    /// The range of the file in a response's body; nil if the response shows that the file was replaced.
    ///
    /// - Throws: if the response doesn't match the request.
    func part(
        of head: Exchange.Head, _ range: RangePlan.ByteRange
    ) throws(UpstreamError) -> RangePlan.ByteRange? {
        let found = GuidanceValidators(head.headers)
        let isOther = validators.contradicts(found)
        func replaced() -> RangePlan.ByteRange? {
            state.withLock { $0.isReplaced = true }
            return nil
        }
        let length = head.headers.first(name: "content-length").flatMap { Int($0) }
        switch head.status {
        case 206:
            if isOther { return replaced() }
            guard let text = head.headers.first(name: "content-range"), let content = ContentRange(text),
                let part = content.part
            else { throw .unreadable(.undecodable("a part of the file without a sound Content-Range")) }
            let known = state.withLock { $0.fileBytes }
            if let known, let total = content.total, known != total { return replaced() }
            if known == nil, let total = content.total { setFileBytes(total) }
            let upper = range.upper ?? content.total ?? part.upperBound
            guard part.lowerBound == range.lower else {
                throw .unreadable(
                    .undecodable("bytes from \(part.lowerBound) on, in place of \(range.lower)"))
            }
            // A range may be shorter only at the end of the file.
            guard part.upperBound == upper || part.upperBound == content.total && part.upperBound < upper else {
                throw .unreadable(.undecodable("bytes up to \(part.upperBound), in place of \(upper)"))
            }
            if let length, length != part.count {
                throw .unreadable(.undecodable("\(length) bytes, in place of \(part.count)"))
            }
            if known == nil, content.total == nil, part.upperBound < upper { setFileBytes(part.upperBound) }
            return RangePlan.ByteRange(lower: part.lowerBound, upper: part.upperBound)
        case 200:
            if isOther { return replaced() }
            // A server without support for ranges sends the whole file, from which everything remaining is used.
            let known = state.withLock { $0.fileBytes }
            if let known, let length, known != length { return replaced() }
            if let length { setFileBytes(length) }
            return RangePlan.ByteRange(lower: 0, upper: length)
        case 416, 404, 410: return replaced()
        default: throw .unexpectedStatus(head.status)
        }
    }

    /// Records the file's actual length.
    func setFileBytes(_ count: Int) {
        state.withLock { state in
            state.fileBytes = count
            guard case .indexed(var reader) = state.reader else { return }
            reader.setFileBytes(count)
            state.reader = .indexed(reader)
        }
    }

    // MARK: - Bytes

    /// Consumes bytes of the file, and reports completed messages.
    ///
    /// - Returns: whether more bytes are needed.
    func consume(_ bytes: ByteBufferView, at offset: Int) async -> Bool {
        let results = state.withLock { state -> [FrameResult] in
            switch state.reader {
            case .indexed(var reader):
                // The state must not share the reader's buffer, or it would be copied.
                state.reader = .indexed(IndexedReader([], limit: 0))
                defer { state.reader = .indexed(reader) }
                return reader.consume(bytes, at: offset)
            case .sequential(var reader):
                state.reader = .indexed(IndexedReader([], limit: 0))
                defer { state.reader = .sequential(reader) }
                return reader.consume(bytes, at: offset)
            }
        }
        for result in results where await deliver(result) == .stop { return false }
        return !isComplete
    }

    /// Ends the file, and reports the remaining messages.
    func finish() async {
        let results = state.withLock { state -> [FrameResult] in
            switch state.reader {
            case .indexed(var reader):
                defer { state.reader = .indexed(reader) }
                return reader.finish()
            case .sequential(var reader):
                defer { state.reader = .sequential(reader) }
                return reader.finish()
            }
        }
        for result in results where await deliver(result) == .stop { return }
    }

    func received(_ bytes: Int) { state.withLock { $0.bytes += bytes } }

    private func deliver(_ result: FrameResult) async -> GuidanceStep {
        switch result {
        case .message(let number, let offset, let keys, let bytes):
            state.withLock { state in
                state.messages += 1
                state.lastNumber = number
            }
            return await deliver(
                .message(GuidanceMessage(file: file, number: number, offset: offset, keys: keys, bytes: bytes)))
        case .refused(let refusal, let number, _, let keys):
            state.withLock { state in
                state.refused[refusal.code, default: 0] += 1
                // Bytes that only resemble a message have no number.
                if case .cutOff = refusal { state.isCutOff = true }
                if refusal != .notGRIB { state.lastNumber = max(state.lastNumber, number) }
            }
            return await deliver(.refused(refusal, number: number, keys: keys))
        }
    }

    private func deliver(_ event: GuidanceEvent) async -> GuidanceStep {
        let step = await report(event)
        if step == .stop { state.withLock { $0.isStopped = true } }
        return step
    }

    // MARK: - The end

    func outcome(isEnded: Bool) -> GuidanceOutcome {
        state.withLock { state in
            let isShort: Bool
            switch state.reader {
            case .indexed: isShort = !missing.isEmpty
            case .sequential:
                // The number of messages in a complete file is known. A truncated last message shows that the file is
                // growing.
                isShort = state.lastNumber < expectedMessages || state.isCutOff
            }
            let ending: GuidanceOutcome.Ending = !isEnded || state.isStopped ? .stopped : isShort ? .growing : .whole
            return GuidanceOutcome(
                ending: ending, messages: state.messages, refused: state.refused, missing: missing, bytes: state.bytes)
        }
    }
}
