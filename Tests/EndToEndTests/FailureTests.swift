import Foundation
import TestSupport
import Testing

#if os(Linux)
    /// The rows of the failure table that concern the machine and not a client or an upstream.
    @Suite("Failures of the machine: clock, sleep, descriptors, file system")
    struct FailureTests {
        private let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        /// A server that asks a simulator every second.
        private func server(
            _ simulator: Simulator, script: String? = nil, database: String? = nil
        ) async throws -> Server {
            let settings = try simulator.settings(in: folder)
            let command = try Command(
                ["serve", "--port", "0", "--database", database ?? folder.path("x.sqlite"), "--config", settings],
                script: script)
            return try await Server(starting: command)
        }

        private func source(_ server: Server) async throws -> JSON { try await server.status()["sources"][0] }

        private func isCurrent(_ server: Server) async throws -> Bool {
            let source = try await source(server)
            return source["lastSuccess"].string != nil && source["stale"].bool == false
        }

        private func count(_ server: Server) async throws -> Int {
            try await server.get("/export/observations.csv").text.split(separator: "\r\n").count - 1
        }

        @Test("a process that is suspended answers what waited when it goes on, and fetches again")
        func suspended() async throws {
            let simulator = try await Simulator(flights: 20)
            let server = try await server(simulator)
            try await eventually("data") { try await isCurrent(server) }
            let before = try await count(server)
            server.command.signal(SIGSTOP)
            async let answer = server.get("/status")
            // Longer than the source may be silent.
            try await Task.sleep(for: .seconds(5))
            server.command.signal(SIGCONT)
            let age = try await answer.json["sources"][0]["ageSeconds"].integer
            #expect(age ?? 0 >= 0)
            try await eventually("data again") { try await isCurrent(server) }
            #expect(try await count(server) >= before)
            #expect(try await server.get("/tiles/hexagons/latest/1/0/0.png").status == 200)

            // An upstream that is suspended makes its data stale, and no more.
            simulator.command.signal(SIGSTOP)
            try await eventually("the data to be stale") { try await source(server)["stale"].bool == true }
            #expect(try await server.get("/tiles/hexagons/latest/1/0/0.png").status == 200)
            #expect(try await server.get("/healthz").status == 200)
            simulator.command.signal(SIGCONT)
            try await eventually("data again") { try await isCurrent(server) }
            #expect(try await server.stop() == 0)
        }

        /// A library that moves the wall clock of a process by the seconds in a file, and no other clock.
        private static let clockSource = """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <fcntl.h>
            #include <stdlib.h>
            #include <sys/mman.h>
            #include <sys/time.h>
            #include <time.h>
            static volatile long *offset;
            __attribute__((constructor)) static void start(void) {
                int file = open(getenv("CLOCK_OFFSET"), O_RDONLY);
                offset = mmap(0, sizeof(long), PROT_READ, MAP_SHARED, file, 0);
            }
            int clock_gettime(clockid_t clock, struct timespec *time) {
                static int (*real)(clockid_t, struct timespec *);
                if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
                int result = real(clock, time);
                if (result == 0 && clock == CLOCK_REALTIME && offset) time->tv_sec += *offset;
                return result;
            }
            int gettimeofday(struct timeval *time, void *zone) {
                struct timespec now;
                int result = clock_gettime(CLOCK_REALTIME, &now);
                time->tv_sec = now.tv_sec;
                time->tv_usec = now.tv_nsec / 1000;
                return result;
            }
            time_t time(time_t *time) {
                struct timespec now;
                clock_gettime(CLOCK_REALTIME, &now);
                if (time) *time = now.tv_sec;
                return now.tv_sec;
            }
            """

        @Test(
            "a clock that jumps by hours deletes nothing, and put right the data is current again",
            arguments: [5 * 3_600, -5 * 3_600])
        func clock(jump: Int) async throws {
            let library = folder.path("clock.so")
            let source = try folder.write("clock.c", Self.clockSource)
            #expect(try Program.run("clang", ["-shared", "-fPIC", "-O1", "-o", library, source]).status == 0)
            let file = folder.path("offset")
            func setClock(_ seconds: Int) throws {
                let bytes = withUnsafeBytes(of: Int64(seconds)) { Data($0) }
                guard let handle = FileHandle(forWritingAtPath: file) else {
                    return try bytes.write(to: URL(filePath: file))
                }
                try handle.write(contentsOf: bytes)
                try handle.close()
            }
            try setClock(0)
            let simulator = try await Simulator(flights: 20)
            let server = try await server(
                simulator, script: "export LD_PRELOAD=\(library) CLOCK_OFFSET=\(file)")
            try await eventually("data") { try await isCurrent(server) }
            let before = try await count(server)
            try setClock(jump)
            try await eventually("the jump") {
                let asOf = try await server.get("/tiles/hexagons/latest/1/0/0.png").header("Date").orMissing("a date")
                let formatter = DateFormatter()
                formatter.locale = Locale(identifier: "en_US_POSIX")
                formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
                return abs(try formatter.date(from: asOf).orMissing("a date").timeIntervalSinceNow) > 3_600
            }
            // Whatever the pictures of such a clock are, there is an answer.
            for path in [
                "/tiles/hexagons/latest/1/0/0.png", "/timeline.json", "/status", "/collections/hexagons/items",
            ] {
                #expect([200, 503].contains(try await server.get(path).status), "\(path)")
            }
            try await Task.sleep(for: .seconds(3))
            try setClock(0)
            try await eventually("current data") { try await isCurrent(server) }
            #expect(try await count(server) >= before)
            #expect(try await server.get("/tiles/hexagons/latest/1/0/0.png").header("X-Frame-Time") != nil)
            #expect(try await server.stop() == 0)
            #expect(
                try await Command.run("check", "--database", folder.path("x.sqlite")).status == 0)
        }

        @Test("more clients than descriptors: idle ones yield, the newest is answered, and the server goes on")
        func descriptors() async throws {
            let simulator = try await Simulator(flights: 20)
            let server = try await server(simulator, script: "ulimit -n 128")
            try await eventually("data") { try await isCurrent(server) }
            let script = try folder.write(
                "clients.py",
                """
                import socket
                held=[]
                for number in range(300):
                    s=socket.create_connection(("127.0.0.1",\(server.port))); s.settimeout(120); held.append(s)
                s=held[-1]; s.sendall(b"GET /healthz HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n")
                print(s.recv(100).split(b"\\r\\n")[0].decode())
                """)
            #expect(try Program.run("python3", [script]).output == "HTTP/1.1 200 OK\n")
            let files = try FileManager.default.contentsOfDirectory(
                atPath: "/proc/\(server.command.processIdentifier)/fd"
            ).count
            #expect(files <= 128)
            // Upstreams and the database had descriptors all the while.
            let last = try await source(server)["lastSuccess"].string
            try await eventually("another fetch") { try await source(server)["lastSuccess"].string != last }
            #expect(try await source(server)["lastError"].isAbsent)
            #expect(try await server.stop() == 0)
        }

        /// Whether this process may mount file systems of its own.
        private static let canMount: Bool = {
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/unshare")
            process.arguments = ["--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
            process.standardError = FileHandle.nullDevice
            do { try process.run() } catch { return false }
            process.waitUntilExit()
            return process.terminationStatus == 0
        }()

        @Test(
            "a database on a read-only file system is read, and a server says in one sentence that it can't write",
            .enabled(if: canMount))
        func readOnly() async throws {
            let simulator = try await Simulator(flights: 20)
            let settings = try simulator.settings(in: folder)
            let database = folder.path("x.sqlite")
            let synced = try await Command.run("sync", "--once", "--database", database, "--config", settings)
            #expect(synced.status == 0)
            let disk = folder.url.appending(path: "disk")
            try FileManager.default.createDirectory(at: disk, withIntermediateDirectories: true)
            func onReadOnlyDisk(_ arguments: String...) async throws -> Finished {
                let mount = "mount -t tmpfs tmpfs \(disk.path) && cp \(database) \(disk.path)"
                let command = try Command(
                    ["--mount", "sh", "-c", "\(mount) && mount -o remount,ro \(disk.path) && exec \"$0\" \"$@\""]
                        + [Repository.billow.path] + arguments + ["--database", disk.appending(path: "x.sqlite").path],
                    executable: URL(filePath: "/usr/bin/unshare"))
                let status = try await command.status()
                return Finished(status: status, output: try command.standardOutput, errors: try command.standardError)
            }
            #expect(try await onReadOnlyDisk("check").status == 0)
            let exported = try await onReadOnlyDisk("export", "observations", "--format", "csv")
            #expect(exported.output.split(separator: "\r\n").count > 100, "\(exported.errors)")
            let served = try await onReadOnlyDisk("serve", "--port", "0", "--config", settings)
            #expect(served.status == 74 && served.errors.contains("can't be used"), "\(served.errors)")
        }
    }
#endif
