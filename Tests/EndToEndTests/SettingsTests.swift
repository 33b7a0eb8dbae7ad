import BillowSync
import BillowTimeline
import Foundation
import Testing
import Turbulence

@testable import billow

@Suite("Settings are read whole, and all problems are named together")
struct SettingsTests {
    private func read(
        _ yaml: String?, environment: [String: String] = [:], overrides: SettingsOverrides = SettingsOverrides()
    ) throws(SettingsError) -> Settings {
        try Settings.read(yaml: yaml, file: "billow.yaml", environment: environment, overrides: overrides)
    }

    private func problems(
        _ yaml: String?, environment: [String: String] = [:], overrides: SettingsOverrides = SettingsOverrides(),
        needs: SettingsNeeds = []
    ) -> [SettingsProblem] {
        do throws(SettingsError) {
            _ = try Settings.read(
                yaml: yaml, file: "billow.yaml", environment: environment, overrides: overrides, needs: needs)
            return []
        } catch { return error.problems }
    }

    /// A problem without its place.
    private static func words(_ problem: SettingsProblem) -> String { "\(problem.path) \(problem.text)" }

    @Test("nothing given: the defaults of the interface")
    func defaults() throws {
        for yaml in [nil, "", "# nothing", "{}", "null", "server:\ndatabase:\n"] {
            let settings = try read(yaml)
            #expect(settings.server.host == "127.0.0.1")
            #expect(settings.server.port == 8_080)
            #expect(settings.server.publicURL == nil)
            #expect(settings.database == "billow.sqlite")
            #expect(settings.retentionSeconds == 7 * 86_400)
            #expect(settings.sources.isEmpty)
        }
    }

