import ArgumentParser
import BillowPostgreSQL
import BillowStore
import Foundation

struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Copy a database file into PostgreSQL.",
        discussion: """
            Stop the server first. Every row is copied with its key and versions, and compared afterwards, so that \
            addresses of pictures stay valid. An interrupted migration goes on when the command is given again; a \
            complete one is compared again. The file isn't changed; don't serve it afterwards, because both would be \
            the same log.
            """)

    @Option(help: "The database file.")
    var from: String

    @Option(help: "An empty database: postgres://user@host/database.")
    var to: String

    func run() async throws {
        try await Failure.reportedUnlessInterrupted {
            guard let address = DatabaseAddress(to) else {
                throw Failure(.usage, "--to is '\(to)'; it must be postgres://user@host/database")
            }
            guard DatabaseAddress(from) == nil else { throw Failure(.usage, "--from must be the path of a file") }
            if let opener = SQLiteStore.opener(path: from) {
                throw Failure(.inputOutput, "process \(opener) has \(from) open; stop the server, then migrate")
            }
            let source = try await SQLiteStore.open(path: from, access: .reading)
            defer { Terminal.endProgress() }
            let outcome = try await LogMigration(from: source, to: address).run { (table, count) in
                Terminal.progress(table.name, fraction: nil, count: count)
            }
            try source.close()
            for (table, rows) in outcome.counts where rows > 0 { print("\(table.name)\t\(rows)") }
            let text = outcome.wasComplete ? "had all of \(from) already" : "all of \(from)"
            Terminal.write("\(address): \(text), and each row is the same")
        }
    }
}
