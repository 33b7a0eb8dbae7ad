import Foundation
import Testing
import Turbulence

@testable import BillowRaster

/// The project's own `Styles` folder.
let stylesFolder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Styles").path(percentEncoded: false)

@Suite("Styles")
struct StyleTests {
    @Test("skypath has exactly the documented colours")
    func skypath() throws {
        let style = try StyleLibrary(folder: stylesFolder).default
        #expect(style.id == "skypath" && style.theme == .light)
        let expected: [(Severity, String, UInt8)] = [
            (.smooth, "#FFFFFF", 153), (.light, "#FFF04C", 204), (.lightModerate, "#FFBC09", 204),
            (.moderate, "#FF7100", 204), (.moderateSevere, "#FF0000", 204),
        ]
        for (severity, fill, alpha) in expected {
            #expect(style[severity].fill.colour.hexadecimal == fill)
            #expect(style[severity].fill.colour.alpha == alpha)
            #expect((style[severity].border != nil) == (severity == .smooth))
        }
        let border = try #require(style[.smooth].border)
        #expect(border.colour == StraightColour("#898989CC") && border.opacity == 0.8)
    }

    @Test("skypath-web has the web demo's colours, outlined")
    func skypathWeb() throws {
        let style = try #require(try StyleLibrary(folder: stylesFolder)["skypath-web"])
        let fills = Severity.allCases.map { style[$0].fill }
        #expect(fills.map(\.colour.hexadecimal) == ["#FFFAFA", "#FFEA00", "#FFC132", "#FF9210", "#F8460E"])
        #expect(fills.map(\.colour.alpha) == [99, 199, 199, 199, 199])
        #expect(Severity.allCases.allSatisfy { style[$0].border?.colour == StraightColour("#64646463") })
    }

