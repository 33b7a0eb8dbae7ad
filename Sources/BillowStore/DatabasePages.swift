internal import Foundation

/// The pages of an SQLite file, as stored in the file and its WAL. It doesn't use the b-trees, so it works on files
/// whose b-trees are damaged.
///
/// Source: SQLite file format, sections 1.2, 1.3, 1.5 and 4, https://sqlite.org/fileformat2.html
final class DatabasePages {
    private let file: Int32
    private let log: Int32
    /// The page size in bytes.
    let size: Int
    /// The largest page number.
    let count: Int
    /// The offset in the WAL of each page's newest committed image.
    private var logged: [Int: Int] = [:]

    /// Billow's page size, used if the first page doesn't state one.
    private static let usualSize = 4_096

    /// nil if the file can't be opened.
    init?(path: String) {
        file = open(path, O_RDONLY | O_CLOEXEC)
        log = open(path + "-wal", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        let header = FileHeader(bytes: Self.bytes(file, at: 0, count: FileHeader.length) ?? [])
        size = header.pageSize ?? Self.usualSize
        let length = lseek(file, 0, SEEK_END)
        var last = length / size
        if log >= 0 {
            let frames = CommittedFrames(pageSize: size) { [log] in Self.bytes(log, at: $0, count: $1) }
            logged = frames.places
            last = max(last, logged.keys.max() ?? 0)
        }
        count = last
    }

    deinit {
        close(file)
        if log >= 0 { close(log) }
    }

    /// The bytes of a page, counted from 1; nil for a page that doesn't exist.
    func page(_ number: Int) -> [UInt8]? {
        guard (1...max(1, count)).contains(number) else { return nil }
        if let place = logged[number] { return Self.bytes(log, at: place, count: size) }
        return Self.bytes(file, at: (number - 1) * size, count: size)
    }

    /// The pages on the freelist, which hold deleted data.
    var free: Set<Int> {
        var free: Set<Int> = []
        guard let first = page(1), first.starts(with: FileHeader.magic) else { return free }
        var trunk = Int(first.word(32))
        while trunk != 0, let bytes = page(trunk), free.insert(trunk).inserted {
            let leaves = min(Int(bytes.word(4)), size / 4 - 2)
            for index in 0..<leaves { free.insert(Int(bytes.word(8 + 4 * index))) }
            trunk = Int(bytes.word(0))
        }
        return free
    }

    private static func bytes(_ file: Int32, at place: Int, count: Int) -> [UInt8]? {
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, read in
            read = max(0, pread(file, buffer.baseAddress, count, off_t(place)))
        }
        return bytes.count == count ? bytes : nil
    }
}

/// The frames of a write-ahead log up to its last complete commit. Each frame has a checksum over all frames before it.
private struct CommittedFrames {
    /// The offset of each page's newest image.
    private(set) var places: [Int: Int] = [:]

    private static let headerLength = 32
    private static let frameHeaderLength = 24

    init(pageSize: Int, _ read: (_ place: Int, _ count: Int) -> [UInt8]?) {
        guard let header = read(0, Self.headerLength), header.word(0) & ~1 == 0x377F_0682, header.word(8) == pageSize
        else { return }
        let isBigEndian = header.word(0) & 1 == 1
        var sum = Sum()
        sum.add(header.prefix(24), isBigEndian: isBigEndian)
        guard sum.isStored(in: header, at: 24) else { return }
        var pending: [Int: Int] = [:]
        var place = Self.headerLength
        while let frame = read(place, Self.frameHeaderLength + pageSize) {
            sum.add(frame.prefix(8), isBigEndian: isBigEndian)
            sum.add(frame.dropFirst(Self.frameHeaderLength), isBigEndian: isBigEndian)
            guard frame[8..<16].elementsEqual(header[16..<24]), sum.isStored(in: frame, at: 16) else { return }
            pending[Int(frame.word(0))] = place + Self.frameHeaderLength
            // The last frame of a commit holds the size of the database.
            if frame.word(4) != 0 {
                places.merge(pending) { $1 }
                pending = [:]
            }
            place += frame.count
        }
    }

    private struct Sum {
        private var first: UInt32 = 0
        private var second: UInt32 = 0

        mutating func add(_ bytes: ArraySlice<UInt8>, isBigEndian: Bool) {
            var place = bytes.startIndex
            func word(_ place: Int) -> UInt32 {
                let word = bytes[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) }
                return isBigEndian ? word : word.byteSwapped
            }
            while place + 8 <= bytes.endIndex {
                first &+= word(place) &+ second
                second &+= word(place + 4) &+ first
                place += 8
            }
        }

        func isStored(in bytes: [UInt8], at place: Int) -> Bool {
            first == bytes.word(place) && second == bytes.word(place + 4)
        }
    }
}

extension [UInt8] {
    /// Four bytes, big-endian.
    func word(_ place: Int) -> UInt32 { self[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) } }

    /// Two bytes, big-endian.
    func half(_ place: Int) -> Int { Int(self[place]) << 8 | Int(self[place + 1]) }
}
