import Foundation

/// A command of the shell, which is ended with everything that it started if it takes too long.
struct ShellCommand: Sendable {
    let text: String
    /// Environment variables beside those of this process.
    let variables: [String: String]
    let timeout: Duration
    /// Texts that no error may contain.
    var secrets: Set<String> = []

    enum CommandError: Error, Equatable, CustomStringConvertible {
        case notStarted(reason: String)
        /// - Parameter words: the end of what it wrote to standard error.
        case failed(status: Int32, words: String)
        case killed(signal: Int32, words: String)
        case timedOut(Duration)
        case cancelled

        var description: String {
            switch self {
            case .notStarted(let reason): "it can't be started: \(reason)"
            case .failed(let status, let words): "it ended with status \(status): \(words)"
            case .killed(let signal, let words): "signal \(signal) ended it: \(words)"
            case .timedOut(let timeout): "it took more than \(timeout.components.seconds) s and was ended"
            case .cancelled: "the server ended meanwhile, and ended it"
            }
        }
    }

    /// The most characters of its standard error that an error has.
    private static let longestWords = 1_000
    /// The end of its standard error in which secrets are searched, in bytes: no part of one is in the words.
    private static let searchedBytes: UInt64 = 64 << 10

    /// Runs it to its end. Its standard output is discarded.
    func run() async throws(CommandError) {
        let words = FileManager.default.temporaryDirectory.appending(path: "billow-command-\(UUID().uuidString)")
        guard FileManager.default.createFile(atPath: words.path, contents: nil, attributes: [.posixPermissions: 0o600]),
            let errors = try? FileHandle(forUpdating: words)
        else { throw .notStarted(reason: "no temporary file can be made") }
        // The open file suffices, and nobody else can read it.
        try? FileManager.default.removeItem(at: words)
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-c", text]
        process.environment = ProcessInfo.processInfo.environment.merging(variables) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = errors
        let (ends, continuation) = AsyncStream<Void>.makeStream()
        process.terminationHandler = { _ in continuation.finish() }
        do { try process.run() } catch { throw .notStarted(reason: error.localizedDescription) }
        let group = process.processIdentifier
        let timer = Task {
            // An early end cancels the sleep.
            do { try await Task.sleep(for: timeout) } catch { return false }
            kill(-group, SIGKILL)
            return true
        }
        // Ends with the process, or at once if the task is cancelled.
        for await _ in ends {}
        timer.cancel()
        let isLate = await timer.value
        if Task.isCancelled {
            kill(-group, SIGKILL)
            throw .cancelled
        }
        guard !isLate else { throw .timedOut(timeout) }
        try check(process, errors)
    }

    private func check(_ process: Process, _ errors: FileHandle) throws(CommandError) {
        process.waitUntilExit()
        // The command shares the file's position.
        var said = Data()
        if let end = try? errors.seekToEnd() {
            try? errors.seek(toOffset: end > Self.searchedBytes ? end - Self.searchedBytes : 0)
            said = (try? errors.readToEnd()) ?? Data()
        }
        let words = String(redacted(String(decoding: said, as: UTF8.self)).suffix(Self.longestWords))
            .trimmingCharacters(in: .whitespacesAndNewlines)
        if process.terminationReason == .uncaughtSignal {
            throw .killed(signal: process.terminationStatus, words: words)
        }
        guard process.terminationStatus == 0 else { throw .failed(status: process.terminationStatus, words: words) }
    }

    /// The longest secrets first, because one may contain another.
    private func redacted(_ text: String) -> String {
        secrets.sorted { ($0.count, $0) > ($1.count, $1) }.reduce(text) { $0.replacing($1, with: "[secret]") }
    }
}