    @Test("a list in a variable has commas between its values, and overrides the file")
    func listVariable() throws {
        let yaml = "server: { trustedProxies: [10.0.0.1], allowedHosts: [a.example] }"
        let environment = [
            "BILLOW_SERVER_TRUSTED_PROXIES": "192.0.2.1, 10.0.0.0/8",
            "BILLOW_DEFAULT_SERVER_ALLOWED_HOSTS": "b.example",
            "BILLOW_SEVERITY_THRESHOLDS_C60": "0.1,0.2,0.3,0.5",
        ]
        let settings = try read(yaml, environment: environment)
        let same = try read(
            """
            server: { trustedProxies: [192.0.2.1, 10.0.0.0/8], allowedHosts: [a.example] }
            severityThresholds: { C60: [0.1, 0.2, 0.3, 0.5] }
            """)
        #expect(settings.server.trustedProxies == same.server.trustedProxies)
        #expect(settings.server.allowedHosts == same.server.allowedHosts)
        #expect(settings.severityTable == same.severityTable)
        #expect(try read(yaml, environment: ["BILLOW_SERVER_TRUSTED_PROXIES": ""]).server.trustedProxies.isEmpty)
        let wrong = problems(nil, environment: ["BILLOW_SERVER_TRUSTED_PROXIES": "10.0.0.1,proxy"])
        #expect(
            wrong.map(Self.words) == [
                "server.trustedProxies is 'proxy'; it must be IP addresses, or ranges such as 10.0.0.0/8"
            ])
    }

    static let whole = """
        server: { host: 0.0.0.0, port: 9001, publicURL: "https://x.example/b", anonymousRead: true }
        database: data/b.sqlite
        retention: P2DT12H
        staleAfter: PT10M
        logLevel: debug
        severityThresholds: { C60: [0.1, 0.15, 0.2, 0.45], C10: [0.05, 0.1, 0.2, 0.3] }
        sources:
          - id: skypath
            kind: skypath
            baseURL: https://api.skypath.io
            apiKey: ${SKYPATH_API_KEY}
            api: v5
            update: medium
            query:
              types: [turbulence]
              severities: [1, 2, moderate]
              history: 4
              global: true
              polygonsUpTo: false
              polygon: [[0, 40], [10, 40], [10, 50], [0, 50], [0, 40]]
          - { id: two, kind: skypath, baseURL: "http://127.0.0.1:9", apiKey: k, api: v4, update: PT2S, simulated: true }
          - { id: off, kind: skypath, baseURL: production, apiKey: "a${A}b${B}", update: none }
        """

    @Test("a whole file")
    func wholeFile() throws {
        let settings = try read(Self.whole, environment: ["SKYPATH_API_KEY": "s3cret", "A": "1", "B": "2"])
        #expect(settings.server.host == "0.0.0.0")
        #expect(settings.server.port == 9_001)
        #expect(settings.server.publicURL == "https://x.example/b")
        #expect(settings.database == "data/b.sqlite")
        #expect(settings.retentionSeconds == 60 * 3_600)
        #expect(settings.staleAfterSeconds == 600)
        #expect(settings.logLevel == "debug")
        #expect(settings.sources.map(\.id.name) == ["skypath", "two", "off"])
        #expect(settings.sources.map(\.update) == [.medium, .every(.seconds(2)), .none])
        #expect(settings.sources.map(\.simulated) == [nil, true, nil])
        let sources = settings.sources.compactMap { if case .skyPath(let source) = $0.kind { source } else { nil } }
        #expect(sources[0].query.severities == SeveritySet([.light, .lightModerate, .moderate]))
        #expect(sources[0].query.history == .fourHours)
        #expect(sources[0].query.polygon != nil)
        #expect(sources[1].api == .v4)
        let edr = try EDR(0.06).orMissing()
        let light = try AircraftCategory("C10").orMissing()
        #expect(settings.severityTable.thresholds(for: light).severity(of: edr) == .light)
        for dumped in ["\(settings)", String(reflecting: settings), "\(settings.sources)"] {
            #expect(!dumped.contains("s3cret"))
            #expect(!dumped.contains("a1b2"))
        }
    }

    /// The bulk calls of the world give everything each time; areas and ticks what changed.
    @Test(
        "the world by v5 is fetched more seldom unless the file says how often",
        arguments: [
            ("", UpdateFrequency.medium), ("update: fast", .fast), ("api: v4", .fast),
            ("query: { global: false }", .fast),
            ("query: { polygon: [[0, 0], [5, 0], [5, 5], [0, 0]] }", .fast), ("query: { types: [polygons] }", .fast),
            ("query: { polygon: [[0, 0], [5, 0], [5, 5], [0, 0]], scope: { turbulence: global } }", .medium),
        ]) func defaultUpdate(more: String, update: UpdateFrequency) throws
    {
        #expect(try read(Self.source(more.isEmpty ? "timeout: PT60S" : more)).sources.first?.update == update)
    }

    @Test(
        "a mirror listens for events, unless it is told not to",
        arguments: [
            ("", Duration.seconds(30)), (", events: PT1S", .seconds(1)), (", events: PT5M", .seconds(300)),
            (", events: none", nil),
        ])
    func events(_ setting: String, _ spacing: Duration?) throws {
        let settings = try read("sources: [{ id: a, kind: billow, baseURL: 'https://far.example'\(setting) }]")
        guard case .billow(let billow)? = settings.sources.first?.kind else {
            throw Missing(description: "no mirror")
        }
        #expect(billow.eventSpacing == spacing)
        for wrong in ["PT0S", "30", "soon", "true"] {
            let problems = problems(
                "sources: [{ id: a, kind: billow, baseURL: 'https://far.example', events: \(wrong) }]")
            #expect(problems.map(\.path) == ["sources[0].events"])
        }
    }

    @Test("flags over environment over file over defaults")
    func precedence() throws {
        let file = "server: { port: 1, host: file }\ndatabase: file\nretention: P1D\nlogLevel: error"
        let environment = [
            "BILLOW_SERVER_PORT": "2", "BILLOW_DATABASE": "env", "BILLOW_SERVER_PUBLIC_URL": "https://env",
            "BILLOW_RETENTION": "P3D", "BILLOW_STALE_AFTER": "PT1M", "UNKNOWN": "is none of our business",
        ]
        let fromFile = try read(file)
        #expect(fromFile.server.port == 1 && fromFile.database == "file" && fromFile.server.host == "file")
        let fromEnvironment = try read(file, environment: environment)
        #expect(fromEnvironment.server.port == 2)
        #expect(fromEnvironment.database == "env")
        #expect(fromEnvironment.server.host == "file")
        #expect(fromEnvironment.server.publicURL == "https://env")
        #expect(fromEnvironment.retentionSeconds == 3 * 86_400)
        #expect(fromEnvironment.staleAfterSeconds == 60)
        #expect(fromEnvironment.logLevel == "error")
        let flags = SettingsOverrides(database: "flag", host: "flag", port: "3")
        let fromFlags = try read(file, environment: environment, overrides: flags)
        #expect(fromFlags.server.port == 3 && fromFlags.database == "flag" && fromFlags.server.host == "flag")
    }

    static let bad: [(String, [String])] = [
        ("server: { port: 70000 }", ["server.port is '70000'; it must be a whole number from 0 to 65535"]),
        ("server: { port: abc }", ["server.port"]), ("server: { port: [1] }", ["server.port must be a single value"]),
        ("server: 5", ["server must hold settings of its own"]), ("- 1", ["must hold settings by name"]),
        ("just words", ["must hold settings by name"]),
        ("server: { publicURL: ftp://x }", ["server.publicURL"]),
        ("server: { publicURL: 'https://x?y' }", ["server.publicURL"]),
        ("server: { anonymousRead: maybe }", ["server.anonymousRead"]),
        ("server: { hosts: x }", ["server.hosts is not a setting; known settings here: "]),
        ("retention: 7", ["retention is '7'"]), ("retention: PT59M", ["retention"]), ("retention: P1M", ["retention"]),
        ("staleAfter: PT0S", ["staleAfter"]), ("logLevel: loud", ["logLevel"]),
        ("colour: red", ["colour is not a setting"]),
        ("database: postgres://x:y@z/a\nbackups: { folder: /tmp }", ["postgres://x@z/a; use pg_dump"]),
        ("sources: 5", ["sources must be a list"]),
        ("sources: [5]", ["sources[0] must hold settings of its own"]),
        (
            "sources: [{ id: noaa, kind: noaa-gtg, levels: [], leadTimes: [] }]",
            ["levels is empty", "leadTimes is empty"]
        ),
        ("severityThresholds: { C60: [0.1, 0.2] }", ["severityThresholds.C60 must be four rising"]),
        ("severityThresholds: { C60: [0.1, 0.2, 0.2, 0.3] }", ["severityThresholds.C60"]),
        ("severityThresholds: { C60: [0.1, 2, x, 0.3] }", ["C60[1] is '2'", "C60[2] is 'x'", "four rising"]),
        ("severityThresholds: { C15: [0.1, 0.15, 0.2, 0.45] }", ["severityThresholds.C15 is not a setting"]),
        (
            "sources: [{}]",
            ["[0].id is missing", "[0].kind is missing", "[0].baseURL is missing", "[0].apiKey is missing"]
        ),
        (
            "sources: [{ id: a, kind: skypath, baseURL: production, apiKey: k }, "
                + "{ id: a, kind: skypath, baseURL: production, apiKey: k }]",
            ["sources[1].id is 'a', as another source's"]
        ),
        (
            source("update: sometimes, api: v3, simulated: maybe, timeout: 5, zzz: 1"),
            ["[0].update", "[0].api", "[0].simulated", "[0].timeout", "[0].zzz"]
        ),
        (source("update: PT0S"), ["[0].update"]), (source("query: { history: 3 }"), ["query.history"]),
        (source("query: { severities: [7] }"), ["query.severities[0]"]),
        (source("query: { types: [weather] }"), ["query.types[0]"]),
        (source("query: { polygon: [[0, 0], [1, 1]] }"), ["query.polygon"]),
        (source("query: { polygon: [[0, 0], [1, 99], [2, 2], [0, 0]] }"), ["query.polygon"]),
        (source("query: { polygon: 5 }"), ["query.polygon"]), (source("limits: { tickOverlap: -1 }"), ["tickOverlap"]),
        (
            "sources: [{ id: a, kind: skypath, baseURL: 'http://far.example' }]",
            ["[0].baseURL can't be used: the key would go over plain HTTP", "[0].apiKey is missing"]
        ),
        ("server: { host: 'a b', publicFolder: '' }", ["server.host is 'a b'", "server.publicFolder is ''"]),
        ("server: { host: 'http://0.0.0.0' }", ["server.host"]), ("server: { publicURL: 'http://' }", ["publicURL"]),
        ("server: { publicURL: 'https://a:99999' }", ["publicURL"]), ("[a]: 1", ["has a key that is not a name"]),
        ("database: ':memory:'", ["database is ':memory:'"]),
        (source("query: { polygon: [[0, 0], [10, 10], [10, 0], [0, 10], [0, 0]] }"), ["cross or touch"]),
        (source("query: { polygon: [[0, 0], [9, 0], [0, 0], [0, 0]] }"), ["query.polygon can't be used"]),
        (
            source("query: { category: C20, polygon: [[-80, 0], [80, 0], [80, 60], [-80, 60], [-80, 0]] }"),
            ["query.polygon can't be used: the polygon of 98162224 km2 would take more than 1000 calls"]
        ),
        (source("query: { scope: world }"), ["query.scope must hold settings of its own"]),
        (source("query: { scope: { turbulence: corridor } }"), ["query.scope.turbulence is 'corridor'"]),
        (source("wire: { severities: sevs }"), ["wire.severities is not a setting"]),
        (source("query: { category: C10 }"), ["query.category can't be used: SkyPath's bulk call knows category C60"]),
        (source("wire: { corridorPath: 'no slash', pirepsPath: '/a?b' }"), ["wire.corridorPath", "wire.pirepsPath"]),
        (source("wire: { hoursAgo: '', minSeverity: 'a&b', tick: \"\\u0001\" }"), ["hoursAgo", "minSeverity", "tick"]),
        (source("wire: { apiKeyHeader: 'a b' }"), ["apiKeyHeader"]),
        (source("wire: { apiKeyHeader: Host }"), ["apiKeyHeader"]),
        (
            source("wire: { apiKeyHeader: x-access-token }"),
            ["the header of every call has another name with the same value"]
        ),
        (
            source("wire: { minAltitude: maxAlt }"),
            ["[0].wire.minAltitude is 'maxAlt'; the corridor call has another name with the same value"]
        ),
        (source("wire: { minAltitude: a, maxAltitude: a }"), ["wire.maxAltitude is 'a'"]),
        (
            source("wire: { fields: hours, mapRecordEDR: sev }"),
            ["wire.fields is 'hours'", "wire.mapRecordEDR is 'sev'"]
        ),
        (
            "sources: [{ id: a, kind: aviationweather, baseURL: 'https://', spacing: 5 }]",
            ["[0].baseURL can't be used", "[0].spacing is '5'"]
        ),
        (
            "sources: [{ id: a, kind: opensky, baseURL: 'http://far.example', clientId: x, tokenURL: 'ftp:' }]",
            [
                "[0].baseURL can't be used: the key would go over plain HTTP",
                "tokenURL can't be used: the address must begin",
                "tokenURL can't be used: the address must be", "clientSecret is missing, where clientId is given",
            ]
        ),
        ("sources: [{ id: a, kind: inbox, path: /etc/passwd }]", ["[0].path is '/etc/passwd'"]),
        ("sources: [{ id: a, kind: inbx, update: x }]", ["kind is 'inbx'", "path is missing", "update is 'x'"]),
        (
            "sources: [{ id: a, kind: inbox, path: x, simulated: true }, { id: b, kind: inbox, simulated: false }]",
            ["[1].path is missing", "[1].simulated must be true as another source's"]
        ),
        (
            "sources: [{ id: a, kind: inbox, path: /tmp/billow-x }, "
                + "{ id: b, kind: inbox, path: /tmp/../tmp/billow-x/ }]",
            ["[1].path is '/tmp/billow-x', as another inbox's"]
        ),
        (source("company: ABC"), ["user is missing, where company is given"]),
        (source("timeout: '${NOWHERE}'"), ["timeout names the environment variable NOWHERE, which is not set"]),
        (source("timeout: '${OPEN'"), ["has '${' without '}'"]),
        (source("query: { severities: ['${NOWHERE}'] }"), ["NOWHERE"]),
        ("a: 1\na: 2", ["'a' stands twice"]), ("a: [", ["is not YAML"]), ("a: *b", ["is not YAML"]),
        ("\u{1}: x", ["is not YAML"]),
    ]

    private static func source(_ more: String) -> String {
        "sources: [{ id: a, kind: skypath, baseURL: production, apiKey: k, \(more) }]"
    }

    @Test("each problem is named with its path, once, and nothing else is complained of", arguments: bad)
    func badSettings(yaml: String, expected: [String]) {
        let problems = problems(yaml).map(Self.words)
        #expect(problems.count == expected.count, "\(problems)")
        for words in expected { #expect(problems.contains { $0.contains(words) }, "\(words) in \(problems)") }
    }

    @Test("everything that is wrong, wherever it was given and wherever it leads, comes in one answer, with its place")
    func together() throws {
        let folder = try TemporaryFolder()
        let styles = folder.url.appending(path: "styles")
        try FileManager.default.createDirectory(at: styles, withIntermediateDirectories: true)
        try Data("{}".utf8).write(to: styles.appending(path: "skypath.json"))
        let yaml = """
            server:
              port: 70000
              hosts: x
              publicFolder: /nonexistent
              stylesFolder: \(styles.path)
            database: /nowhere/x.sqlite
            retention: 7
            frequencies: { fast: PT10M }
            sources:
              - id: "!"
                kind: skypath
                baseURL: http://far.example
                query: { history: 3, polygon: [[0, 0], [10, 10], [10, 0], [0, 10], [0, 0]] }
                wire: { corridorPath: x }
            """
        let environment = ["BILLOW_SERVER_PORT": "x", "BILLOW_LOG_LEVEL": "loud", "BILLOW_RETENTON": "P1D"]
        let problems = problems(
            yaml, environment: environment, overrides: SettingsOverrides(port: "abc"),
            needs: [.viewer, .styles, .database])
        let said = problems.map(\.description)
        let expected = [
            "server.port (--port) is 'abc'", "server.port (BILLOW_SERVER_PORT) is 'x'",
            "server.port (line 2) is '70000'",
            "server.hosts (line 3) is not a setting", "server.publicFolder (line 4) is '/nonexistent'; there is no",
            "database (line 6) is '/nowhere/x.sqlite'; the folder /nowhere does not exist", "retention (line 7) is '7'",
            "frequencies (line 8) must not be", "logLevel (BILLOW_LOG_LEVEL) is 'loud'", "sources[0].id (line 10)",
            "sources[0].baseURL (line 12) can't be used: the key would go over plain HTTP",
            "sources[0].apiKey (line 10) is missing", "sources[0].query.history (line 13)",
            "sources[0].query.polygon (line 13) can't be used", "sources[0].wire.corridorPath (line 14) is 'x'",
            "BILLOW_RETENTON is not the variable of a setting; the nearest is BILLOW_RETENTION",
        ]
        for words in expected { #expect(said.count { $0.hasPrefix(words) } == 1, "\(words) in \(said)") }
        let ofStyles = said.count { $0.hasPrefix("server.stylesFolder (line 5) is '\(styles.path)'; in skypath.json:") }
        #expect(ofStyles > 3 && said.count == expected.count + ofStyles, "\(said)")
        #expect(SettingsError(problems: problems).kind == .usage)
    }

    @Test("a command asks for what it uses, and what isn't there has the status of its kind")
    func needs() throws {
        let folder = try TemporaryFolder()
        let text = try folder.write("text.sqlite", "this is no database")
        let cases: [(String, SettingsNeeds, Failure.Kind?)] = [
            ("server: { publicFolder: /nonexistent, stylesFolder: /nonexistent }", .database, nil),
            ("server: { publicFolder: /nonexistent }", .viewer, .inputOutput),
            ("server: { stylesFolder: /nonexistent }", .styles, .inputOutput),
            ("database: \(folder.path("a.sqlite"))", .database, nil),
            ("database: \(folder.path("a.sqlite"))", .stored, .inputOutput),
            ("database: \(folder.path("a/b.sqlite"))", .database, .inputOutput),
            ("database: \(text)", .database, .data), ("database: \(text)", .stored, .data),
            ("database: \(text)", .styles, nil), ("database: \(text)\nretention: 7", .database, .usage),
        ]
        for (yaml, needs, kind) in cases {
            let found = problems(yaml, overrides: SettingsOverrides(), needs: needs)
            #expect((found.isEmpty ? nil : SettingsError(problems: found).kind) == kind, "\(yaml): \(found)")
        }
    }

    @Test("simulated and real sources are never mixed, the demo's among them")
    func mixing() throws {
        let inbox = "sources: [{ id: a, kind: inbox, path: x }]"
        #expect(try read(inbox).isSimulated == nil)
        let demo = SettingsOverrides(demo: true)
        let said = problems(inbox, overrides: demo).map(\.description)
        #expect(
            said.count == 1
                && said.contains { $0.hasPrefix("sources[0].simulated (line 1) must be true beside --demo") })
        let own = try read(inbox.replacing("x }", with: "x, simulated: true }"), overrides: demo)
        #expect(own.isSimulated == true && own.database == "billow-demo.sqlite")
        #expect(try read(nil, overrides: SettingsOverrides(database: "d", demo: true)).database == "d")
    }

    @Test(
        "a variable that is no setting's is named, with the nearest, and without its value",
        arguments: [
            ("BILLOW_SERVER_PROT", "BILLOW_SERVER_PORT"), ("BILLOW_PORT", "BILLOW_SERVER_PORT"),
            ("BILLOW_STALEAFTER", "BILLOW_STALE_AFTER"), ("BILLOW_SERVER_PUBLICURL", "BILLOW_SERVER_PUBLIC_URL"),
            ("BILLOW_TIMELINE_UPDATE_TRAFIC", "BILLOW_TIMELINE_UPDATE_TRAFFIC"), ("BILLOW_SKYPATH_API_KEY", nil),
        ] as [(String, String?)])
    func unknownVariable(name: String, nearest: String?) {
        let problems = problems(nil, environment: [name: Self.secret])
        let end = nearest.map { "; the nearest is \($0)" } ?? ""
        #expect(problems.map(\.description) == ["\(name) is not the variable of a setting\(end)"])
    }

    @Test("variables of tests, of a cluster's services and of other programs are left alone")
    func otherVariables() {
        let others = [
            "BILLOW_MEASURE": "x", "BILLOW_STORE_VICTIM": "x", "BILLOW_SERVICE_HOST": "10.0.0.1",
            "BILLOW_SERVICE_PORT": "80", "BILLOW_PORT": "tcp://10.0.0.1:80", "BILLOW_PORT_80_TCP_ADDR": "10.0.0.1",
            "BILLOWING": "x", "PATH": "/bin",
        ]
        #expect(problems(nil, environment: others).map(\.description) == [])
    }

    @Test(
        "edits between two words, known pairs",
        arguments: [("", "", 0), ("a", "", 1), ("PORT", "PROT", 1), ("kitten", "sitting", 3)])
    func distances(a: String, b: String, count: Int) {
        #expect(SettingsEnvironment.distance(a, b) == count && SettingsEnvironment.distance(b, a) == count)
    }

    static let secret = "SECRET-4711"

    @Test(
        "a secret is in no message",
        arguments: [
            "sources: [{ id: a, kind: skypath, baseURL: production, apiKey: \"\(secret)\\u0001\" }]",
            "sources: [{ id: a, kind: skypath, baseURL: production, apiKey: [\(secret)] }]",
            "sources: [{ id: a, kind: skypath, baseURL: nowhere, apiKey: \(secret), update: x }]",
            "sources:\n  - apiKey: \"\(secret)\n    kind: [\n", "sources:\n  - apiKey: \(secret)\n   kind: x\n",
            "sources:\n  - apiKey: \(secret)\n    apiKey: \(secret)\n", "sources: [{ apiKey: \(secret)",
            "sources: [{ id: a, kind: skypath, baseURL: 'http://user:\(secret)@far.example', apiKey: k }]",
            "sources: [{ id: a, kind: skypath, baseURL: 'ftp://user:\(secret)@far.example', apiKey: k }]",
            "sources: [{ id: a, kind: opensky, baseURL: 'ftp://user:\(secret)@far.example' }]",
            "sources: [{ id: a, kind: aviationweather, baseURL: 'https://user:\(secret)@far.example' }]",
            "server: { publicURL: 'https://user:\(secret)@far.example' }",
        ])
    func secrets(yaml: String) {
        let problems = problems(yaml)
        #expect(!problems.isEmpty)
        #expect(!SettingsError(problems: problems).description.contains(Self.secret), "\(problems)")
    }

    @Test("an environment variable that is missing is named once")
    func missingVariable() {
        let problems = problems("sources: [{ id: a, kind: skypath, baseURL: production, apiKey: '${NOT_SET}' }]")
        #expect(
            problems.map(\.description)
                == ["sources[0].apiKey (line 1) names the environment variable NOT_SET, which is not set"])
    }

    @Test(
        "ISO 8601 durations",
        arguments: [
            ("PT1S", 1), ("PT2M", 120), ("PT1H", 3_600), ("P7D", 604_800), ("P1W", 604_800), ("P1DT2H3M4S", 93_784),
            ("PT0S", 0), ("PT90M", 5_400), ("P3653D", 315_619_200), ("", nil), ("P", nil), ("PT", nil), ("P1DT", nil),
            ("7D", nil), ("P1Y", nil), ("P1M", nil), ("PT1D", nil), ("P1H", nil), ("PT1.5S", nil), ("P-1D", nil),
            ("-P1D", nil), ("PT1S1M", nil), ("PT1M1M", nil), ("pt1s", nil), ("P3654D", nil), ("P999999999W", nil),
            ("P9999999999D", nil), ("PT٣S", nil), (" PT1S", nil), ("PTT1S", nil), ("PT1", nil), ("P1DT2H3", nil),
        ] as [(String, Int?)])
    func durations(text: String, seconds: Int?) { #expect(ISODuration.seconds(text) == seconds) }

    @Test("environment names")
    func names() {
        for (path, name) in [
            ("server.port", "SERVER_PORT"), ("server.publicURL", "SERVER_PUBLIC_URL"), ("database", "DATABASE"),
            ("staleAfter", "STALE_AFTER"), ("severityThresholds.C60", "SEVERITY_THRESHOLDS_C60"),
        ] {
            #expect(SettingsEnvironment.upperSnake(path) == name)
        }
    }
}
