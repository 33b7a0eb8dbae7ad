package import Foundation
import Synchronization
import TracedDisk

/// What this process did to the files and folders in a folder, in order. From it follows what the disk may hold after a
/// loss of power.
///
/// The model of a disk:
/// - What was written to a file before it was last synchronised is on the disk. Each later write may be there or not,
///   in any order, whole or up to any of its sectors of 512 bytes. So may each later change of the file's size.
/// - A name that a file or folder got or lost before its folder was last synchronised is on the disk. Each later change
///   of names may be there or not, in any order. To synchronise a file is no promise about its name.
/// - A renaming is one change.
///
/// Source: the assumptions of SQLite, https://sqlite.org/atomiccommit.html#_hardware_assumptions, and POSIX, fsync and
/// rename, https://pubs.opengroup.org/onlinepubs/9799919799/functions/fsync.html
package final class DiskTrace: Sendable {
    /// A file or folder as the system numbers it. The number of a deleted file is used again.
    fileprivate struct FileNumber: Hashable, Sendable {
        var device: UInt64
        var inode: UInt64
    }

    /// Paths are relative to the traced folder; that folder itself is "".
    fileprivate enum Operation: Sendable {
        case create(FileNumber, path: String, isFolder: Bool)
        case change(FileNumber, FileChange)
        case sync(FileNumber)
        case link(FileNumber, path: String)
        case rename(path: String, to: String)
        case remove(path: String)

        var isOfNames: Bool {
            switch self {
            case .create, .link, .rename, .remove: true
            case .change, .sync: false
            }
        }
    }

    /// The contents of a disk.
    package struct Contents: Sendable {
        /// The bytes of the files by their paths.
        package fileprivate(set) var files: [String: [UInt8]] = [:]
        fileprivate var folders: Set<String> = []
        /// The first name of each file that has several, by its other ones.
        fileprivate var links: [String: String] = [:]

        /// Writes the contents into an empty folder.
        package func write(into folder: URL) throws {
            for path in folders.sorted() {
                try FileManager.default.createDirectory(
                    at: folder.appending(path: path), withIntermediateDirectories: true)
            }
            for (path, bytes) in files where links[path] == nil {
                try Data(bytes).write(to: folder.appending(path: path))
            }
            for (path, first) in links {
                try FileManager.default.linkItem(
                    at: folder.appending(path: first), to: folder.appending(path: path))
            }
        }
    }

    /// The trace can't run here, or it does not explain the folder's contents.
    package struct Failure: Error, CustomStringConvertible {
        package var description: String
    }

    /// Whether this system's functions can be replaced.
    package static var isAvailable: Bool {
        #if os(Linux)
            true
        #else
            false
        #endif
    }

    private let traced = Mutex<[Operation]>([])
    private let folder: String
    /// The disk before the first operation.
    private let initial: Disk

    /// The number of operations until now.
    package var count: Int { traced.withLock { $0.count } }

    private init(_ folder: String) throws {
        self.folder = folder
        initial = try Disk(folder)
    }

    /// Traces the files in a folder while `body` runs.
    /// - Parameter hasLinks: whether a file of the folder can have two names; false as on FAT and exFAT.
    /// - Throws: `Failure` if the traced operations do not explain the folder's contents at the end.
    package static func trace(
        _ folder: URL, hasLinks: Bool = true, _ body: (DiskTrace) async throws -> Void
    ) async throws -> DiskTrace {
        let trace = try DiskTrace(folder.resolvingSymlinksInPath().path)
        let context = Unmanaged.passRetained(trace)
        defer { context.release() }
        let number = traced_disk_begin(
            trace.folder, hasLinks ? 1 : 0,
            { context, operation in
                guard let context, let operation else { return }
                Unmanaged<DiskTrace>.fromOpaque(context).takeUnretainedValue().note(operation.pointee)
            }, context.toOpaque())
        guard number >= 0 else { throw Failure(description: "no trace of \(trace.folder) can begin") }
        do {
            try await body(trace)
            traced_disk_end(number)
        } catch {
            traced_disk_end(number)
            throw error
        }
        try trace.verify()
        return trace
    }

    private func note(_ operation: TracedOperation) {
        let number = FileNumber(device: operation.device, inode: operation.inode)
        func path(_ name: UnsafePointer<CChar>?) -> String {
            let path = name.map { String(cString: $0) } ?? ""
            return String(path.dropFirst(folder.count).drop { $0 == "/" })
        }
        let noted: Operation
        switch operation.kind {
        case traced_create: noted = .create(number, path: path(operation.path), isFolder: false)
        case traced_make_folder: noted = .create(number, path: path(operation.path), isFolder: true)
        case traced_write:
            let bytes = UnsafeRawBufferPointer(start: operation.bytes, count: Int(operation.count))
            noted = .change(number, .write(offset: Int(operation.offset), bytes: Array(bytes)))
        case traced_truncate: noted = .change(number, .resize(Int(operation.offset)))
        case traced_sync: noted = .sync(number)
        case traced_link: noted = .link(number, path: path(operation.path))
        case traced_rename: noted = .rename(path: path(operation.path), to: path(operation.new_path))
        default: noted = .remove(path: path(operation.path))
        }
        traced.withLock { $0.append(noted) }
    }

    /// Checks that the operations lead from the first contents to those on the real disk. Shared memory of SQLite is
    /// written as memory, and SQLite makes it anew.
    private func verify() throws {
        var disk = initial
        for operation in traced.withLock({ $0 }) { disk.apply(operation) }
        let (model, real) = (disk.current, try Disk(folder).current)
        guard model.folders == real.folders, model.files.keys == real.files.keys else {
            throw Failure(
                description: "the trace has \(model.files.keys.sorted()), the disk \(real.files.keys.sorted())")
        }
        for (path, bytes) in real.files where !path.hasSuffix("-shm") && model.files[path] != bytes {
            throw Failure(description: "the trace has other bytes than the disk in \(path)")
        }
    }

    /// Takes the power away at random moments, and passes on what the disk may hold then.
    ///
    /// Every other moment follows a change of names. These are few, and most steps of Billow end with them.
    /// - Parameters:
    ///   - first: the number of operations before the earliest loss.
    ///   - body: gets the number of operations before a loss.
    package func lose(
        _ losses: Int, from first: Int = 0, using random: inout SeededGenerator,
        _ body: (_ cut: Int, _ contents: Contents) async throws -> Void
    ) async throws {
        let operations = traced.withLock { $0 }
        let named = operations.indices.filter { $0 >= first && operations[$0].isOfNames }
        let cuts = (0..<losses).map { loss in
            if loss % 2 == 1, let index = named.randomElement(using: &random) { return index + 1 }
            return Int.random(in: first...operations.count, using: &random)
        }
        var disk = initial
        var done = 0
        for cut in cuts.sorted() {
            for operation in operations[done..<cut] { disk.apply(operation) }
            done = cut
            try await body(cut, disk.afterLoss(using: &random))
        }
    }
}

