package import UpstreamKit

/// The failure of a round.
package struct SyncError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Kind: Sendable, Hashable {
        /// A retry may succeed.
        case transient
        /// The upstream rejected the key. A retry may lock the account.
        case session
        /// The upstream refuses this query or this client. A retry is useless but harmless.
        case refused
        /// The store failed.
        case store
        case cancelled
    }

    /// A machine-readable code: the code of the upstream's error, or one of this module. The table in the documentation
    /// derives from it.
    package enum Code: Sendable, Hashable, CaseIterable {
        case upstream(UpstreamError.Code)
        case simulatedData
        case store
        case inbox

        /// The account has no access to this data.
        package static let disabled = Code.upstream(.disabled)

        /// All codes, in the order of the documentation.
        package static let allCases: [Code] =
            UpstreamError.Code.allCases.filter { $0 != .cancelled }.map { .upstream($0) }
            + [.simulatedData, .store, .inbox, .upstream(.cancelled)]

        /// The name in events and in `/status`.
        package var rawValue: String {
            switch self {
            case .upstream(let code): code.rawValue
            case .simulatedData: "simulated-data"
            case .store: "store"
            case .inbox: "inbox"
            }
        }

        /// The code with a name; nil for an unknown name.
        package init?(rawValue: String) {
            guard let code = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
            self = code
        }

        /// The meaning for the documentation: at most 20 words, without a full stop.
        package var meaning: String {
            switch self {
            case .upstream(let code): code.meaning
            case .simulatedData: "a source of real data got simulated data, or a source of simulated data got real data"
            case .store: "the database can't be read or written"
            case .inbox: "the folder can't be used, or a file can't be moved out of it"
            }
        }
    }

    package var kind: Kind
    package var code: Code
    package var message: String
    /// Whether the upstream was reached; nil if no request was sent.
    package var isReachable: Bool?
    package var retryAfterSeconds: Int?
    /// The affected type of data; nil if all are affected.
    package var type: QueryType?
    /// Whether only single products failed, and the upstream answered requests for others in the same round.
    package var isPartial = false
    /// The outcome of the round before the failure.
    package var outcome = SyncOutcome()

    package var description: String { message }

    /// This error for one type of data.
    func concerning(_ type: QueryType) -> SyncError {
        var error = self
        error.type = type
        return error
    }

    /// This error with the outcome before it.
    func after(_ outcome: SyncOutcome) -> SyncError {
        var error = self
        error.outcome = outcome
        return error
    }

    /// This error of a round in which the upstream may have answered requests for other products.
    func besides(answered: Bool) -> SyncError {
        var error = self
        error.isPartial = answered && isAboutOneType
        return error
    }

    package init(kind: Kind, code: Code, message: String, isReachable: Bool?, retryAfterSeconds: Int? = nil) {
        self.kind = kind
        self.code = code
        self.message = message
        self.isReachable = isReachable
        self.retryAfterSeconds = retryAfterSeconds
    }
}

extension SyncError {
    /// Wraps the error of a failed request.
    init(_ error: UpstreamError) {
        let kind: Kind =
            switch error.code {
            case .unauthorized, .locked: .session
            case .disabled, .upgradeRequired, .queryRefused, .queryInvalid, .configurationInvalid: .refused
            case .rateLimited, .creditsSpent, .upstreamError, .unexpectedStatus, .unreadable, .tooLarge, .timeout,
                .unreachable:
                .transient
            case .cancelled: .cancelled
            }
        let isReachable: Bool? =
            switch error.code {
            case .timeout, .unreachable: false
            case .creditsSpent, .cancelled, .queryInvalid, .configurationInvalid: nil
            default: true
            }
        self.init(
            kind: kind, code: .upstream(error.code), message: error.description, isReachable: isReachable,
            retryAfterSeconds: error.retryAfterSeconds)
    }

    /// Whether the upstream rejects only this query, so that another may succeed.
    var isAboutTheQuery: Bool { code == .upstream(.queryRefused) || code == .upstream(.queryInvalid) }

    /// Whether requests for the service's other products may succeed.
    var isAboutOneProduct: Bool {
        [.upstream(.queryRefused), .upstream(.unreadable), .upstream(.tooLarge)].contains(code)
    }

    /// Whether requests for the upstream's other types of data may succeed.
    var isAboutOneType: Bool { isAboutOneProduct || code == .upstream(.queryInvalid) }

    static let cancelled = SyncError(.cancelled)
}
