import BillowEngine
import BillowSnapshot
import BillowSync
import Foundation
import Turbulence

/// All settings, read once at start. Flags override the environment, which overrides the YAML file, which overrides the
/// defaults.
struct Settings: Sendable {
    var server = Server()
    var database = "billow.sqlite"
    /// The retention of observations from sources, in seconds.
    var retentionSeconds = 7 * 86_400
    /// The retention of positions in seconds, at most the general retention.
    var trafficRetentionSeconds = 86_400
    /// The retention of grids of computed turbulence in seconds, at most the general retention.
    var fieldRetentionSeconds = DataLifetimes.defaultFieldSeconds
    /// The time in seconds after which a layer is stale if all of its sources are silent; nil derives it from their
    /// intervals.
    var staleAfterSeconds: Int?
    var updateLengths = UpdateLengths()
    /// The time in seconds after its last position for which an aircraft is shown.
    var trafficDropSeconds = 180
    var severityTable = SeverityTable()
    var timeline = TimelineSettings()
    var polygons = PolygonHistories()
    var areaLimitKm2 = 10_000_000.0
    /// The memory budget of all caches in 2²⁰ bytes.
    var cacheMegabytes = CacheBudget.defaultBytes >> 20
    /// The schedule of backups; nil for none.
    var backups: BackupSettings?
    var logLevel = "info"
    var logFormat = LogFormat.text
    /// Whether each request is logged.
    var hasAccessLog = false
    /// The export of spans; nil for none.
    var tracing: TracingSettings?
    var sources: [Source] = []
    /// Whether all sources are simulated; nil if no setting states it, so that their responses determine it.
    var isSimulated: Bool?

    /// The freshness policy of the layers.
    ///
    /// - Parameter others: fetched sources that are not in the settings.
    func freshness(besides others: [Source] = []) -> FreshnessSettings {
        let feeds = (sources + others).map { source in
            (
                source.id,
                FreshnessSettings.FetchedSource(
                    kinds: source.feeds, service: source.kind.name,
                    intervalSeconds: source.update.interval(updateLengths).map { Int($0.components.seconds) },
                    staleAfterSeconds: source.staleAfterSeconds)
            )
        }
        return FreshnessSettings(
            staleAfterSeconds: staleAfterSeconds, feeds: Dictionary(feeds, uniquingKeysWith: { first, _ in first }),
            isSimulated: isSimulated)
    }
}

/// The values of flags as given, which override everything else.
struct SettingsOverrides: Sendable {
    var database: String?
    var host: String?
    var port: String?
    /// Whether the simulated world runs in addition.
    var demo = false

    fileprivate var flags: [String: SettingsReader.Flag] {
        [("database", "--database", database), ("server.host", "--host", host), ("server.port", "--port", port)]
            .reduce(into: [:]) { flags, flag in
                flags[flag.0] = flag.2.map { SettingsReader.Flag(name: flag.1, text: $0) }
            }
    }
}

extension Settings {
    /// Reads a file (nil for none) and the environment.
    ///
    /// - Parameter needs: the settings that a command requires in addition.
    /// - Throws: `SettingsError` with all problems.
    static func read(
        file: String?, environment: [String: String], overrides: SettingsOverrides, needs: SettingsNeeds = []
    ) throws(SettingsError) -> Settings {
        let reader = SettingsReader(flags: overrides.flags, environment: environment)
        var yaml: String?
        if let file {
            do { yaml = try String(contentsOfFile: file, encoding: .utf8) } catch {
                let isThere = FileManager.default.fileExists(atPath: file)
                reader.problem(
                    file, at: .flag("--config"),
                    "can't be read: \(isThere ? error.localizedDescription : "there is no such file")")
            }
        }
        return try read(reader, yaml: yaml, file: file ?? "", overrides, needs)
    }

