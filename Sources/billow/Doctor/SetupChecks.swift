import BillowEngine
import BillowRaster
import BillowPostgreSQL
import BillowStore
import Foundation
import GRIBKit
import NIOCore
import NIOPosix
import Turbulence

/// The checks of this machine. Each gets its inputs as parameters, so that tests can vary them.
enum SetupChecks {
    // MARK: What Billow is made of

    /// The libraries are linked, or the program would not start. ecCodes' tables are separate files.
    ///
    /// - Parameter tables: the folders in which ecCodes looks for its tables.
    static func libraries(tables: [String] = ECCodes.tableFolders) -> Finding {
        // A build may contain the tables.
        let hasTables = tables.contains {
            $0.contains("MEMFS") || FileManager.default.isReadableFile(atPath: "\($0)/boot.def")
        }
        guard hasTables else {
            return .failure(
                .libraries, .inputOutput,
                "ecCodes finds no tables in \(tables.joined(separator: ", ")), so no grid can be read; install them "
                    + "(Debian: libeccodes-data)")
        }
        return .ok(.libraries, "Billow \(BuildVersion.text), with ecCodes \(ECCodes.version)")
    }

    static func fonts(_ paths: [String] = [LegendRenderer.defaultFontPath, LegendRenderer.defaultBoldFontPath])
        -> [Finding]
    {
        let broken = paths.compactMap { path -> Finding? in
            do throws(TextError) {
                _ = try TextRenderer(fontPath: path)
                return nil
            } catch { return .failure(.fonts, error) }
        }
        return broken.isEmpty ? [.ok(.fonts, paths.joined(separator: ", "))] : broken
    }

    /// Without these files the viewer's page lacks the map, the land, the airports or the cities.
    private static let viewerParts = [
        "vendor/maplibre/maplibre-gl.js", "vendor/basemap/basemap.geojson", "vendor/airports/airports.json",
        "vendor/cities/cities.json",
    ]

    static func viewer(_ folder: String) -> [Finding] {
        guard FileManager.default.fileExists(atPath: "\(folder)/index.html") else {
            return [
                .failure(
                    .viewer, .inputOutput,
                    "\(folder) has no viewer; Billow looks at \(SharedFolder.viewer.candidates.joined(separator: ", "))"
                )
            ]
        }
        let missing = viewerParts.filter { !FileManager.default.fileExists(atPath: "\(folder)/\($0)") }
        return missing.isEmpty
            ? [.ok(.viewer, folder)]
            : [.warning(.viewer, "\(folder) lacks \(missing.joined(separator: ", ")); Scripts/setup-viewer makes them")]
    }

    static func styles(_ folder: String) -> Finding {
        do throws(StyleError) {
            let library = try StyleLibrary(folder: folder)
            return .ok(.styles, "\(folder): \(library.styles.map(\.id).joined(separator: ", "))")
        } catch { return .failure(.styles, error) }
    }

    /// The validity of a certificate; nil without one. Whether its files can be used is a need of the server
    /// (`SettingsNeeds`).
    static func certificate(_ validity: CertificateValidity?) -> Finding {
        guard let validity else { return .ok(.certificate, "none: the port speaks http") }
        if let warning = validity.warning { return .warning(.certificate, "\(validity.path): \(warning)") }
        return .ok(.certificate, "\(validity.path) is valid until \(validity.expires), and the key is its own")
    }

    // MARK: Files

    /// The folders to which Billow writes. Of folders that a server makes, the one in which it would begin.
    static func folders(_ settings: Settings) -> [(purpose: String, path: String)] {
        var folders = [("temporary files", NSTemporaryDirectory())]
        if settings.databaseAddress == nil { folders.insert(("the database", folder(of: settings.database)), at: 0) }
        if let portFile = settings.server.portFile { folders.append(("the port file", folder(of: portFile))) }
        let exports = URL(filePath: settings.server.exportFolder).standardizedFileURL.path
        if !folders.contains(where: { $0.1 == exports }) { folders.append(("export jobs", exports)) }
        if case .file(let path) = settings.tracing?.destination { folders.append(("the spans", folder(of: path))) }
        if let backups = settings.backups { folders.append(("the backups", existing(backups.folder))) }
        for source in settings.sources {
            guard case .inbox(let inbox) = source.kind else { continue }
            folders.append(("the inbox \(source.id)", existing(inbox.path)))
        }
        return folders.map { (purpose: $0.0, path: $0.1) }
    }

    private static func folder(of path: String) -> String {
        URL(filePath: path).standardizedFileURL.deletingLastPathComponent().path
    }

    /// A folder, or the nearest one above it that exists.
    private static func existing(_ path: String) -> String {
        var place = path
        while !FileManager.default.fileExists(atPath: place) {
            let above = folder(of: place)
            if above == place { break }
            place = above
        }
        return place
    }

    /// Creates an empty file there and removes it, because permissions don't reveal read-only and full file systems.
    static func writable(_ path: String, for purpose: String) -> Finding {
        guard FileManager.default.isFolder(path) else {
            return .failure(.folders, .inputOutput, "\(path), for \(purpose), is no folder")
        }
        let probe = "\(path)/.billow-doctor-\(UUID().uuidString)"
        let descriptor = open(probe, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        guard descriptor >= 0 else {
            return .failure(
                .folders, .inputOutput,
                "\(path), for \(purpose), can't be written to: \(String(cString: strerror(errno)).lowercased())")
        }
        close(descriptor)
        unlink(probe)
        return .ok(.folders, "\(path), for \(purpose), can be written to")
    }

    /// With fewer free bytes, SQLite can't write its log and nothing can be stored.
    static let leastFree = 256 << 20
    /// The bytes that a busy server stores in a week.
    static let wantedFree = 2 << 30

    /// - Parameter free: the free bytes; nil if the system does not report them.
    static func disk(free: Int?, of path: String) -> Finding {
        guard let free else { return .warning(.disk, "the system doesn't give the free space of \(path)") }
        let text = "\(path) has \(free >> 20) MiB free"
        if free < leastFree {
            return .failure(.disk, .inputOutput, "\(text); it needs at least \(leastFree >> 20) MiB")
        }
        return free < wantedFree
            ? .warning(.disk, "\(text); \(wantedFree >> 20) MiB or more are recommended") : .ok(.disk, text)
    }

    static func freeBytes(at path: String) -> Int? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        return Int(
            clamping: UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue)
    }

