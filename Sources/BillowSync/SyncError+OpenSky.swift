import OpenSky

extension SyncError {
    init(_ error: OpenSkyError) {
        let (kind, code, isReachable): (Kind, String, Bool?) =
            switch error {
            case .unauthorized: (.session, "unauthorized", true)
            case .forbidden: (.refused, "disabled", true)
            case .rateLimited: (.transient, "rate-limited", true)
            case .creditsSpent: (.transient, "credits", nil)
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
}
