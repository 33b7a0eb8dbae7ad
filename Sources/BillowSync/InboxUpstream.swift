import Datasets
import BillowExchange
package import BillowStore
import Foundation
import Synchronization
package import Turbulence

/// A watched folder. Files in it are imported like with `billow import`, and then moved to `done/` or `refused/`.
///
/// A file is imported once it is complete; it is best renamed into the folder then. Names that begin with `.` or end
/// with `.part` or `.tmp` are ignored. So is a file whose size or time has changed since the last scan. A file is moved
/// after its last record is durable. If the process ends before that, the file is imported again, which changes
/// nothing.
package struct InboxUpstream: Upstream {
    package let id: SourceID
    package static let kind = "inbox"
    package var kind: String { Self.kind }
    package let merge = MergeRule.keep
    package let simulated: Bool?
    private let folder: URL
    private let store: any Store
    private let importer: FileImporter
    private let inbox: InboxState

    /// The interval in seconds at which a scan without new files is recorded.
    private static let noteSeconds = 60
    private static let unfinished = [".part", ".tmp"]

    /// The result of the last scan, and the time of the last record in the store.
    private final class InboxState: Sendable {
        struct FolderState {
            var files: [String: FileAttributes] = [:]
            /// Files that were imported but could not be moved since, with their verdicts.
            var read: [String: (attributes: FileAttributes, verdict: ImportResult)] = [:]
            var notedAt: Instant?
        }
        let state = Mutex(FolderState())
    }

    /// The result of a file's import.
    private struct ImportResult: Sendable {
        var isRefused: Bool
        var report: String?
    }

    /// The attributes that show whether a file has changed.
    private struct FileAttributes: Sendable, Hashable {
        var bytes: Int
        var modified: Date
    }

    /// - Parameters:
    ///   - path: the folder; it is created if missing.
    ///   - retentionSeconds: a file that is older on arrival is an import of the past, and stays until it is pruned
    ///     manually. All others obey retention.
    ///   - now: the clock.
    ///   - work: decodes grids.
    package init(
        id: SourceID, path: String, simulated: Bool? = nil, store: any Store, retentionSeconds: Int,
        now: @escaping @Sendable () -> Instant, work: any ComputationExecutor = InlineExecutor()
    ) {
        self.id = id
        self.simulated = simulated
        self.store = store
        folder = URL(filePath: path, directoryHint: .isDirectory)
        importer = FileImporter(
            store: store, now: now, source: id, simulated: simulated, agingSeconds: retentionSeconds, work: work)
        inbox = InboxState()
    }

    package var collections: [String] { Catalogue.datasets(of: .file).map(\.id) }

    /// Runs one scan. Imports the files that have not changed since the previous scan.
    package func synchronise(now: Instant) async throws(SyncError) -> SyncOutcome {
        let scanned = try scan()
        let before = inbox.state.withLock { state in
            let before = state.files
            state.files = scanned
            return before
        }
        var outcome = SyncOutcome()
        do throws(SyncError) {
            var failure: SyncError?
            for (name, attributes) in scanned.sorted(by: { $0.key < $1.key }) where before[name] == attributes {
                if Task.isCancelled { throw .cancelled }
                // A file that can't be moved does not affect the others.
                do throws(SyncError) { try await importFile(name, attributes, &outcome) } catch {
                    guard error.code == .inbox else { throw error }
                    failure = failure ?? error
                }
            }
            try await note(now, isNew: scanned != before)
            if let failure { throw failure }
        } catch {
            throw error.after(outcome)
        }
        return outcome
    }

    /// Records that the folder was scanned.
    private func note(_ now: Instant, isNew: Bool) async throws(SyncError) {
        let isDue = inbox.state.withLock { state in
            guard !isNew, let notedAt = state.notedAt, notedAt <= now,
                now < notedAt.advanced(by: Self.noteSeconds)
            else {
                state.notedAt = now
                return true
            }
            return false
        }
        // Before the first file, the source and its kinds of data are unknown.
        guard isDue, try await known(in: store) != nil else { return }
        let batch = Batch(source: id, fetchedAt: now)
        _ = try await stored { () async throws(StoreError) in try await store.commit(batch) }
    }

    // MARK: - The folder

    private func scan() throws(SyncError) -> [String: FileAttributes] {
        do {
            for place in [folder, done, refused] {
                try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            }
            var scanned: [String: FileAttributes] = [:]
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
                guard !name.hasPrefix("."), !Self.unfinished.contains(where: name.hasSuffix) else { continue }
                if let attributes = attributes(of: name) { scanned[name] = attributes }
            }
            return scanned
        } catch {
            throw SyncError(
                kind: .transient, code: .inbox,
                message: "the folder \(folder.path) can't be used: \(error.localizedDescription)", isReachable: false)
        }
    }

    /// nil if the file is missing or not a regular file.
    private func attributes(of name: String) -> FileAttributes? {
        let path = folder.appending(path: name).path
        // A file that disappears after the listing is ignored.
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            attributes[.type] as? FileAttributeType == .typeRegular, let bytes = attributes[.size] as? Int,
            let modified = attributes[.modificationDate] as? Date
        else { return nil }
        return FileAttributes(bytes: bytes, modified: modified)
    }

    private var done: URL { folder.appending(path: "done") }
    private var refused: URL { folder.appending(path: "refused") }

    // MARK: - One file

    private func importFile(_ name: String, _ before: FileAttributes, _ outcome: inout SyncOutcome)
        async throws(SyncError)
    {
        let known = inbox.state.withLock { state in
            state.read[name].flatMap { $0.attributes == before ? $0.verdict : nil }
        }
        let verdict: ImportResult
        if let known {
            verdict = known
        } else {
            guard let read = try await read(name, before, &outcome) else { return }
            verdict = read
            inbox.state.withLock { $0.read[name] = (before, read) }
        }
        do { try put(name, into: verdict.isRefused ? refused : done, report: verdict.report) } catch {
            throw SyncError(
                kind: .transient, code: .inbox,
                message: "\(name) can't be moved out of the inbox: \(error.localizedDescription)", isReachable: true)
        }
        inbox.state.withLock { state in
            state.files[name] = nil
            state.read[name] = nil
        }
    }

    /// nil for a file that changed while it was read: it is incomplete, and is imported once it is complete.
    private func read(_ name: String, _ before: FileAttributes, _ outcome: inout SyncOutcome) async throws(SyncError)
        -> ImportResult?
    {
        let verdict: ImportResult
        do {
            let summary = try await importer.importFile(folder.appending(path: name).path)
            guard attributes(of: name) == before else { return nil }
            count(summary, &outcome)
            let taken =
                summary.observationCount + summary.pilotReportCount + summary.areaCount + summary.fieldCount
            verdict = ImportResult(
                isRefused: taken == 0 && summary.refusedCount > 0,
                report: summary.refusedCount > 0 ? summary.description : nil)
        } catch let error as ImportFileError {
            verdict = ImportResult(isRefused: true, report: error.description)
        } catch let error as SimulatedDataError {
            verdict = ImportResult(isRefused: true, report: error.description)
        } catch let error as TooManySourcesError {
            verdict = ImportResult(isRefused: true, report: error.description)
        } catch {
            if Task.isCancelled { throw .cancelled }
            throw SyncError(kind: .store, code: .store, message: "\(error)", isReachable: nil)
        }
        if verdict.isRefused { outcome.skipped[.refusedFile, default: 0] += 1 }
        return verdict
    }

    private func count(_ summary: ImportSummary, _ outcome: inout SyncOutcome) {
        let taken = summary.observationCount + summary.pilotReportCount + summary.areaCount + summary.fieldCount
        outcome.accepted += max(0, taken - summary.duplicates)
        outcome.duplicates += summary.duplicates
        for (code, refusal) in summary.refusals { outcome.skipped[.imported(code), default: 0] += refusal.count }
        for (reason, numbers) in summary.refusedMessages {
            outcome.skipped[.imported(reason), default: 0] += numbers.count
        }
        outcome.skipped.merge(summary.skippedAreas.counted { .imported($0) }, uniquingKeysWith: +)
    }

    /// Moves a file to an unused name in a folder, after its report.
    private func put(_ name: String, into place: URL, report: String?) throws {
        var number = 1
        var target = Self.name(name, number)
        while FileManager.default.fileExists(atPath: place.appending(path: target).path) {
            number += 1
            target = Self.name(name, number)
        }
        if let report {
            try Data((report + "\n").utf8).write(
                to: place.appending(path: target + Self.reportEnding), options: .atomic)
        }
        try FileManager.default.moveItem(at: folder.appending(path: name), to: place.appending(path: target))
    }

    private static let reportEnding = ".reason.txt"
    /// The longest file name in bytes.
    private static let longestName = 255

    /// A file's name with a number from 2 on, shortened if it or its report's name would be too long.
    static func name(_ name: String, _ number: Int) -> String {
        let file = URL(filePath: name)
        var ending = file.pathExtension.isEmpty ? "" : ".\(file.pathExtension)"
        var stem = ending.isEmpty ? name : String(name.dropLast(ending.count))
        let suffix = number > 1 ? "-\(number)" : ""
        let room = longestName - reportEnding.utf8.count - suffix.utf8.count
        // A suffix that long is not treated as an extension.
        if ending.utf8.count > room / 2 { (stem, ending) = (name, "") }
        while stem.utf8.count > room - ending.utf8.count { stem.removeLast() }
        return stem + suffix + ending
    }
}
