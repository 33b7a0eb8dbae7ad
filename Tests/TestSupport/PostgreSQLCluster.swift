package import BillowPostgreSQL
import Foundation
import Synchronization

/// A PostgreSQL server for the tests of this process: a temporary cluster that listens on a Unix socket only. It is
/// made by the first test that needs it, and ends with this process, even if that is killed.
package final class PostgreSQLCluster: Sendable {
    private let folder: String
    private let databases = Atomic(0)
    private let places = PlaceLimit(12)
    /// The open end of the pipe that keeps the server running.
    private let standardInput: FileHandle

    /// The cluster of this process.
    package static func shared() async throws -> PostgreSQLCluster { try await started.value }
    private static let started = Task { try await start() }

    package struct Failed: Error, CustomStringConvertible { package var description: String }

    private init(folder: String, standardInput: FileHandle) {
        self.folder = folder
        self.standardInput = standardInput
    }

    /// The script's arguments are the cluster's folder and the folder of PostgreSQL's programs. It ends when its
    /// standard input does.
    private static let script = """
        set -eu
        folder=$1 bin=$2
        trap 'rm -rf "$folder"' EXIT
        if [ "$(id -u)" = 0 ]; then
            chown postgres "$folder"
            run='setpriv --reuid=postgres --regid=postgres --init-groups'
        else
            run=env
        fi
        cd "$folder"
        $run "$bin/initdb" -D "$folder/data" -A trust -U billow -E UTF8 --locale=C --no-sync --data-checksums \
            >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
        $run "$bin/postgres" -D "$folder/data" -k "$folder" -c listen_addresses= -c fsync=off \
            -c full_page_writes=off -c max_connections=200 -c shared_buffers=64MB -c autovacuum=off \
            >"$folder/log" 2>&1 </dev/null &
        server=$!
        for try in $(seq 1200); do
            "$bin/pg_isready" -q -h "$folder" -U billow && break
            kill -0 $server || { cat "$folder/log"; exit 1; }
            sleep 0.1
        done
        echo ready
        read -r line || true
        kill -QUIT $server
        wait $server || true
        """

    private static func start() async throws -> PostgreSQLCluster {
        guard let bin = programs() else { throw Failed(description: "PostgreSQL isn't installed: Scripts/setup test") }
        // The address of a socket has at most 107 bytes.
        let folder = "/tmp/billow-pg-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", script, "postgresql-for-tests", folder, bin]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let said = try await answer(output.fileHandleForReading)
        guard said.hasSuffix("ready\n") else { throw Failed(description: "PostgreSQL doesn't start: \(said)") }
        return PostgreSQLCluster(folder: folder, standardInput: input.fileHandleForWriting)
    }

    /// Reads until the script is ready or has ended.
    private static func answer(_ file: FileHandle) async throws -> String {
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                var text = ""
                while !text.hasSuffix("ready\n") {
                    let data = file.availableData
                    if data.isEmpty { break }
                    text += String(decoding: data, as: UTF8.self)
                }
                continuation.resume(returning: text)
            }
        }
    }

    /// The folder of the newest installed version.
    private static func programs() -> String? {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        return versions.compactMap { Int($0) }.max().map { "\(root)/\($0)/bin" }
    }

    /// The address of an empty schema of its own.
    package func address() async throws -> DatabaseAddress {
        let name = "test_\(databases.add(1, ordering: .relaxed).newValue)"
        try await PostgreSQLStore.execute("CREATE SCHEMA \(name)", at: try address(schema: "public"))
        return try address(schema: name)
    }

    private func address(schema: String) throws -> DatabaseAddress {
        let text = "postgres://billow@/postgres?host=\(folder)&options=-csearch_path%3D\(schema)"
        guard let address = DatabaseAddress(text) else { throw Failed(description: text) }
        return address
    }

    /// A place among the stores that are open at the same time. It ends with the object.
    package func place() async -> any AnyObject & Sendable { await places.place() }
}

/// Limits the number of objects that exist at the same time, because each store has a process of the server. A test
/// with two stores could wait for itself, so nobody waits for long.
private final class PlaceLimit: Sendable {
    private let free: Atomic<Int>

    init(_ count: Int) { free = Atomic(count) }

    final class Place: Sendable {
        private let limit: PlaceLimit
        init(_ limit: PlaceLimit) { self.limit = limit }
        deinit { limit.free.add(1, ordering: .relaxed) }
    }

    func place() async -> Place {
        for _ in 0..<200 where free.load(ordering: .relaxed) <= 0 { try? await Task.sleep(for: .milliseconds(25)) }
        free.subtract(1, ordering: .relaxed)
        return Place(self)
    }
}
