import BillowSync
import BillowTimeline
import Datasets
import GRIBKit
import Turbulence

/// The documentation of a setting. The settings' reader adds its name and its range.
struct SettingDescription: Sendable {
    enum Default: Sendable, Hashable {
        /// There is no value.
        case none
        /// The setting must be given.
        case required
        /// The value in YAML. A test compares it with the default that the program uses.
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
        general, server, backups, timeline, polygons, frequencies, thresholds, source, query, limits, wire,
    ]

    private static let general = Group(
        title: "General",
        settings: [
            .init(
                "database", .value("billow.sqlite"),
                "The database file, created if missing, or a [PostgreSQL](operating/postgresql.md) database.",
                flag: "--database"),
            .init(
                "retention", .value("P7D"),
                "Older observations are refused from sources, and deleted later. [More](#retention)"),
            .init("trafficRetention", .value("P1D"), "Older positions are deleted. [More](#retention)"),
            .init(
                "fieldRetention", .value("P2D"),
                "Grids of computed turbulence for an earlier time are deleted. [More](#retention)"),
            .init(
                "staleAfter", .words("PT5M or more"),
                "A layer is stale after none of its sources was fetched for this long. [More](#staleafter)"),
            .init(
                "trafficDropAfter", .value("PT3M"),
                "How long an aircraft is shown after its last position; at most PT10M."),
            .init("areaLimit", .value("10000000"), "The largest area of a request, in km²."),
            .init("cacheMegabytes", .value("48"), "The budget of all caches. [More](#cachemegabytes)"),
            .init(
                "exports.folder", .words("the database's folder"),
                "The existing folder of the files of export jobs. [More](http/features.md#export-jobs)"),
            .init("exports.diskMegabytes", .value("4096"), "The disk space of the files of export jobs."),
            .init("exports.keep", .value("PT1H"), "How long a finished export job is held; at most P7D."),
            .init("logLevel", .value("info"), "The lowest level that is logged."),
            .init(
                "logFormat", .value("text"),
                "The format of the log: text, or a JSON object a line. [More](operating.md#logs)"),
            .init("accessLog", .value("false"), "Whether each request is logged. [More](operating.md#logs)"),
            .init("tracing.file", .none, "A file for spans, as lines of OTLP in JSON. [More](operating.md#tracing)"),
            .init(
                "tracing.endpoint", .none,
                "The address of a collector for spans, by OTLP over HTTP. [More](operating.md#tracing)"),
            .init("tracing.requests", .value("1"), "The part of the requests that are traced, from 0 to 1."),
        ])

    private static let server = Group(
        title: "Server",
        settings: [
            .init("server.host", .value("127.0.0.1"), "The address to listen on.", flag: "--host"),
            .init("server.port", .value("8080"), "The port to listen on; 0 lets the system choose.", flag: "--port"),
            .init("server.publicURL", .words("the request's host"), "The base address of links in responses."),
            .init("server.portFile", .none, "A file with the port while the server listens, for health checks."),
            .init(
                "server.publicFolder", .words("found"),
                "The folder of the viewer; by default of the installation or source tree. [More](#serverpublicfolder)"
            ),
            .init(
                "server.stylesFolder", .words("found"),
                "The folder of the styles, found like that of the viewer. [More](#serverpublicfolder)"),
            .init(
                "server.allowedHosts", .words("every host"),
                "The hosts that requests may name; others get 421. [More](operating.md#allowed-hosts)"),
            .init(
                "server.baseMap", .none,
                "The template of raster tiles of another server, which the viewer shows. [More](#serverbasemap)"),
            .init("server.baseMapAttribution", .words("the host"), "The text that the map shows for `server.baseMap`."),
            .init(
                "server.tls.certificate", .none,
                "The certificate for https, with its chain, as PEM. [More](operating.md#tls)"),
            .init("server.tls.key", .none, "The key of the certificate, as PEM."),
            .init(
                "server.trustedProxies", .words("none"),
                "Proxies whose `Forwarded` or `X-Forwarded-…` headers are believed. "
                    + "[More](operating.md#behind-a-proxy)"),
            .init(
                "server.rateLimit.perAddress", .value("0"),
                "Requests a second from one address; 0 for no limit. [More](operating.md#rate-limits)"),
            .init(
                "server.rateLimit.perKey", .value("0"), "Requests a second with one key; 0 for no limit."),
            .init(
                "server.rateLimit.burst", .value("PT10S"), "The time whose requests may come at once."),
            .init("server.anonymousRead", .value("true"), "Whether data can be read without a key."),
            .init(
                "server.maxConnections", .value("8192"),
                "The limit of open connections; lower if the limit of descriptors is lower. "
                    + "[More](operating.md#connections-and-limits)"),
            .init(
                "server.maxConnectionsPerAddress", .words("half of all"),
                "The limit of open connections from one address; 0 for no limit."),
            .init("server.timeouts.header", .value("PT15S"), "The timeout for a request's whole header."),
            .init("server.timeouts.body", .value("PT30S"), "The longest time without a byte of a request's body."),
            .init("server.timeouts.wholeBody", .value("PT5M"), "The timeout for a request's whole body."),
            .init(
                "server.timeouts.write", .value("PT1M"),
                "The timeout for the client to receive 8 KiB, or the rest, of a response."),
            .init("server.timeouts.idle", .value("PT1M"), "The longest time between two requests of a connection."),
            .init(
                "server.ingestSourcesPerKey", .value("4"),
                "How many different `source` names one key may send."),
        ])

