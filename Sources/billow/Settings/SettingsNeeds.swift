import BillowRaster
import BillowStore
import Foundation

/// What must be there when a command begins, besides settings that can be used: what it would fail of later is said
/// with all else that is wrong.
struct SettingsNeeds: OptionSet, Sendable {
    let rawValue: Int

    /// The viewer's folder.
    static let viewer = SettingsNeeds(rawValue: 1)
    /// The styles.
    static let styles = SettingsNeeds(rawValue: 2)
    /// A database that can be opened or made.
    static let database = SettingsNeeds(rawValue: 4)
    /// A database that exists and can be read.
    static let stored = SettingsNeeds(rawValue: 8)
    /// A file where the database should be, whatever it is.
    static let existing = SettingsNeeds(rawValue: 16)

    /// Notes what isn't there, each at the setting that leads to it.
    func check(_ settings: Settings, root: SettingsReader.Section, server: SettingsReader.Section) {
        if contains(.viewer), !FileManager.default.isFolder(settings.server.publicFolder) {
            server.problem(
                "publicFolder", "is '\(settings.server.publicFolder)'; there is no such folder", kind: .inputOutput)
        }
        if contains(.styles) { checkStyles(settings.server.stylesFolder, server) }
        if !isDisjoint(with: [.stored, .existing]), !FileManager.default.fileExists(atPath: settings.database) {
            root.problem("database", "is '\(settings.database)'; there is no such file", kind: .inputOutput)
        } else if !isDisjoint(with: [.database, .stored]) {
            checkDatabase(settings.database, contains(.database) ? .writing : .reading, root)
        }
    }

    private func checkStyles(_ folder: String, _ server: SettingsReader.Section) {
        guard FileManager.default.isFolder(folder) else {
            return server.problem("stylesFolder", "is '\(folder)'; there is no such folder", kind: .inputOutput)
        }
        do throws(StyleError) { _ = try StyleLibrary(folder: folder) } catch {
            switch error {
            case .unreadableFolder(_, let reason):
                server.problem("stylesFolder", "is '\(folder)'; it can't be read: \(reason)", kind: .inputOutput)
            case .invalid(_, let problems):
                for problem in problems {
                    server.problem("stylesFolder", "is '\(folder)'; in \(problem)", kind: .inputOutput)
                }
            }
        }
    }

    private func checkDatabase(_ path: String, _ access: StoreAccess, _ root: SettingsReader.Section) {
        do throws(StoreError) { try SQLiteStore.check(path: path, access: access) } catch {
            // What is damaged may be set aside by who opens it.
            switch error {
            case .unavailable(_, let reason): root.problem("database", "is '\(path)'; \(reason)", kind: .inputOutput)
            case .foreign(_, let reason): root.problem("database", "is '\(path)'; \(reason)", kind: .data)
            case .unreleased(let path):
                root.problem("database", "is '\(path)'; \(StoreError.unreleasedReason(path))", kind: .data)
            default: break
            }
        }
    }
}

extension FileManager {
    /// Whether there is a folder at a path.
    func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }
}