    /// The settings in a file besides the sources, as texts by path; empty for none, and for an unreadable file.
    static func texts(file: String?) -> [String: String] {
        let yaml = file.flatMap { try? String(contentsOfFile: $0, encoding: .utf8) }
        return SettingsReader(environment: [:]).root(yaml: yaml, file: "").texts(except: ["sources"])
    }

    static func read(
        yaml: String?, file: String, environment: [String: String], overrides: SettingsOverrides,
        needs: SettingsNeeds = []
    ) throws(SettingsError) -> Settings {
        let reader = SettingsReader(flags: overrides.flags, environment: environment)
        return try read(reader, yaml: yaml, file: file, overrides, needs)
    }

    private static func read(
        _ reader: SettingsReader, yaml: String?, file: String, _ overrides: SettingsOverrides, _ needs: SettingsNeeds
    ) throws(SettingsError) -> Settings {
        let root = reader.root(yaml: yaml, file: file)
        let settings = Settings(root, overrides, needs: needs)
        root.finish()
        reader.finishEnvironment()
        guard reader.problems.isEmpty else { throw SettingsError(problems: reader.problems) }
        return settings
    }

    private init(_ root: SettingsReader.Section, _ overrides: SettingsOverrides, needs: SettingsNeeds) {
        let serverSection = root.section("server")
        server = Server(serverSection)
        database = Self.database(root) ?? database
        // The demo has its own database, unless a flag names one.
        if overrides.demo, overrides.database == nil { database = "billow-demo.sqlite" }
        needs.check(self, root: root, server: serverSection)
        let hour = 3_600
        retentionSeconds =
            root.duration("retention", from: hour, expected: "of at least 1 hour, such as P7D") ?? retentionSeconds
        trafficRetentionSeconds =
            root.duration("trafficRetention", from: hour, expected: "of at least 1 hour, such as P1D")
            ?? trafficRetentionSeconds
        fieldRetentionSeconds =
            root.duration("fieldRetention", from: hour, expected: "of at least 1 hour, such as P2D")
            ?? fieldRetentionSeconds
        staleAfterSeconds = root.staleAfter()
        updateLengths = UpdateLengths(root.section("frequencies"))
        trafficDropSeconds =
            root.duration(
                "trafficDropAfter", from: 1, to: Traffic.retentionSeconds,
                expected: "from 1 second to 10 minutes, such as PT3M")
            ?? trafficDropSeconds
        logLevel =
            root.value("logLevel", expected: "one of trace, debug, info, notice, warning, error") {
                ["trace", "debug", "info", "notice", "warning", "error"].contains($0) ? $0 : nil
            } ?? logLevel
        logFormat = root.value("logFormat", expected: "text or json") { LogFormat(rawValue: $0) } ?? logFormat
        hasAccessLog = root.flag("accessLog") ?? hasAccessLog
        tracing = TracingSettings(root.section("tracing"))
        timeline = TimelineSettings(root.section("timeline"))
        let polygonSection = root.section("polygons")
        polygons = PolygonHistories(
            longest: polygonSection.value("history", expected: "0.5, 1, 2, 4 or 6") { History($0) } ?? .sixHours,
            upTo: polygonSection.flag("upTo") ?? true)
        polygonSection.finish()
        backups = BackupSettings(root.section("backups"))
        if let databaseAddress, backups != nil {
            root.problem("backups", "are of a file of SQLite, and the database is \(databaseAddress); use pg_dump")
        }
        cacheMegabytes =
            root.integer("cacheMegabytes", in: 16...65_536, unit: "megabytes") ?? cacheMegabytes
        areaLimitKm2 =
            root.value("areaLimit", expected: "a number of km² above 0") {
                Double($0).flatMap { $0 > 0 && $0.isFinite ? $0 : nil }
            } ?? areaLimitKm2
        server.readExports(root.section("exports"), database: database)
        severityTable = SeverityTable(root.section("severityThresholds"))
        readSources(root, demo: overrides.demo)
    }