    private static let backups = Group(
        title: "Backups",
        settings: [
            .init(
                "backups.folder", .none,
                "A folder of its own for scheduled backups; without it there are none. "
                    + "[More](operating.md#scheduled-backups)"),
            .init("backups.every", .words("P1D"), "The interval between two backups."),
            .init("backups.keep", .words("7"), "The number of backups that remain; the oldest are deleted."),
            .init(
                "backups.copyCommand", .none,
                "A shell command that runs after each backup; `$BACKUP_FILE` is its path."),
            .init("backups.copyTimeout", .words("PT1H"), "The time after which that command is ended."),
        ])

    private static let timeline = Group(
        title: "Timeline",
        settings: [
            .init("timeline.start", .value("-PT2H"), "The start of a timeline without `start`."),
            .init("timeline.end", .value("PT0S"), "The end of a timeline without `end`."),
            .init(
                "timeline.intervals", .value("13"), "The frames of a timeline without `intervals`, including both ends."
            ),
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
            "timeline.update.\(layer.id)", .value(standard),
            "The interval between updates of the layer. [More](#timelineupdate)")
    }

    private static let polygons = Group(
        title: "Polygons",
        settings: [
            .init("polygons.history", .value("6"), "Turbulence polygons are made for this history, in hours."),
            .init("polygons.upTo", .value("true"), "Whether polygons are also made for all shorter histories."),
        ])

    private static let frequencies = Group(
        title: "Frequencies",
        settings: ["fast": "PT1M", "medium": "PT5M", "minimal": "PT15M"].sorted { $0.key < $1.key }.map {
            .init(
                "frequencies.\($0.key)", .value($0.value),
                "The duration that `\($0.key)` means. [More](#update-frequencies)")
        })

    private static let thresholds = Group(
        title: "Severity thresholds",
        settings: AircraftCategory.all.map { category in
            category == .default
                ? .init(
                    "severityThresholds.\(category.name)", .value("[0.10, 0.15, 0.20, 0.45]"),
                    "The EDR at which each severity above smooth begins. [More](#severitythresholds)")
                : .init(
                    "severityThresholds.\(category.name)", .words("as C60"), "The thresholds of this category.")
        })

