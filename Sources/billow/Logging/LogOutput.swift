import Foundation
import Logging

/// Standard error, a line at a time and without secrets.
struct LogOutput: TextOutputStream, Sendable {
    let redaction: LogRedaction

    mutating func write(_ line: String) { put(line) }

    func put(_ line: String) {
        writeToStandardError(Array(redaction.redacted(line).utf8))
    }
}

/// Outside of the output, whose own `write` hides the system's.
private func writeToStandardError(_ bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
        let written = rest.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
        // If the log can't be written, the failure can't be logged either.
        guard written > 0 || errno == EINTR else { return }
        rest = rest.dropFirst(max(0, written))
    }
}

/// Writes an object a line, with the members `time`, `level`, `label`, `source`, `message` and `metadata`.
struct JSONLogHandler: LogHandler {
    let label: String
    let output: LogOutput
    var logLevel = Logger.Level.info
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?

    init(label: String, output: LogOutput) {
        self.label = label
        self.output = output
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    private struct Line: Encodable {
        var time: String
        var level: String
        var label: String
        var source: String
        var message: String
        var metadata: [String: Value]?
    }

    private struct Value: Encodable {
        let value: Logger.Metadata.Value

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch value {
            case .string(let text): try container.encode(text)
            case .stringConvertible(let value): try container.encode(value.description)
            case .array(let values): try container.encode(values.map(Value.init))
            case .dictionary(let values): try container.encode(values.mapValues(Value.init))
            }
        }
    }

    func log(event: LogEvent) {
        var all = metadata.merging(metadataProvider?.get() ?? [:]) { $1 }.merging(event.metadata ?? [:]) { $1 }
        if let error = event.error { all["error"] = "\(error)" }
        let line = Line(
            time: Date().formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)),
            level: event.level.rawValue, label: label, source: event.source, message: "\(event.message)",
            metadata: all.isEmpty ? nil : all.mapValues(Value.init))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Texts and lists of them always have a form in JSON.
        guard let bytes = try? encoder.encode(line) else { return }
        output.put(String(decoding: bytes, as: UTF8.self) + "\n")
    }
}
