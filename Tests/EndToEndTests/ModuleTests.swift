import Foundation
import Testing

/// Package.swift against the sources' imports and the overview of the architecture.
@Suite("Modules") struct ModuleTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    struct Module: CustomStringConvertible {
        var name: String
        var kind: String
        var folder: String
        /// The names in quotes of its entry, those of its dependencies among them.
        var named: Set<String>

        var description: String { name }
    }

    /// The targets that Package.swift declares.
    static let modules: [Module] = {
        let manifest = try? String(contentsOf: root.appending(path: "Package.swift"), encoding: .utf8)
        let targets = manifest?.components(separatedBy: "\n    targets: [").last ?? ""
        let entries = targets.matches(of: #/\n {8}\.(target|executableTarget|testTarget|systemLibrary)\(/#)
        return entries.enumerated().compactMap { number, entry in
            let end = number + 1 < entries.count ? entries[number + 1].range.lowerBound : targets.endIndex
            let body = targets[entry.range.upperBound..<end]
            guard let name = body.firstMatch(of: #/name: "(\w+)"/#)?.1 else { return nil }
            let kind = String(entry.1)
            let folder = body.firstMatch(of: #/path: "([^"]+)"/#).map { String($0.1) }
            return Module(
                name: String(name), kind: kind,
                folder: folder ?? (kind == "testTarget" ? "Tests/" : "Sources/") + name,
                named: Set(body.matches(of: #/"(\w+)"/#).map { String($0.1) }))
        }
    }()

    /// What comes with the toolchain, and is no package.
    private static let toolchain: Set = [
        "Dispatch", "Foundation", "FoundationXML", "Glibc", "RegexBuilder", "Synchronization", "Testing",
    ]

    /// The modules that the files of a folder import.
    private static func imports(_ folder: String) throws -> Set<String> {
        let walk = try #require(FileManager.default.enumerator(atPath: root.appending(path: folder).path))
        var found: Set<String> = []
        for case let path as String in walk where path.hasSuffix(".swift") && !path.contains("Fixtures/") {
            let text = try String(contentsOf: root.appending(path: "\(folder)/\(path)"), encoding: .utf8)
            for line in text.split(separator: "\n") {
                if let name = line.firstMatch(
                    of: #/^(?:@\w+ )?(?:public |package |internal )?import (?:struct |enum |class |func )?(\w+)/#)?.1
                {
                    found.insert(String(name))
                }
            }
        }
        return found.subtracting(toolchain)
    }

    @Test("the manifest is read whole")
    func manifest() {
        #expect(Self.modules.count > 60)
        #expect(Self.modules.contains { $0.name == "billow" && $0.kind == "executableTarget" })
    }

    @Test(
        "a module declares what it imports, and imports what it declares",
        arguments: modules.filter { $0.kind != "systemLibrary" && $0.name != "CGeodesic" })
    func declared(_ module: Module) throws {
        let imports = try Self.imports(module.folder)
        #expect(imports.subtracting(module.named).sorted() == [], "imported, but not declared")
        guard module.kind != "testTarget" else { return }
        let own = Set(Self.modules.map(\.name))
        let unused = module.named.intersection(own).subtracting(imports).subtracting([module.name])
        #expect(unused.sorted() == [], "declared, but not imported")
    }

    @Test("each module of Sources is in the overview")
    func overview() throws {
        let text = try String(
            contentsOf: Self.root.appending(path: "docs/architecture/overview.md"), encoding: .utf8)
        let words = Set(text.matches(of: #/\w+/#).map { String($0.0) })
        let missing = Self.modules.filter { $0.folder.hasPrefix("Sources/") && !words.contains($0.name) }
        #expect(missing.map(\.name) == [])
    }

    /// A dependency of one module on another.
    struct Edge: Hashable, Comparable, CustomStringConvertible {
        var from: String
        var to: String

        var description: String { "\(from) --> \(to)" }

        static func < (a: Edge, b: Edge) -> Bool { a.description < b.description }
    }

    /// The dependencies between the Swift modules of Sources.
    private static let dependencies: [String: Set<String>] = {
        let others: Set = ["CGeodesic", "CBuild", "CICUData"]
        let swiftModules = modules.filter {
            $0.folder.hasPrefix("Sources/") && $0.kind != "systemLibrary" && !others.contains($0.name)
        }
        let names = Set(swiftModules.map(\.name))
        return Dictionary(
            uniqueKeysWithValues: swiftModules.map { ($0.name, $0.named.intersection(names).subtracting([$0.name])) })
    }()

    /// All modules that a module depends on, directly or indirectly.
    private static func closure(of name: String) -> Set<String> {
        var open = Array(dependencies[name] ?? [])
        var found: Set<String> = []
        while let next = open.popLast() {
            if found.insert(next).inserted { open += dependencies[next] ?? [] }
        }
        return found
    }

    @Test("the diagram has the dependencies of Package.swift, without those that follow from others")
    func diagram() throws {
        let page = try String(
            contentsOf: Self.root.appending(path: "docs/architecture/overview.md"), encoding: .utf8)
        let diagram = try #require(page.firstMatch(of: #/```mermaid\ngraph TD\n([^`]*)```/#)).1
        var drawn: Set<Edge> = []
        for line in diagram.split(separator: "\n") {
            let groups = line.components(separatedBy: "-->").map { group in
                group.split(separator: "&").map { $0.trimmingCharacters(in: .whitespaces) }
            }
            for (sources, targets) in zip(groups, groups.dropFirst()) {
                for source in sources {
                    for target in targets {
                        let edge = Edge(from: source, to: target)
                        #expect(drawn.insert(edge).inserted, "\(edge) is drawn twice")
                    }
                }
            }
        }
        let needed = Self.dependencies.flatMap { name, direct in
            direct.filter { target in
                !direct.contains { $0 != target && Self.closure(of: $0).contains(target) }
            }.map { Edge(from: name, to: $0) }
        }
        #expect(needed.count > 40)
        #expect(Set(needed).subtracting(drawn).sorted() == [], "a dependency that isn't drawn")
        #expect(drawn.subtracting(needed).sorted() == [], "drawn, but no dependency, or one that follows from others")
    }

    private static let http: Set = [
        "BillowHTTP", "Hummingbird", "HummingbirdCore", "HTTPTypes", "NIOHTTP1", "AsyncHTTPClient",
    ]

    @Test("the engine and the modules below it import no HTTP, of a server or of a client")
    func engineWithoutHTTP() throws {
        let byName = Dictionary(Self.modules.map { ($0.name, $0) }) { first, _ in first }
        var open = ["BillowEngine", "BillowParameters"]
        var seen: Set<String> = []
        while let name = open.popLast() {
            guard seen.insert(name).inserted, let module = byName[name], module.kind != "systemLibrary" else {
                continue
            }
            let imports = try Self.imports(module.folder)
            #expect(imports.isDisjoint(with: Self.http), "\(name)")
            open += imports
        }
        #expect(seen.contains("BillowStore"))
    }
}
