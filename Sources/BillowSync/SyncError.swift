/// Why a round failed.
public struct SyncError: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Kind: Sendable, Hashable {
        /// May work later.
        case transient
        /// The upstream refuses our key: asking again may lock the account.
        case session
        /// The upstream won't serve this query or this client: asking again is of no use, but harmless.
        case refused
        /// Our own store.
        case store
        case cancelled
    }

    /// What went wrong, for programs. The documentation's table is made of it.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        case unauthorized
        case locked
        case disabled
        case rateLimited = "rate-limited"
        case creditsSpent = "credits"
        case upgradeRequired = "upgrade-required"
        case queryRefused = "query-refused"
        case queryInvalid = "query-invalid"
        case upstreamError = "upstream-error"
        case unexpectedStatus = "unexpected-status"
        case unreadable
        case tooLarge = "too-large"
        case timeout
        case unreachable
        case configurationInvalid = "configuration-invalid"
        case simulatedData = "simulated-data"
        case store
        case inbox
        case cancelled

        /// What it means, for the documentation: at most 20 words, without a stop.
        public var meaning: String {
            switch self {
            case .unauthorized: "the upstream refuses the key"
            case .locked: "the upstream has locked the account"
            case .disabled: "the upstream won't give this data to the account"
            case .rateLimited: "the upstream was asked too often"
            case .creditsSpent: "the day's credits are spent"
            case .upgradeRequired: "the upstream doesn't serve this client any more"
            case .queryRefused: "the upstream refuses the query"
            case .queryInvalid: "the upstream can't be asked the query"
            case .upstreamError: "the upstream answered with a status from 500 on"
            case .unexpectedStatus: "the upstream answered with a status that means nothing here"
            case .unreadable: "the answer, or every record in it, can't be read"
            case .tooLarge: "the answer is larger than the limit"
            case .timeout: "there was no answer in time"
            case .unreachable: "the upstream can't be reached"
            case .configurationInvalid: "the source's settings can't be used"
            case .simulatedData: "simulated data came where real data is expected, or the other way round"
            case .store: "the database can't be read or written"
            case .inbox: "the folder can't be used, or a file can't be moved out of it"
            case .cancelled: "a change or a shutdown ended the round; no event has this code"
            }
        }
    }

    public var kind: Kind
    public var code: Code
    public var message: String
    /// Whether the upstream was reached at all; nil where it wasn't asked.
    public var isReachable: Bool?
    public var retryAfterSeconds: Int?
    /// The type of data that it is about; nil where it is about all.
    public var type: DataQuery.DataType?
    /// What the round had brought before.
    public var outcome = SyncOutcome()

    public var description: String { message }

    /// The same, of one type of data.
    func about(_ type: DataQuery.DataType) -> SyncError {
        var error = self
        error.type = type
        return error
    }

    /// The same, with what the round had brought before.
    func after(_ outcome: SyncOutcome) -> SyncError {
        var error = self
        error.outcome = outcome
        return error
    }

    public init(kind: Kind, code: Code, message: String, isReachable: Bool?, retryAfterSeconds: Int? = nil) {
        self.kind = kind
        self.code = code
        self.message = message
        self.isReachable = isReachable
        self.retryAfterSeconds = retryAfterSeconds
    }
}
