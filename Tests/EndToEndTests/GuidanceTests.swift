import AsyncHTTPClient
import Foundation
import TestSupport
import Testing

/// NOAA's grids from the look-alike's files through the built command to values over HTTP.
@Suite("NOAA's grids, from outside", .timeLimit(.minutes(20)))
struct GuidanceTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Some of the levels that the simulator has, in feet.
    private static let levels = [10_000, 18_000, 26_000, 34_000, 42_000]
    private static let leads = [1, 2, 3]

    /// A field as the server has it.
    private struct StoredField: Sendable {
        var product: String
        /// Unix seconds.
        var run: Int
        var lead: Int
        /// In feet; nil is the column.
        var levels: [Int?]

        var valid: Int { run + lead * 3_600 }

        /// The file that it came from, below the address of a server.
        var path: String {
            let day = Self.text(run, "yyyyMMdd")
            let hour = Self.text(run, "HH")
            if product == "gtgn" {
                return "gtgn/prod/gtgn.\(day)/\(hour)/gtgn.t\(hour)\(Self.text(run, "mm"))z.3km.grib2"
            }
            return "dafs/prod/dafs.\(day)/dafs.t\(hour)z.gtg.3km.conus.f0\(lead < 10 ? "0" : "")\(lead).grib2"
        }

        private static func text(_ seconds: Int, _ format: String) -> String {
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = TimeZone(secondsFromGMT: 0)
            formatter.dateFormat = format
            return formatter.string(from: Date(timeIntervalSince1970: Double(seconds)))
        }
    }

    private static func time(_ seconds: Int) -> String {
        Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
    }

    // MARK: The look-alike

    /// Its files have 45 by 27 points, 120 km apart, so that a debug build makes them in no time.
    private func simulator() async throws -> Simulator {
        try await Simulator(
            flights: 1, more: ["--guidance-every", "40", "--guidance-requests", "0"])
    }

    private func settings(_ simulator: Simulator) throws -> String {
        try folder.write(
            "guidance.yaml",
            """
            sources:
              - id: noaa
                kind: noaa-gtg
                baseURL: http://127.0.0.1:\(simulator.port)
                simulated: true
                update: PT2S
                # The look-alike makes its files while it answers, on a busy machine for minutes.
                timeout: PT10M
                levels: [\(Self.levels.map(String.init).joined(separator: ", "))]
                leadTimes: [\(Self.leads.map(String.init).joined(separator: ", "))]
                catchUp: PT30M
            """)
    }

    // MARK: The server

    private static func position(_ query: String) -> String { "/collections/gtg/position?\(query)" }

    /// The field of a product and run for a valid time; nil where there is none.
    private func field(_ server: Server, _ product: String, run: Int, lead: Int) async throws -> StoredField? {
        let valid = Self.time(run + lead * 3_600)
        let answer = try await server.get(
            Self.position("coords=POINT(-97.5%2038.5)&product=\(product)&run=\(Self.time(run))&datetime=\(valid)"))
        guard answer.status == 200 else {
            #expect(answer.status == 404, "\(answer.text)")
            return nil
        }
        let features = try answer.json["features"].items.map { $0["properties"] }
        // The nearest in time is shown where there is none of that time.
        guard let first = features.first, first["validTime"].string == valid else { return nil }
        #expect(features.allSatisfy { $0["lead"].integer == lead * 3_600 && $0["run"].string == Self.time(run) })
        return StoredField(product: product, run: run, lead: lead, levels: features.map { $0["altitude"].integer })
    }

    /// All fields that the server may have by the clock.
    private func fields(_ server: Server) async throws -> [StoredField] {
        let now = Int(Date().timeIntervalSince1970)
        var found: [StoredField] = []
        for run in stride(from: now / 900 * 900 - 3 * 3_600, through: now, by: 900) {
            if let field = try await field(server, "gtgn", run: run, lead: 0) { found.append(field) }
        }
        for run in stride(from: now / 3_600 * 3_600 - 4 * 3_600, through: now, by: 3_600) {
            for lead in Self.leads {
                if let field = try await field(server, "gtg", run: run, lead: lead) { found.append(field) }
            }
        }
        return found
    }

    // MARK: Questions

    private struct Question: Sendable, Encodable {
        /// The place of the field.
        var file: Int
        var parameter: Int
        /// None is the message of the column.
        var metres: [Int]?
        var longitude: Double
        var latitude: Double

        /// Queries for the server alone.
        var address = ""
        var identity: [String?] = []

        enum CodingKeys: CodingKey { case file, parameter, metres, longitude, latitude }
    }

    private struct Questions: Encodable {
        var files: [String]
        var questions: [Question]
    }

    /// A number, nothing, or "outside".
    private enum Value: Decodable, Equatable {
        case edr(Double)
        case missing
        case outside

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .missing
            } else if let edr = try? container.decode(Double.self) {
                self = .edr(edr)
            } else {
                self = .outside
            }
        }
    }

    /// Which field an instant shows without any other parameter. It is the newest nowcast of the half hour before it,
    /// else the forecast nearest in time, of the newest run.
    private static func shown(_ fields: [StoredField], at seconds: Int) -> Int? {
        let nowcasts = fields.indices.filter { fields[$0].product == "gtgn" && 0...1_800 ~= seconds - fields[$0].valid }
        if let newest = nowcasts.max(by: { fields[$0].valid < fields[$1].valid }) { return newest }
        let forecasts = fields.indices.filter {
            fields[$0].product == "gtg" && abs(seconds - fields[$0].valid) <= 5_400
        }
        return forecasts.min {
            (abs(seconds - fields[$0].valid), -fields[$0].run) < (abs(seconds - fields[$1].valid), -fields[$1].run)
        }
    }

    private static func questions(_ fields: [StoredField], _ count: Int) throws -> [Question] {
        var random = SeededGenerator(seed: 15)
        let first = try fields.map(\.valid).min().orMissing("a field")
        let last = try fields.map(\.valid).max().orMissing("a field")
        return try (0..<count).map { number in
            // Some lie beyond the grid.
            let longitude = (Double.random(in: -128 ... -66, using: &random) * 1e4).rounded() / 1e4
            let latitude = (Double.random(in: 21...51, using: &random) * 1e4).rounded() / 1e4
            var query = "coords=POINT(\(longitude)%20\(latitude))"
            let place: Int
            if number % 2 == 0 {
                // Any instant, and what is shown then.
                var instant = 0
                repeat {
                    instant = Int.random(in: first...last, using: &random)
                } while shown(fields, at: instant) == nil
                place = try shown(fields, at: instant).orMissing()
                query += "&datetime=\(time(instant))"
            } else {
                place = Int.random(in: fields.indices, using: &random)
                let field = fields[place]
                query += "&product=\(field.product)&run=\(time(field.run))&datetime=\(time(field.valid))"
            }
            let field = fields[place]
            let level = try field.levels.randomElement(using: &random).orMissing("a level")
            if let level { query += "&z=\(level)" }
            let metres = { (feet: Int) in Int(Double(feet) * 0.3048) }
            var question = Question(
                file: place, parameter: level == nil && field.product == "gtg" ? 31 : 30,
                metres: level.map { [metres($0)] }, longitude: longitude, latitude: latitude)
            // The column of a nowcast is the maximum of the levels that were fetched.
            if level == nil, field.product == "gtgn" { question.metres = levels.map(metres) }
            question.address = position(query)
            question.identity = [field.product, time(field.run), time(field.valid), level.map(String.init)]
            return question
        }
    }

    /// The server's values, requested over a few connections that stay open.
    private func values(_ server: Server, _ questions: [Question]) async throws -> [Value] {
        try await withThrowingTaskGroup(of: [(Int, Value)].self) { group in
            let workers = 4
            for worker in 0..<workers {
                group.addTask {
                    var found: [(Int, Value)] = []
                    for place in stride(from: worker, to: questions.count, by: workers) {
                        found.append((place, try await self.value(server, questions[place])))
                    }
                    return found
                }
            }
            var values = [Value](repeating: .outside, count: questions.count)
            for try await part in group { for (place, value) in part { values[place] = value } }
            return values
        }
    }

    private func value(_ server: Server, _ question: Question) async throws -> Value {
        let answer = try await server.get(question.address)
        #expect(answer.status == 200, "\(question.address): \(answer.text)")
        let features = try answer.json["features"].items.map { $0["properties"] }
        if features.isEmpty { return .outside }
        let value = try features.first { $0["altitude"].integer.map(String.init) == question.identity[3] }
            .orMissing(question.address)
        #expect(
            [value["product"].string, value["run"].string, value["validTime"].string]
                == Array(question.identity.prefix(3)), "\(question.address)")
        guard let edr = value["edr"].value as? NSNumber else { return .missing }
        return .edr(edr.doubleValue)
    }

    // MARK: Tests

    /// What the look-alike does to each process, and what that says.
    private static let faults: [(name: String, words: String)] = [
        ("late-files", "new"), ("growing-file", "new"), ("missing-index", "new"), ("empty", "noaa:"),
        ("truncated-message", "skipped"), ("wrong-length", "skipped"), ("wrong-range", "noaa:"),
        ("truncated-body", "noaa:"), ("html-page", "noaa:"), ("connection-reset", "noaa:"), ("server-error", "noaa:"),
        ("unavailable", "noaa:"), ("empty-body", "noaa:"),
        ("replaced-file", "noaa:"), ("range-ignored", "new"),
    ]

    @Test("through every fault and restart, 1,000 values over HTTP are ecCodes' own of the same files")
    func values() async throws {
        let simulator = try await simulator()
        let (database, file) = (folder.path("guidance.sqlite"), try settings(simulator))
        for (name, words) in Self.faults {
            try await simulator.fault(name)
            // How much the database lacks by now depends on the time. An empty one lacks all.
            let databases = words == "skipped" ? [database, folder.path("\(name).sqlite")] : [database]
            for database in databases {
                let done = try await Command.run("sync", "--once", "--database", database, "--config", file)
                #expect(done.status == 0 || done.status == 69, "\(name): \(done.errors)")
                let expected = database == databases.last ? words : "noaa:"
                #expect(done.errors.contains(expected), "\(name): \(done.errors)")
            }
        }
        try await blocked(simulator, file)

        // A server is killed as soon as it answers, the next one continues, and a last round fetches the rest.
        try await simulator.fault("none")
        let killed = try await Server("--database", database, "--config", file)
        killed.command.signal(SIGKILL)
        #expect(try await killed.command.status() == -SIGKILL)
        let started = Int(Date().timeIntervalSince1970)
        let syncing = try await Server("--database", database, "--config", file)
        for (product, lead, newest, interval) in [
            ("gtgn", 0, (started - 360) / 900 * 900, 900), ("gtg", 1, (started - 3_150) / 3_600 * 3_600, 3_600),
        ] {
            // While that is read, a newer one may take its place.
            try await eventually("all levels of \(product) of \(Self.time(newest)) or the next") {
                for run in [newest, newest + interval] {
                    let levels = try await field(syncing, product, run: run, lead: lead)?.levels
                    if levels == [nil] + Self.levels { return true }
                }
                // Questions at every chance would slow the server down.
                try await Task.sleep(for: .milliseconds(200))
                return false
            }
        }
        #expect(try await syncing.status()["sources"][0]["simulated"].bool == true)
        #expect(try await syncing.stop() == 0)
        let last = try await Command.run("sync", "--once", "--database", database, "--config", file)
        #expect(last.status == 0 && !last.errors.contains("skipped"), "\(last.errors)")
        let checked = try await Command.run("check", "--database", database)
        #expect(checked.status == 0, "\(checked.output)")

        // What is stored is served without any source, so nothing changes meanwhile.
        let server = try await Server("--database", database)
        try await eventually("stored data to be ready") { try await server.get("/readyz").status == 200 }
        let fields = try await fields(server)
        #expect(fields.count { $0.product == "gtgn" } >= 2 && fields.count { $0.product == "gtg" } >= 2)
        let questions = try Self.questions(fields, 1_000)
        let served = try await values(server, questions)
        #expect(try await server.stop() == 0)

        var files: [String] = []
        for (number, field) in fields.enumerated() {
            let grib = try await Answer.of("http://127.0.0.1:\(simulator.port)/pub/data/nccf/com/\(field.path)")
            #expect(grib.status == 200, "\(field.path)")
            files.append(folder.path("\(number).grib2"))
            try grib.body.write(to: URL(filePath: files[number]))
        }
        try await imports(files)
        let right = try Oracle.ask(
            "fields.py", Questions(files: files, questions: questions), answer: [Value].self)
        var wrong: [String] = []
        for (question, (served, right)) in zip(questions, zip(served, right)) {
            let isSame =
                switch (served, right) {
                // EDR is kept in hundredths.
                case (.edr(let served), .edr(let right)): abs(served - right) <= 0.005_001
                default: served == right
                }
            if !isSame { wrong.append("\(question.address): \(served), not \(right)") }
        }
        #expect(right.count == 1_000 && wrong.isEmpty, "\(wrong.count): \(wrong.prefix(5))")
        // Both products, the column and each level, and places without a value were among them.
        #expect(Set(questions.map { $0.identity[0] }) == ["gtgn", "gtg"])
        #expect(Set(questions.map { $0.identity[3] }) == Set([nil] + Self.levels.map(String.init)))
        #expect(right.contains(.missing) && right.contains(.outside))
        #expect(right.count { if case .edr = $0 { true } else { false } } > 600)
    }

    /// The look-alike's files say that they are a test. Only a database of simulated data takes them.
    private func imports(_ files: [String]) async throws {
        let database = folder.path("imported.sqlite")
        let refused = try await Command.run("import", files[0], "--database", database)
        #expect(
            refused.status == 65 && refused.errors.contains("only a database of simulated data"), "\(refused.errors)")
        let taken = try await Command.run("import", "--simulated", files[0], "--database", database)
        #expect(taken.status == 0 && taken.errors.contains("levels of fields"), "\(taken.errors)")
        let again = try await Command.run("import", files[0], "--database", database)
        #expect(again.status == 0 && again.errors.contains("there already"), "\(again.errors)")
    }

    /// After a 403 nothing is requested, whatever is restarted. It lasts ten minutes, so it is tried with
    /// databases of its own, like other refusals after which requests wait. Those databases are empty, so there is
    /// something to request.
    private func blocked(_ simulator: Simulator, _ file: String) async throws {
        for (block, lasts) in [("forbidden", true), ("redirected", false), ("rate-limited", false)] {
            let database = folder.path("\(block).sqlite")
            for fault in lasts ? [block, "none"] : [block] {
                try await simulator.fault(fault)
                let done = try await Command.run("sync", "--once", "--database", database, "--config", file)
                #expect(done.status == 69, "\(block), \(fault): \(done.errors)")
            }
        }
    }
}
