import Foundation

/// Independent libraries (GEOS by Shapely, GeographicLib) that judge what Billow made: scripts of Tests/Oracles, run
/// in the environment that `Scripts/setup test` makes. Without it the tests that ask fail; they are never skipped.
package enum Oracle {
    package struct Failure: Error, CustomStringConvertible {
        package var description: String
    }

    private static let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Hands a question to a script as JSON and reads its answer.
    package static func ask<Answer: Decodable>(
        _ script: String, _ question: some Encodable, answer: Answer.Type = Answer.self
    ) throws -> Answer {
        let python = repository.appending(path: ".build/oracles/bin/python3")
        guard FileManager.default.isExecutableFile(atPath: python.path) else {
            throw Failure(description: "\(python.path) is missing: run Scripts/setup test")
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "billow-oracle-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // Through files: a pipe that fills up would hold both sides.
        let input = folder.appending(path: "question.json")
        let output = folder.appending(path: "answer.json")
        try JSONEncoder().encode(question).write(to: input)
        try Data().write(to: output)
        let process = Process()
        process.executableURL = python
        process.arguments = [repository.appending(path: "Tests/Oracles/\(script)").path]
        process.standardInput = try FileHandle(forReadingFrom: input)
        process.standardOutput = try FileHandle(forWritingTo: output)
        try process.runWithDeadline()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure(description: "\(script) ended with status \(process.terminationStatus)")
        }
        return try JSONDecoder().decode(Answer.self, from: try Data(contentsOf: output))
    }
}