    private static func database(_ root: SettingsReader.Section) -> String? {
        root.value("database", expected: "the path of a file, or postgres://user@host/database") {
            $0.isEmpty || $0 == ":memory:" ? nil : $0
        }
    }

    private mutating func readSources(_ root: SettingsReader.Section, demo: Bool) {
        let sections = root.sections("sources")
        sources = sections.compactMap { Source($0) }
        // Rules across sources also apply to sources with other problems.
        let ids = sections.map { $0.sourceID() }
        for (index, id) in ids.enumerated() {
            guard let id, ids[..<index].contains(id) else { continue }
            sections[index].problem("id", "is '\(id)', as another source's; each needs an id of its own")
        }
        let folders = sections.map { $0.inboxFolder() }
        for (index, folder) in folders.enumerated() {
            guard let folder, folders[..<index].contains(folder) else { continue }
            sections[index].problem("path", "is '\(folder)', as another inbox's; each needs a folder of its own")
        }
        let simulated = sections.map { $0.flag("simulated") }
        isSimulated =
            demo || simulated.contains(true) ? true : simulated.contains(false) ? false : nil
        guard isSimulated == true else { return }
        for (section, simulated) in zip(sections, simulated) where simulated == false || demo && simulated == nil {
            section.problem(
                "simulated",
                "must be true \(demo ? "beside --demo" : "as another source's"): simulated and real sources "
                    + "must not be mixed")
        }
    }
}

extension SettingsReader.Section {
    /// The permitted silence in seconds.
    func staleAfter() -> Int? { duration("staleAfter", from: 1, expected: "above 0, such as PT5M") }
}

extension BackupSettings {
    /// nil without a folder.
    init?(_ section: SettingsReader.Section) {
        let folder = section.value("folder", expected: "the path of a folder, which is made where there is none") {
            // The path must not name a file.
            $0.isEmpty || FileManager.default.fileExists(atPath: $0) && !FileManager.default.isFolder($0) ? nil : $0
        }
        let every = section.duration("every", from: 60, expected: "of 1 minute or more, such as P1D")
        let keep = section.integer("keep", in: 1...10_000)
        let command = section.text("copyCommand", expected: "a command of the shell")
        let timeout = section.duration("copyTimeout", from: 1, expected: "of 1 second or more, such as PT1H")
        section.finish()
        guard let folder else {
            if every != nil || keep != nil || command != nil || timeout != nil { section.require("folder") }
            return nil
        }
        self.init(folder: folder)
        everySeconds = every ?? everySeconds
        self.keep = keep ?? self.keep
        copyCommand = command
        secrets = section.secrets(ofCommand: "copyCommand")
        copyTimeoutSeconds = timeout ?? copyTimeoutSeconds
    }
}

extension SeverityTable {
    init(_ section: SettingsReader.Section) {
        var table: [AircraftCategory: SeverityThresholds] = [:]
        for category in AircraftCategory.all {
            guard
                let values = section.list(
                    category.name, expected: "EDR values from 0 to 1", { Double($0).flatMap { EDR($0) } })
            else { continue }
            guard values.count == 4,
                let thresholds = SeverityThresholds(
                    light: values[0], lightModerate: values[1], moderate: values[2], moderateSevere: values[3])
            else {
                section.problem(
                    category.name,
                    "must be four rising EDR values: where light, light-moderate, moderate and moderate-severe begin")
                continue
            }
            table[category] = thresholds
        }
        section.finish()
        self.init(table)
    }
}

extension UpdateLengths {
    init(_ section: SettingsReader.Section) {
        self.init()
        func length(_ name: String) -> Duration? {
            section.duration(name, from: 1, expected: "of 1 second or more, such as PT1M").map { .seconds($0) }
        }
        fast = length("fast") ?? fast
        medium = length("medium") ?? medium
        minimal = length("minimal") ?? minimal
        if fast > medium || medium > minimal {
            section.problem("must not be longer for fast than for medium, nor for medium than for minimal")
        }
        section.finish()
    }
}
