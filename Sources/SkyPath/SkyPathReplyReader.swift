import Geometry
import UpstreamKit
import JSONKit

/// Parses the responses of the three calls. An invalid record is skipped. Malformed JSON invalidates the whole
/// response, because partial data must not look complete.
struct SkyPathReplyReader {
    let wire: SkyPathWire
    let limits: SkyPathLimits

    /// - Throws: `.unreadable`.
    func corridor(_ bytes: [UInt8]) throws(UpstreamError) -> SkyPathCorridorReply {
        let lastUpdatedAtName = Array(wire.lastUpdatedAt.utf8)
        let hexagonsName = Array(wire.hexagons.utf8)
        let names = Names(wire.corridorRecord)
        var lastUpdatedAt: Int?
        var reader: RecordReader?
        try scan(bytes) { (scanner) throws(JSONScanner.Malformed) in
            try inData(&scanner) { (scanner, key) throws(JSONScanner.Malformed) in
                if scanner.matches(key, hexagonsName), scanner.peek() == UInt8(ascii: "[") {
                    reader = try records(&scanner, names)
                } else if scanner.matches(key, lastUpdatedAtName) {
                    lastUpdatedAt = try scanner.value().integer
                } else {
                    _ = try scanner.value()
                }
            }
        }
        guard let reader else { throw .unreadable(.missing("data.\(wire.hexagons)")) }
        return SkyPathCorridorReply(
            records: reader.records,
            lastUpdatedAt: lastUpdatedAt.flatMap { limits.observedAt.contains($0) ? $0 : nil },
            counts: reader.counts)
    }

    /// - Throws: `.unreadable`.
    func map(_ bytes: [UInt8]) throws(UpstreamError) -> SkyPathMapReply {
        let tickName = Array(wire.tick.utf8)
        let turbulenceName = Array(wire.turbulence.utf8)
        let names = Names(wire.mapRecord)
        var tick: Int?
        var reader: RecordReader?
        try scan(bytes) { (scanner) throws(JSONScanner.Malformed) in
            try scanner.object { (scanner, key) throws(JSONScanner.Malformed) in
                if scanner.matches(key, turbulenceName), scanner.peek() == UInt8(ascii: "[") {
                    reader = try records(&scanner, names)
                } else if scanner.matches(key, tickName) {
                    tick = try scanner.value().integer
                } else {
                    _ = try scanner.value()
                }
            }
        }
        guard let reader else { throw .unreadable(.missing(wire.turbulence)) }
        return SkyPathMapReply(
            records: reader.records, tick: tick.flatMap { $0 >= 0 ? $0 : nil }, counts: reader.counts)
    }

    /// Parses parallel arrays. If their lengths differ, no row is valid, because the missing elements are unknown.
    ///
    /// - Throws: `.unreadable`.
    func hexagons(_ bytes: [UInt8], parent: UInt64) throws(UpstreamError) -> SkyPathHexagonsReply {
        let names = Names(wire.hexagonsArrays)
        var positions: [Int?]?
        var altitudes: [Int?]?
        var severities: [Int?]?
        var times: [Int?]?
        var edrs: [RecordReader.EDRMember]?
        try scan(bytes) { (scanner) throws(JSONScanner.Malformed) in
            try inData(&scanner) { (scanner, key) throws(JSONScanner.Malformed) in
                guard scanner.peek() == UInt8(ascii: "[") else {
                    _ = try scanner.value()
                    return
                }
                if scanner.matches(key, names.id) {
                    positions = try list(&scanner) { scanner, value in
                        if case .string(let range, false) = value { return scanner.decimal(range) }
                        return value.integer
                    }
                } else if scanner.matches(key, names.altitude) {
                    altitudes = try list(&scanner) { $1.integer }
                } else if scanner.matches(key, names.severity) {
                    severities = try list(&scanner) { $1.integer }
                } else if scanner.matches(key, names.observedAt) {
                    times = try list(&scanner) { $1.integer }
                } else if scanner.matches(key, names.edr) {
                    edrs = try list(&scanner) { RecordReader.EDRMember($1) }
                } else {
                    _ = try scanner.value()
                }
            }
        }
        guard let positions else { throw .unreadable(.missing("data.\(wire.hexagonsArrays.id)")) }
        guard let altitudes else { throw .unreadable(.missing("data.\(wire.hexagonsArrays.altitude)")) }
        guard let severities else {
            throw .unreadable(.missing("data.\(wire.hexagonsArrays.severity)"))
        }
        guard let times else { throw .unreadable(.missing("data.\(wire.hexagonsArrays.observedAt)")) }
        let lengths =
            [positions.count, altitudes.count, severities.count, times.count]
            + (edrs.map { [$0.count] } ?? [])
        guard Set(lengths).count == 1 else { throw .unreadable(.unequalArrays(lengths)) }
        var reader = RecordReader(limits: limits)
        for row in positions.indices {
            let cell = positions[row].flatMap { H3.cell(childPosition: $0, of: parent) }
            reader.add(
                place: cell.map { .cell($0) } ?? .none, altitude: altitudes[row], severity: severities[row],
                edr: edrs?[row] ?? .none, observedAt: times[row])
        }
        return SkyPathHexagonsReply(records: reader.records, counts: reader.counts)
    }

