import BillowServer
import BillowSync
import BillowTimeline
import Foundation
import Geometry
import SkyPath
import Turbulence

/// Everything that can be set, read once at start: flags over environment over the YAML file over defaults.
struct Settings: Sendable {
    var server = Server()
    var database = "billow.sqlite"
    /// How long observations from sources are kept, in seconds.
    var retentionSeconds = 7 * 86_400
    /// How long all sources of a layer may be silent before it is called stale, in seconds.
    var staleAfterSeconds = 300
    var severityTable = SeverityTable()
    var timeline = TimelineSettings()
    var logLevel = "info"
    var sources: [Source] = []

    struct Server: Sendable {
        var host = "127.0.0.1"
        var port = 8_080
        /// Where links in answers point to; nil takes the address that the request came to.
        var publicURL: String?
        /// The folder of the viewer.
        var publicFolder = "Public"
        /// The folder of the styles.
        var stylesFolder = "Styles"
        /// Whether what shows data is open without a key.
        var anonymousRead = true
    }

    struct Source: Sendable {
        var id: SourceID
        var skyPath: SkyPathSettings
        /// nil for `none`: not fetched.
        var interval: Duration?
        var simulated: Bool
    }

    struct SkyPathSettings: Sendable {
        var configuration: SkyPathConfiguration
        var api: SkyPathUpstream.API
        var query: SkyPathUpstream.Query
    }
}

/// Settings that can't be used: all that is wrong with them.
struct SettingsError: Error, CustomStringConvertible {
    var problems: [String]

    var description: String {
        "the settings can't be used:\n" + problems.map { "  - \($0)" }.joined(separator: "\n")
    }
}

/// What flags say, over everything else.
struct SettingsOverrides: Sendable {
    var database: String?
    var host: String?
    var port: Int?
}

extension Settings {
    /// Reads a file (nil for none) and an environment.
    /// - Throws: `SettingsError` with every problem there is.
    static func read(file: String?, environment: [String: String], overrides: SettingsOverrides) throws(SettingsError)
        -> Settings
    {
        var yaml: String?
        if let file {
            do { yaml = try String(contentsOfFile: file, encoding: .utf8) } catch {
                throw SettingsError(problems: ["\(file) can't be read: \(error.localizedDescription)"])
            }
        }
        return try read(yaml: yaml, file: file ?? "", environment: environment, overrides: overrides)
    }

    static func read(
        yaml: String?, file: String, environment: [String: String], overrides: SettingsOverrides
    ) throws(SettingsError) -> Settings {
        let reader = SettingsReader(environment: environment)
        let root = reader.root(yaml: yaml, file: file)
        var settings = Settings()
        settings.server = Server(root.section("server"), reader)
        // Read even where a flag wins: a key that nobody asks for is taken for a misspelt one.
        let database = root.text("database")
        settings.database = overrides.database ?? database ?? settings.database
        settings.retentionSeconds =
            root.value("retention", expected: "an ISO 8601 duration of at least 1 hour, such as P7D") {
                ISODuration.seconds($0).flatMap { $0 >= 3_600 ? $0 : nil }
            } ?? settings.retentionSeconds
        settings.staleAfterSeconds =
            root.value("staleAfter", expected: "an ISO 8601 duration above 0, such as PT5M") {
                ISODuration.seconds($0).flatMap { $0 > 0 ? $0 : nil }
            } ?? settings.staleAfterSeconds
        settings.logLevel =
            root.value("logLevel", expected: "one of trace, debug, info, notice, warning, error") {
                ["trace", "debug", "info", "notice", "warning", "error"].contains($0) ? $0 : nil
            } ?? settings.logLevel
        settings.timeline = TimelineSettings(root.section("timeline"), reader)
        settings.severityTable = severityTable(root.section("severityThresholds"), reader)
        settings.sources = root.sections("sources").compactMap { Source($0, reader) }
        let ids = settings.sources.map(\.id)
        for id in Set(ids) where ids.count(where: { $0 == id }) > 1 {
            reader.problem("sources", "name '\(id)' twice; each needs an id of its own")
        }
        root.finish()
        if settings.database.hasPrefix("postgres") {
            reader.problem("database", "names PostgreSQL, which this version can't use yet; give the path of a file")
        }
        if let host = overrides.host { settings.server.host = host }
        if let port = overrides.port {
            if (0...65_535).contains(port) {
                settings.server.port = port
            } else {
                reader.problem("--port", "is \(port); it must be 0 to 65535")
            }
        }
        guard reader.problems.isEmpty else { throw SettingsError(problems: reader.problems) }
        return settings
    }

