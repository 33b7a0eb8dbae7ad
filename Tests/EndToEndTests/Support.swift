import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import TestSupport
import Testing

struct Missing: Error, CustomStringConvertible {
    var description: String
}

extension Optional {
    /// The value, or a test failure in place of a trap.
    func orMissing(_ what: String = "a value") throws -> Wrapped {
        guard let self else { throw Missing(description: "missing: \(what)") }
        return self
    }
}

/// A folder that goes with its last owner.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "billow-e2e-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appending(path: name).path }

    func write(_ name: String, _ text: String) throws -> String {
        try Data(text.utf8).write(to: url.appending(path: name))
        return path(name)
    }
}

enum Repository {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    /// 57 real pilot reports.
    static let florida =
        folder.appending(path: "Tests/BillowExchangeTests/Fixtures/pirep_json_florida_2026-07-21T20Z.json").path

    /// The built command, which lies beside the test bundle.
    static let billow: URL = {
        let bundle = URL(filePath: CommandLine.arguments.first ?? "").resolvingSymlinksInPath()
        var folder = bundle.deletingLastPathComponent()
        // On macOS the bundle is a folder with the executable deep inside.
        while folder.path != "/" {
            let candidate = folder.appending(path: "billow")
            var isFolder: ObjCBool = false
            if FileManager.default.fileExists(atPath: candidate.path, isDirectory: &isFolder), !isFolder.boolValue {
                return candidate
            }
            folder.deleteLastPathComponent()
        }
        return bundle
    }()
}

/// The command, running or done. Its output goes to files, so that no pipe ever fills up.
final class Command: @unchecked Sendable {
    // Safe: `process` is started in the initialiser and then only asked and signalled, which Foundation locks.
    private let process = Process()
    private let output: URL
    private let errors: URL
    private let folder: TemporaryFolder

    /// - Parameters:
    ///   - script: what a shell does before it becomes the command.
    ///   - executable: another file than the one that was built.
    ///   - workingFolder: where it runs; nil for the repository.
    init(
        _ arguments: [String], environment: [String: String] = [:], input: String? = nil, script: String? = nil,
        executable: URL = Repository.billow, workingFolder: URL? = nil
    ) throws {
        folder = try TemporaryFolder()
        output = folder.url.appending(path: "stdout")
        errors = folder.url.appending(path: "stderr")
        for url in [output, errors] { try Data().write(to: url) }
        if let script {
            process.executableURL = URL(filePath: "/bin/sh")
            process.arguments = ["-c", "\(script); exec \"$0\" \"$@\"", executable.path] + arguments
        } else {
            process.executableURL = executable
            process.arguments = arguments
        }
        process.currentDirectoryURL = workingFolder ?? Repository.folder
        var variables = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("BILLOW_") }
        variables.merge(environment) { $1 }
        process.environment = variables
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        if let input {
            process.standardInput = try FileHandle(forReadingFrom: URL(filePath: try folder.write("stdin", input)))
        } else {
            process.standardInput = FileHandle.nullDevice
        }
        try process.run()
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    var standardOutput: String { get throws { String(decoding: try Data(contentsOf: output), as: UTF8.self) } }
    var standardError: String { get throws { String(decoding: try Data(contentsOf: errors), as: UTF8.self) } }
    var isRunning: Bool { process.isRunning }
    var processIdentifier: Int32 { process.processIdentifier }

    func signal(_ signal: Int32) { kill(process.processIdentifier, signal) }

    /// Waits for its end and gives its status; a signal's number is negative.
    func status(within limit: Duration = .seconds(300)) async throws -> Int32 {
        do {
            try await eventually("the end of billow \(process.arguments ?? [])", within: limit) { !process.isRunning }
        } catch {
            signal(SIGKILL)
            throw Missing(description: "\(error)\n\(try standardError)")
        }
        return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    }

    /// Runs to its end.
    static func run(
        _ arguments: String..., environment: [String: String] = [:], input: String? = nil, script: String? = nil,
        executable: URL = Repository.billow, workingFolder: URL? = nil
    ) async throws -> Finished {
        let command = try Command(
            arguments, environment: environment, input: input, script: script, executable: executable,
            workingFolder: workingFolder)
        let status = try await command.status()
        return Finished(status: status, output: try command.standardOutput, errors: try command.standardError)
    }

    /// The port that it says it listens on.
    func port(after words: String, within limit: Duration = .seconds(300)) async throws -> Int {
        var port: Int?
        try await eventually("a line with '\(words)'", within: limit) {
            let text = try standardError
            guard isRunning else { throw Missing(description: "billow ended: \(text)") }
            guard let range = text.range(of: words) else { return false }
            let digits = text[range.upperBound...].prefix { $0.isNumber }
            guard text[range.upperBound...].dropFirst(digits.count).first != nil else { return false }
            port = Int(digits)
            return port != nil
        }
        return try port.orMissing("a port")
    }
}