// MARK: - The disk

/// A disk that may lose power.
private struct Disk: Sendable {
    /// What a name leads to: the index of a file, or a folder.
    enum Entry: Hashable, Sendable {
        case file(Int)
        case folder
    }

    /// A change of names that happens at once.
    struct NameChange: Sendable {
        var folders: Set<String>
        var names: [(path: String, entry: Entry?)]
    }

    private var files: [DiskFile] = []
    /// The files and folders that have names now.
    private var numbers: [DiskTrace.FileNumber: Entry] = [:]
    private var folderPaths: [DiskTrace.FileNumber: String] = [:]
    private var names: [String: Entry] = [:]
    private var durableNames: [String: Entry] = [:]
    private var pending: [NameChange] = []

    /// The disk as it is, with everything synchronised.
    init(_ folder: String) throws {
        folderPaths[try Self.number(folder)] = ""
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder) {
            let whole = folder + "/" + path
            let number = try Self.number(whole)
            var isFolder: ObjCBool = false
            guard FileManager.default.fileExists(atPath: whole, isDirectory: &isFolder) else { continue }
            if isFolder.boolValue {
                folderPaths[number] = path
                names[path] = .folder
            } else {
                if numbers[number] == nil {
                    numbers[number] = .file(files.count)
                    files.append(DiskFile(durable: Array(try Data(contentsOf: URL(filePath: whole)))))
                }
                names[path] = numbers[number]
            }
        }
        durableNames = names
    }

    private static func number(_ path: String) throws -> DiskTrace.FileNumber {
        var status = stat()
        guard stat(path, &status) == 0 else { throw DiskTrace.Failure(description: "\(path) can't be read") }
        return DiskTrace.FileNumber(
            device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(truncatingIfNeeded: status.st_ino))
    }

    mutating func apply(_ operation: DiskTrace.Operation) {
        switch operation {
        case .create(let number, let path, let isFolder):
            if isFolder {
                folderPaths[number] = path
                rename([(path, .folder)])
            } else {
                numbers[number] = .file(files.count)
                rename([(path, .file(files.count))])
                files.append(DiskFile(durable: []))
            }
        case .change(let number, let change):
            if case .file(let index)? = numbers[number] { files[index].add(change) }
        case .sync(let number):
            if case .file(let index)? = numbers[number] {
                files[index].sync()
            } else if let path = folderPaths[number] {
                syncFolder(path)
            }
        case .link(let number, let path): rename([(path, numbers[number])])
        case .rename(let path, let newPath): rename([(newPath, names[path]), (path, nil)])
        case .remove(let path): rename([(path, nil)])
        }
    }

    private mutating func rename(_ changes: [(path: String, entry: Entry?)]) {
        for change in changes { names[change.path] = change.entry }
        pending.append(NameChange(folders: Set(changes.map { Self.folder(of: $0.path) }), names: changes))
    }

    private mutating func syncFolder(_ path: String) {
        for change in pending where change.folders.contains(path) { Self.apply(change, to: &durableNames) }
        pending.removeAll { $0.folders.contains(path) }
    }

    private static func apply(_ change: NameChange, to names: inout [String: Entry]) {
        for name in change.names { names[name.path] = name.entry }
    }

    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    }

    /// The contents that this process sees.
    var current: DiskTrace.Contents { contents(names) { $0.current } }

    /// The contents after a loss of power now.
    func afterLoss(using random: inout SeededGenerator) -> DiskTrace.Contents {
        let loss = Loss(using: &random)
        var names = durableNames
        for change in loss.kept(pending, using: &random) { Self.apply(change, to: &names) }
        return contents(names) { $0.afterLoss(loss, using: &random) }
    }

    private func contents(_ names: [String: Entry], _ bytes: (DiskFile) -> [UInt8]) -> DiskTrace.Contents {
        var contents = DiskTrace.Contents()
        var firstNames: [Int: String] = [:]
        // In a fixed order, so that a seed gives the same contents again. A folder comes before its files.
        for (path, entry) in names.sorted(by: { $0.key < $1.key }) {
            let folder = Self.folder(of: path)
            guard folder.isEmpty || contents.folders.contains(folder) else { continue }
            switch entry {
            case .folder: contents.folders.insert(path)
            case .file(let index):
                if let first = firstNames[index] {
                    contents.links[path] = first
                    contents.files[path] = contents.files[first]
                } else {
                    firstNames[index] = path
                    contents.files[path] = bytes(files[index])
                }
            }
        }
        return contents
    }
}