    private static func severityTable(_ section: SettingsReader.Section, _ reader: SettingsReader) -> SeverityTable {
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
                reader.problem(
                    section.path(of: category.name),
                    "must be four rising EDR values: where light, light-moderate, moderate and moderate-severe begin")
                continue
            }
            table[category] = thresholds
        }
        section.finish()
        return SeverityTable(table)
    }
}

extension Settings.Server {
    init(_ section: SettingsReader.Section, _ reader: SettingsReader) {
        self.init()
        host = section.text("host") ?? host
        port =
            section.value("port", expected: "a whole number from 0 to 65535") {
                Int($0).flatMap { (0...65_535).contains($0) ? $0 : nil }
            } ?? port
        publicURL = section.value("publicURL", expected: "an http or https address without query") {
            ($0.hasPrefix("http://") || $0.hasPrefix("https://")) && !$0.contains("?") && !$0.contains("#") ? $0 : nil
        }
        publicFolder = section.text("publicFolder") ?? publicFolder
        stylesFolder = section.text("stylesFolder") ?? stylesFolder
        anonymousRead = section.value("anonymousRead", expected: "true or false") { Bool($0) } ?? anonymousRead
        section.finish()
    }
}

extension Settings.Source {
    init?(_ section: SettingsReader.Section, _ reader: SettingsReader) {
        let id: SourceID? = section.value(
            "id", expected: "1 to 64 letters, digits, '-', '_' and '.'"
        ) { SourceID($0) }
        if !section.has("id") { reader.problem(section.path(of: "id"), "is missing") }
        let kind = section.value("kind", expected: "skypath (the kind of source that this version knows)") {
            $0 == "skypath" ? $0 : nil
        }
        if !section.has("kind") { reader.problem(section.path(of: "kind"), "is missing") }
        let skyPath = Settings.SkyPathSettings(section, reader)
        let interval: Duration?? = section.value(
            "update", expected: "none, minimal, medium, fast, or an ISO 8601 duration of 1 second or more"
        ) { text -> Duration?? in
            switch text {
            case "none": .some(nil)
            case "minimal": .seconds(900)
            case "medium": .seconds(300)
            case "fast": .seconds(60)
            default: ISODuration.seconds(text).flatMap { $0 >= 1 ? .seconds($0) : nil }
            }
        }
        let simulated = section.value("simulated", expected: "true or false") { Bool($0) } ?? false
        section.finish()
        guard let id, kind != nil, let skyPath else { return nil }
        self.init(id: id, skyPath: skyPath, interval: interval ?? .seconds(60), simulated: simulated)
    }
}

extension Settings.SkyPathSettings {
    init?(_ section: SettingsReader.Section, _ reader: SettingsReader) {
        let environment = section.value(
            "baseURL", expected: "an https address, or one of development, staging, production"
        ) { SkyPathEnvironment($0) }
        if !section.has("baseURL") { reader.problem(section.path(of: "baseURL"), "is missing") }
        let key = section.value("apiKey", expected: "1 or more printable ASCII characters", secret: true) {
            SkyPathSecret($0)
        }
        if !section.has("apiKey") { reader.problem(section.path(of: "apiKey"), "is missing") }
        let api = section.value("api", expected: "v4 or v5") { SkyPathUpstream.API(rawValue: $0) } ?? .v5
        let allowsPlainHTTP = section.value("allowsPlainHTTP", expected: "true or false") { Bool($0) } ?? false
        let timeout = section.value("timeout", expected: "an ISO 8601 duration above 0, such as PT60S") {
            ISODuration.seconds($0).flatMap { $0 > 0 ? Duration.seconds($0) : nil }
        }
        let wire = SkyPathWire(section.section("wire"))
        let limits = SkyPathLimits(section.section("limits"))
        let query = SkyPathUpstream.Query(section.section("query"), reader)
        guard let environment, let key else { return nil }
        var configuration = SkyPathConfiguration(
            environment: environment, apiKey: key, allowsPlainHTTP: allowsPlainHTTP, wire: wire, limits: limits)
        if let timeout { configuration.timeout = timeout }
        for problem in configuration.problems { reader.problem(section.path, "can't be used: \(problem)") }
        self.init(configuration: configuration, api: api, query: query)
    }
}

