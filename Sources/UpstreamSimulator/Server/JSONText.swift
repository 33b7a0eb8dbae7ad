import Geometry
import Hummingbird
import NIOCore

/// Encodes responses as JSON text directly into a buffer: a hundred thousand records take milliseconds.
enum JSONText {
    static func response(_ body: ByteBuffer, status: HTTPResponse.Status = .ok) -> Response {
        Response(
            status: status, headers: [.contentType: "application/json; charset=utf-8"],
            body: ResponseBody(byteBuffer: body))
    }

    /// The corridor's response.
    static func corridor(_ records: [Output], lastUpdatedAt: Int?, warning: String?) -> ByteBuffer {
        var buffer = ByteBuffer()
        let cursor = lastUpdatedAt.map { #""lastUpdatedAt":\#($0),"# } ?? ""
        buffer.writeString(#"{"data":{\#(cursor)"hexagons":["#)
        write(records, to: &buffer) { record, buffer in
            buffer.writeString(#"{"id":"\#(record.id)","alt":\#(record.level),"sev":\#(record.severity)"#)
            if let edr = record.edr {
                let digits = String(edr % 10_000)
                let zeros = String(repeating: "0", count: 4 - digits.count)
                buffer.writeString(#","edr":\#(edr / 10_000).\#(zeros)\#(digits)"#)
            }
            buffer.writeString(#","observedAt":\#(record.observedAt)}"#)
        }
        let warnings = warning.map { #"{"corridor":"\#($0)"}"# } ?? "{}"
        buffer.writeString(#"]},"meta":{},"links":{},"warnings":\#(warnings)}"#)
        return buffer
    }

    /// The v4 map's response.
    static func map(_ records: [Output], tick: Int?) -> ByteBuffer {
        var buffer = ByteBuffer()
        let cursor = tick.map { #""skypath_tick":\#($0),"# } ?? ""
        buffer.writeString(#"{\#(cursor)"turbulence":["#)
        write(records, to: &buffer) { record, buffer in
            buffer.writeString(
                #"{"hex_id":"\#(record.id)","skypath_alt":\#(record.level),"sev":\#(record.severity),"#
                    + #""ts":\#(record.observedAt),"tick":\#(record.tick)}"#
            )
        }
        buffer.writeString("]}")
        return buffer
    }

    private static func write(
        _ records: [Output], to buffer: inout ByteBuffer, _ one: (Output, inout ByteBuffer) -> Void
    ) {
        for (index, record) in records.enumerated() {
            if index > 0 { buffer.writeInteger(UInt8(ascii: ",")) }
            if let broken = record.broken { buffer.writeString(broken) } else { one(record, &buffer) }
        }
    }

    /// The bulk response with parallel arrays.
    static func hexagons(_ rows: [(position: String, record: Output)], altitudesMissing: Int = 0) -> ByteBuffer {
        func list(_ name: String, dropping count: Int = 0, _ value: (String, Output) -> String) -> String {
            #""\#(name)":["# + rows.dropLast(count).map { value($0.position, $0.record) }.joined(separator: ",") + "]"
        }
        let columns = [
            list("hexId") { position, _ in position },
            list("alt", dropping: altitudesMissing) { _, record in record.broken == nil ? "\(record.level)" : "null" },
            list("sev") { _, record in
                record.broken == nil ? "\(record.severity)" : #""\#(record.severity)""#
            },
            list("observationTime") { _, record in "\(record.observedAt)" },
        ]
        return ByteBuffer(
            string: #"{"data":{"# + columns.joined(separator: ",")
                + #"},"meta":{},"links":{},"warnings":{}}"#)
    }
}

/// A record in responses.
struct Output: Sendable {
    var id: String
    let level: Int
    var severity: Int
    /// The EDR in ten-thousandths.
    var edr: UInt16?
    let observedAt: Int
    let tick: Int
    /// Invalid JSON to write instead of the record.
    var broken: String?
}
