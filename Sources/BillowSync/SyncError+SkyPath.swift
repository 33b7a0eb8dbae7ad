import SkyPath

extension SyncError {
    init(_ error: SkyPathError) {
        let (kind, code, isReachable): (Kind, Code, Bool?) =
            switch error {
            case .unauthorized: (.session, .unauthorized, true)
            case .locked: (.session, .locked, true)
            case .forbidden: (.refused, .disabled, true)
            case .rateLimited: (.transient, .rateLimited, true)
            case .upgradeRequired: (.refused, .upgradeRequired, true)
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

    /// Whether it is this one query that is refused, so that another may be answered.
    var isAboutTheQuery: Bool { code == .queryRefused || code == .queryInvalid }

    /// Whether the upstream's other types of data may well be had.
    var isAboutOneType: Bool { isAboutOneProduct || code == .queryInvalid }

    static let cancelled = SyncError(kind: .cancelled, code: .cancelled, message: "cancelled", isReachable: nil)
}
