package import UpstreamKit

/// Why a round failed.
package struct SyncError: Error, Sendable, Hashable, CustomStringConvertible {
    package enum Kind: Sendable, Hashable {
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

    /// The code for programs: that of the upstream's error, or one of our own. The documentation's
    /// table is made of it.
    package enum Code: Sendable, Hashable, CaseIterable {
        case upstream(UpstreamError.Code)
        case simulatedData
        case store
        case inbox

        /// The upstream won't give this data to the account.
        package static let disabled = Code.upstream(.disabled)

        /// In the order of the documentation.
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

        /// The code of a name; nil for any other text.
        package init?(rawValue: String) {
            guard let code = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
            self = code
        }

        /// The meaning for the documentation: at most 20 words, without a stop.
        package var meaning: String {
            switch self {
            case .upstream(let code): code.meaning
            case .simulatedData: "simulated data came where real data is expected, or the other way round"
            case .store: "the database can't be read or written"
            case .inbox: "the folder can't be used, or a file can't be moved out of it"
            }
        }
    }

    package var kind: Kind
    package var code: Code
    package var message: String
    /// Whether the upstream was reached at all; nil where it wasn't asked.
    package var isReachable: Bool?
    package var retryAfterSeconds: Int?
    /// The type of data that it is about; nil where it is about all.
    package var type: DataQuery.DataType?
    /// What the round had brought before.
    package var outcome = SyncOutcome()

    package var description: String { message }

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

    package init(kind: Kind, code: Code, message: String, isReachable: Bool?, retryAfterSeconds: Int? = nil) {
        self.kind = kind
        self.code = code
        self.message = message
        self.isReachable = isReachable
        self.retryAfterSeconds = retryAfterSeconds
    }
}

extension SyncError {
    /// The error of a round whose call failed.
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

    /// Whether the upstream refuses this one query, so that another may be answered.
    var isAboutTheQuery: Bool { code == .upstream(.queryRefused) || code == .upstream(.queryInvalid) }

    /// Whether the service's other products may well be had.
    var isAboutOneProduct: Bool {
        [.upstream(.queryRefused), .upstream(.unreadable), .upstream(.tooLarge)].contains(code)
    }

    /// Whether the upstream's other types of data may well be had.
    var isAboutOneType: Bool { isAboutOneProduct || code == .upstream(.queryInvalid) }

    static let cancelled = SyncError(.cancelled)
}
