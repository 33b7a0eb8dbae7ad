import ServiceLifecycle

/// The rests of services that do something again and again.
enum ServicePause {
    /// Whether the current service is to end: its group shuts down, or its task is cancelled.
    static var hasEnded: Bool { Task.isShuttingDownGracefully || Task.isCancelled }

    /// Rests. Only the end of the service cuts a rest short.
    ///
    /// - Returns: whether the service goes on.
    @discardableResult
    static func rest(_ duration: Duration) async -> Bool {
        // The only error is that end.
        try? await cancelWhenGracefulShutdown { try await Task.sleep(for: duration) }
        return !hasEnded
    }
}
