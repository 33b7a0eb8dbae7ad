import Foundation
import Tracing

/// Spans as a request of OTLP in JSON: ids are hexadecimal, and integers of 64 bits are texts.
///
/// Source: OpenTelemetry Protocol 1.7, "JSON Protobuf Encoding"; opentelemetry/proto/trace/v1/trace.proto
struct OTLPDocument: Encodable {
    struct Attribute: Encodable {
        var key: String
        var value: Value
    }

    enum Value: Encodable {
        case text(String)
        case integer(Int64)
        case double(Double)
        case bool(Bool)

        private enum Key: String, CodingKey { case stringValue, intValue, doubleValue, boolValue }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            switch self {
            case .text(let text): try container.encode(text, forKey: .stringValue)
            case .integer(let number): try container.encode("\(number)", forKey: .intValue)
            case .double(let number): try container.encode(number, forKey: .doubleValue)
            case .bool(let value): try container.encode(value, forKey: .boolValue)
            }
        }
    }

    struct Event: Encodable {
        var timeUnixNano: String
        var name: String
        var attributes: [Attribute]
    }

    struct Status: Encodable {
        var code: Int
        var message: String?
    }

    struct Span: Encodable {
        var traceId: String
        var spanId: String
        var parentSpanId: String?
        var name: String
        var kind: Int
        var startTimeUnixNano: String
        var endTimeUnixNano: String
        var attributes: [Attribute]
        var events: [Event]?
        var status: Status?
    }

    struct Scope: Encodable {
        var name = "billow"
    }

    struct ScopeSpans: Encodable {
        var scope = Scope()
        var spans: [Span]
    }

    struct Resource: Encodable {
        var attributes: [Attribute]
    }

    struct ResourceSpans: Encodable {
        var resource: Resource
        var scopeSpans: [ScopeSpans]
    }

    var resourceSpans: [ResourceSpans]

    /// - Parameters:
    ///   - resource: names the process.
    ///   - redact: removes secrets from each text.
    init(_ spans: [EndedSpan], resource: [(String, String)], redact: (String) -> String) {
        let process = resource.map { Attribute(key: $0.0, value: .text($0.1)) }
        resourceSpans = [
            ResourceSpans(
                resource: Resource(attributes: process),
                scopeSpans: [ScopeSpans(spans: spans.map { Span($0, redact) })])
        ]
    }

    /// The document as one line.
    func line() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self)) + [UInt8(ascii: "\n")]
    }
}

extension OTLPDocument.Span {
    fileprivate init(_ span: EndedSpan, _ redact: (String) -> String) {
        traceId = "\(span.own.trace)"
        spanId = TraceID.text(span.own.span)
        parentSpanId = span.parent.map(TraceID.text)
        name = redact(span.name)
        kind =
            switch span.kind {
            case .internal: 1
            case .server: 2
            case .client: 3
            case .producer: 4
            case .consumer: 5
            }
        startTimeUnixNano = "\(span.start)"
        endTimeUnixNano = "\(span.end)"
        attributes = span.attributes.values(redact)
        let events = span.events.map { event in
            OTLPDocument.Event(
                timeUnixNano: "\(event.nanosecondsSinceEpoch)", name: redact(event.name),
                attributes: event.attributes.values(redact))
        }
        self.events = events.isEmpty ? nil : events
        status = span.status.map {
            OTLPDocument.Status(code: $0.code == .ok ? 1 : 2, message: $0.message.map(redact))
        }
    }
}

extension SpanAttributes {
    /// The longest text of an attribute, in characters.
    private static let longest = 500

    /// The attributes by name. What is neither a number nor a flag is a text.
    fileprivate func values(_ redact: (String) -> String) -> [OTLPDocument.Attribute] {
        var all: [OTLPDocument.Attribute] = []
        forEach { name, value in
            let converted: OTLPDocument.Value
            switch value {
            case .int32(let number): converted = .integer(Int64(number))
            case .int64(let number): converted = .integer(number)
            // JSON has no infinity.
            case .double(let number) where number.isFinite: converted = .double(number)
            case .bool(let value): converted = .bool(value)
            case .string(let text): converted = .text(String(redact(text).prefix(Self.longest)))
            case .stringConvertible(let value): converted = .text(String(redact("\(value)").prefix(Self.longest)))
            default: converted = .text(String(redact("\(value)").prefix(Self.longest)))
            }
            all.append(OTLPDocument.Attribute(key: name, value: converted))
        }
        return all.sorted { $0.key < $1.key }
    }
}
