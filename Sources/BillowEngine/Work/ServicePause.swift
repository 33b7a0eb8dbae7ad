import ServiceLifecycle

/// Pauses for periodic services.
enum ServicePause {
    /// Whether the current service must end, because its group shuts down or its task is cancelled.
    static var hasEnded: Bool { Task.isShuttingDownGracefully || Task.isCancelled }

    /// Sleeps. Only the end of the service interrupts the sleep.
    ///
    /// - Returns: whether the service continues.
    @discardableResult
    static func rest(_ duration: Duration) async -> Bool {
        // The only error is the end of the service.
        try? await cancelWhenGracefulShutdown { try await Task.sleep(for: duration) }
        return !hasEnded
    }
}
