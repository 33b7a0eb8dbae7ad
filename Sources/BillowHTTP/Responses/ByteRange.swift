import BillowEngine
import HTTPTypes

/// The part of a body that a `Range` header selects.
///
/// Source: RFC 9110 section 14.1.2
enum ByteRange: Equatable {
    /// No range, an invalid one, or several: the whole body is a valid response to each.
    case whole
    case part(Range<Int>)
    case unsatisfiable

    init(_ header: String?, of size: Int) {
        self = .whole
        guard let header, header.hasPrefix("bytes="), !header.contains(",") else { return }
        let ends = header.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }) else { return }
        switch (ends[0].isEmpty, ends[1].isEmpty) {
        case (true, true): return
        case (true, false):
            // A suffix range; a number too long for Int exceeds the size.
            let count = min(Int(ends[1]) ?? .max, size)
            self = count == 0 ? .unsatisfiable : .part(size - count..<size)
        case (false, let isOpen):
            let first = Int(ends[0]) ?? .max
            let last = isOpen ? .max : Int(ends[1]) ?? .max
            guard first <= last else { return }
            self = first < size ? .part(first..<min(last, size - 1) + 1) : .unsatisfiable
        }
    }

    /// Whether a request asks for the rest of a file without telling the version of its beginning (`If-Range`). A
    /// client that resumes a download does so. If the data has changed meanwhile, the parts do not belong together.
    static func isBlindResumption(_ headers: HTTPFields) -> Bool {
        guard headers[.ifRange] == nil, let range = headers[.range], range.hasPrefix("bytes="), range.hasSuffix("-")
        else { return false }
        let first = range.dropFirst("bytes=".count).dropLast()
        return first.utf8.allSatisfy { (0x30...0x39).contains($0) } && first.contains { $0 != "0" }
    }
}
