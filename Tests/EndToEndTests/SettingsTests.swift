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

    private func problems(_ yaml: String, environment: [String: String] = [:]) -> [String] {
        do {
            _ = try read(yaml, environment: environment)
            return []
        } catch { return error.problems }
    }

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

    @Test("flags over environment over file over defaults")
    func precedence() throws {
        let file = "server: { port: 1, host: file }\ndatabase: file\nretention: P1D\nlogLevel: error"
        let environment = [
            "BILLOW_SERVER_PORT": "2", "BILLOW_DATABASE": "env", "BILLOW_SERVER_PUBLIC_URL": "https://env",
            "BILLOW_RETENTION": "P3D", "BILLOW_STALE_AFTER": "PT1M", "BILLOW_UNKNOWN": "is none of our business",
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
        ("server: { hosts: x }", ["server.hosts is not a setting; known here: "]),
        ("retention: 7", ["retention is '7'"]), ("retention: PT59M", ["retention"]), ("retention: P1M", ["retention"]),
        ("staleAfter: PT0S", ["staleAfter"]), ("logLevel: loud", ["logLevel"]),
        ("colour: red", ["colour is not a setting"]),
        ("database: postgres://x/y", ["PostgreSQL"]), ("sources: 5", ["sources must be a list"]),
        ("sources: [5]", ["sources[0] must hold settings of its own"]),
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
                + "{ id: a, kind: skypath, baseURL: production, apiKey: k }]", ["name 'a' twice"]
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
        ("sources: [{ id: a, kind: skypath, baseURL: 'http://far.example', apiKey: k }]", ["[0]"]),
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
        let problems = problems(yaml)
        #expect(problems.count == expected.count, "\(problems)")
        for words in expected { #expect(problems.contains { $0.contains(words) }, "\(words) in \(problems)") }
    }

    @Test("all problems of a file come in one error")
    func together() {
        let all = Self.bad.filter { $0.0.hasPrefix("server: { port") || $0.0.hasPrefix("retention: 7") }
        #expect(all.count == 4)
        let problems = problems(
            "server: { port: 70000, hosts: x }\nretention: 7\nstaleAfter: PT0S\ncolour: red\nsources: [{ id: '!' }]")
        #expect(problems.count == 9, "\(problems)")
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
        ])
    func secrets(yaml: String) {
        let problems = problems(yaml)
        #expect(!problems.isEmpty)
        #expect(!SettingsError(problems: problems).description.contains(Self.secret), "\(problems)")
    }

    @Test("an environment variable that is missing is named once")
    func missingVariable() {
        let problems = problems("sources: [{ id: a, kind: skypath, baseURL: production, apiKey: '${NOT_SET}' }]")
        #expect(problems == ["sources[0].apiKey names the environment variable NOT_SET, which is not set"])
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
            #expect(SettingsReader.upperSnake(path) == name)
        }
    }
}
