import AviationFormats

/// The formats that an import supports.
package enum ImportFormat: String, Sendable, Hashable {
    /// One or more JSON documents: a FeatureCollection, a Feature, an array; or the text sequence of RFC 8142.
    case json
    /// One Feature per line.
    case jsonLines
    case csv
    /// The Aviation Weather Center's older CSV.
    case adds

    /// The bytes of a file that are examined to detect its format.
    static let window = 64 << 10
    /// The lines within which the ADDS header must appear, including blank ones.
    private static let addsLines = 10

    /// Detects the format from the content; nil if more bytes are needed.
    ///
    /// - Parameter start: the start of the file, without a byte order mark.
    /// - Throws: if the format is unknown.
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
            if isWhole { throw .unknownFormat("it begins with blanks only") }
            return nil
        }
        if let found = openSky(start[first...]) { throw .unknownFormat(found) }
        switch start[first] {
        case 0x1E, UInt8(ascii: "["): return .json
        default: break
        }
        var lines = start[first...].split(separator: 0x0A, maxSplits: addsLines)
        // The last line may be incomplete.
        if !isWhole, !lines.isEmpty { lines.removeLast() }
        // A file with a complete record on one line is JSON lines. The second line decides if the first one is damaged.
        if let line = lines.first, isSingleRecord(line) { return .jsonLines }
        if lines.count > 1, !isOpen(lines[0]), isSingleRecord(lines[1]) { return .jsonLines }
        if start[first] == UInt8(ascii: "{") { return isWhole || lines.count >= 2 ? .json : nil }
        if let header = lines.first, CSVTable.isHeader(header), ADDSTable(header: text(header)) == nil { return .csv }
        if lines.contains(where: { ADDSTable(header: text($0)) != nil }) { return .adds }
        guard isWhole || lines.count >= addsLines else { return nil }
        throw .unknownFormat(
            "it begins with '\(text(start[first...].prefix(while: { $0 != 0x0A && $0 != 0x0D }).prefix(40)))'")
    }

    /// Recognises JSON files of the OpenSky Network, which look like records but can't be imported.
    ///
    /// Source: OpenSky REST API, https://openskynetwork.github.io/opensky-api/rest.html
    private static func openSky(_ start: ArraySlice<UInt8>) -> String? {
        let beginning = text(start.prefix(200))
        // Few files have these names, and an expression is parsed each time.
        guard beginning.contains("\"states\"") || beginning.contains("\"icao24\"") else { return nil }
        if beginning.prefixMatch(of: /\{\s*("time"\s*:\s*[0-9]+\s*,\s*)?"states"\s*:/) != nil {
            return "it holds OpenSky's state vectors; a source of kind opensky fetches them, and they can't be imported"
        }
        if beginning.prefixMatch(of: /\[?\s*\{\s*"icao24"\s*:\s*"[^"]*"\s*,\s*"(firstSeen|callsign|startTime)"\s*:/)
            != nil
        {
            return "it holds OpenSky's flights or tracks, which can't be imported"
        }
        return nil
    }

    /// Whether JSON continues on the next line, for example after the start of a collection.
    private static func isOpen(_ line: ArraySlice<UInt8>) -> Bool {
        guard let last = line.last(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D }) else { return false }
        return "{[:,".utf8.contains(last)
    }

    /// Whether a line is a complete JSON object other than a collection.
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
            // Invalid JSON, so not a single record.
            return false
        }
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}
