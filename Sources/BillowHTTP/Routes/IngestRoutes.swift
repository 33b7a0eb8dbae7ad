import BillowEngine
import BillowExchange
import BillowStore
import HTTPTypes
import Hummingbird
import NIOCore
import Turbulence

/// `POST /observations`: ingests observations. Accepted observations are durable, and sending them again changes
/// nothing. So a client that was offline can resend everything until it gets a response.
struct IngestRoutes: Sendable {
    let store: any Store
    /// The configuration of the fetched sources, whose names clients may not use.
    let sources: FreshnessRegister
    let retentionSeconds: Int
    /// The most sources that one access key may name, over all its requests.
    let sourcesPerKey: Int
    let work: WorkExecutor
    let now: @Sendable () -> Instant

    /// The most observations in a request.
    static let maximumObservations = 10_000
    /// The most bytes in a request.
    static let longestBody = 8 << 20

    /// Whether this server's data is simulated; real without a fetched source. nil if the responses of its sources
    /// decide. Ingested data then has the nature of the stored data, or of the first fetched data.
    private var simulated: Bool? {
        let sources = sources.current
        return sources.isSimulated ?? (sources.sources.isEmpty ? false : nil)
    }

    func add(to router: some RouterMethods<some RequestContext>) {
        router.post("/observations") { request, _ in try await ingest(request) }
    }

    private struct Answer: Encodable {
        struct Refused: Encodable {
            /// The index in the request, from 0.
            var index: Int
            /// A stable code for programs.
            var code: RefusalCode
            /// The affected field.
            var field: String?
            /// Its value, and the values that it can have.
            var value: String?
            var allowed: String?
            /// A sentence for people.
            var reason: String
        }

        /// New observations, including corrections of an id.
        var accepted = 0
        /// Observations that exist already.
        var duplicate = 0
        var refused: [Refused] = []
        /// The version of the log that contains all of them.
        var version: Int64 = 0

        // The members of a problem document, for an answer without any usable item.
        private(set) var type: String?
        private(set) var title: String?
        private(set) var status: Int?
        private(set) var detail: String?
        private(set) var code: String?

        var hasStoredItem: Bool { accepted + duplicate > 0 }

        /// The answer as a problem document, which has these counts and refusals as further members.
        ///
        /// Source: RFC 9457 section 3.2
        func asProblem() -> Answer {
            var answer = self
            answer.type = "about:blank"
            answer.title = ProblemCode.unusableBody.title
            answer.status = ProblemCode.unusableBody.status.code
            answer.code = ProblemCode.unusableBody.rawValue
            answer.detail =
                refused.first.map { "None of \(refused.count) observations can be used. The first: \($0.reason)" }
                ?? "The body has no observation."
            return answer
        }
    }

    private func ingest(_ request: Request) async throws -> Response {
        // An access key may correct only its own observations, so one is required.
        guard let key = AccessKey.ofRequest else { throw Problem(.keyNeeded, detail: "The request needs a key.") }
        let body = try await body(of: request)
        let answer = try await work.run(.intake) { try await ingest(body, of: key) }
        let headers: HTTPFields = [.cacheControl: "no-store"]
        guard !answer.hasStoredItem else { return try JSONResponse.make(answer, headers: headers, request: request) }
        return try JSONResponse.make(
            answer.asProblem(), headers: headers, contentType: "application/problem+json",
            status: ProblemCode.unusableBody.status, request: request)
    }

    private func ingest(_ body: ByteBuffer, of key: AccessKey) async throws -> Answer {
        WorkExecutor.assertIsJob()
        var answer = Answer()
        let items = try await read(body)
        let observations = try await sort(items, &answer)
        let result = try await commit(observations, of: key)
        answer.accepted = result.accepted
        answer.duplicate += result.duplicates
        answer.version = result.version.rawValue
        return answer
    }

    private func body(of request: Request) async throws -> ByteBuffer {
        if let encoding = request.headers[.contentEncoding], encoding != "identity" {
            throw Problem(
                .unsupportedEncoding, detail: "The body is compressed.",
                parameter: "Content-Encoding", value: String(encoding.prefix(100)), allowed: "identity")
        }
        return try await request.bytes(upTo: Self.longestBody)
    }

    /// The number of bytes that are parsed in one step.
    private static let pieceBytes = 256 << 10

