import BillowStore
import Dispatch
import Foundation
import TestSupport
import Testing
import Turbulence

@testable import BillowPostgreSQL

@Suite("Connections to PostgreSQL")
struct ConnectionTests {
    /// A store whose sessions have a name of their own.
    private func makeStore(named name: String) async throws -> PostgreSQLStore {
        let text = try await PostgreSQLCluster.shared().address().text
        let address = try #require(DatabaseAddress(text + "&application_name=\(name)"))
        return try await PostgreSQLStore.open(address)
    }

    /// Ends the sessions of a store, as a restart of the server does.
    private func end(_ name: String, at address: DatabaseAddress) async throws {
        try await PostgreSQLStore.execute(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE application_name = '\(name)' AND pid <> pg_backend_pid()
            """, at: address)
    }

    @Test("a lost connection is opened again, and a transaction that was interrupted runs again whole")
    func lost() async throws {
        let store = try await makeStore(named: "lost")
        let source = try #require(SourceID("a"))
        _ = try await store.register(source, merge: .keep, simulated: false)
        try await end("lost", at: store.address)
        #expect(try await store.head().version == .zero)
        let attempts = Recorder()
        try await store.writing { db in
            attempts.add("attempt")
            if attempts.events.count == 1 {
                _ = try db.statement("SELECT 1 FROM pg_terminate_backend(pg_backend_pid())").value()
            }
            try db.statement("UPDATE head SET rules = rules + 1").run()
        }
        #expect(attempts.events.count == 2)
        #expect(try await store.reading { try $0.statement("SELECT rules FROM head").value() } == 1)
    }

    @Test("a writer that is suspended in its transaction holds others up for seconds only, and then runs again")
    func suspended() async throws {
        let store = try await makeStore(named: "suspended")
        let other = try await PostgreSQLStore.open(store.address)
        let attempts = Recorder()
        let (began, locked) = AsyncStream<Void>.makeStream()
        let hasWritten = DispatchSemaphore(value: 0)
        async let paused: Void = store.writing { db in
            attempts.add("attempt")
            if attempts.events.count == 1 {
                locked.finish()
                _ = hasWritten.wait(timeout: .now() + 120)
            }
            try db.statement("UPDATE head SET rules = rules + 1").run()
        }
        for await _ in began {}
        // It waits for the head's lock at most ten seconds.
        try await other.writing { try $0.statement("UPDATE head SET rules = rules + 10").run() }
        hasWritten.signal()
        try await paused
        #expect(attempts.events.count == 2)
        #expect(try await store.reading { try $0.statement("SELECT rules FROM head").value() } == 11)
    }

    @Test("a session that holds the lock in a COPY and sends nothing more is ended by the next writer")
    func stalledCopy() async throws {
        let store = try await makeStore(named: "stalled")
        // A session of psql whose input stays open sends no more than a suspended process.
        let session = Process()
        session.executableURL = URL(filePath: "/usr/bin/env")
        session.arguments = ["psql", "--no-psqlrc", "--quiet", store.address.text]
        let (input, output) = (Pipe(), Pipe())
        session.standardInput = input
        session.standardOutput = output
        session.standardError = output
        try session.run()
        defer {
            try? input.fileHandleForWriting.close()
            session.waitUntilExit()
        }
        try input.fileHandleForWriting.write(
            contentsOf: Data(
                """
                CREATE TEMPORARY TABLE copied (a BIGINT);
                BEGIN;
                SELECT version FROM head WHERE id = 1 FOR UPDATE;
                COPY copied FROM STDIN;
                1

                """.utf8))
        try await eventually("the copy waits for rows") {
            try await store.reading { db in
                try db.statement(
                    """
                    SELECT count(*) FROM pg_stat_progress_copy p JOIN pg_locks l ON l.pid = p.pid
                    WHERE l.relation = to_regclass('head')
                    """
                ).value()
            } == 1
        }
        try await store.writing { try $0.statement("UPDATE head SET rules = rules + 1").run() }
        #expect(try await store.reading { try $0.statement("SELECT rules FROM head").value() } == 1)
        try input.fileHandleForWriting.close()
        session.waitUntilExit()
        let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        #expect(said.contains("terminating connection due to administrator command"), "\(said)")
    }

    @Test("a writer that is slow in a transaction, but not stalled, is waited for and not ended")
    func slowWriter() async throws {
        let store = try await makeStore(named: "slow")
        let other = try await PostgreSQLStore.open(store.address)
        let attempts = Recorder()
        let (began, locked) = AsyncStream<Void>.makeStream()
        async let slow: Void = store.writing { db in
            attempts.add("attempt")
            locked.finish()
            // A statement runs for longer than a writer waits at a time.
            _ = try db.statement("SELECT 1 FROM pg_sleep(7)").value()
            try db.statement("UPDATE head SET rules = rules + 1").run()
        }
        for await _ in began {}
        try await other.writing { try $0.statement("UPDATE head SET rules = rules + 10").run() }
        try await slow
        #expect(attempts.events.count == 1)
        #expect(try await store.reading { try $0.statement("SELECT rules FROM head").value() } == 11)
    }

    @Test("a cancelled statement ends at once, and the next one works")
    func cancelled() async throws {
        let store = try await makeStore(named: "cancelled")
        let began = AsyncStream<Void>.makeStream()
        let clock = ContinuousClock()
        let start = clock.now
        let task = Task {
            try await store.reading { db in
                began.continuation.finish()
                return try db.statement("SELECT 1 FROM pg_sleep(50)").value()
            }
        }
        for await _ in began.stream {}
        try await Task.sleep(for: .milliseconds(50))
        task.cancel()
        let error = await #expect(throws: StoreError.self) { try await task.value }
        #expect(error == .failed("the operation was cancelled"))
        #expect(clock.now - start < .seconds(40))
        for _ in 0..<20 { #expect(try await store.head().version == .zero) }
    }

    @Test("each change of the head is notified")
    func notified() async throws {
        let store = try await makeStore(named: "notified")
        let changes = Recorder()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await HeadListener(store.address).run { changes.add("changed") } }
            let source = try #require(SourceID("a"))
            var rules: [MergeRule] = [.keep, .replace]
            // Until the listener has connected, notifications go to nobody.
            try await eventually("a notification", within: .seconds(60)) {
                rules.swapAt(0, 1)
                _ = try await store.register(source, merge: rules[0], simulated: false)
                return !changes.events.isEmpty
            }
            group.cancelAll()
        }
    }

    @Test("numbers, texts and bytes of every length are copied as they are")
    func copied() async throws {
        let store = try await makeStore(named: "copied")
        try await PostgreSQLStore.execute(
            "CREATE TABLE copied (a BIGINT, b SMALLINT, c DOUBLE PRECISION, d TEXT, e BYTEA)", at: store.address)
        let rows: [[SQLValue]] = (0..<3_000).map { number in
            [
                .integer(Int64.max - Int64(number)), number % 2 == 0 ? .null : .integer(-5),
                .real(0.1 * Double(number)), .text(String(repeating: "é\u{0}", count: number % 300)),
                .bytes([UInt8](repeating: 255, count: number % 200)),
            ]
        }
        try await store.changing { connection in
            var buffer = CopyBuffer()
            for row in rows { try buffer.append(row, types: [.int8, .int2, .double, .text, .bytes]) }
            try connection.copy("COPY copied (a, b, c, d, e) FROM STDIN (FORMAT binary)", buffer)
        }
        let sums = try await store.reading { db in
            try [
                "SELECT count(*) FROM copied", "SELECT count(*) FROM copied WHERE b IS NULL",
                "SELECT CAST(sum(length(e)) AS BIGINT) FROM copied", "SELECT min(a) FROM copied",
            ].map { try db.statement($0).value() }
        }
        #expect(sums == [3_000, 1_500, 3_000 * 199 / 2, Int64.max - 2_999])
    }
}
