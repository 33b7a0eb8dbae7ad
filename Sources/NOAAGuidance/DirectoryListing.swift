import CivilCalendar
import Foundation

/// The files and folders in an HTML directory page. Parsing is lenient: pages differ, and only links matter.
///
/// Source: docs/upstreams/noaa.md, "Directories"
package struct DirectoryListing: Sendable, Hashable {
    /// A link of the page.
    package struct Entry: Sendable, Hashable {
        /// The name without a slash.
        package var name: String
        package var isDirectory: Bool
        /// The time of modification in Unix seconds, from the page in UTC; nil if it isn't given.
        package var modifiedSeconds: Int?
        /// The size as in the page: `28M`, `1234`; nil for folders, and if it isn't given.
        package var size: String?

        package init(name: String, isDirectory: Bool = false, modifiedSeconds: Int? = nil, size: String? = nil) {
            self.name = name
            self.isDirectory = isDirectory
            self.modifiedSeconds = modifiedSeconds
            self.size = size
        }
    }

    /// The entries in the order of the page; each name occurs once.
    package private(set) var entries: [Entry] = []

    /// The maximum number of entries; a day of GTG has some 900 files.
    static let maximumEntries = 10_000
    private static let longestName = 200
    private static let longestRow = 1_000

    /// Parses a page. Other content, and links to other places, are ignored.
    package init(_ page: [UInt8]) {
        var places: [String: Int] = [:]
        var index = 0
        while entries.count < Self.maximumEntries, let open = Self.link(in: page, from: index),
            let close = page[open...].firstIndex(of: UInt8(ascii: ">"))
        {
            index = close + 1
            guard let (name, isDirectory) = Self.name(ofTarget: Self.target(Self.text(page[open..<close]))) else {
                continue
            }
            let words = Self.words(behind: index, in: page)
            let time = Self.time(words)
            let size = isDirectory ? nil : Self.size(words)
            if let place = places[name] {
                // An icon may link to the same file before its name does, without the details.
                entries[place].modifiedSeconds = entries[place].modifiedSeconds ?? time
                entries[place].size = entries[place].size ?? size
            } else {
                places[name] = entries.count
                entries.append(Entry(name: name, isDirectory: isDirectory, modifiedSeconds: time, size: size))
            }
        }
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> Substring {
        Substring(String(decoding: bytes, as: UTF8.self))
    }

    /// The index where the next `<a ` begins.
    private static func link(in page: [UInt8], from index: Int) -> Int? {
        var index = index
        while let open = page[index...].firstIndex(of: UInt8(ascii: "<")) {
            if isLink(page, at: open) { return open }
            index = open + 1
        }
        return nil
    }

    private static func isLink(_ page: [UInt8], at index: Int) -> Bool {
        index + 2 < page.count && page[index] == UInt8(ascii: "<") && page[index + 1] | 0x20 == UInt8(ascii: "a")
            && page[index + 2] <= 0x20
    }

    /// The `href` of a link, with or without quotes.
    private static func target(_ tag: Substring) -> Substring {
        guard let name = tag.range(of: "href", options: .caseInsensitive) else { return "" }
        let value = tag[name.upperBound...].drop { $0.isWhitespace }
        guard value.first == "=" else { return "" }
        let text = value.dropFirst().drop { $0.isWhitespace }
        guard let quote = text.first, quote == "\"" || quote == "'" else { return text.prefix { !$0.isWhitespace } }
        return text.dropFirst().prefix { $0 != quote }
    }

    /// The name of a file or folder in this directory; nil for a link to any other place.
    private static func name(ofTarget target: Substring) -> (String, isDirectory: Bool)? {
        var target = target.hasPrefix("./") ? target.dropFirst(2) : target
        let isDirectory = target.hasSuffix("/")
        if isDirectory { target = target.dropLast() }
        guard let name = String(target).removingPercentEncoding, !name.isEmpty, name.utf8.count <= longestName,
            name != ".", name != "..", name.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            !name.contains(where: { "/\\?#:&<>\"'".contains($0) })
        else { return nil }
        return (name, isDirectory)
    }

    /// The words of the row after the opening tag of a link, up to the next link or row. The link's own text is
    /// excluded.
    private static func words(behind start: Int, in page: [UInt8]) -> [Substring] {
        var bytes: [UInt8] = []
        var isTag = false
        for index in start..<min(start + longestRow, page.count) {
            let byte = page[index]
            if byte == UInt8(ascii: "<") {
                if isLink(page, at: index) { break }
                // At the end of the link, its text is dropped.
                if page[index...].starts(with: Array("</a".utf8)) || page[index...].starts(with: Array("</A".utf8)) {
                    bytes = []
                }
                isTag = true
            } else if byte == UInt8(ascii: ">") {
                isTag = false
                bytes.append(0x20)
            } else if byte == UInt8(ascii: "\n") {
                break
            } else if !isTag {
                bytes.append(byte)
            }
        }
        return text(bytes[...]).split { $0.isWhitespace }
    }

    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    /// Parses the first `2026-09-24 00:52` or `24-Sep-2026 00:52`.
    private static func time(_ words: [Substring]) -> Int? {
        for (day, clock) in zip(words, words.dropFirst()) {
            let hours = clock.split(separator: ":")
            guard hours.count >= 2, let hour = CivilTime.number(hours[0], digits: 2),
                let minute = CivilTime.number(hours[1], digits: 2), let date = date(day)
            else { continue }
            return date.at(hour: hour, minute: minute)?.guidanceSeconds
        }
        return nil
    }

    private static func date(_ text: Substring) -> CivilTime? {
        let parts = text.split(separator: "-")
        guard parts.count == 3 else { return nil }
        if let year = CivilTime.number(parts[0], digits: 4), let month = CivilTime.number(parts[1], digits: 2),
            let day = CivilTime.number(parts[2], digits: 2)
        {
            return CivilTime(year: year, month: month, day: day)
        }
        guard let day = CivilTime.number(parts[0], digits: 2),
            let month = months.firstIndex(of: parts[1].lowercased()), let year = CivilTime.number(parts[2], digits: 4)
        else { return nil }
        return CivilTime(year: year, month: month + 1, day: day)
    }

    /// The first word of digits, with or without a unit.
    private static func size(_ words: [Substring]) -> String? {
        words.first { word in
            let digits = word.last.map { "KMGTkmgt".contains($0) } == true ? word.dropLast() : word
            return digits.first?.isNumber == true && digits.allSatisfy { $0.isNumber || $0 == "." }
        }.map(String.init)
    }
}
