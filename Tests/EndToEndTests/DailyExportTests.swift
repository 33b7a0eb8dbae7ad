import Foundation
import TestSupport
import Testing

@Suite("Exports since the last run")
struct DailyExportTests {
    let folder: TemporaryFolder
    private var database: String { folder.path("a.sqlite") }
    private var output: String { folder.path("daily") }

    init() throws { folder = try TemporaryFolder() }

    /// Imports observations with ids and seconds after midnight of 21 July.
    private func importRows(_ rows: [(id: String, seconds: Int)], into database: String? = nil) async throws {
        let midnight = 1_784_592_000
        let lines = rows.map { "\($0.id),\(Double($0.seconds % 90)),50,38000,38000,3,0.22,\(midnight + $0.seconds),," }
        let header = "id,lon,lat,altitude,altitudeMax,severity,edr,observedAt,aircraft,category"
        let file = try folder.write("rows-\(UUID().uuidString).csv", ([header] + lines).joined(separator: "\n") + "\n")
        let run = try await Command.run("import", "--database", database ?? self.database, file)
        #expect(run.status == 0, "\(run.errors)")
    }

    private func export(_ arguments: String..., collection: String = "observations", database: String? = nil)
        async throws -> Finished
    {
        let all =
            ["export", collection, "--database", database ?? self.database, "--since-last", "-o", output] + arguments
        let command = try Command(all)
        let status = try await command.status()
        return Finished(status: status, output: try command.standardOutput, errors: try command.standardError)
    }

    /// Exports observations that are new as CSV, or a part of them.
    private func exporting(
        to folder: String, script: String? = nil, killedAfter time: Duration? = nil
    ) async throws -> Finished {
        let command = try Command(
            ["export", "observations", "--database", database, "--since-last", "--format", "csv", "-o", folder],
            script: script)
        if let time {
            try await Task.sleep(for: time)
            command.signal(SIGKILL)
        }
        let status = try await command.status()
        return Finished(status: status, output: "", errors: try command.standardError)
    }