struct Finished: Sendable {
    var status: Int32
    var output: String
    var errors: String
}

/// A `billow serve` that is up.
struct Server: Sendable {
    let command: Command
    let port: Int

    init(
        _ arguments: String..., environment: [String: String] = [:], executable: URL = Repository.billow,
        workingFolder: URL? = nil
    ) async throws {
        command = try Command(
            ["serve", "--port", "0"] + arguments, environment: environment, executable: executable,
            workingFolder: workingFolder)
        port = try await command.port(after: "Billow is at http://127.0.0.1:")
    }

    /// Waits until a started command serves.
    init(starting command: Command) async throws {
        self.command = command
        port = try await command.port(after: "Billow is at http://127.0.0.1:")
    }

    func get(_ path: String, _ headers: [String: String] = [:]) async throws -> Answer {
        try await Answer.of("http://127.0.0.1:\(port)\(path)", headers)
    }

    func send(_ method: HTTPMethod, _ path: String, _ body: String = "", key: String) async throws -> Answer {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(path)")
        request.method = method
        request.headers.add(name: "X-API-Key", value: key)
        request.body = .bytes(ByteBuffer(string: body))
        return try await Answer.of(request)
    }

    func status() async throws -> JSON { try await get("/status").json }

    /// Ends it as an operator does.
    func stop() async throws -> Int32 {
        command.signal(SIGTERM)
        return try await command.status()
    }
}

/// A `billow simulate` that is up.
struct Simulator: Sendable {
    let command: Command
    let port: Int

    /// - Parameter more: further arguments.
    init(flights: Int, seed: Int = 7, port: Int = 0, more: [String] = []) async throws {
        command = try Command(
            ["simulate", "--port", "\(port)", "--flights", "\(flights)", "--seed", "\(seed)"] + more)
        self.port = try await command.port(after: "listening on 127.0.0.1:")
    }

    func fault(_ name: String) async throws {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/_simulator/fault?name=\(name)")
        request.method = .POST
        let response = try await HTTPClient.plain.execute(request, timeout: .seconds(300))
        #expect(response.status == .ok)
    }

    /// Settings that ask it every second.
    func settings(in folder: TemporaryFolder, port: Int? = nil, key: String = "demo") throws -> String {
        try folder.write(
            "settings.yaml",
            """
            staleAfter: PT2S
            sources:
              - id: sim
                kind: skypath
                baseURL: http://127.0.0.1:\(port ?? self.port)
                apiKey: \(key)
                api: v4
                update: PT1S
                simulated: true
                query: { history: 6 }
            """)
    }
}

extension HTTPClient {
    /// Takes bodies as they are sent, and asks for no compression: the shared client does, and refuses bodies that
    /// compress well as bombs.
    static let plain = HTTPClient(eventLoopGroupProvider: .singleton, configuration: HTTPClient.Configuration())
}

/// An HTTP answer, read whole.
struct Answer: Sendable {
    var status: Int
    var headers: HTTPHeaders
    var body: Data

    static func of(_ url: String, _ headers: [String: String] = [:]) async throws -> Answer {
        var request = HTTPClientRequest(url: url)
        for (name, value) in headers { request.headers.add(name: name, value: value) }
        return try await of(request)
    }

    static func of(_ request: HTTPClientRequest) async throws -> Answer {
        let response = try await HTTPClient.plain.execute(request, timeout: .seconds(300))
        let body = try await response.body.collect(upTo: 512 << 20)
        return Answer(status: Int(response.status.code), headers: response.headers, body: Data(buffer: body))
    }

    func header(_ name: String) -> String? { headers.first(name: name) }
    var text: String { String(decoding: body, as: UTF8.self) }
    var json: JSON { get throws { JSON(value: try JSONSerialization.jsonObject(with: body)) } }
}

/// A JSON value to look into.
struct JSON {
    var value: Any?

    subscript(name: String) -> JSON { JSON(value: (value as? [String: Any])?[name]) }
    subscript(index: Int) -> JSON {
        let items = value as? [Any] ?? []
        return JSON(value: items.indices.contains(index) ? items[index] : nil)
    }
    var items: [JSON] { (value as? [Any] ?? []).map { JSON(value: $0) } }
    var string: String? { value as? String }
    var integer: Int? { (value as? NSNumber)?.intValue }
    var bool: Bool? { (value as? NSNumber)?.boolValue }
    var isAbsent: Bool { value == nil || value is NSNull }
}

/// Programs of the system that tests use.
enum Program {
    /// Runs a program to its end. Its errors are dropped.
    static func run(_ executable: String, _ arguments: [String]) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [executable] + arguments
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.runWithDeadline()
        let said = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: said, as: UTF8.self))
    }
}
