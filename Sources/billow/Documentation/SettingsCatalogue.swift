import BillowSync
import Datasets
import GRIBKit
import Turbulence

/// What the documentation says about a setting beside its name and its range, which the settings' reader knows.
struct SettingDescription: Sendable {
    enum Default: Sendable, Hashable {
        /// There is no value.
        case none
        /// The setting must be given.
        case required
        /// The value as YAML has it; a test compares it with the one that counts where nothing is set.
        case value(String)
        /// The value depends on something.
        case words(String)
    }

    let path: String
    let standard: Default
    /// At most 20 words.
    let meaning: String
    let flag: String?

    init(_ path: String, _ standard: Default, _ meaning: String, flag: String? = nil) {
        self.path = path
        self.standard = standard
        self.meaning = meaning
        self.flag = flag
    }
}

/// Every setting with its default and its meaning. The reference of settings is made of it.
enum SettingsCatalogue {
    struct Group: Sendable {
        let title: String
        let settings: [SettingDescription]
    }

    static let groups = [
        general, server, timeline, polygons, frequencies, thresholds, source, query, limits, wire,
    ]

    private static let general = Group(
        title: "General",
        settings: [
            .init(
                "database", .value("billow.sqlite"), "The database file; made if missing.", flag: "--database"),
            .init(
                "retention", .value("P7D"),
                "Older observations are refused from sources, and deleted later. [More](#retention)"),
            .init("trafficRetention", .value("P1D"), "Older positions are deleted. [More](#retention)"),
            .init(
                "fieldRetention", .value("P2D"),
                "Grids of computed turbulence about an earlier time are deleted. [More](#retention)"),
            .init(
                "staleAfter", .words("PT5M or more"),
                "Silence of all sources that makes a layer stale. [More](#staleafter)"),
            .init(
                "trafficDropAfter", .value("PT3M"),
                "How long after it was last seen an aircraft is shown; at most PT10M."),
            .init("areaLimit", .value("10000000"), "Larger areas of a request are refused, in km²."),
            .init("cacheMegabytes", .value("48"), "The budget of all caches. [More](#cachemegabytes)"),
            .init("logLevel", .value("info"), "The least level that is logged."),
            .init("logFormat", .value("text"), "Lines for people, or an object a line. [More](operating.md#logs)"),
            .init("accessLog", .value("false"), "Whether each request is a line. [More](operating.md#logs)"),
        ])

    private static let server = Group(
        title: "Server",
        settings: [
            .init("server.host", .value("127.0.0.1"), "The address to listen on.", flag: "--host"),
            .init("server.port", .value("8080"), "The port to listen on; 0 lets the system choose.", flag: "--port"),
            .init("server.publicURL", .words("the request's host"), "Where links in answers point to."),
            .init("server.portFile", .none, "A file that has the port while the server listens, for health checks."),
            .init(
                "server.publicFolder", .words("found"),
                "The viewer. By default that of the installation, or of the source tree. [More](#serverpublicfolder)"),
            .init(
                "server.stylesFolder", .words("found"),
                "The styles, found as the viewer is. [More](#serverpublicfolder)"),
            .init("server.anonymousRead", .value("true"), "Whether data is open without a key."),
            .init(
                "server.maxConnections", .value("8192"),
                "Connections at once; fewer where the limit of descriptors is lower. "
                    + "[More](operating.md#connections-and-limits)"),
            .init(
                "server.maxConnectionsPerAddress", .words("half of all"),
                "Connections at once from one address; 0 for any number."),
            .init("server.timeouts.header", .value("PT15S"), "For a request's whole header."),
            .init("server.timeouts.body", .value("PT30S"), "Without a byte of a request's body."),
            .init("server.timeouts.wholeBody", .value("PT5M"), "For a request's whole body."),
            .init(
                "server.timeouts.write", .value("PT1M"),
                "Without the client taking 8 KiB, or the rest, of an answer."),
            .init("server.timeouts.idle", .value("PT1M"), "Between two requests."),
            .init(
                "server.ingestSourcesPerKey", .value("4"),
                "How many different `source` names one key may send."),
        ])

    private static let timeline = Group(
        title: "Timeline",
        settings: [
            .init("timeline.start", .value("-PT2H"), "Where a timeline begins that a request doesn't bound."),
            .init("timeline.end", .value("PT0S"), "Where it ends."),
            .init("timeline.intervals", .value("13"), "Its frames, both ends among them."),
            .init("timeline.mostIntervals", .value("500"), "Requests for more frames are refused."),
            .init("timeline.longest", .value("P366D"), "Requests for longer timelines are refused."),
        ] + Catalogue.layers.map(update))