extension SkyPathUpstream.Query {
    init(_ section: SettingsReader.Section, _ reader: SettingsReader) {
        self.init()
        _ = section.list("types", expected: "turbulence (the data type that this version knows)") {
            $0 == "turbulence" ? $0 : nil
        }
        if let listed = section.list("severities", expected: "severities 0 to 4", { Severity($0) }) {
            severities = SeveritySet(listed)
        }
        history = section.value("history", expected: "0.5, 1, 2, 4 or 6") { History($0) } ?? history
        category = section.value("category", expected: "C10, C20 … C110") { AircraftCategory($0) } ?? category
        _ = section.value("global", expected: "true (areas are set by polygon)") { $0 == "true" ? true : nil }
        _ = section.value("polygonsUpTo", expected: "true or false") { Bool($0) }
        if let pairs = section.ring("polygon") {
            let places = pairs.compactMap { LonLat(longitude: $0.0, latitude: $0.1) }
            if places.count != pairs.count {
                reader.problem(section.path(of: "polygon"), "has a position outside longitude ±360 or latitude ±90")
            } else {
                do { polygon = try AreaRing(places) } catch {
                    reader.problem(section.path(of: "polygon"), "can't be used: \(error.description)")
                }
            }
        }
        section.finish()
    }
}

extension SkyPathWire {
    /// Every assumption about names that SkyPath does not document is a setting.
    init(_ section: SettingsReader.Section) {
        self.init()
        corridorPath = section.text("corridorPath") ?? corridorPath
        hexagonsPath = section.text("hexagonsPath") ?? hexagonsPath
        mapPath = section.text("mapPath") ?? mapPath
        apiKeyHeader = section.text("apiKeyHeader") ?? apiKeyHeader
        updatedSince = section.text("updatedSince") ?? updatedSince
        hoursAgo = section.text("hoursAgo") ?? hoursAgo
        aircraftCategory = section.text("aircraftCategory") ?? aircraftCategory
        minAltitude = section.text("minAltitude") ?? minAltitude
        maxAltitude = section.text("maxAltitude") ?? maxAltitude
        minSeverity = section.text("minSeverity") ?? minSeverity
        tick = section.text("tick") ?? tick
        fields = section.text("fields") ?? fields
        turbulence = section.text("turbulence") ?? turbulence
        geofence = section.text("geofence") ?? geofence
        severities = section.text("severities") ?? severities
        mapRecord.severity = section.text("mapRecordSeverity") ?? mapRecord.severity
        mapRecord.observedAt = section.text("mapRecordObservedAt") ?? mapRecord.observedAt
        mapRecord.edr = section.text("mapRecordEDR") ?? mapRecord.edr
        section.finish()
    }
}

extension SkyPathLimits {
    init(_ section: SettingsReader.Section) {
        self.init()
        if let area = section.value(
            "corridorAreaKm2", expected: "an area above 0 in km²",
            { Double($0).flatMap { $0 > 0 && $0.isFinite ? $0 : nil } })
        {
            corridorAreaKm2 = area
        }
        cursorOverlapSeconds =
            section.value("cursorOverlapSeconds", expected: "0 to 3600") {
                Int($0).flatMap { (0...3_600).contains($0) ? $0 : nil }
            }
            ?? cursorOverlapSeconds
        tickOverlap =
            section.value("tickOverlap", expected: "0 to 60") { Int($0).flatMap { (0...60).contains($0) ? $0 : nil } }
            ?? tickOverlap
        section.finish()
    }
}
