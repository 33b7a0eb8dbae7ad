import AviationFormats

/// The forms that an import reads.
package enum ImportFormat: String, Sendable, Hashable {
    /// One JSON document or several: a FeatureCollection, a Feature, an array; RFC 8142's text sequence.
    case json
    /// One Feature a line.
    case jsonLines
    case csv
    /// The Aviation Weather Center's older CSV.
    case adds

    /// How much of a file is looked at to tell its form, in bytes.
    static let window = 64 << 10
    /// The lines within which the ADDS header stands, blank ones included.
    private static let addsLines = 10

    /// Tells the form by the content; nil when more of it is needed to tell.
    ///
    /// - Parameter start: the start of the file, without a byte order mark.
    /// - Throws: where it is none of them.
    static func detect(_ start: [UInt8], atEnd: Bool) throws(RefusalReason) -> ImportFormat? {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }
        if start.starts(with: [0x1F, 0x8B]) { throw .unknownFormat("it is compressed (gzip)") }
        if start.starts(with: [0x50, 0x4B, 0x03, 0x04]) { throw .unknownFormat("it is compressed (zip)") }
        if start.starts(with: [0xFF, 0xFE]) || start.starts(with: [0xFE, 0xFF]) {
            throw .unknownFormat("it is UTF-16; it must be UTF-8")
        }
        let isWhole = atEnd || start.count >= window
        guard let first = start.firstIndex(where: { !isBlank($0) }) else {
            if atEnd { throw .unknownFormat("it is empty") }
            if isWhole { throw .unknownFormat("it begins with nothing but blanks") }
            return nil
        }
        if let found = openSky(start[first...]) { throw .unknownFormat(found) }
        switch start[first] {
        case 0x1E, UInt8(ascii: "["): return .json
        default: break
        }
        var lines = start[first...].split(separator: 0x0A, maxSplits: addsLines)
        // The last one may not be complete.
        if !isWhole, !lines.isEmpty { lines.removeLast() }
        // A line that is a record by itself makes a file of lines; so the second tells, where the first is damaged.
        if let line = lines.first, isSingleRecord(line) { return .jsonLines }
        if lines.count > 1, !isOpen(lines[0]), isSingleRecord(lines[1]) { return .jsonLines }
        if start[first] == UInt8(ascii: "{") { return isWhole || lines.count >= 2 ? .json : nil }
        if let header = lines.first, CSVTable.isHeader(header), ADDSTable(header: text(header)) == nil { return .csv }
        if lines.contains(where: { ADDSTable(header: text($0)) != nil }) { return .adds }
        guard isWhole || lines.count >= addsLines else { return nil }
        throw .unknownFormat(
            "it begins with '\(text(start[first...].prefix(while: { $0 != 0x0A && $0 != 0x0D }).prefix(40)))'")
    }

    /// What of the OpenSky Network's a file is, which looks like JSON records and is none that an import reads.
    ///
    /// Source: OpenSky REST API, openskynetwork.github.io/opensky-api/rest.html
    private static func openSky(_ start: ArraySlice<UInt8>) -> String? {
        let beginning = text(start.prefix(200))
        if beginning.prefixMatch(of: /\{\s*("time"\s*:\s*[0-9]+\s*,\s*)?"states"\s*:/) != nil {
            return "it holds OpenSky's state vectors, which are fetched by a source of kind opensky and not imported"
        }
        if beginning.prefixMatch(of: /\[?\s*\{\s*"icao24"\s*:\s*"[^"]*"\s*,\s*"(firstSeen|callsign|startTime)"\s*:/)
            != nil
        {
            return "it holds OpenSky's flights or tracks, which are not imported"
        }
        return nil
    }

    /// Whether a line ends so that JSON goes on in the next: a collection's head with its first feature below, say.
    private static func isOpen(_ line: ArraySlice<UInt8>) -> Bool {
        guard let last = line.last(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D }) else { return false }
        return "{[:,".utf8.contains(last)
    }

    /// Whether a line is a whole JSON object that isn't a collection.
    private static func isSingleRecord(_ line: ArraySlice<UInt8>) -> Bool {
        let bytes = Array(line)
        var cursor = JSONCursor(bytes, in: bytes.indices)
        guard cursor.peek() == UInt8(ascii: "{") else { return false }
        do throws(RefusalReason) {
            try cursor.openObject()
            var first = true
            while let key = try cursor.nextKey(&first) {
                if key == "features" { return false }
                try cursor.skip()
            }
            try cursor.expectEnd()
            return true
        } catch {
            // Not grammatical by itself: not a single record.
            return false
        }
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}
