package import BillowStore
import Foundation
package import Logging
import ServiceLifecycle
package import Turbulence

/// Backs up the database of a running server at regular times, and deletes the oldest backups.
///
/// Each backup is checked completely before it gets its name. So every file with the name of a backup is one that can
/// be restored, whenever the process is killed. Only a successful backup deletes older ones.
package struct BackupSchedule: Service {
    private let store: SQLiteStore
    private let settings: BackupSettings
    /// The first part of the backups' names.
    private let stem: String
    private let now: @Sendable () -> Instant
    private let status: BackupStatus
    private let logger: Logger

    /// The longest time until a failed backup is tried again, in seconds.
    private static let longestRetry = 600

    package init(
        store: SQLiteStore, settings: BackupSettings, status: BackupStatus, now: @escaping @Sendable () -> Instant,
        logger: Logger
    ) {
        self.store = store
        self.settings = settings
        self.status = status
        self.now = now
        self.logger = logger
        stem = URL(filePath: store.path).deletingPathExtension().lastPathComponent
    }

    package func run() async {
        var hasFailed = false
        while true {
            let due = secondsUntilNext()
            let wait = hasFailed ? min(settings.everySeconds, Self.longestRetry) : due
            guard await ServicePause.rest(.seconds(wait)) else { return }
            hasFailed = await cancelWhenGracefulShutdown { await !attempt() }
            if ServicePause.hasEnded { return }
        }
    }

    /// The seconds until the next backup. The names of the existing ones have their times, so a restart neither skips a
    /// backup nor repeats one. A backup from the future, which a wrong clock made, delays the next one by one interval
    /// at most.
    func secondsUntilNext() -> Int {
        guard let newest = backups().last?.time else { return 0 }
        status.note(newest: newest)
        return min(max(newest.seconds + settings.everySeconds - now().seconds, 0), settings.everySeconds)
    }

    /// Makes a backup, deletes the oldest ones, and runs the copy command.
    /// - Returns: whether there is a new backup.
    func attempt() async -> Bool {
        let time = now()
        let path = "\(settings.folder)/\(stem)-\(time.compact)\(Self.ending)"
        let logger = logger
        do throws(StoreError) {
            // The folder may be on a disk that wasn't there at the start.
            try makeFolder()
            try await store.backup(to: path) { (copy) throws(StoreError) in
                try await DatabaseCheck(copy, logger: logger).problems
            }
        } catch {
            if ServicePause.hasEnded { return false }
            status.noteFailure("\(path): \(error)")
            logger.error("the database could not be backed up", metadata: ["path": "\(path)", "error": "\(error)"])
            return false
        }
        status.noteSuccess(at: time)
        let deleted = rotate()
        logger.notice("backed up the database", metadata: ["path": "\(path)", "deleted": "\(deleted)"])
        if let command = settings.copyCommand { await copy(path, by: command) }
        return true
    }

    private func makeFolder() throws(StoreError) {
        do { try Folder(settings.folder).make(permissions: 0o700) } catch {
            throw .unavailable(path: settings.folder, reason: "the folder can't be made: \(error.localizedDescription)")
        }
    }

    // MARK: Rotation

    private static let ending = ".sqlite"

    /// The backups in the folder with their times, oldest first. Other files are ignored.
    func backups() -> [(path: String, time: Instant)] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: settings.folder)) ?? []
        return names.compactMap { name in
            guard name.hasPrefix("\(stem)-"), name.hasSuffix(Self.ending) else { return nil }
            let text = name.dropFirst(stem.count + 1).dropLast(Self.ending.count)
            guard let time = Instant(text), time.compact == text else { return nil }
            return (path: "\(settings.folder)/\(name)", time: time)
        }.sorted { $0.time < $1.time }
    }

    /// Deletes the oldest backups.
    /// - Returns: the number of deleted ones.
    private func rotate() -> Int {
        var deleted = 0
        for backup in backups().dropLast(settings.keep) {
            do {
                try FileManager.default.removeItem(atPath: backup.path)
                deleted += 1
            } catch {
                logger.error(
                    "an old backup could not be deleted",
                    metadata: ["path": "\(backup.path)", "error": "\(error.localizedDescription)"])
            }
        }
        return deleted
    }

    // MARK: The copy command

    private func copy(_ path: String, by command: String) async {
        let run = ShellCommand(
            text: command, variables: ["BACKUP_FILE": path, "BACKUP_FOLDER": settings.folder],
            timeout: .seconds(settings.copyTimeoutSeconds), secrets: settings.secrets)
        do throws(ShellCommand.CommandError) {
            try await run.run()
            status.noteCopy(failure: nil)
        } catch {
            if ServicePause.hasEnded { return }
            status.noteCopy(failure: "\(error)")
            logger.error("the copy command failed", metadata: ["path": "\(path)", "error": "\(error)"])
        }
    }
}
