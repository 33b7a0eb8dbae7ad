import AviationWeather
import BillowServer
import BillowSnapshot
import BillowSync
import BillowTiles
import BillowTimeline
import Foundation
import Geometry
import OpenSky
import SkyPath
import Turbulence

/// Everything that can be set, read once at start: flags over environment over the YAML file over defaults.
struct Settings: Sendable {
    var server = Server()
    var database = "billow.sqlite"
    /// How long observations from sources are kept, in seconds.
    var retentionSeconds = 7 * 86_400
    /// How long positions are kept, in seconds; never longer than all else.
    var trafficRetentionSeconds = 86_400
    /// How long all sources of a layer may be silent before it is called stale, in seconds; nil goes by how often they are
    /// asked.
    var staleAfterSeconds: Int?
    var updateLengths = UpdateLengths()
    /// How long after it was last seen an aircraft is shown, in seconds.
    var trafficDropSeconds = 180
    var severityTable = SeverityTable()
    var timeline = TimelineSettings()
    var polygons = PolygonHistories()
    var areaLimitKm2 = 10_000_000.0
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
        var kind: Kind
        var update: UpdateFrequency
        /// Whether its data is made up; nil where its answers tell.
        var simulated: Bool?
        /// As for all, for this one.
        var staleAfterSeconds: Int?

        /// What is asked, and how.
        enum Kind: Sendable {
            case skyPath(SkyPathSettings)
            case aviationWeather(AviationWeatherSettings)
            case openSky(OpenSkySettings)
            case inbox(InboxSettings)
        }