/// How much of what was not synchronised a loss of power spares.
private enum Loss {
    case nothing, everything, some

    init(using random: inout SeededGenerator) {
        switch Int.random(in: 0..<8, using: &random) {
        case 0: self = .nothing
        case 1: self = .everything
        default: self = .some
        }
    }

    /// The spared ones of some changes, in their order.
    func kept<Change>(_ changes: [Change], using random: inout SeededGenerator) -> [Change] {
        switch self {
        case .nothing: return []
        case .everything: return changes
        case .some: break
        }
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return []
        case 1: return changes
        case 2: return Array(changes.prefix(Int.random(in: 0...changes.count, using: &random)))
        default: return changes.filter { _ in Bool.random(using: &random) }
        }
    }
}

/// A change of a file's contents.
private enum FileChange: Sendable {
    case write(offset: Int, bytes: [UInt8])
    case resize(Int)

    private static let sector = 512

    func apply(to file: inout [UInt8]) {
        switch self {
        case .write(let offset, let bytes):
            let end = offset + bytes.count
            if file.count < end { file += repeatElement(0, count: end - file.count) }
            file.replaceSubrange(offset..<end, with: bytes)
        case .resize(let size):
            if size < file.count {
                file.removeLast(file.count - size)
            } else {
                file += repeatElement(0, count: size - file.count)
            }
        }
    }

    /// The change, or a write of which only the first sectors reached the disk.
    func torn(using random: inout SeededGenerator) -> FileChange {
        guard case .write(let offset, let bytes) = self, Int.random(in: 0..<4, using: &random) == 0 else { return self }
        let firstEnd = Self.sector - offset % Self.sector
        let ends = Array(stride(from: firstEnd, to: bytes.count, by: Self.sector)) + [bytes.count]
        let end = ends[Int.random(in: 0..<ends.count, using: &random)]
        return .write(offset: offset, bytes: Array(bytes.prefix(end)))
    }
}

/// A file on a disk that may lose power.
private struct DiskFile: Sendable {
    private var durable: [UInt8]
    private var pending: [FileChange] = []

    init(durable: [UInt8]) { self.durable = durable }

    mutating func add(_ change: FileChange) { pending.append(change) }

    mutating func sync() {
        for change in pending { change.apply(to: &durable) }
        pending = []
    }

    var current: [UInt8] {
        var file = self
        file.sync()
        return file.durable
    }

    func afterLoss(_ loss: Loss, using random: inout SeededGenerator) -> [UInt8] {
        var bytes = durable
        for change in loss.kept(pending, using: &random) {
            switch loss {
            case .some: change.torn(using: &random).apply(to: &bytes)
            case .nothing, .everything: change.apply(to: &bytes)
            }
        }
        return bytes
    }
}

/// The size of the tests that take the power away: more by variables for a long run.
package enum PowerLosses {
    /// The numbers of the histories, from 0.
    package static func histories(_ standard: Int) -> Range<UInt64> {
        0..<UInt64(setting("BILLOW_POWER_HISTORIES") ?? standard)
    }

    /// The number of losses in a history.
    package static let perHistory = setting("BILLOW_POWER_LOSSES") ?? 15

    private static func setting(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }
}
