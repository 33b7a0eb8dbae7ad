import EngineTestSupport
import Foundation
import HTTPTypes
import JSONKit
import Testing

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

/// The codes of errors: one table in the code, of which the documentation's is made.
@Suite("Problem codes")
struct ProblemCodeTests {
    @Test("a code is words with hyphens, and stands for an error", arguments: ProblemCode.allCases)
    func form(_ code: ProblemCode) throws {
        #expect(code.rawValue.wholeMatch(of: /[a-z]+(-[a-z]+)*/) != nil)
        #expect((400...599).contains(code.status.code))
        #expect(code.title == code.status.reasonPhrase && !code.title.isEmpty)
        #expect(code.meaning.split(separator: " ").count <= 20)
        #expect(Problem(code, detail: "It is so.").headers[.contentType] == "application/problem+json")
    }

    @Test("every code of the table is given somewhere")
    func given() throws {
        let folder = World.repository.appending(path: "Sources/BillowHTTP")
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
