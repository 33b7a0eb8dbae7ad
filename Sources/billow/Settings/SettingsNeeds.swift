import BillowRaster
import BillowStore
import Foundation

/// The requirements of a command at its start, beyond valid settings. Later failures are reported together with all
/// other problems.
struct SettingsNeeds: OptionSet, Sendable {
    let rawValue: Int

    /// The viewer's folder.
    static let viewer = SettingsNeeds(rawValue: 1)
    /// The styles.
    static let styles = SettingsNeeds(rawValue: 2)
    /// A database that can be opened or created.
    static let database = SettingsNeeds(rawValue: 4)
    /// An existing, readable database.
    static let stored = SettingsNeeds(rawValue: 8)
    /// A file at the database's path, whatever it contains.
    static let existing = SettingsNeeds(rawValue: 16)

    /// The certificate and key of TLS, if they are given.
    static let certificate = SettingsNeeds(rawValue: 32)

    /// Everything that a server loads when it starts. `billow doctor` checks the same.
    static let server: SettingsNeeds = [.viewer, .styles, .database, .certificate]

    /// Records missing files, each with the setting that names it.
    func check(_ settings: Settings, root: SettingsReader.Section, server: SettingsReader.Section) {
        if contains(.viewer), !FileManager.default.isFolder(settings.server.publicFolder) {
            missing("publicFolder", settings.server.publicFolder, .viewer, server)
        }
        if contains(.certificate) { settings.server.checkCertificate(server.section("tls")) }
        if contains(.styles) { checkStyles(settings.server.stylesFolder, server) }
        // Whether a server can be reached shows when it is needed.
        if settings.databaseAddress != nil { return }
        if !isDisjoint(with: [.stored, .existing]), !FileManager.default.fileExists(atPath: settings.database) {
            root.problem("database", "is '\(settings.database)'; there is no such file", kind: .inputOutput)
        } else if !isDisjoint(with: [.database, .stored]) {
            checkDatabase(settings.database, contains(.database) ? .writing : .reading, root)
        }
    }

    /// Records a missing folder. Without a setting, it names all folders that were searched.
    private func missing(_ key: String, _ path: String, _ shared: SharedFolder, _ server: SettingsReader.Section) {
        guard !server.has(key) else {
            return server.problem(key, "is '\(path)'; there is no such folder", kind: .inputOutput)
        }
        let looked = shared.candidates.joined(separator: ", ")
        server.problem(
            key, "isn't given, and none of these places has the folder \(shared.name) of Billow: \(looked)",
            kind: .inputOutput)
    }

    private func checkStyles(_ folder: String, _ server: SettingsReader.Section) {
        guard FileManager.default.isFolder(folder) else {
            return missing("stylesFolder", folder, .styles, server)
        }
        do throws(StyleError) { _ = try StyleLibrary(folder: folder) } catch {
            switch error {
            case .unreadableFolder(_, let reason):
                server.problem(
                    "stylesFolder", "is '\(folder)'; it can't be read: \(reason)", kind: Failure.Kind(of: error))
            case .invalid(_, let problems):
                for problem in problems {
                    server.problem("stylesFolder", "is '\(folder)'; in \(problem)", kind: Failure.Kind(of: error))
                }
            }
        }
    }

    private func checkDatabase(_ path: String, _ access: StoreAccess, _ root: SettingsReader.Section) {
        do throws(StoreError) { try SQLiteStore.check(path: path, access: access) } catch {
            // A damaged database may be set aside by the command that opens it.
            let kind = Failure.Kind(of: error)
            switch error {
            case .unavailable(_, let reason), .foreign(_, let reason):
                root.problem("database", "is '\(path)'; \(reason)", kind: kind)
            case .unreleased(let path):
                root.problem("database", "is '\(path)'; \(StoreError.unreleasedReason(path))", kind: kind)
            default: break
            }
        }
    }
}

extension FileManager {
    /// Whether a folder exists at a path.
    func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }
}
