import SkyPath

extension SyncError {
    init(_ error: SkyPathError) {
        let (kind, code, isReachable): (Kind, String, Bool?) =
            switch error {
            case .unauthorized: (.session, "unauthorized", true)
            case .locked: (.session, "locked", true)
            case .forbidden: (.refused, "disabled", true)
            case .rateLimited: (.transient, "rate-limited", true)
            case .upgradeRequired: (.refused, "upgrade-required", true)
            case .invalidRequest: (.refused, "query-refused", true)
            case .server: (.transient, "upstream-error", true)
            case .unexpectedStatus: (.transient, "unexpected-status", true)
            case .unreadable: (.transient, "unreadable", true)
            case .tooLarge: (.transient, "too-large", true)
            case .timeout: (.transient, "timeout", false)
            case .unreachable: (.transient, "unreachable", false)
            case .cancelled: (.cancelled, "cancelled", nil)
            case .invalidQuery: (.refused, "query-invalid", nil)
            case .invalidConfiguration: (.refused, "configuration-invalid", nil)
            }
        self.init(
            kind: kind, code: code, message: error.description, isReachable: isReachable,
            retryAfterSeconds: error.retryAfterSeconds)
    }

    /// Whether it is this one query that is refused, so that another may be answered.
    var isAboutTheQuery: Bool { code == "query-refused" || code == "query-invalid" }

    /// Whether the upstream's other types of data may well be had.
    var isAboutOneType: Bool { isAboutOneProduct || code == "query-invalid" }

    static let cancelled = SyncError(kind: .cancelled, code: "cancelled", message: "cancelled", isReachable: nil)
}