    // MARK: The database

    /// Runs `billow check` without the archive, and checks whether the stored data matches the sources.
    ///
    /// - Returns: the finding, and the newest time that stored data confirms.
    static func database(_ settings: Settings) async -> (findings: [Finding], newest: Instant?) {
        let path = settings.databaseName
        do {
            if let address = settings.databaseAddress {
                let (tables, canCreate) = try await PostgreSQLStore.tables(at: address)
                if let finding = incomplete(tables, canCreate: canCreate, path) { return ([finding], nil) }
            } else if !FileManager.default.fileExists(atPath: path) {
                return ([.ok(.database, "\(path) doesn't exist yet; a server creates it")], nil)
            }
            let store = try await settings.openDatabase(.reading)
            defer { try? store.close() }  // The findings are complete; a failed close adds nothing.
            var findings = try await store.problems().map { Finding.failure(.database, .data, "\(path): \($0)") }
            if settings.databaseAddress == nil, let warning = SQLiteStore.permissionWarning(path: path) {
                findings.append(.warning(.database, warning))
            }
            let sources = try await store.sources()
            if let simulated = settings.isSimulated, let other = sources.first(where: { $0.simulated == !simulated }) {
                findings.append(
                    .failure(
                        .database, .data,
                        "\(path) holds \(simulated ? "real" : "simulated") data (source '\(other.id)'), and the "
                            + "sources are \(simulated ? "simulated" : "real")"))
            }
            let version = try await store.head().version
            if !findings.contains(where: { $0.status == .failure }) {
                findings.append(.ok(.database, "\(path) is sound, at version \(version)"))
            }
            return (findings, try await store.confirmedTime(retentionSeconds: settings.retentionSeconds))
        } catch { return ([.failure(.database, error)], nil) }
    }

    /// The finding for tables that a server creates or upgrades; nil for current ones.
    static func incomplete(_ tables: PostgreSQLTables, canCreate: Bool, _ name: String) -> Finding? {
        guard let problem = tables.problem else { return nil }
        guard canCreate else {
            return .failure(
                .database, .inputOutput,
                "\(name): \(problem), but its user may not create tables: GRANT CREATE ON SCHEMA to it")
        }
        return tables == .missing ? .ok(.database, "\(name): \(problem)") : .warning(.database, "\(name): \(problem)")
    }

    // MARK: The system

    /// Listens on the server's address for a moment.
    ///
    /// - Parameter opener: the id of the process that has the database open.
    static func port(_ host: String, _ port: Int, opener: Int32?) async -> Finding {
        do {
            let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1).bind(host: host, port: port).get()
            try await channel.close()
            return .ok(.port, port == 0 ? "the system chooses a port" : "\(host):\(port) is free")
        } catch {
            if let error = error as? IOError, error.errnoCode == EADDRINUSE, let opener {
                return .warning(
                    .port, "\(host):\(port) is taken; a server seems to run: process \(opener) uses the database")
            }
            guard let error = error as? IOError else { return .failure(.port, error) }
            return .failure(.port, ListenError(host: host, port: port, cause: error))
        }
    }

    static func descriptors(wanted: Int, limit: Int, used: Int) -> Finding {
        let allowed = Settings.Server.connections(wanted: wanted, limit: limit, used: used)
        let text = "\(limit) descriptors allow \(allowed) connections"
        return allowed < wanted
            ? .warning(.descriptors, "\(text) of the \(wanted) in server.maxConnections; raise the hard limit")
            : .ok(.descriptors, text)
    }

    /// The seconds ahead of the clock beyond which observations are rejected.
    static let refusedAhead = 300
    /// The largest error in seconds of a clock that is set by the network.
    static let wantedAccuracy = 10

    /// - Parameters:
    ///   - newest: the newest time that stored data confirms.
    ///   - others: the clocks of upstreams, by the source's name.
    static func clock(_ now: Instant, newest: Instant?, others: [(source: String, time: Instant)]) -> Finding {
        if let newest, newest.seconds - now.seconds > refusedAhead {
            return .failure(
                .clock, .unavailable, "the clock shows \(now), but stored data is from \(newest): the clock is slow")
        }
        // One upstream's clock may be wrong, so the nearest one counts.
        guard let nearest = others.min(by: { abs($0.time.seconds - now.seconds) < abs($1.time.seconds - now.seconds) })
        else { return .ok(.clock, "\(now); there is no upstream's clock to compare it with") }
        let ahead = now.seconds - nearest.time.seconds
        let text = "\(now), \(abs(ahead)) s \(ahead < 0 ? "behind" : "ahead of") the clock of \(nearest.source)"
        if abs(ahead) > refusedAhead {
            return .failure(.clock, .unavailable, "\(text); synchronise it over the network")
        }
        return abs(ahead) > wantedAccuracy
            ? .warning(.clock, "\(text); synchronise it over the network") : .ok(.clock, text)
    }
}
