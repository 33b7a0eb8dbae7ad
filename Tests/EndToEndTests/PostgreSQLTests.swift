import BillowPostgreSQL
import Foundation
import NIOHTTP1
import TestSupport
import Testing

/// The built command on a PostgreSQL database.
@Suite("PostgreSQL")
struct PostgreSQLTests {
    /// The answers of a server on stored data, which name no key of a row. The version depends on the number of an
    /// import's transactions, which are short by the clock.
    private static let paths: [String] = {
        let instants = ["2026-07-21T20:00:00Z", "2026-07-21T20:30:00Z"]
        let tiles = ["0/0/0", "3/2/3", "5/8/13", "6/17/27", "7/35/54"]
        return instants.flatMap { instant in
            tiles.map { "/tiles/pireps/\(instant)/\($0).png" }
                + ["hexagons", "polygons", "turbulence"].flatMap { layer in
                    tiles.prefix(3).map { "/tiles/\(layer)/\(instant)/\($0).png" }
                }
                + ["/export/pireps.csv?datetime=\(instant)", "/export/hexagons.geojson?datetime=\(instant)"]
        } + ["/export/pireps.csv?datetime=2026-07-21T18:00:00Z/2026-07-21T22:00:00Z"]
    }()

    private func address() async throws -> String { try await PostgreSQLCluster.shared().address().text }

    /// Observations of the time of the stored pilot reports.
    private func observations(_ numbers: Range<Int>) -> String {
        let features = numbers.map { number in
            """
            {"id": "o\(number)", "lon": \(-85 + Double(number % 40) / 8), "lat": \(25 + Double(number / 40) / 8), \
            "altitude": \(30_000 + number % 8 * 1_000), "severity": \(number % 5), \
            "observedAt": "2026-07-21T\(number % 2 == 0 ? "19" : "20"):\(10 + number % 20):00Z"}
            """
        }
        return "[" + features.joined(separator: ",\n") + "]"
    }

    @Test("a server on PostgreSQL gives the same answers as one on SQLite, also after a restart")
    func sameAnswers() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("observations.json", observations(0..<800))
        var answers: [[String]] = []
        let postgreSQL = try await address()
        for database in [folder.path("x.sqlite"), postgreSQL] {
            for input in [file, Repository.florida] {
                let imported = try await Command.run("import", "--database", database, input)
                #expect(imported.status == 0, "\(imported.errors)")
            }
            for _ in database == postgreSQL ? 0..<2 : 0..<1 {
                let server = try await Server("--database", database)
                answers.append(
                    try await Self.paths.asyncMap { path in
                        let answer = try await server.get(path)
                        guard path.contains(".geojson") else {
                            return "\(answer.status) \(answer.body.base64EncodedString())"
                        }
                        let features = answer.text.replacing(/"version":\d+,/, with: "", maxReplacements: 1)
                        #expect(features != answer.text)
                        return "\(answer.status) \(features)"
                    })
                #expect(try await server.stop() == 0)
            }
        }
        #expect(answers[0].allSatisfy { $0.hasPrefix("200 ") }, "\(zip(Self.paths, answers[0].map { $0.prefix(3) }))")
        for number in 1..<answers.count {
            let different = zip(Self.paths, zip(answers[0], answers[number])).filter { $0.1.0 != $0.1.1 }.map(\.0)
            #expect(different.isEmpty)
        }
        let exports = try await [folder.path("x.sqlite"), postgreSQL].asyncMap { database in
            let export = try await Command.run(
                "export", "observations", "--format", "csv", "--datetime", "2026-07-21T18:00:00Z/2026-07-21T22:00:00Z",
                "--database", database)
            #expect(export.status == 0, "\(export.errors)")
            return export.output.split(separator: "\r\n").sorted()
        }
        // 800 of the file and 33 pilot reports that tell a severity, below a line of names.
        #expect(exports[0].count == 834 && exports[0] == exports[1])
    }

    @Test("keys, ingest, a picture of it, a check and a deletion work, and no output has the password")
    func commands() async throws {
        let database = try await address().replacingOccurrences(of: "billow@", with: "billow:not-for-logs@")
        var texts: [String] = []
        func run(_ arguments: String..., status: Int32 = 0) async throws -> Finished {
            let command = try Command(arguments + ["--database", database])
            let ended = try await command.status()
            let (output, errors) = (try command.standardOutput, try command.standardError)
            texts += [output, errors]
            #expect(ended == status, "\(arguments): \(errors)")
            return Finished(status: ended, output: output, errors: errors)
        }
        #expect(try await run("doctor", "--offline", "--port", "0").output.contains("no tables yet"))
        #expect(try await run("check", status: 74).errors.contains("no tables"))
        let key = try await run("keys", "create", "--scope", "ingest").output
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let server = try await Server("--database", database)
        let now = Date.now.addingTimeInterval(-120).ISO8601Format()
        let sent = #"[{"lon": 10, "lat": 50, "altitude": 34000, "severity": 3, "observedAt": "\#(now)"}]"#
        let answer = try await server.send(.POST, "/observations", sent, key: key)
        #expect(answer.status == 200, "\(answer.text)")
        #expect(try answer.json["accepted"].integer == 1)
        try await eventually("the observation in the export") {
            try await server.get("/export/observations.csv").text.split(separator: "\r\n").count == 2
        }
        #expect(try await server.get("/tiles/hexagons/latest/2/2/1.png").status == 200)
        texts += [try await server.get("/status").text, try await server.get("/metrics").text]
        #expect(try await run("check").errors.contains("sound"))
        #expect(try await run("prune", "--before", "2100-01-01T00:00:00Z", status: 64).errors.contains("ahead"))
        let cut = Date.now.addingTimeInterval(-60).ISO8601Format()
        #expect(try await run("prune", "--before", cut).errors.contains("1 observations"))
        #expect(try await server.stop() == 0)
        texts.append(try server.command.standardError)
        #expect(try await run("doctor", "--offline", "--port", "0").output.contains("is sound"))
        for (command, instead) in [("backup", "pg_dump"), ("restore", "pg_restore")] {
            #expect(try await run(command, "/nowhere/copy.sqlite", status: 64).errors.contains(instead))
        }
        #expect(!texts.joined().contains("not-for-logs"))
        #expect(texts.joined().contains("postgres://billow@"))
    }

    @Test("a server that can't be reached is named, without the password")
    func unreachable() async throws {
        let run = try await Command.run(
            "check", "--database", "postgres://user:not-for-logs@/db?host=/nowhere&connect_timeout=2")
        #expect(run.status == 74)
        #expect(run.errors.contains("postgres://user@/db"))
        #expect(!run.errors.contains("not-for-logs"))
        #expect(!run.errors.contains("\t") && !run.errors.contains(";  "), "\(run.errors)")
    }
}

extension Sequence {
    /// Transforms the elements one after another.
    fileprivate func asyncMap<T>(_ transform: (Element) async throws -> T) async rethrows -> [T] {
        var values: [T] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
