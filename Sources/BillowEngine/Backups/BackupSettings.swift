/// Where and how often a server backs up its database.
package struct BackupSettings: Sendable, Hashable {
    package var folder: String
    /// The interval between two backups in seconds.
    package var everySeconds = 86_400
    /// The number of backups that remain in the folder.
    package var keep = 7
    /// A command of the shell that gets each new backup; nil for none.
    package var copyCommand: String?
    /// Texts that no message about that command may contain, such as keys that it gets.
    package var secrets: Set<String> = []
    /// The time after which that command is ended, in seconds.
    package var copyTimeoutSeconds = 3_600

    package init(folder: String) { self.folder = folder }
}

/// Prints without the command and its secrets: traces of the log describe whole services, with their settings.
extension BackupSettings: CustomStringConvertible, CustomReflectable {
    package var description: String {
        "BackupSettings(folder: \(folder), everySeconds: \(everySeconds), keep: \(keep))"
    }

    package var customMirror: Mirror {
        Mirror(self, children: ["folder": folder, "everySeconds": everySeconds, "keep": keep])
    }
}
