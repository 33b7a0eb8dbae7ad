import OpenSky

extension SyncError {
    init(_ error: OpenSkyError) {
        let (kind, code, isReachable): (Kind, Code, Bool?) =
            switch error {
            case .unauthorized: (.session, .unauthorized, true)
            case .forbidden: (.refused, .disabled, true)
            case .rateLimited: (.transient, .rateLimited, true)
            case .creditsSpent: (.transient, .creditsSpent, nil)
            case .invalidRequest: (.refused, .queryRefused, true)
            case .server: (.transient, .upstreamError, true)
            case .unexpectedStatus: (.transient, .unexpectedStatus, true)
            case .unreadable: (.transient, .unreadable, true)
            case .tooLarge: (.transient, .tooLarge, true)
            case .timeout: (.transient, .timeout, false)
            case .unreachable: (.transient, .unreachable, false)
            case .cancelled: (.cancelled, .cancelled, nil)
            case .invalidQuery: (.refused, .queryInvalid, nil)
            case .invalidConfiguration: (.refused, .configurationInvalid, nil)
            }
        self.init(
            kind: kind, code: code, message: error.description, isReachable: isReachable,
            retryAfterSeconds: error.retryAfterSeconds)
    }
}