    private static func update(_ layer: Dataset) -> SettingDescription {
        let standard =
            switch layer.updates {
            case .changes: "changes"
            case .every(let seconds) where seconds % 3_600 == 0: "PT\(seconds / 3_600)H"
            case .every(let seconds) where seconds % 60 == 0: "PT\(seconds / 60)M"
            case .every(let seconds): "PT\(seconds)S"
            }
        return .init(
            "timeline.update.\(layer.id)", .value(standard), "How often the layer is new. [More](#timelineupdate)")
    }

    private static let polygons = Group(
        title: "Polygons",
        settings: [
            .init("polygons.history", .value("6"), "Hours: turbulence polygons are made for this history."),
            .init("polygons.upTo", .value("true"), "Whether they are made for all shorter histories too."),
        ])

    private static let frequencies = Group(
        title: "Frequencies",
        settings: ["fast": "PT1M", "medium": "PT5M", "minimal": "PT15M"].sorted { $0.key < $1.key }.map {
            .init("frequencies.\($0.key)", .value($0.value), "What `\($0.key)` stands for. [More](#update-frequencies)")
        })

    private static let thresholds = Group(
        title: "Severity thresholds",
        settings: AircraftCategory.all.map { category in
            category == .default
                ? .init(
                    "severityThresholds.\(category.name)", .value("[0.10, 0.15, 0.20, 0.45]"),
                    "Where the severities above smooth begin. [More](#severitythresholds)")
                : .init(
                    "severityThresholds.\(category.name)", .words("as C60"), "The same for this category.")
        })

    private static let source = Group(
        title: "Sources",
        settings: [
            .init("sources[].id", .required, "The name of the source, shown as `source` of its features."),
            .init("sources[].kind", .required, "Which upstream it is."),
            .init(
                "sources[].baseURL", .words("required for `skypath`"), "The upstream's address. [More](#sourcesbaseurl)"
            ),
            .init("sources[].apiKey", .required, "The key; best as `${SKYPATH_API_KEY}`."),
            .init("sources[].company", .none, "With `user`: opens a session. [More](#sourcescompany-and-sourcesuser)"),
            .init("sources[].user", .none, "Unique within the company."),
            .init(
                "sources[].api", .value("v5"),
                "`v5`: corridor calls where a polygon is set, otherwise bulk calls; `v4`: tick calls."),
            .init(
                "sources[].update", .words("by the kind"), "The update frequency. [More](#update-frequencies)"),
            .init("sources[].timeout", .value("PT60S"), "For one call, from connecting to the last byte."),
            .init(
                "sources[].allowsPlainHTTP", .value("false"), "Whether a key may go over http to another machine."),
            .init(
                "sources[].simulated", .words("as its answers say"),
                "Whether its data is invented. [More](#sourcessimulated)"),
            .init("sources[].staleAfter", .words("as for all"), "`staleAfter` of this source."),
            .init(
                "sources[].products",
                .words("all"),
                "What is requested. [More](#sourcesproducts)"),
            .init("sources[].bbox", .words("by the kind"), "Where data is requested. [More](#sourcesbbox)"),
            .init("sources[].form", .value("json"), "The format that is requested."),
            .init(
                "sources[].spacing", .words("PT1M; `noaa-gtg`: PT1S"),
                "Between two calls of one product. PT0S where `baseURL` is this machine; less is for simulators only. "
                    + "[More](#sourcesspacing)"
            ),
            .init(
                "sources[].levels",
                .value("[\(GuidancePlan.defaultLevels.map { "\($0.feet)" }.joined(separator: ", "))]"),
                "The altitudes that are fetched. [More](#sourceslevels)"),
            .init("sources[].column", .value("true"), "Whether the maximum of the column is fetched or made too."),
            .init(
                "sources[].leadTimes",
                .value("[\(GuidancePlan.defaultLeadHours.map(String.init).joined(separator: ", "))]"),
                "Hours ahead that are fetched of a forecast's run."),
            .init(
                "sources[].publish", .value("growing"),
                "`growing`: lead time by lead time; `whole`: a forecast's run at once, when all of it is there."),
            .init(
                "sources[].catchUp", .value("PT0S"), "How far back nowcasts are fetched that were missed."),
            .init(
                "sources[].bytesPerDay", .value("\(NOAASettings.defaultBytesPerDay)"),
                "Bytes received on a day in UTC, at most. [More](#sourcesbytesperday)"),
            .init("sources[].path", .required, "The folder; no two inboxes share one."),
            .init(
                "sources[].tokenURL", .words("OpenSky's own"),
                "Where tokens come from; with another `baseURL` the same path under it."),
            .init("sources[].clientId", .none, "The API client's id; without it the service is asked anonymously."),
            .init("sources[].clientSecret", .none, "Its secret; best as `${OPENSKY_CLIENT_SECRET}`."),
            .init(
                "sources[].credits", .words("400 or 4000"), "A day's credits, spread over it. [More](#sourcescredits)"),
        ])

