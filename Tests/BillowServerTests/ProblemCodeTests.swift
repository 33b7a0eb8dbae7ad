import BillowExchange
import Foundation
import HTTPTypes
import Testing

@testable import BillowServer

/// The codes of errors: one table in the code, the same in README.
@Suite("Problem codes")
struct ProblemCodeTests {
    @Test("README's table has every code with its status and meaning, and no other")
    func documented() throws {
        let readme = try String(contentsOf: World.repository.appending(path: "README.md"), encoding: .utf8)
        let lines = readme.split(separator: "\n", omittingEmptySubsequences: false)
        let start = try lines.firstIndex { $0.hasPrefix("| code | status | meaning |") }.orMissing("the table")
        let rows = lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map(String.init)
        let codes = ProblemCode.allCases.map { "| `\($0.rawValue)` | \($0.status.code) | \($0.meaning) |" }
        for missing in Set(codes).subtracting(rows).sorted() { Issue.record("missing in README.md: \(missing)") }
        for other in Set(rows).subtracting(codes).sorted() { Issue.record("in README.md, but not in code: \(other)") }
        #expect(rows.count == codes.count)
    }

    @Test("README's table has every code of a refused observation with its meaning, and no other")
    func refusals() throws {
        let readme = try String(contentsOf: World.repository.appending(path: "README.md"), encoding: .utf8)
        let lines = readme.split(separator: "\n", omittingEmptySubsequences: false)
        let start = try lines.firstIndex { $0.hasPrefix("| code of a refused observation |") }.orMissing("the table")
        let rows = lines[(start + 2)...].prefix { $0.hasPrefix("|") }.map(String.init)
        #expect(rows.sorted() == RefusalCode.allCases.map { "| `\($0.rawValue)` | \($0.meaning) |" }.sorted())
    }

    @Test("a code is words with hyphens, and stands for an error", arguments: ProblemCode.allCases)
    func form(_ code: ProblemCode) throws {
        #expect(code.rawValue.wholeMatch(of: /[a-z]+(-[a-z]+)*/) != nil)
        #expect((400...599).contains(code.status.code))
        #expect(code.title == code.status.reasonPhrase && !code.title.isEmpty)
        #expect(code.meaning.split(separator: " ").count <= 20)
        #expect(try Problem(code, detail: "It is so.").headers[.contentType] == "application/problem+json")
    }

    @Test("every code of the table is given somewhere")
    func given() throws {
        let folder = World.repository.appending(path: "Sources/BillowServer")
        var source = ""
        let files = try FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil).orMissing("sources")
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            // Of the table itself only what maps other errors to codes.
            let isTable = file.lastPathComponent == "ProblemCode.swift"
            source += isTable ? text.components(separatedBy: "\nextension ProblemCode").dropFirst().joined() : text
        }
        for code in ProblemCode.allCases {
            #expect(source.contains(try Regex("\\.\(code)\\b")), "\(code) is given nowhere")
        }
    }
}