    /// One item per record, in the order of the body. Parsing stops at the first record above the limit.
    private func read(_ body: ByteBuffer) async throws -> [ImportItem] {
        var reader = ImportReader(
            now: now(), source: .ingest, maximumRecords: Self.maximumObservations, takesOnlyObservations: true)
        var items: [ImportItem] = []
        var rest = body
        while !reader.isUnusable, let piece = rest.readSlice(length: min(Self.pieceBytes, rest.readableBytes)),
            piece.readableBytes > 0
        {
            items += reader.read(piece.readableBytesView)
        }
        items += reader.finish()
        if reader.saysSimulated, try await isSimulated() != true {
            throw Problem(
                .simulatedData,
                detail: "The body is marked as simulated; it must not be mixed with real data.",
                parameter: "simulated", value: "true", allowed: "false, or left out")
        }
        guard !reader.hasTooManyRecords else {
            throw Problem(
                .bodyTooLarge,
                detail: "The body holds more than \(Self.maximumObservations) observations.",
                parameter: "body", value: "more observations",
                allowed: "at most \(Self.maximumObservations) observations")
        }
        switch reader.format {
        case .json, .jsonLines: return items
        case .csv, .adds, nil:
            throw Problem(
                .unusableBody, detail: "The body is no JSON of observations.", parameter: "body",
                value: String(decoding: body.readableBytesView.prefix(100), as: UTF8.self),
                allowed: "an observation, an array of them, a GeoJSON Feature or a FeatureCollection")
        }
    }

    /// The acceptable observations; the others are recorded in the response. Of several with the same id the first
    /// counts.
    private func sort(_ items: [ImportItem], _ answer: inout Answer) async throws(StoreError) -> [Observation] {
        let known = try await store.sources()
        let computed = Set(known.filter { $0.merge == .replace }.map(\.id)).union(sources.current.sources)
        let times = items.compactMap {
            if case .observation(let observation) = $0 { observation.observedAt } else { nil }
        }
        let trusted = try await store.trustedNow(now(), retentionSeconds: retentionSeconds, sent: times)
        let oldest = trusted?.advanced(by: -retentionSeconds) ?? .distantPast
        var named = Set<ReporterID>()
        var observations: [Observation] = []
        for (index, item) in items.enumerated() {
            func refuse(
                _ code: RefusalCode, _ field: String?, value: String? = nil, allowed: String? = nil, _ reason: String
            ) {
                answer.refused.append(
                    Answer.Refused(
                        index: index, code: code, field: field, value: value, allowed: allowed, reason: reason))
            }
            switch item {
            case .refused(let refusal):
                let reason = refusal.reason
                refuse(reason.code, reason.field, value: reason.value, allowed: reason.allowed, reason.description)
            case .observation(let observation) where observation.observedAt < oldest:
                refuse(
                    .olderThanRetention, "observedAt", value: observation.observedAt.description,
                    allowed: "\(oldest) or later",
                    "observedAt \(observation.observedAt) is older than the retention, which begins at \(oldest)")
            case .observation(let observation) where computed.contains(observation.source):
                refuse(
                    .foreignSource, "source", value: observation.source.name,
                    allowed: "a source that is not fetched",
                    "source '\(observation.source)' is fetched from its upstream and accepts no posted observations")
            case .observation(let observation):
                if let id = observation.id,
                    !named.insert(ReporterID(source: observation.source, id: id)).inserted
                {
                    answer.duplicate += 1
                } else {
                    observations.append(observation)
                }
            default: refuse(.notAnObservation, nil, "it is not a turbulence observation")
            }
        }
        return observations
    }

    /// An id that a client assigned.
    private struct ReporterID: Hashable {
        var source: SourceID
        var id: String
    }

    /// Whether the log's data is simulated; nil while that is undecided.
    private func isSimulated() async throws(StoreError) -> Bool? {
        try await store.sources().first?.simulated ?? simulated
    }

    /// Commits observations, which are durable when this returns. After an error a part may be stored; sending them
    /// again completes it.
    private func commit(_ observations: [Observation], of key: AccessKey) async throws -> BatchResult {
        guard !observations.isEmpty else { return BatchResult(version: try await store.head().version) }
        let registration = SourceRegistration(
            Set(observations.map(\.source)), simulatedByDefault: simulated, sourcesPerReporter: sourcesPerKey,
            unnamed: .ingest)
        do throws(StoreError) {
            return try await store.commit(
                Batch(
                    source: nil, observations: observations, reporter: key.id, registration: registration))
        } catch {
            switch error {
            case .tooManySourcesOfReporter(let limit, let known):
                let names = known.map(\.name).sorted()
                throw Problem(
                    .tooManySources,
                    detail: "The body names more sources than a key may name; this key has named "
                        + (names.isEmpty ? "none so far." : names.joined(separator: ", ") + "."),
                    parameter: "source",
                    value: Set(observations.map(\.source.name)).sorted().joined(separator: ", "),
                    allowed: "at most \(limit) sources for each key")
            case .tooManySources(let source):
                throw Problem(
                    .tooManySources, detail: "The database has the largest possible number of sources.",
                    parameter: "source",
                    value: source.name, allowed: "a known source")
            default: throw error
            }
        }
    }
}