    private static let query = Group(
        title: "What SkyPath is asked",
        settings: [
            .init(
                "sources[].query.types", .value("[turbulence]"),
                "The types of data; all but turbulence are assumed calls. [More](#sourcesquery)"),
            .init(
                "sources[].query.severities", .value("[0, 1, 2, 3, 4]"), "What is shown. [More](#sourcesquery)"),
            .init("sources[].query.history", .value("2"), "Hours; v5 reaches back 4 at most."),
            .init("sources[].query.category", .value("C60"), "The aircraft category. [More](#sourcesquery)"),
            .init(
                "sources[].query.global", .value("true"),
                "Whether polygons are fetched for the world; other types where there is no `polygon`."),
        ] + Catalogue.types(of: "skypath").map(scope) + [
            .init("sources[].query.polygon", .none, "The corridor. [More](#sourcesquery)"),
            .init(
                "sources[].query.polygonsUpTo", .value("false"),
                "Whether SkyPath's own polygons are fetched for every shorter history too."),
        ])

    private static func scope(_ type: String) -> SettingDescription {
        let datasets = Catalogue.datasets(of: Dataset.Origin("skypath", type)).map { "`\($0.id)`" }
        return .init(
            "sources[].query.scope.\(type)", .words("by `global`"), "The area for \(datasets.joined(separator: ", ")).")
    }

    private static let limits = Group(
        title: "Limits of SkyPath",
        settings: [
            .init("sources[].limits.corridorAreaKm2", .value("7500"), "Larger polygons are requested in pieces."),
            .init(
                "sources[].limits.cursorOverlapSeconds", .value("60"),
                "How long before the cursor v5 deltas begin."),
            .init("sources[].limits.tickOverlap", .value("1"), "The same for v4, in ticks."),
        ])

    private static let wire = Group(
        title: "Names on SkyPath's wire",
        settings: [
            ("corridorPath", "/observations/v5/corridor", "Path of the corridor call."),
            ("hexagonsPath", "/adsb/v5/hexagons/", "Path of the bulk call; the parent cell follows."),
            ("mapPath", "/v4/map", "Path of the tick call."),
            ("polygonsPath", "/observations/v5/polygons", "Path of polygons; an assumption."),
            ("nowcastPath", "/nowcasting/v5/polygons", "Path of the nowcast; an assumption."),
            ("flightsPath", "/traffic/v5/flights", "Path of live flights; an assumption."),
            ("pirepsPath", "/pireps/v5/reports", "Path of pilot reports; an assumption."),
            ("sessionPath", "/auth/v5/session", "Path of the call that opens a session; an assumption."),
            ("apiKeyHeader", "x-api-key", "Header of the key."),
            ("accessTokenHeader", "x-access-token", "Header of a session's token."),
            ("updatedSince", "updatedSince", "Member of the corridor call: changes since then."),
            ("hoursAgo", "hoursAgo", "Corridor and bulk call: hours of history."),
            ("aircraftCategory", "aircraftCategory", "Member of the corridor call."),
            ("minAltitude", "minAlt", "Corridor and bulk call: thousands of feet."),
            ("maxAltitude", "maxAlt", "Corridor and bulk call: thousands of feet."),
            ("minSeverity", "minSev", "Bulk call: the mildest severity."),
            ("tick", "skypath_tick", "Tick call: the tick of request and reply."),
            ("fields", "fields", "Tick call: the types of data."),
            ("turbulence", "turbulence", "Tick call: the member that has the records."),
            ("geofence", "geofence", "Tick call: the area."),
            ("mapRecordSeverity", "sev", "Tick call: a record's severity."),
            ("mapRecordObservedAt", "ts", "Tick call: a record's time."),
            ("mapRecordEDR", "edr", "Tick call: a record's EDR."),
        ].map { .init("sources[].wire.\($0.0)", .value($0.1), $0.2) })
}