    private func text(_ name: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: output).appending(path: name)), as: UTF8.self)
    }

    private var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: output)) ?? []).sorted()
    }

    /// The ids in all files, in the order of the files.
    private func ids(_ ending: String = "csv") throws -> [String] {
        try names.filter { $0.hasSuffix(".\(ending)") }.flatMap { name in
            try text(name).split(whereSeparator: \.isNewline).dropFirst().map { String($0.prefix { $0 != "," }) }
        }
    }

    private static let day = 86_400

    @Test("each run appends what is new to the files of its days, also what arrives late, and nothing twice")
    func appending() async throws {
        try await importRows([("a", 100), ("b", 200), ("c", Self.day + 5)])
        let first = try await export("--format", "csv")
        #expect(first.status == 0, "\(first.errors)")
        #expect(first.errors.contains("3 features written to 2 files"))
        #expect(first.output.isEmpty)
        #expect(names == ["observations-2026-07-21.csv", "observations-2026-07-22.csv", "observations.csv.state"])
        #expect(try ids() == ["a", "b", "c"])
        let none = try await export("--format", "csv")
        #expect(none.status == 0 && none.errors.contains("0 features written to 0 files"), "\(none.errors)")

        try await importRows([("late", 50), ("d", Self.day + 6), ("e", 2 * Self.day), ("a", 100)])
        let second = try await export("--format", "csv")
        #expect(second.errors.contains("3 features written to 3 files"), "\(second.errors)")
        #expect(try ids() == ["a", "b", "late", "c", "d", "e"])
        #expect(try text("observations-2026-07-21.csv").components(separatedBy: "observedAt").count == 2)
        // Together they are what an export has.
        let whole = try await Command.run("export", "observations", "--database", database, "--format", "csv").output
        let lines = try names.filter { $0.hasSuffix(".csv") }.flatMap { try text($0).components(separatedBy: "\r\n") }
        #expect(Set(lines) == Set(whole.components(separatedBy: "\r\n")))
    }

    @Test("a killed run is continued where the last complete one ended, at whatever moment it was killed")
    func killed() async throws {
        let count = 40_000
        try await importRows((0..<count).map { ("o\($0)", $0 * 7 % (3 * Self.day)) })
        let whole = try await exporting(to: folder.path("whole"))
        #expect(whole.status == 0, "\(whole.errors)")
        // A write beyond a size fails, wherever that is in a file and however busy the machine is. Shells count
        // blocks of 512 bytes.
        let size = try Data(contentsOf: folder.url.appending(path: "whole/observations-2026-07-23.csv")).count
        for part in 1...6 {
            let failed = try await exporting(to: output, script: "ulimit -f \(size * part / 7 / 512)")
            #expect(failed.status == 74, "\(part): \(failed.errors)")
        }
        // Others are killed after some time, wherever they are then.
        for milliseconds in [5, 10, 20, 40, 80, 160] {
            let ended = try await exporting(to: output, killedAfter: .milliseconds(milliseconds))
            #expect(ended.status == -SIGKILL || ended.status == 0, "\(ended.errors)")
        }
        let last = try await export("--format", "csv")
        #expect(last.status == 0, "\(last.errors)")
        let found = try ids()
        #expect(found.count == count && Set(found).count == count)
    }

    @Test("bytes behind the complete ones are cut off, and a file that was moved away begins anew")
    func remains() async throws {
        try await importRows([("a", 100), ("b", Self.day)])
        _ = try await export("--format", "csv")
        let path = URL(filePath: output).appending(path: "observations-2026-07-21.csv")
        let complete = try Data(contentsOf: path)
        try (complete + Data("x,half a li".utf8)).write(to: path)
        let again = try await export("--format", "csv")
        #expect(again.status == 0, "\(again.errors)")
        #expect(try Data(contentsOf: path) == complete)

        try FileManager.default.removeItem(at: path)
        try await importRows([("c", 101)])
        _ = try await export("--format", "csv")
        #expect(try ids() == ["c", "b"])
        #expect(try text("observations-2026-07-21.csv").hasPrefix("id,h3,"))
    }

    @Test("files of other parameters, another log or another writer are never changed")
    func refusals() async throws {
        try await importRows([("a", 100)])
        _ = try await export("--format", "csv")
        let before = try names.map { try text($0) }
        let other = try await export("--format", "csv", "--min-severity", "4")
        #expect(other.status == 64 && other.errors.contains("other parameters"), "\(other.errors)")

        let elsewhere = folder.path("b.sqlite")
        try await importRows([("z", 100)], into: elsewhere)
        let foreign = try await export("--format", "csv", database: elsewhere)
        #expect(foreign.status == 65 && foreign.errors.contains("not the one of the last run"), "\(foreign.errors)")

        let path = URL(filePath: output).appending(path: "observations-2026-07-22.csv")
        try Data("mine".utf8).write(to: path)
        try await importRows([("b", Self.day)])
        let taken = try await export("--format", "csv")
        #expect(taken.status == 64 && taken.errors.contains("no run has written it"), "\(taken.errors)")
        #expect(try text("observations-2026-07-22.csv") == "mine")
        try FileManager.default.removeItem(at: path)
        #expect(try names.map { try text($0) } == before)

        try Data().write(to: URL(filePath: output).appending(path: "observations-2026-07-21.csv"))
        let shorter = try await export("--format", "csv")
        #expect(shorter.status == 65 && shorter.errors.contains("shorter"), "\(shorter.errors)")
        try Data("{}".utf8).write(to: URL(filePath: output).appending(path: "observations.csv.state"))
        let broken = try await export("--format", "csv")
        #expect(broken.status == 65 && broken.errors.contains("no state of an export"), "\(broken.errors)")
    }

    @Test(
        "what --since-last can't do is refused, and the message names what it can",
        arguments: [
            (["hexagons"], "records only"), (["observations", "--format", "geojson"], "geojsonl, geojsons, csv"),
            (["observations", "--datetime", "../.."], "--datetime must be left out"),
            (["observations", "--hours", "2"], "--hours must be left out"),
        ])
    func usage(_ arguments: [String], _ words: String) async throws {
        try await importRows([("a", 100)])
        let command = try Command(["export"] + arguments + ["--database", database, "--since-last", "-o", output])
        #expect(try await command.status() == 64)
        #expect(try command.standardError.contains(words))
        let folderless = try await Command.run("export", "observations", "--database", database, "--since-last")
        #expect(folderless.status == 64 && folderless.errors.contains("-o"))
        #expect(names.isEmpty)
    }

    @Test("every collection of records is written by lines, and the formats share a folder")
    func collections() async throws {
        let taken = try await Command.run("import", "--database", database, Repository.florida)
        #expect(taken.status == 0)
        for collection in ["pireps", "hazards", "forecast", "advisories", "traffic", "observations"] {
            let run = try await export(collection: collection)
            #expect(run.status == 0, "\(collection): \(run.errors)")
        }
        let reports = try text("pireps-2026-07-21.geojsonl").split(separator: "\n")
        #expect(reports.count == 57)
        #expect(names.contains("observations.geojsonl.state") && names.contains("pireps.geojsonl.state"))
        #expect(try await export("--format", "geojsons", collection: "pireps").status == 0)
        #expect(try text("pireps-2026-07-21.geojsons").split(separator: "\u{1E}").count == 57)
    }

    @Test("an estimate tells features and bytes and writes nothing: of few exactly, of many about")
    func estimate() async throws {
        try await importRows([("a", 100), ("b", 200)])
        let few = try await export("--format", "csv", "--estimate")
        #expect(few.errors.hasPrefix("2 features, "), "\(few.errors)")
        #expect(names.isEmpty)
        let plain = try await Command.run("export", "observations", "--database", database, "--format", "csv")
        let exact = try await Command.run(
            "export", "observations", "--database", database, "--format", "csv", "--estimate")
        #expect(exact.errors == "2 features, \(plain.output.utf8.count) bytes\n" && exact.output.isEmpty)

        try await importRows((0..<30_000).map { ("o\($0)", $0 * 3) })
        let many = try await Command.run(
            "export", "observations", "--database", database, "--format", "csv", "--estimate")
        let numbers = many.errors.matches(of: /\d+/).compactMap { Int($0.0) }
        #expect(many.errors.hasPrefix("about ") && numbers.first == 30_002, "\(many.errors)")
        let whole = try await Command.run("export", "observations", "--database", database, "--format", "csv")
        let bytes = Double(try #require(numbers.last))
        #expect(abs(bytes / Double(whole.output.utf8.count) - 1) < 0.05)
        // The size of a GeoPackage is known only when it is made.
        let package = try await Command.run(
            "export", "observations", "--database", database, "--format", "gpkg", "--estimate")
        #expect(package.status == 0 && package.errors == "about 30002 features\n", "\(package.errors)")
    }
}
