import BillowRaster
import Foundation
import Testing

@Suite("Import and export by the command line")
struct ImportExportTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func records(_ text: String) throws -> [JSON] {
        try text.split(separator: "\n").map { JSON(value: try JSONSerialization.jsonObject(with: Data($0.utf8))) }
    }

    @Test("the real pilot reports of Florida come in as 57, twice as well as once, and go out again")
    func florida() async throws {
        let database = folder.path("a.sqlite")
        let first = try await Command.run("import", "--database", database, Repository.florida)
        #expect(first.status == 0, "\(first.errors)")
        #expect(first.output.isEmpty)
        #expect(
            first.errors.contains(
                "57 pilot reports: 22 smooth, 8 light, 2 moderate, 1 moderate-severe, 24 that don't mention turbulence")
        )
        let observations = try await Command.run("export", "observations", "--database", database, "--format", "csv")
        #expect(observations.status == 0)

        let again = try await Command.run("import", "--database", database, Repository.florida)
        #expect(again.status == 0)
        let unchanged = try await Command.run("export", "observations", "--database", database, "--format", "csv")
        #expect(unchanged.output == observations.output)

        let reports = try await Command.run("export", "pireps", "--database", database, "--format", "geojsonl")
        #expect(try records(reports.output).count == 57)
        #expect(reports.errors.contains("57 features written"))
        let severities = try records(reports.output).map { $0["properties"]["severity"].integer }
        #expect(severities.filter { $0 == 0 }.count == 22)
        #expect(severities.filter { $0 == nil }.count == 24)
    }

    @Test(
        "an export can be imported, and exported again unchanged", arguments: ["geojson", "geojsonl", "csv"])
    func roundTrip(format: String) async throws {
        let file = try folder.write("in.csv", Self.table)
        let one = folder.path("one.sqlite")
        let two = folder.path("two.sqlite")
        let taken = try await Command.run("import", "--database", one, "--source", "lab", file, Repository.florida)
        #expect(taken.status == 0, "\(taken.errors)")
        let path = folder.path("out.\(format)")
        let written = try await Command.run("export", "observations", "--database", one, "-o", path)
        #expect(written.status == 0, "\(written.errors)")
        #expect(written.output.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: path + ".part"))
        let back = try await Command.run("import", "--database", two, path)
        #expect(back.status == 0, "\(back.errors)")
        let first = try await Command.run("export", "observations", "--database", one, "--format", "csv").output
        let second = try await Command.run("export", "observations", "--database", two, "--format", "csv").output
        // Two databases share neither the order of one second's observations nor the ids that they make themselves.
        func contents(_ csv: String) -> [String] {
            csv.split(separator: "\r\n").map { String($0.replacing(/^o[0-9a-f]{16},/, with: "o,")) }.sorted()
        }
        #expect(contents(first) == contents(second))
        #expect(first.split(separator: "\r\n").count > 30)
        let twice = try await Command.run("import", "--database", one, path)
        #expect(twice.status == 0)
        #expect(try await Command.run("export", "observations", "--database", one, "--format", "csv").output == first)
    }

    /// Ids and none, EDR and severity, a band, an aircraft with a comma.
    static let table = """
        id,lon,lat,altitude,altitudeMax,severity,edr,observedAt,aircraft,category
        a1,10.5,50.2,38000,38000,3,0.22,2026-07-21T19:30:00Z,"B738, left",C60
        ,10.5,50.2,37000,37000,,0.12,2026-07-21T19:31:00Z,,
        ,179.99,-16.5,31250,33000,4,,1784662200,,
        b/2,-179.99,-16.5,0,0,0,,2026-07-21T21:32:00+02:00,,C10

        """

    @Test("of one id twice in a file the first counts, so that the same file again changes nothing")
    func repeatedID() async throws {
        let database = folder.path("a.sqlite")
        let file = try folder.write(
            "ids.csv",
            """
            id,lon,lat,altitude,edr,observedAt
            x1,10.5,50.2,38000,0.3,2026-07-21T19:30:00Z
            x1,10.5,50.2,38000,0.4,2026-07-21T19:30:00Z

            """)
        var exports: Set<String> = []
        for known in [1, 2, 2] {
            let run = try await Command.run("import", "--database", database, file)
            #expect(run.status == 0)
            #expect(run.errors.contains("\(known) there already"), "\(run.errors)")
            let export = try await Command.run("export", "observations", "--database", database)
            exports.insert(export.output)
        }
        #expect(exports.first?.contains("\"edr\":0.3") == true)
        // The version and the rows are those of the first time; only the picture's own time moves on.
        let versions = exports.compactMap { $0.firstMatch(of: /"version":(\d+)/)?.1 }
        #expect(Set(versions) == ["1"])
    }

    @Test("an unusable line is reported with its number, the import continues, and the status is 65")
    func refusals() async throws {
        let file = try folder.write(
            "mixed.csv",
            """
            lon,lat,altitude,severity,observedAt
            10,50,38000,3,2026-07-21T19:30:00Z
            10,95,38000,3,2026-07-21T19:30:00Z
            10,50,99000,3,2026-07-21T19:30:00Z
            10,50,38000,3,2026-07-21T19:30:00
            11,50,38000,2,2026-07-21T19:30:00Z

            """)
        let result = try await Command.run("import", "--database", folder.path("m.sqlite"), file)
        #expect(result.status == 65)
        #expect(result.errors.contains("5 records read, 3 refused"))
        for line in ["3", "4", "5"] { #expect(result.errors.contains("line \(line)"), "\(result.errors)") }
        let rows = try await Command.run(
            "export", "observations", "--database", folder.path("m.sqlite"), "--format", "geojsonl")
        #expect(try records(rows.output).count == 2)
    }

    @Test("an export of hexagons is refused with its reason")
    func hexagonsAreNotObservations() async throws {
        let database = folder.path("h.sqlite")
        _ = try await Command.run("import", "--database", database, Repository.florida)
        for format in ["geojson", "geojsonl", "csv"] {
            let path = folder.path("hexagons.\(format)")
            let export = try await Command.run(
                "export", "hexagons", "--database", database, "--datetime", "2026-07-21T20:00:00Z", "-o", path)
            #expect(export.status == 0, "\(export.errors)")
            let result = try await Command.run("import", "--database", folder.path("other.sqlite"), path)
            #expect(result.status == 65, "\(format)")
            #expect(result.errors.contains("hexagon"), "\(result.errors)")
            let rows = try await Command.run(
                "export", "observations", "--database", folder.path("other.sqlite"), "--format", "geojsonl")
            #expect(rows.output.isEmpty)
        }
    }

    @Test("standard input is a file like others")
    func standardInput() async throws {
        let database = folder.path("i.sqlite")
        let result = try await Command.run("import", "--database", database, "-", input: Self.table)
        #expect(result.status == 0, "\(result.errors)")
        let rows = try await Command.run("export", "observations", "--database", database, "--format", "geojsonl")
        #expect(try records(rows.output).count == 4)
    }

    struct BadCommand: Sendable, CustomTestStringConvertible {
        var arguments: [String]
        var status: Int32
        var says: String
        var testDescription: String { arguments.joined(separator: " ") }
    }

    static let badCommands = [
        BadCommand(arguments: [], status: 0, says: "SUBCOMMANDS"),
        BadCommand(arguments: ["nonsense"], status: 64, says: "nonsense"),
        BadCommand(arguments: ["serve", "--port", "abc"], status: 64, says: "port"),
        BadCommand(arguments: ["serve", "--port", "70000", "--database", "DB"], status: 64, says: "0 to 65535"),
        BadCommand(arguments: ["serve", "--what"], status: 64, says: "--what"),
        BadCommand(arguments: ["serve", "--database", "NONE/x.sqlite"], status: 74, says: "NONE"),
        BadCommand(arguments: ["serve", "--database", "TEXT"], status: 65, says: "not an SQLite database"),
        BadCommand(arguments: ["backup", "NONE", "--database", "postgres://x"], status: 64, says: "pg_dump"),
        BadCommand(arguments: ["salvage", "postgres://x", "-o", "NONE"], status: 64, says: "postgres://x"),
        BadCommand(
            arguments: ["serve", "--database", "DB", "--config", "NONE.yaml"], status: 64, says: "can't be read"),
        BadCommand(arguments: ["import"], status: 64, says: "file"),
        BadCommand(arguments: ["import", "--database", "DB", "NONE.csv"], status: 74, says: "no such file"),
        BadCommand(arguments: ["import", "--database", "DB", "FOLDER"], status: 74, says: "folder"),
        BadCommand(arguments: ["import", "--database", "DB", "--source", "a b", "x"], status: 64, says: "--source"),
        BadCommand(arguments: ["import", "--database", "NONE/x.sqlite", "TEXT"], status: 74, says: "NONE"),
        BadCommand(arguments: ["export", "--database", "DB"], status: 64, says: "collection"),
        BadCommand(arguments: ["export", "clouds", "--database", "DB"], status: 64, says: "hexagons"),
        BadCommand(arguments: ["export", "hexagons", "--database", "NONE"], status: 74, says: "no such file"),
        BadCommand(
            arguments: ["export", "hexagons", "--database", "DB", "--format", "xml"], status: 64, says: "geojsonl"),
        BadCommand(
            arguments: ["export", "hexagons", "--database", "DB", "-o", "x"], status: 64, says: "names no format"),
        BadCommand(arguments: ["export", "hexagons", "--database", "DB", "-o", "x.xml"], status: 64, says: "geojsonl"),
        BadCommand(
            arguments: ["export", "hexagons", "--database", "DB", "-o", "NONE/x.csv"], status: 74,
            says: "can't be written"),
        BadCommand(
            arguments: ["export", "hexagons", "--database", "DB", "--hours", "3"], status: 64, says: "0.5, 1, 2, 4, 6"),
        BadCommand(arguments: ["export", "hexagons", "--database", "DB", "--bbox", "1,2,3"], status: 64, says: "west"),
        BadCommand(
            arguments: ["export", "hexagons", "--database", "DB", "--datetime", "now"], status: 64, says: "instant"),
        BadCommand(
            arguments: ["export", "hexagons", "--database", "DB", "--severity", "9"], status: 64,
            says: "moderate-severe"),
        BadCommand(arguments: ["sync", "--database", "DB"], status: 64, says: "--once"),
        BadCommand(arguments: ["sync", "--once", "--database", "DB"], status: 64, says: "no source"),
        BadCommand(arguments: ["simulate", "--replay", "NONE"], status: 74, says: "no folder that can be read"),
        BadCommand(arguments: ["simulate", "--port", "-1"], status: 64, says: "port"),
        BadCommand(arguments: ["simulate", "--fault", "nonsense"], status: 64, says: "server-error"),
    ]

    @Test(
        "a command that can't work says so in a sentence and ends with the status of its kind", arguments: badCommands)
    func badCommand(_ bad: BadCommand) async throws {
        // NONE: nothing there. TEXT: a file that is no database. DB: an empty database.
        let text = try folder.write("text", String(repeating: "not a database, by far\n", count: 100))
        let database = folder.path("db.sqlite")
        let file = try folder.write("empty.csv", "lon,lat,altitude,severity,observedAt\n")
        _ = try await Command.run("import", "--database", database, file)
        let arguments = bad.arguments.map {
            $0 == "DB"
                ? database
                : $0.replacing("NONE", with: folder.path("NONE")).replacing("TEXT", with: text)
                    .replacing("FOLDER", with: folder.url.path)
        }
        let command = try Command(arguments)
        let status = try await command.status()
        let said = try command.standardError + command.standardOutput
        #expect(status == bad.status, "\(said)")
        #expect(said.contains(bad.says), "\(said)")
        #expect(!said.contains("Fatal error"))
        if bad.status > 0 { #expect(try command.standardOutput.isEmpty) }
        #expect(!FileManager.default.fileExists(atPath: folder.path("NONE")))
        #expect(try String(contentsOfFile: text, encoding: .utf8).hasPrefix("not a database"))
    }
}
