import Logging

/// Keeps metadata for the lines that are logged. Every request has its id in the metadata, and few log a line, so a
/// handler that formats its metadata at once would do so for nothing.
struct DeferredLogHandler: LogHandler {
    private var base: any LogHandler
    var metadata: Logger.Metadata = [:]

    init(_ base: any LogHandler) { self.base = base }

    var logLevel: Logger.Level {
        get { base.logLevel }
        set { base.logLevel = newValue }
    }

    var metadataProvider: Logger.MetadataProvider? {
        get { base.metadataProvider }
        set { base.metadataProvider = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] ?? base[metadataKey: key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var handler = base
        for (key, value) in metadata { handler[metadataKey: key] = value }
        handler.log(event: event)
    }
}

extension Logger {
    /// The same log, for many lines' worth of metadata and few lines.
    var deferringMetadata: Logger {
        Logger(label: label, factory: { [handler] _ in DeferredLogHandler(handler) })
    }
}