    @Test("the library holds the styles of the interface, the default first, and no other id")
    func library() throws {
        let library = try StyleLibrary(folder: stylesFolder)
        #expect(
            library.styles.map(\.id) == [
                "skypath", "colour-blind", "day", "edr", "high-contrast", "night", "print", "skypath-web",
            ])
        #expect(library["night"]?.theme == .dark)
        #expect(library["nosuch"] == nil)
    }

    @Test("in print every severity has a sign of its own without colour, and worse is darker")
    func printed() throws {
        let style = try #require(try StyleLibrary(folder: stylesFolder)["print"])
        #expect(Set(Severity.allCases.map { style[$0].pattern?.kind }).count == Severity.allCases.count)
        for severity in Severity.allCases {
            let fill = style[severity].fill.colour
            #expect(fill.red == fill.green && fill.green == fill.blue)
        }
        let greys = Severity.allCases.map { style[$0].fill.colour.red }
        #expect(greys == greys.sorted(by: >))
    }

    @Test("marks that a style doesn't name come from its theme")
    func marks() throws {
        let library = try StyleLibrary(folder: stylesFolder)
        #expect(library.default.marks == .standard(.light))
        #expect(library["night"]?.marks == .standard(.dark))
        #expect(library["print"]?.marks.hazard == StraightColour("#000000"))
        let half = library.default.faded(by: 0.5)
        #expect(half.marks.all.allSatisfy { $0.alpha == 128 })
    }

    @Test(
        "opacity becomes the nearest alpha",
        arguments: [(0.8, 204), (0.6, 153), (0, 0), (1, 255), (0.5, 128), (0.39, 99)])
    func alpha(_ opacity: Double, _ alpha: UInt8) {
        #expect(Paint(.clear, opacity: opacity)?.colour.alpha == alpha)
    }

    @Test("an opacity outside 0 to 1 is no paint", arguments: [-0.1, 1.01, .nan, .infinity])
    func noPaint(_ opacity: Double) { #expect(Paint(.clear, opacity: opacity) == nil) }

    @Test("fading multiplies the opacities of fill and border and stays in range")
    func fading() throws {
        let style = try StyleLibrary(folder: stylesFolder).default
        let half = style.faded(by: 0.5)
        #expect(half[.light].fill.colour == StraightColour("#FFF04C66"))
        #expect(half[.smooth].border?.colour.alpha == 102)
        #expect(style.faded(by: 1) == style && style.faded(by: 7) == style && style.faded(by: .nan) == style)
        #expect(style.faded(by: 0.7)[.light].fill.opacity == 0.56)
        #expect(style.faded(by: -1)[.moderate].fill.colour.alpha == 0)
    }

    // MARK: Problems

    static let valid = """
        {"id": "x", "title": "X", "description": "Test.", "theme": "light", "severities": {
        "smooth": {"fill": "#FFFFFF", "opacity": 0.6, "border": {"colour": "#898989", "opacity": 0.8}},
        "light": {"fill": "#fff04c", "opacity": 1}, "light-moderate": {"fill": "#FFBC09", "opacity": 0.8},
        "moderate": {"fill": "#FF7100", "opacity": 0.8}, "moderate-severe": {"fill": "#FF0000", "opacity": 0.8}}}
        """

    static func problems(_ text: String) -> [StyleProblem] {
        var file = StyleFile(name: "x.json")
        let style = file.read(Data(text.utf8))
        #expect((style == nil) == !file.problems.isEmpty)
        return file.problems
    }

    @Test("the valid text of the table below is valid")
    func validText() { #expect(StyleTests.problems(StyleTests.valid).isEmpty) }

    @Test(
        "each mistake is named by key and value",
        arguments: [
            ("\"id\": \"x\"", "\"id\": \"y\"", "id", "\"y\""),
            ("\"id\": \"x\"", "\"id\": 3", "id", "3"),
            ("\"title\": \"X\"", "\"title\": \"\"", "title", "\"\""),
            ("\"title\": \"X\"", "\"titel\": \"X\"", "titel", "not a known key"),
            ("\"title\": \"X\", ", "", "title", "missing"),
            ("\"theme\": \"light\"", "\"theme\": \"dim\"", "theme", "\"dim\""),
            ("\"Test.\"", "null", "description", "null"),
            ("#fff04c", "#fff04", "severities.light.fill", "\"#fff04\""),
            ("#fff04c", "#fff04c80", "severities.light.fill", "\"#fff04c80\""),
            ("#fff04c", "yellow", "severities.light.fill", "\"yellow\""),
            ("\"#fff04c\"", "[1, 2]", "severities.light.fill", "[1, 2]"),
            ("\"opacity\": 1}", "\"opacity\": 1.5}", "severities.light.opacity", "1.5"),
            ("\"opacity\": 1}", "\"opacity\": -1}", "severities.light.opacity", "-1"),
            ("\"opacity\": 1}", "\"opacity\": 0}", "severities.light.opacity", "0"),
            ("\"opacity\": 1}", "\"opacity\": 0.001}", "severities.light.opacity", "0.001"),
            ("\"opacity\": 1}", "\"opacity\": \"1\"}", "severities.light.opacity", "\"1\""),
            ("\"opacity\": 1}", "\"opacity\": true}", "severities.light.opacity", "true"),
            ("\"opacity\": 1}", "\"alpha\": 1}", "severities.light.alpha", "not a known key"),
            (", \"opacity\": 1}", "}", "severities.light.opacity", "missing"),
            ("{\"fill\": \"#FFBC09\", \"opacity\": 0.8}", "7", "severities.light-moderate", "7"),
            ("\"light-moderate\"", "\"lightModerate\"", "severities.lightModerate", "not a known key"),
            ("\"colour\"", "\"color\"", "severities.smooth.border.color", "not a known key"),
            ("\"#898989\"", "\"#89898G\"", "severities.smooth.border.colour", "\"#89898G\""),
            ("#FF7100", "#FFBC09", "severities.moderate", "{…}"),
        ])
    func mistakes(_ old: String, _ new: String, _ key: String, _ value: String) throws {
        let text = StyleTests.valid.replacing(old, with: new, maxReplacements: 1)
        #expect(text != StyleTests.valid)
        let problem = try #require(StyleTests.problems(text).first)
        #expect(problem.key == key && problem.value == value && !problem.allowed.isEmpty && problem.file == "x.json")
    }

    @Test(
        "text that is no JSON object is one problem of the file",
        arguments: ["", "{", "[]", "null", "\u{FF}\u{FE}", "nan"])
    func notJSON(_ text: String) {
        let problems = StyleTests.problems(text)
        #expect(problems.first?.key == "" && problems.first?.allowed.contains("object") == true)
    }

    @Test("all problems of all files come together, and the missing default among them")
    func together() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "billow-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }  // a leftover temporary folder harms nobody
        try Data(StyleTests.valid.replacing("#fff04c", with: "red").replacing("\"X\"", with: "1").utf8)
            .write(to: folder.appending(path: "x.json"))
        try Data("{}".utf8).write(to: folder.appending(path: "y.json"))
        try Data("not a style".utf8).write(to: folder.appending(path: "README.md"))
        let path = folder.path(percentEncoded: false)
        do {
            _ = try StyleLibrary(folder: path)
            Issue.record("no error")
        } catch StyleError.invalid(_, let problems) {
            #expect(
                problems.map { "\($0.file) \($0.key)" } == [
                    "x.json title", "x.json severities.light.fill", "y.json id", "y.json title", "y.json description",
                    "y.json theme", "y.json severities", "skypath.json ",
                ])
            let words = "\(StyleError.invalid(folder: path, problems: problems))"
            #expect(words.contains("8 problems"))
            #expect(words.contains("x.json: severities.light.fill is \"red\"; allowed: a colour \"#RRGGBB\""))
        } catch { Issue.record("\(error)") }
    }

    @Test("a folder that is not there is named")
    func noFolder() {
        do {
            _ = try StyleLibrary(folder: "/nosuch/styles")
            Issue.record("no error")
        } catch StyleError.unreadableFolder(let path, let reason) {
            #expect(path == "/nosuch/styles" && !reason.isEmpty)
        } catch { Issue.record("\(error)") }
    }

    @Test("the format's example is a valid style and its page names every style")
    func documentation() throws {
        let page = try String(contentsOfFile: stylesFolder + "/README.md", encoding: .utf8)
        let example = try #require(page.split(separator: "```json").last?.split(separator: "```").first)
        var file = StyleFile(name: "example.json")
        #expect(file.read(Data(example.utf8)) != nil, "\(file.problems)")
        for style in try StyleLibrary(folder: stylesFolder).styles { #expect(page.contains("| `\(style.id)` |")) }
    }
}
