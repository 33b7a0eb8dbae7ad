import AviationWeather

extension SyncError {
    init(_ error: AviationWeatherError) {
        let (kind, code, isReachable): (Kind, Code, Bool?) =
            switch error {
            case .invalidRequest: (.refused, .queryRefused, true)
            case .forbidden: (.refused, .disabled, true)
            case .rateLimited: (.transient, .rateLimited, true)
            case .server: (.transient, .upstreamError, true)
            case .unexpectedStatus: (.transient, .unexpectedStatus, true)
            case .truncated, .empty, .unreadable: (.transient, .unreadable, true)
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

    /// Whether the service's other products may well be had.
    var isAboutOneProduct: Bool { [.queryRefused, .unreadable, .tooLarge].contains(code) }
}