    // MARK: Parts

    /// Member names as bytes, which are fast to compare.
    private struct Names {
        let id: [UInt8]
        let altitude: [UInt8]
        let severity: [UInt8]
        let edr: [UInt8]
        let observedAt: [UInt8]

        init(_ names: SkyPathRecordNames) {
            id = Array(names.id.utf8)
            altitude = Array(names.altitude.utf8)
            severity = Array(names.severity.utf8)
            edr = Array(names.edr.utf8)
            observedAt = Array(names.observedAt.utf8)
        }
    }

    private func scan(
        _ bytes: [UInt8], _ body: (inout JSONScanner) throws(JSONScanner.Malformed) -> Void
    ) throws(UpstreamError) {
        do throws(UnreadableResponse) {
            try UnreadableResponse.reading(bytes) { (scanner) throws(JSONScanner.Malformed) in
                if scanner.peek() == UInt8(ascii: "{") { try body(&scanner) } else { try scanner.skipValue() }
            }
        } catch {
            throw .unreadable(error)
        }
    }

    /// Visits the members of the top-level object's `data` object.
    private func inData(
        _ scanner: inout JSONScanner,
        _ member: (inout JSONScanner, JSONScanner.Key) throws(JSONScanner.Malformed) -> Void
    ) throws(JSONScanner.Malformed) {
        let dataName = Array("data".utf8)
        try scanner.object { (scanner, key) throws(JSONScanner.Malformed) in
            if scanner.matches(key, dataName), scanner.peek() == UInt8(ascii: "{") {
                try scanner.object(member)
            } else {
                _ = try scanner.value()
            }
        }
    }

    private func list<Element>(
        _ scanner: inout JSONScanner, _ read: (JSONScanner, JSONScanner.Value) -> Element
    ) throws(JSONScanner.Malformed) -> [Element] {
        var elements: [Element] = []
        try scanner.array { (scanner) throws(JSONScanner.Malformed) in
            let value = try scanner.value()
            elements.append(read(scanner, value))
        }
        return elements
    }

    private func records(
        _ scanner: inout JSONScanner, _ names: Names
    ) throws(JSONScanner.Malformed) -> RecordReader {
        var reader = RecordReader(limits: limits)
        try scanner.array { (scanner) throws(JSONScanner.Malformed) in
            guard scanner.peek() == UInt8(ascii: "{") else {
                _ = try scanner.value()
                reader.addUnreadable()
                return
            }
            var place = RecordReader.CellMember.none
            var altitude: Int?
            var severity: Int?
            var observedAt: Int?
            var edr = RecordReader.EDRMember.none
            try scanner.object { (scanner, key) throws(JSONScanner.Malformed) in
                let value = try scanner.value()
                if scanner.matches(key, names.id) {
                    if case .string(let range, false) = value {
                        place = scanner.hexadecimal(range).map { .index($0) } ?? .none
                    }
                } else if scanner.matches(key, names.altitude) {
                    altitude = value.integer
                } else if scanner.matches(key, names.severity) {
                    severity = value.integer
                } else if scanner.matches(key, names.observedAt) {
                    observedAt = value.integer
                } else if scanner.matches(key, names.edr) {
                    edr = RecordReader.EDRMember(value)
                }
            }
            reader.add(
                place: place, altitude: altitude, severity: severity, edr: edr, observedAt: observedAt)
        }
        return reader
    }
}
