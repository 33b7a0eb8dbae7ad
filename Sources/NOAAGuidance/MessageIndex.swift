import CivilCalendar

/// The index (`.idx`) of a file: the offset of each message, and its key.
///
/// Source: docs/upstreams/noaa.md, "Index"
package struct MessageIndex: Sendable, Hashable {
    /// A line of the index.
    package struct Entry: Sendable, Hashable {
        /// The message's number in the file, from 1.
        package var number: Int
        /// The number of the field in a message of several, from 1; nil for a message with one field.
        package var part: Int?
        /// The message's offset in bytes.
        package var offset: Int
        /// The reference time in Unix seconds.
        package var referenceSeconds: Int
        package var key: GuidanceMessageKey
        /// The forecast step: `anl`, `3 hour fcst`.
        package var step: String

        /// The lead time in hours; nil for other steps.
        package var leadHours: Int? {
            if step == "anl" { return 0 }
            guard step.hasSuffix(" hour fcst") else { return nil }
            return Int(step.dropLast(10))
        }
    }

    /// Why a line is ignored.
    package enum LineError: String, Error, Sendable, Hashable, CaseIterable {
        case tooLong = "line-too-long"
        case notText = "not-text"
        case missingFields = "missing-fields"
        case number
        case offset
        case time
        /// A message begins before the one of the line above, or its number occurs at another offset.
        case order
        /// There are more lines than a file can have.
        case tooMany = "too-many-lines"
    }

    /// The entries in the order of the file, which is that of offsets.
    package private(set) var entries: [Entry] = []
    /// The number of rejected lines, by reason.
    package private(set) var refused: [LineError: Int] = [:]
    /// Offsets that are followed by a rejected line, so that the end of the message there is unknown.
    private var openEnds: Set<Int> = []

    /// The maximum number of lines; a file has 205 messages.
    static let maximumLines = 4_096
    /// The maximum length of a line; the longest known ones have 70 bytes.
    static let maximumLineBytes = 512
    private static let largestOffset = 1 << 40

    /// Parses an index line by line. An invalid line doesn't affect others.
    package init(_ bytes: some BidirectionalCollection<UInt8>) {
        var lines = 0
        for line in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: true) {
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            guard !line.isEmpty else { continue }
            lines += 1
            guard lines <= Self.maximumLines else {
                refused[.tooMany, default: 0] += 1
                break
            }
            do throws(LineError) {
                let entry = try Self.entry(line)
                try check(entry)
                entries.append(entry)
            } catch {
                refused[error, default: 0] += 1
                if let last = entries.last { openEnds.insert(last.offset) }
            }
        }
    }

    private func check(_ entry: Entry) throws(LineError) {
        guard let last = entries.last else { return }
        let isNext = entry.offset > last.offset && entry.number > last.number
        let isPart = entry.offset == last.offset && entry.number == last.number && entry.part != last.part
        guard isNext || isPart else { throw .order }
    }

    private static func entry(_ line: some Collection<UInt8>) throws(LineError) -> Entry {
        guard line.count <= maximumLineBytes else { throw .tooLong }
        guard line.allSatisfy({ (0x20...0x7E).contains($0) }) else { throw .notText }
        let text = String(decoding: line, as: UTF8.self)
        let fields = text.split(separator: ":", omittingEmptySubsequences: false)
        guard fields.count >= 6, !fields[3].isEmpty, !fields[4].isEmpty else { throw .missingFields }
        let numbers = fields[0].split(separator: ".", omittingEmptySubsequences: false).map { positive($0) }
        guard numbers.count <= 2, numbers.allSatisfy({ $0 != nil }), let number = numbers[0] else { throw .number }
        guard let offset = natural(fields[1]), offset <= largestOffset else { throw .offset }
        guard let seconds = time(fields[2]) else { throw .time }
        return Entry(
            number: number, part: numbers.count == 2 ? numbers[1] : nil, offset: offset, referenceSeconds: seconds,
            key: GuidanceMessageKey(
                GuidanceParameter(rawValue: String(fields[3])), GuidanceLevel(rawValue: String(fields[4]))),
            step: String(fields[5]))
    }

    private static func natural(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }

    private static func positive(_ text: Substring) -> Int? { natural(text).flatMap { $0 > 0 ? $0 : nil } }

    /// Parses `d=YYYYMMDDHH`, with or without minutes and seconds.
    private static func time(_ text: Substring) -> Int? {
        guard text.hasPrefix("d=") || text.hasPrefix("D=") else { return nil }
        let digits = text.dropFirst(2)
        guard [10, 12, 14].contains(digits.utf8.count), natural(digits) != nil else { return nil }
        func number(_ from: Int, _ count: Int) -> Int {
            guard digits.utf8.count >= from + count else { return 0 }
            return Int(digits.dropFirst(from).prefix(count)) ?? 0
        }
        return CivilTime(
            year: number(0, 4), month: number(4, 2), day: number(6, 2), hour: number(8, 2), minute: number(10, 2)
        )?.guidanceSeconds
    }
}

extension MessageIndex {
    /// The range of each message, with the keys of all its fields.
    ///
    /// - Parameter fileBytes: the file's length, where the last message ends; nil if it is unknown.
    package func spans(fileBytes: Int?) -> [MessageSpan] {
        var spans: [MessageSpan] = []
        for entry in entries {
            if let last = spans.indices.last, spans[last].lower == entry.offset {
                spans[last].keys.append(entry.key)
                continue
            }
            if let last = spans.indices.last, spans[last].upper == nil { spans[last].upper = entry.offset }
            spans.append(MessageSpan(number: entry.number, lower: entry.offset, upper: nil, keys: [entry.key]))
        }
        if let last = spans.indices.last { spans[last].upper = fileBytes }
        for index in spans.indices where openEnds.contains(spans[index].lower) { spans[index].isExact = false }
        return spans
    }
}

/// The range of a message in a file.
package struct MessageSpan: Sendable, Hashable {
    /// The message's number, from 1.
    package var number: Int
    /// The offset of its first byte.
    package var lower: Int
    /// The offset after its last byte; nil for the last message of a file of unknown length.
    package var upper: Int?
    package var keys: [GuidanceMessageKey]
    /// Whether the message ends exactly at `upper`. Otherwise it ends there or before.
    package var isExact = true
}
