import CivilCalendar
import Synchronization
package import Turbulence

/// Writes a ZIP archive entry by entry. Text is deflated, and files that are already compressed are stored. It does not
/// use ZIP64, so the archive is limited to 4 GiB.
///
/// Source: APPNOTE.TXT 6.3.10, https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT
package final class ZipFile: Sendable {
    private struct Entry: Sendable {
        var name: [UInt8]
        var method: UInt16
        var sum: UInt32
        var packed: Int
        var size: Int
        var place: Int
    }

    private let file: FileWriter
    /// The date of all entries.
    private let time: Instant
    private let state = Mutex(ArchiveState())

    private struct ArchiveState {
        var entries: [Entry] = []
        var end = 0
        /// The entry whose content is being appended.
        var open: (entry: Entry, stream: DeflateStream)?
    }

    private static let limit = Int(UInt32.max)
    private static let slice = 1 << 20

    package init(_ file: FileWriter, at time: Instant) {
        self.file = file
        self.time = time
    }

    package var size: Int { state.withLock { $0.end } }

    /// Adds an entry, which is deflated if that makes it smaller.
    package func add(_ name: String, _ bytes: [UInt8], isCompressed: Bool = false) throws(PackError) {
        let deflated = isCompressed ? bytes : try Packing.deflate(bytes)
        let isStored = isCompressed || deflated.count >= bytes.count
        let data = isStored ? bytes : deflated
        let entry = Entry(
            name: Array(name.utf8), method: isStored ? 0 : 8, sum: Packing.crc32(0, bytes), packed: data.count,
            size: bytes.count, place: size)
        let header = header(entry)
        try room(entry.place + header.count + data.count)
        try file.write(header + data, at: entry.place)
        state.withLock {
            $0.entries.append(entry)
            $0.end = entry.place + header.count + data.count
        }
    }

    /// Adds a file without compression.
    package func add(_ name: String, _ content: FileWriter) throws(PackError) {
        let size = try content.size
        var entry = Entry(
            name: Array(name.utf8), method: 0, sum: 0, packed: size, size: size, place: self.size)
        let start = entry.place + header(entry).count
        try room(start + size)
        var done = 0
        while done < size {
            let bytes = try content.read(min(Self.slice, size - done), at: done)
            guard !bytes.isEmpty else { throw .file("a part of the archive ended early") }
            entry.sum = Packing.crc32(entry.sum, bytes)
            try file.write(bytes, at: start + done)
            done += bytes.count
        }
        try file.write(header(entry), at: entry.place)
        state.withLock { [entry] in
            $0.entries.append(entry)
            $0.end = start + size
        }
    }

    /// Begins an entry whose content follows piece by piece and is deflated. No other entry may be added before `end`.
    package func begin(_ name: String) throws(PackError) {
        guard let stream = DeflateStream(.none) else { throw .memory }
        let entry = Entry(name: Array(name.utf8), method: 8, sum: 0, packed: 0, size: 0, place: size)
        let length = header(entry).count
        state.withLock { state in
            state.open = (entry, stream)
            state.end += length
        }
    }

    /// Appends to the entry that `begin` began.
    package func append(_ bytes: [UInt8]) throws(PackError) { try append(bytes, isLast: false) }

    private func append(_ bytes: [UInt8], isLast: Bool) throws(PackError) {
        guard let open = state.withLock({ $0.open }) else { preconditionFailure("no entry was begun") }
        let stream = open.stream
        var entry = open.entry
        let packed = stream.compress(bytes, isLast: isLast)
        entry.sum = Packing.crc32(entry.sum, bytes)
        entry.size += bytes.count
        entry.packed += packed.count
        let place = size
        try room(max(place + packed.count, entry.size))
        try file.write(packed, at: place)
        // The local header is written last, because it has the sum and the sizes.
        if isLast { try file.write(header(entry), at: entry.place) }
        state.withLock { [entry] state in
            state.end = place + packed.count
            if isLast { state.entries.append(entry) }
            state.open = isLast ? nil : (entry, stream)
        }
    }

    /// Completes the entry that `begin` began.
    package func end() throws(PackError) { try append([], isLast: true) }

    private func room(_ end: Int) throws(PackError) {
        guard end <= Self.limit else { throw .tooLarge(bytes: end, limit: Self.limit) }
    }

    /// Writes the directory and completes the archive.
    package func finish() throws(PackError) {
        let (entries, end) = state.withLock { ($0.entries, $0.end) }
        var bytes: [UInt8] = []
        for entry in entries {
            bytes.append(little: 0x0201_4B50 as UInt32)
            bytes.append(little: 20 as UInt16)
            bytes += fields(entry)
            for _ in 0..<4 { bytes.append(little: 0 as UInt16) }
            bytes.append(little: 0 as UInt32)
            bytes.append(little: UInt32(entry.place))
            bytes += entry.name
        }
        let length = bytes.count
        bytes.append(little: 0x0605_4B50 as UInt32)
        bytes.append(little: 0 as UInt32)
        bytes.append(little: UInt16(entries.count))
        bytes.append(little: UInt16(entries.count))
        bytes.append(little: UInt32(length))
        bytes.append(little: UInt32(end))
        bytes.append(little: 0 as UInt16)
        try room(end + bytes.count)
        try file.write(bytes, at: end)
        state.withLock { $0.end = end + bytes.count }
    }

    private func header(_ entry: Entry) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(little: 0x0403_4B50 as UInt32)
        bytes += fields(entry)
        bytes.append(little: 0 as UInt16)
        return bytes + entry.name
    }

    /// The common part of the local header and the directory entry, up to the length of the name. The length of extra
    /// fields follows.
    private func fields(_ entry: Entry) -> [UInt8] {
        let civil = CivilTime(unixSeconds: time.seconds)
        let day = (max(civil.year, 1980) - 1980) << 9 | civil.month << 5 | civil.day
        let clock = civil.hour << 11 | civil.minute << 5 | civil.second / 2
        var bytes: [UInt8] = []
        // Version 2.0, names in UTF-8.
        bytes.append(little: 20 as UInt16)
        bytes.append(little: 0x0800 as UInt16)
        bytes.append(little: entry.method)
        bytes.append(little: UInt16(truncatingIfNeeded: clock))
        bytes.append(little: UInt16(truncatingIfNeeded: day))
        bytes.append(little: entry.sum)
        bytes.append(little: UInt32(entry.packed))
        bytes.append(little: UInt32(entry.size))
        bytes.append(little: UInt16(entry.name.count))
        return bytes
    }
}