        /// What it is fetched for, and what is stale when it is silent.
        var feeds: Set<DataKind> {
            switch kind {
            case .skyPath(let settings): settings.query.kinds
            case .aviationWeather(let settings): Set(settings.products.flatMap(\.feeds))
            case .openSky: [.positions]
            case .inbox: []
            }
        }
    }

    struct AviationWeatherSettings: Sendable {
        var configuration: AviationWeatherConfiguration
        var products: [AviationWeatherUpstream.Product]
        var areas: [AviationWeatherBox]
        /// Between two calls of one product.
        var spacingSeconds: Int
    }

    /// The rule by which layers are stale.
    ///
    /// - Parameter others: sources that are fetched besides the configured ones.
    func ageRule(besides others: [Source] = []) -> AgeRule {
        let feeds = (sources + others).map { source in
            (
                source.id,
                AgeRule.Feed(
                    kinds: source.feeds,
                    intervalSeconds: source.update.interval(updateLengths).map { Int($0.components.seconds) },
                    staleAfterSeconds: source.staleAfterSeconds)
            )
        }
        return AgeRule(
            staleAfterSeconds: staleAfterSeconds, feeds: Dictionary(feeds, uniquingKeysWith: { first, _ in first }))
    }

    struct OpenSkySettings: Sendable {
        var configuration: OpenSkyConfiguration
        /// Empty is the world.
        var boxes: [GeographicBox]
    }

    struct InboxSettings: Sendable {
        /// The folder.
        var path: String
    }

    struct SkyPathSettings: Sendable {
        var configuration: SkyPathConfiguration
        var api: SkyPathUpstream.API
        var query: DataQuery
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
    /// As it was given.
    var port: String?
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
        settings.trafficRetentionSeconds =
            root.value("trafficRetention", expected: "an ISO 8601 duration of at least 1 hour, such as P1D") {
                ISODuration.seconds($0).flatMap { $0 >= 3_600 ? $0 : nil }
            } ?? settings.trafficRetentionSeconds
        settings.staleAfterSeconds = root.staleAfter()
        settings.updateLengths = UpdateLengths(root.section("frequencies"), reader)
        settings.trafficDropSeconds =
            root.value("trafficDropAfter", expected: "an ISO 8601 duration from 1 second to 10 minutes, such as PT3M") {
                ISODuration.seconds($0).flatMap { (1...Traffic.keptSeconds).contains($0) ? $0 : nil }
            } ?? settings.trafficDropSeconds
        settings.logLevel =
            root.value("logLevel", expected: "one of trace, debug, info, notice, warning, error") {
                ["trace", "debug", "info", "notice", "warning", "error"].contains($0) ? $0 : nil
            } ?? settings.logLevel
        settings.timeline = TimelineSettings(root.section("timeline"), reader)
        let polygons = root.section("polygons")
        settings.polygons = PolygonHistories(
            longest: polygons.value("history", expected: "0.5, 1, 2, 4 or 6") { History($0) } ?? .sixHours,
            upTo: polygons.value("upTo", expected: "true or false") { Bool($0) } ?? true)
        polygons.finish()
        settings.areaLimitKm2 =
            root.value("areaLimit", expected: "a number of km² above 0") {
                Double($0).flatMap { $0 > 0 && $0.isFinite ? $0 : nil }
            } ?? settings.areaLimitKm2
        settings.severityTable = severityTable(root.section("severityThresholds"), reader)
        let sources = root.sections("sources")
        settings.sources = sources.compactMap { Source($0, reader) }
        // Of those that have other faults, too.
        let ids = sources.compactMap { $0.text("id") }
        for id in Set(ids) where ids.count(where: { $0 == id }) > 1 {
            reader.problem("sources", "name '\(id)' twice; each needs an id of its own")
        }
        root.finish()
        if settings.database.hasPrefix("postgres") {
            reader.problem("database", "names PostgreSQL, which this version can't use yet; give the path of a file")
        }
        if let host = overrides.host { settings.server.host = host }
        if let port = overrides.port {
            if let port = Int(port), (0...65_535).contains(port) {
                settings.server.port = port
            } else {
                reader.problem("--port", "is '\(port)'; it must be a whole number from 0 to 65535")
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

extension SettingsReader.Section {
    fileprivate func staleAfter() -> Int? {
        value("staleAfter", expected: "an ISO 8601 duration above 0, such as PT5M") {
            ISODuration.seconds($0).flatMap { $0 > 0 ? $0 : nil }
        }
    }
}

extension UpdateLengths {
    init(_ section: SettingsReader.Section, _ reader: SettingsReader) {
        self.init()
        func length(_ name: String) -> Duration? {
            section.value(name, expected: "an ISO 8601 duration of 1 second or more, such as PT1M") {
                ISODuration.seconds($0).flatMap { $0 >= 1 ? Duration.seconds($0) : nil }
            }
        }
        fast = length("fast") ?? fast
        medium = length("medium") ?? medium
        minimal = length("minimal") ?? minimal
        if fast > medium || medium > minimal {
            reader.problem(section.path, "must not be longer for fast than for medium, nor for medium than for minimal")
        }
        section.finish()
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
        let name = section.value("kind", expected: "skypath, aviationweather, opensky or inbox") {
            ["skypath", "aviationweather", "opensky", "inbox"].contains($0) ? $0 : nil
        }
        if !section.has("kind") { reader.problem(section.path(of: "kind"), "is missing") }
        // Keys that only another kind has are told by `finish`.
        let kind: Kind?
        switch name {
        case "aviationweather": kind = Settings.AviationWeatherSettings(section, reader).map { .aviationWeather($0) }
        case "opensky": kind = Settings.OpenSkySettings(section, reader).map { .openSky($0) }
        case "inbox": kind = Settings.InboxSettings(section, reader).map { .inbox($0) }
        default: kind = Settings.SkyPathSettings(section, reader).map { .skyPath($0) }
        }
        let update = section.value(
            "update", expected: "none, minimal, medium, fast, or an ISO 8601 duration of 1 second or more"
        ) { text in
            UpdateFrequency(name: text)
                ?? ISODuration.seconds(text).flatMap { $0 >= 1 ? .every(.seconds($0)) : nil }
        }
        let simulated = section.value("simulated", expected: "true or false") { Bool($0) }
        let staleAfterSeconds = section.staleAfter()
        section.finish()
        guard let id, name != nil, let kind else { return nil }
        self.init(
            id: id, kind: kind, update: update ?? kind.defaultUpdate, simulated: simulated,
            staleAfterSeconds: staleAfterSeconds)
    }
}

extension Settings.Source.Kind {
    /// A folder is looked at often: it costs nothing, and a file is taken at the second look. Aircraft move fast.
    fileprivate var defaultUpdate: UpdateFrequency {
        switch self {
        case .skyPath, .aviationWeather: .fast
        case .openSky: .every(.seconds(10))
        case .inbox: .every(.seconds(2))
        }
    }
}

extension SettingsReader.Section {
    /// A box as west, south, east, north: itself, or its two parts where it crosses the antimeridian.
    fileprivate func boxes(_ key: String, _ reader: SettingsReader)
        -> [(west: Double, south: Double, east: Double, north: Double)]?
    {
        guard
            let sides = list(
                key, expected: "four numbers, west, south, east, north, in degrees",
                { Double($0).flatMap { $0.isFinite ? $0 : nil } })
        else { return nil }
        guard sides.count == 4, sides[0] != sides[2], (-180...180).contains(sides[0]), (-180...180).contains(sides[2]),
            sides[1] < sides[3], (-90...90).contains(sides[1]), (-90...90).contains(sides[3])
        else {
            reader.problem(
                path(of: key),
                "must be four numbers, west, south, east, north: longitudes -180 to 180 (west above east crosses the "
                    + "antimeridian), latitudes -90 to 90, south below north")
            return nil
        }
        let parts: [(Double, Double)] =
            sides[0] > sides[2] ? [(sides[0], 180), (-180, sides[2])] : [(sides[0], sides[2])]
        // A box that ends at the antimeridian has one part only.
        return parts.filter { $0.0 < $0.1 }.map { (west: $0.0, south: sides[1], east: $0.1, north: sides[3]) }
    }
}

extension Settings.AviationWeatherSettings {
    init?(_ section: SettingsReader.Section, _ reader: SettingsReader) {
        let problemsBefore = reader.problems.count
        var configuration = AviationWeatherConfiguration(
            baseURL: section.text("baseURL") ?? AviationWeatherConfiguration.production)
        configuration.form =
            section.value("form", expected: "json or geojson") { AviationWeatherConfiguration.Form(rawValue: $0) }
            ?? configuration.form
        if let timeout = section.value(
            "timeout", expected: "an ISO 8601 duration above 0, such as PT60S",
            { ISODuration.seconds($0).flatMap { $0 > 0 ? Duration.seconds($0) : nil } })
        {
            configuration.timeout = timeout
        }
        for problem in configuration.problems { reader.problem(section.path, "can't be used: \(problem)") }
        let names = AviationWeatherUpstream.Product.allCases.map(\.rawValue).joined(separator: ", ")
        let products = section.list("products", expected: "some of \(names)") {
            AviationWeatherUpstream.Product(rawValue: $0)
        }
        let spacing = section.value("spacing", expected: "an ISO 8601 duration, such as PT1M") {
            ISODuration.seconds($0)
        }
        let areas = section.boxes("bbox", reader).map { sides in
            sides.compactMap { AviationWeatherBox(west: $0.west, south: $0.south, east: $0.east, north: $0.north) }
        }
        guard reader.problems.count == problemsBefore else { return nil }
        self.init(
            configuration: configuration, products: products ?? AviationWeatherUpstream.Product.allCases,
            areas: areas ?? AviationWeatherUpstream.defaultAreas,
            spacingSeconds: spacing ?? configuration.politeSpacingSeconds)
    }
}

extension Settings.OpenSkySettings {
    init?(_ section: SettingsReader.Section, _ reader: SettingsReader) {
        let problemsBefore = reader.problems.count
        let baseURL = section.text("baseURL") ?? OpenSkyConfiguration.publicBaseURL
        let tokenURL = section.text("tokenURL")
        let clientID = section.text("clientId")
        let clientSecret = section.value("clientSecret", expected: "1 or more printable ASCII characters", secret: true)
        {
            Secret($0)
        }
        if (clientID == nil) != !section.has("clientSecret") {
            let (given, missing) = clientID == nil ? ("clientSecret", "clientId") : ("clientId", "clientSecret")
            reader.problem(section.path(of: missing), "is missing, where \(given) is given")
        }
        let credits = section.value("credits", expected: "a day's credits, 1 or more") {
            Int($0).flatMap { CreditAllowance(credits: $0, periodSeconds: 86_400) }
        }
        let timeout = section.value("timeout", expected: "an ISO 8601 duration above 0, such as PT60S") {
            ISODuration.seconds($0).flatMap { $0 > 0 ? Duration.seconds($0) : nil }
        }
        let allowsPlainHTTP = section.value("allowsPlainHTTP", expected: "true or false") { Bool($0) } ?? false
        let credentials = clientID.flatMap { id in
            clientSecret.map { OpenSkyConfiguration.Credentials(clientID: id, clientSecret: $0) }
        }
        var configuration = OpenSkyConfiguration(
            baseURL: baseURL, tokenURL: tokenURL, credentials: credentials,
            allowance: credits.map { .some($0) } ?? .none,
            allowsPlainHTTP: allowsPlainHTTP)
        if let timeout { configuration.timeout = timeout }
        for problem in configuration.problems { reader.problem(section.path, "can't be used: \(problem)") }
        let boxes = section.boxes("bbox", reader).map { sides in
            sides.compactMap { GeographicBox(west: $0.west, south: $0.south, east: $0.east, north: $0.north) }
        }
        guard reader.problems.count == problemsBefore else { return nil }
        self.init(configuration: configuration, boxes: boxes ?? [])
    }
}

extension Settings.InboxSettings {
    init?(_ section: SettingsReader.Section, _ reader: SettingsReader) {
        guard let path = section.text("path"), !path.isEmpty else {
            reader.problem(section.path(of: "path"), "is missing")
            return nil
        }
        self.init(path: path)
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
        let query = DataQuery(section.section("query"), reader)
        guard let environment, let key else { return nil }
        var configuration = SkyPathConfiguration(
            environment: environment, apiKey: key, allowsPlainHTTP: allowsPlainHTTP, wire: wire, limits: limits)
        if let timeout { configuration.timeout = timeout }
        for problem in configuration.problems { reader.problem(section.path, "can't be used: \(problem)") }
        self.init(configuration: configuration, api: api, query: query)
    }
}

extension DataQuery {
    init(_ section: SettingsReader.Section, _ reader: SettingsReader) {
        self.init()
        if let listed = section.list(
            "types", expected: "turbulence, polygons, nowcast, flights or pireps", { DataType(rawValue: $0) })
        {
            types = Set(listed)
        }
        if let listed = section.list("severities", expected: "severities 0 to 4", { Severity($0) }) {
            severities = SeveritySet(listed)
        }
        history = section.value("history", expected: "0.5, 1, 2, 4 or 6") { History($0) } ?? history
        category = section.value("category", expected: "C10, C20 … C110") { AircraftCategory($0) } ?? category
        let isGlobal = section.value("global", expected: "true or false") { Bool($0) }
        polygonsUpTo = section.value("polygonsUpTo", expected: "true or false") { Bool($0) } ?? polygonsUpTo
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
        global = isGlobal ?? (polygon == nil)
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
        polygonsPath = section.text("polygonsPath") ?? polygonsPath
        nowcastPath = section.text("nowcastPath") ?? nowcastPath
        flightsPath = section.text("flightsPath") ?? flightsPath
        pirepsPath = section.text("pirepsPath") ?? pirepsPath
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
