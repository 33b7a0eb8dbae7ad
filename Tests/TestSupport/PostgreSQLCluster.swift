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
    private let standardOutput: FileHandle

    /// The cluster of this process.
    package static func shared() async throws -> PostgreSQLCluster { try await started.value }
    private static let started = Task { try await start() }

    package struct Failed: Error, CustomStringConvertible { package var description: String }

    private init(folder: String, standardInput: FileHandle, standardOutput: FileHandle) {
        self.folder = folder
        self.standardInput = standardInput
        self.standardOutput = standardOutput
    }

    /// The script's arguments are the cluster's folder and the folder of PostgreSQL's programs. It ends when its
    /// standard input does.
    private static let script = """
        set -eu
        # Foundation holds a process for running until all copies of a socket of it are closed. This script may have
        # got one of another process, which began at the same moment.
        for file in /proc/$$/fd/*; do
            number=${file##*/}
            [ "$number" -le 2 ] || [ "$number" -eq 255 ] || eval "exec $number>&-"
        done
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
        start() {
            $run "$bin/postgres" -D "$folder/data" -k "$folder" -c listen_addresses= -c fsync=off \
                -c full_page_writes=off -c max_connections=200 -c shared_buffers=64MB -c autovacuum=off \
                >>"$folder/log" 2>&1 </dev/null &
            server=$!
            for try in $(seq 1200); do
                "$bin/pg_isready" -q -h "$folder" -U billow && break
                kill -0 $server || { cat "$folder/log"; exit 1; }
                sleep 0.1
            done
        }
        start
        echo ready
        while read -r command; do
            case $command in
                promote)
                    kill -INT $server
                    wait $server || true
                    $run touch "$folder/data/standby.signal"
                    start
                    $run "$bin/pg_ctl" promote -w -t 120 -D "$folder/data" >>"$folder/log"
                    ;;
                save)
                    kill -INT $server
                    wait $server || true
                    cp -a "$folder/data" "$folder/saved"
                    start
                    ;;
                "put back")
                    kill -QUIT $server
                    wait $server || true
                    rm -r "$folder/data"
                    mv "$folder/saved" "$folder/data"
                    start
                    ;;
                "copy "*)
                    set -- $command
                    "$bin/createdb" -h "$folder" -U billow "$3"
                    "$bin/pg_dump" -h "$folder" -U billow -n "$2" postgres |
                        "$bin/psql" -q -v ON_ERROR_STOP=1 -h "$folder" -U billow "$3" >>"$folder/log"
                    ;;
            esac
            echo ready
        done
        kill -QUIT $server
        wait $server || true
        """

    /// Starts a cluster that only the caller uses.
    package static func start() async throws -> PostgreSQLCluster {
        guard let bin = programs() else { throw Failed(description: "PostgreSQL isn't installed: Scripts/setup test") }
        // The address of a socket has at most 107 bytes.
        let folder = "/tmp/billow-pg-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        let (input, output) = (Pipe(), Pipe())
        try spawn(["/bin/bash", "-c", script, "postgresql-for-tests", folder, bin], input, output)
        let said = try await answer(output.fileHandleForReading)
        guard said.hasSuffix("ready\n") else { throw Failed(description: "PostgreSQL doesn't start: \(said)") }
        return PostgreSQLCluster(
            folder: folder, standardInput: input.fileHandleForWriting, standardOutput: output.fileHandleForReading)
    }

    /// Starts a program, whose output and errors are one pipe. `Process` can't do this, because it waits for the end of
    /// a process whose files are closed, and meanwhile for no other one.
    private static func spawn(_ arguments: [String], _ input: Pipe, _ output: Pipe) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input.fileHandleForReading.fileDescriptor, STDIN_FILENO)
        for file in [STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_adddup2(&actions, output.fileHandleForWriting.fileDescriptor, file)
        }
        let texts = arguments.map { strdup($0) }
        let environment = ProcessInfo.processInfo.environment.map { strdup("\($0.key)=\($0.value)") }
        defer { for text in texts + environment { free(text) } }
        var identifier = pid_t()
        let problem = posix_spawn(&identifier, arguments[0], &actions, nil, texts + [nil], environment + [nil])
        guard problem == 0 else { throw Failed(description: "\(arguments[0]): \(String(cString: strerror(problem)))") }
        try input.fileHandleForReading.close()
        try output.fileHandleForWriting.close()
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

    /// Starts the server again as a standby, and lets it take over. Only for a cluster of the caller's own.
    package func promote() async throws { try await run("promote") }

    /// Copies the files of the stopped server, as a snapshot of its disk does. Only for a cluster of the caller's own.
    package func save() async throws { try await run("save") }

    /// Kills the server and puts the saved files back. What was committed since is lost.
    package func putBack() async throws { try await run("put back") }

    /// The address of a copy of a schema that `pg_dump` and `psql` make in a database of its own. Only for a cluster of
    /// the caller's own.
    package func copy(of schema: String, named database: String) async throws -> DatabaseAddress {
        try await run("copy \(schema) \(database)")
        return try address(schema: schema, database: database)
    }

    private func run(_ command: String) async throws {
        try standardInput.write(contentsOf: Data("\(command)\n".utf8))
        let said = try await Self.answer(standardOutput)
        guard said.hasSuffix("ready\n") else { throw Failed(description: "\(command) fails: \(said)") }
    }

    private func address(schema: String, database: String = "postgres") throws -> DatabaseAddress {
        let text = "postgres://billow@/\(database)?host=\(folder)&options=-csearch_path%3D\(schema)"
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
