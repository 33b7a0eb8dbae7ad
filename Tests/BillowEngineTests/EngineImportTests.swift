import Foundation
import Testing

@Suite("The engine knows no HTTP")
struct EngineImportTests {
    private static let http = ["Hummingbird", "HummingbirdCore", "HTTPTypes", "NIOHTTP1", "BillowHTTP"]

    /// The modules that the Swift files of a folder import, by file.
    private static func imports(_ folder: String) throws -> [String: Set<String>] {
        let root = World.repository.appending(path: folder)
        let files = try #require(FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
        var imports: [String: Set<String>] = [:]
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            imports[file.lastPathComponent] = Set(
                text.matches(of: /(?m)^\s*(?:\w+ )?import (\w+)$/).map { String($0.1) })
        }
        return imports
    }

    @Test(
        "the engine, and the parameters that the command line shares with it, import no HTTP",
        arguments: ["Sources/BillowEngine", "Sources/BillowHTTP/Parameters"])
    func engine(_ folder: String) throws {
        let imports = try Self.imports(folder)
        #expect(imports.count > 15)
        for (file, modules) in imports { #expect(modules.isDisjoint(with: Self.http), "\(file)") }
    }

    @Test("only the command that serves, its settings and the reference of error codes import the HTTP module")
    func commandLine() throws {
        let users = try Self.imports("Sources/billow").filter { $0.value.contains("BillowHTTP") }.keys.sorted()
        #expect(users == ["ReferencePages.swift", "Serve.swift", "Settings+Server.swift"])
    }
}