    private static let source = Group(
        title: "Sources",
        settings: [
            .init("sources[].id", .required, "The name of the source, shown as `source` of its features."),
            .init("sources[].kind", .required, "The kind of upstream."),
            .init(
                "sources[].baseURL", .words("required for `skypath` and `billow`"),
                "The upstream's address. [More](#sourcesbaseurl)"
            ),
            .init(
                "sources[].apiKey", .words("required for `skypath`"),
                "The key; best from the environment, as `${SKYPATH_API_KEY}`."),
            .init("sources[].company", .none, "With `user`: opens a session. [More](#sourcescompany-and-sourcesuser)"),
            .init("sources[].user", .none, "Unique within the company."),
            .init(
                "sources[].api", .value("v5"),
                "`v5`: corridor calls where a polygon is set, otherwise bulk calls; `v4`: tick calls."),
            .init(
                "sources[].update", .words("by the kind"), "The update frequency. [More](#update-frequencies)"),
            .init("sources[].timeout", .value("PT60S"), "The timeout of one call, from connecting to the last byte."),
            .init(
                "sources[].allowsPlainHTTP", .value("false"), "Whether a key may go over http to another machine."),
            .init(
                "sources[].simulated", .words("as the answers are marked"),
                "Whether the data of the source is simulated. [More](#sourcessimulated)"),
            .init("sources[].staleAfter", .words("the general one"), "`staleAfter` of this source."),
            .init(
                "sources[].products",
                .words("all"),
                "The products that are requested. [More](#sourcesproducts)"),
            .init(
                "sources[].collections", .words("all"), "The collections of the server that are mirrored."),
            .init(
                "sources[].events",
                .value(ISODuration.text(Int(BillowSettings.defaultEventSpacing.components.seconds))),
                "Events of the server start rounds, one in this time at most; `none` listens for none. "
                    + "[More](#sourcesevents)"),
            .init("sources[].bbox", .words("by the kind"), "The area in which data is requested. [More](#sourcesbbox)"),
            .init("sources[].form", .value("json"), "The format that is requested."),
            .init(
                "sources[].spacing", .words("PT1M; `\(NOAAUpstream.kind)`: PT1S"),
                "The pause between calls of one product; PT0S if `baseURL` is this machine. Less is for simulators. "
                    + "[More](#sourcesspacing)"
            ),
            .init(
                "sources[].levels",
                .value("[\(GuidancePlan.defaultLevels.map { "\($0.feet)" }.joined(separator: ", "))]"),
                "The altitudes that are fetched. [More](#sourceslevels)"),
            .init("sources[].column", .value("true"), "Whether the maximum of the column is also fetched or made."),
            .init(
                "sources[].leadTimes",
                .value("[\(GuidancePlan.defaultLeadHours.map(String.init).joined(separator: ", "))]"),
                "The lead times in hours that are fetched from a forecast's run."),
            .init(
                "sources[].publish", .value("growing"),
                "`growing`: lead time by lead time; `whole`: a forecast's run at once, when it is complete."),
            .init(
                "sources[].catchUp", .value("PT0S"), "How far back missed nowcasts are fetched."),
            .init(
                "sources[].bytesPerDay", .value("\(NOAASettings.defaultBytesPerDay)"),
                "The limit of bytes received on a day in UTC. [More](#sourcesbytesperday)"),
            .init("sources[].path", .required, "The folder; no two inboxes share one."),
            .init(
                "sources[].tokenURL", .words("OpenSky's own"),
                "The address that issues tokens; with another `baseURL`, the same path under it."),
            .init("sources[].clientId", .none, "The id of the API client; without it requests are anonymous."),
            .init("sources[].clientSecret", .none, "The secret of the API client; best as `${OPENSKY_CLIENT_SECRET}`."),
            .init(
                "sources[].credits", .words("400 or 4000"),
                "The credits of a day, spread over the day. [More](#sourcescredits)"),
        ])

    private static let query = Group(
        title: "SkyPath query",
        settings: [
            .init(
                "sources[].query.types", .value("[turbulence]"),
                "The types of data; all but turbulence are assumed calls. [More](#sourcesquery)"),
            .init(
                "sources[].query.severities", .value("[0, 1, 2, 3, 4]"),
                "The severities that are shown. [More](#sourcesquery)"),
            .init("sources[].query.history", .value("2"), "The history in hours; v5 reaches back 4 at most."),
            .init("sources[].query.category", .value("C60"), "The aircraft category. [More](#sourcesquery)"),
            .init(
                "sources[].query.global", .value("true"),
                "Whether polygons are fetched for the world; other types where there is no `polygon`."),
        ] + QueryType.skyPath.map(scope) + [
            .init("sources[].query.polygon", .none, "The corridor. [More](#sourcesquery)"),
            .init(
                "sources[].query.polygonsUpTo", .value("false"),
                "Whether SkyPath's own polygons are fetched for every shorter history too."),
        ])

    private static func scope(_ type: QueryType) -> SettingDescription {
        let datasets = type.collections.map { "`\($0)`" }
        return .init(
            "sources[].query.scope.\(type.name)", .words("by `global`"),
            "The area for \(datasets.joined(separator: ", ")).")
    }

    private static let limits = Group(
        title: "Limits of SkyPath",
        settings: [
            .init("sources[].limits.corridorAreaKm2", .value("7500"), "Larger polygons are requested in pieces."),
            .init(
                "sources[].limits.cursorOverlapSeconds", .value("60"),
                "The time by which v5 deltas begin before the cursor."),
            .init(
                "sources[].limits.tickOverlap", .value("1"),
                "The number of ticks by which v4 deltas begin before the cursor."),
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
            ("updatedSince", "updatedSince", "Member of the corridor call: the time since which changes are wanted."),
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
