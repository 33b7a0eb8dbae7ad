import Foundation
import Synchronization
import TracingVFS

/// What SQLite did to the files of a folder, in order. From it follows what the disk may hold after a loss of power.
///
/// The model of a disk: what was written before a file was last synchronised is on the disk. What was written later may
/// be on it or not, in any order, and a write may end at any sector of 512 bytes. A file that was never synchronised
/// may be missing, and one that was deleted without synchronising its folder may still be there.
///
/// Source: the assumptions of SQLite, https://sqlite.org/atomiccommit.html#_hardware_assumptions
final class DiskTrace: Sendable {
    enum Operation: Sendable {
        case write(path: String, offset: Int, bytes: [UInt8])
        case truncate(path: String, size: Int)
        case sync(path: String)
        case delete(path: String, isDurable: Bool)
    }

    /// The files of a disk by their paths.
    typealias Files = [String: [UInt8]]

    private let traced = Mutex<[Operation]>([])
    /// The files before the first operation.
    private let initial: Files

    /// The number of operations until now.
    var count: Int { traced.withLock { $0.count } }

    private init(_ initial: Files) { self.initial = initial }

    /// Traces the files of a folder while `body` runs. Only one trace runs at a time.
    ///
    /// A name that a file gets by other means than SQLite is not traced, such as that of a new database.
    static func trace(_ folder: URL, _ body: (DiskTrace) async throws -> Void) async throws -> DiskTrace {
        // The path of each traced file begins with this.
        let path = folder.resolvingSymlinksInPath().path + "/"
        var initial: Files = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            initial[path + name] = Array(try Data(contentsOf: URL(filePath: path + name)))
        }
        let trace = DiskTrace(initial)
        let context = Unmanaged.passRetained(trace)
        let status = tracing_vfs_begin(
            path,
            { context, path, operation, offset, bytes, count in
                guard let context, let path else { return }
                Unmanaged<DiskTrace>.fromOpaque(context).takeUnretainedValue().note(
                    String(cString: path), operation, Int(offset),
                    UnsafeRawBufferPointer(start: bytes, count: Int(count)))
            }, context.toOpaque())
        guard status == 0 else {
            context.release()
            throw Missing()
        }
        defer {
            tracing_vfs_end()
            context.release()
        }
        try await body(trace)
        return trace
    }

    private func note(_ path: String, _ operation: TracedOperation, _ offset: Int, _ bytes: UnsafeRawBufferPointer) {
        let noted: Operation
        switch operation {
        case tracing_write: noted = .write(path: path, offset: offset, bytes: Array(bytes))
        case tracing_truncate: noted = .truncate(path: path, size: offset)
        case tracing_sync: noted = .sync(path: path)
        default: noted = .delete(path: path, isDurable: operation == tracing_durable_delete)
        }
        traced.withLock { $0.append(noted) }
    }

    /// What a disk may hold when the power fails after some operations.
    func files(after count: Int, using random: inout some RandomNumberGenerator) -> Files {
        var disk = initial.mapValues { TracedFile($0) }
        for operation in traced.withLock({ $0.prefix(count) }) {
            switch operation {
            case .write(let path, _, _), .truncate(let path, _): disk[path, default: TracedFile()].add(operation)
            case .sync(let path): disk[path, default: TracedFile()].sync()
            case .delete(let path, isDurable: true): disk[path] = nil
            case .delete(let path, isDurable: false): disk[path]?.add(operation)
            }
        }
        // In a fixed order, so that a seed gives the same files again.
        return disk.sorted { $0.key < $1.key }.reduce(into: [:]) { files, file in
            if let bytes = file.value.afterLoss(using: &random) { files[file.key] = bytes }
        }
    }
}

/// A file on a disk that may lose power.
private struct TracedFile {
    /// What is on the disk for sure; nil for a file that may be missing.
    private var durable: [UInt8]?
    private var pending: [DiskTrace.Operation] = []

    /// - Parameter durable: nil for a new file.
    init(_ durable: [UInt8]? = nil) { self.durable = durable }

    mutating func add(_ operation: DiskTrace.Operation) { pending.append(operation) }

    mutating func sync() {
        durable = pending.reduce(durable ?? []) { Self.apply($1, to: $0) } ?? []
        pending = []
    }

    func afterLoss(using random: inout some RandomNumberGenerator) -> [UInt8]? {
        let kept: [DiskTrace.Operation]
        switch Int.random(in: 0..<4, using: &random) {
        case 0: kept = []
        case 1: kept = pending
        case 2: kept = Array(pending.prefix(Int.random(in: 0...pending.count, using: &random)))
        default: kept = pending.filter { _ in Bool.random(using: &random) }
        }
        guard let last = kept.last else { return durable }
        var bytes = durable
        for operation in kept.dropLast() { bytes = Self.apply(operation, to: bytes) }
        return Self.apply(Self.torn(last, using: &random), to: bytes)
    }

    /// A write of which only the first sectors may have reached the disk.
    private static func torn(
        _ operation: DiskTrace.Operation, using random: inout some RandomNumberGenerator
    ) -> DiskTrace.Operation {
        guard case .write(let path, let offset, let bytes) = operation, Bool.random(using: &random) else {
            return operation
        }
        let sector = 512
        let firstEnd = sector - offset % sector
        let ends = Array(stride(from: firstEnd, to: bytes.count, by: sector)) + [bytes.count]
        return .write(
            path: path, offset: offset, bytes: Array(bytes.prefix(ends[Int.random(in: 0..<ends.count, using: &random)]))
        )
    }

    private static func apply(_ operation: DiskTrace.Operation, to bytes: [UInt8]?) -> [UInt8]? {
        var bytes = bytes ?? []
        switch operation {
        case .write(_, let offset, let written):
            let end = offset + written.count
            if bytes.count < end { bytes += repeatElement(0, count: end - bytes.count) }
            bytes.replaceSubrange(offset..<end, with: written)
        case .truncate(_, let size):
            bytes = Array(bytes.prefix(size)) + repeatElement(0, count: max(0, size - bytes.count))
        case .sync: break
        case .delete: return nil
        }
        return bytes
    }
}
