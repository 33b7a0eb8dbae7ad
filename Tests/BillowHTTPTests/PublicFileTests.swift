import EngineTestSupport
import Foundation
import HTTPTypes
import HummingbirdTesting
import JSONKit
import NIOCore
import TestSupport
import Testing

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

@Suite("Files of the viewer")
struct PublicFileTests {
    @Test(
        "a range is a part of what there is, or none",
        arguments: [
            (nil, ByteRange.whole), ("bytes=0-4", .part(0..<5)), ("bytes=5-", .part(5..<10)),
            ("bytes=-3", .part(7..<10)),
            ("bytes=-99", .part(0..<10)), ("bytes=9-99", .part(9..<10)), ("bytes=10-", .unsatisfiable),
            ("bytes=9999999999-", .unsatisfiable), ("bytes=99999999999999999999-", .unsatisfiable),
            ("bytes=-0", .unsatisfiable), ("bytes=4-2", .whole), ("bytes=0-1,4-5", .whole), ("bytes=", .whole),
            ("bytes=-", .whole), ("bytes=a-b", .whole), ("bytes=--1", .whole), ("lines=0-1", .whole),
            ("bytes=0-99999999999999999999", .part(0..<10)),
        ])
    func ranges(header: String?, range: ByteRange) {
        #expect(ByteRange(header, of: 10) == range)
    }

    @Test("ranges, conditions and what isn't there, of small and of large files", arguments: [10, 5 << 20])
    func files(size: Int) async throws {
        let folder = try FolderOfOne("digits.txt", bytes: size)
        let path = folder.path
        try await withWorld(publicFolder: path) { world in
            let range = HTTPField.Name.range
            let whole = try await world.get("/digits.txt")
            #expect(whole.status == .ok && whole.body.readableBytes == size)
            #expect(whole.headers[.contentType] == "text/plain; charset=utf-8")
            let part = try await world.get("/digits.txt", [range: "bytes=2-5"])
            #expect(part.status == .partialContent && part.text == "2345")
            #expect(part.headers[.contentRange] == "bytes 2-5/\(size)" && part.headers[.contentLength] == "4")
            let last = try await world.get("/digits.txt", [range: "bytes=-2"])
            #expect(last.status == .partialContent && last.body.readableBytes == 2)
            let beyond = try await world.get("/digits.txt", [range: "bytes=9999999999-"])
            #expect(beyond.status == .rangeNotSatisfiable)
            #expect(beyond.headers[.contentRange] == "bytes */\(size)")
            #expect(try beyond.json["code"] == .text("range-not-satisfiable"))
            let tag = try whole.headers[.eTag].orMissing()
            #expect(try await world.get("/digits.txt", [.ifNoneMatch: tag]).status == .notModified)
            let modified = try whole.headers[.lastModified].orMissing()
            #expect(try await world.get("/digits.txt", [.ifModifiedSince: modified]).status == .notModified)
            for (condition, status) in [(tag, HTTPResponse.Status.partialContent), ("\"other\"", .ok)] {
                let answer = try await world.get("/digits.txt", [range: "bytes=2-5", .ifRange: condition])
                #expect(answer.status == status)
            }
            #expect(try await world.get("/digits.txt", [range: "bytes=2-5"], method: .head).status == .ok)
            #expect(try await world.get("/nothing.txt").status == .notFound)
            try Data("new".utf8).write(to: URL(filePath: path + "/digits.txt"))
            #expect(try await world.get("/digits.txt").text == "new")
        }
        withExtendedLifetime(folder) {}
    }

    @Test("a page names its files by their version, under which they may be cached for ever")
    func release() async throws {
        let folder = try FolderOfOne("digits.txt", bytes: 10)
        let root = URL(filePath: folder.path)
        let write: @Sendable (String, String) throws -> Void = { path, text in
            let file = root.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        try write("index.html", "<script src=\"assets/current/js/a.js\"></script>")
        try write("js/a.js", "one")
        let linked = try FolderOfOne("b.css", bytes: 3)
        try FileManager.default.createSymbolicLink(
            at: root.appending(path: "vendor"), withDestinationURL: URL(filePath: linked.path))
        try await withWorld(publicFolder: folder.path) { world in
            let version = { () async throws -> String in
                let page = try await world.get("/", [.accept: "text/html"])
                #expect(page.headers[.cacheControl] == "no-cache" && page.headers[.lastModified] == nil)
                let found = try #require(try page.text.firstMatch(of: Regex("assets/([0-9a-f]{16})/js/a.js"))?[1])
                return String(try found.substring.orMissing())
            }
            let first = try await version()
            for path in ["/js/a.js", "/js/datasets.js", "/vendor/b.css", "/digits.txt"] {
                let plain = try await world.get(path)
                #expect(plain.headers[.cacheControl] == "no-cache", "\(path)")
                let asset = try await world.get("/assets/\(first)\(path)")
                #expect(asset.status == .ok && asset.body == plain.body, "\(path)")
                #expect(asset.headers[.cacheControl] == "public, max-age=31536000, immutable")
                #expect(asset.headers[.contentType] == plain.headers[.contentType])
                let tag = try asset.headers[.eTag].orMissing()
                let known = try await world.get("/assets/\(first)\(path)", [.ifNoneMatch: tag])
                #expect(known.status == .notModified)
            }
            for path in ["", "/", "/js", "/js/", "/js/b.js", "/index.html", "/index", "/assets/\(first)/js/a.js"] {
                for version in [first, "current"] {
                    #expect(try await world.get("/assets/\(version)\(path)").status == .notFound, "\(path)")
                }
            }
            let page = try await world.get("/", [.accept: "text/html"]).headers[.eTag].orMissing()
            #expect(try await world.get("/", [.accept: "text/html", .ifNoneMatch: page]).status == .notModified)

            try write("js/a.js", "second")
            let second = try await version()
            #expect(second != first)
            #expect(try await world.get("/", [.accept: "text/html", .ifNoneMatch: page]).status == .ok)
            for version in [first, "current"] {
                let current = try await world.get("/assets/\(version)/js/a.js")
                #expect(current.text == "second" && current.headers[.cacheControl] == "no-cache")
            }
            let asset = try await world.get("/assets/\(second)/js/a.js")
            #expect(asset.text == "second" && asset.headers[.cacheControl]?.hasSuffix("immutable") == true)
        }
        withExtendedLifetime((folder, linked)) {}
    }

    @Test("an immutable file stays what its version names, though the file has changed")
    func changedAsset() async throws {
        let folder = try FolderOfOne("a.js", bytes: 5)
        let files = PublicFiles(folder: folder.path)
        try Data("assets/current/a.js".utf8).write(to: URL(filePath: folder.path + "/index.html"))
        guard case .file(let page) = try await files.find("/"), let bytes = page.bytes else {
            Issue.record("no page")
            return
        }
        try Data("other".utf8).write(to: URL(filePath: folder.path + "/a.js"))
        guard case .asset(let file) = try await files.find("/\(String(buffer: bytes))") else {
            Issue.record("no asset")
            return
        }
        #expect(file.bytes == ByteBuffer(string: "01234"))
        withExtendedLifetime(folder) {}
    }

    @Test("pages and files say what they may load, and who may frame them")
    func pageRules() async throws {
        try await withWorld(publicURL: "https://billow.example:8443/x") { world in
            for uri in ["/", "/viewer.js", "/status"] {
                let answer = try await world.get(uri, [.accept: "text/html"])
                let policy = answer.headers[.contentSecurityPolicy] ?? ""
                #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'self'"), "\(uri)")
                #expect(!policy.contains("unsafe") && !policy.contains("*"))
                #expect(answer.header("X-Frame-Options") == "SAMEORIGIN")
                #expect(answer.header("Referrer-Policy") == "no-referrer")
            }
            let page = try await world.get("/").headers[.contentSecurityPolicy] ?? ""
            #expect(page.contains("connect-src 'self' https://billow.example:8443;"))
            #expect(try await world.get("/js/datasets.js").text.contains("ONLINE_BASE_MAP = null;"))
            for uri in ["/", "/healthz", "/nothing", "/tiles/hexagons/latest/0/0/0.png", "/collections"] {
                #expect(try await world.get(uri).header("X-Content-Type-Options") == "nosniff", "\(uri)")
            }
        }
    }

    @Test("an online base map is in the viewer's module, and the pages may request its tiles")
    func onlineBaseMap() async throws {
        let tiles = "https://tiles.example:8443/map/{z}/{x}/{y}.png?key=a"
        var map = try OnlineBaseMap(tiles: tiles).orMissing()
        map.attribution = "© \"Example\""
        try await withWorld(baseMap: map) { world in
            let policy = try await world.get("/").headers[.contentSecurityPolicy] ?? ""
            #expect(policy.contains("img-src 'self' https://tiles.example:8443 data: blob:;"))
            #expect(policy.contains("connect-src 'self' https://tiles.example:8443;"))
            #expect(policy.contains("script-src 'self';"))
            let module = try await world.get("/js/datasets.js").text
            #expect(module.contains(#"{"attribution":"© \"Example\"","tiles":"\#(tiles)"}"#))
        }
    }

    @Test(
        "a template of a base map that could not be requested is refused",
        arguments: [
            "", "https://tiles.example/{z}/{x}.png", "ftp://tiles.example/{z}/{x}/{y}.png",
            "https://user@tiles.example/{z}/{x}/{y}.png", "https://tiles.example;script-src/{z}/{x}/{y}.png",
            "https://{z}.tiles.example/{z}/{x}/{y}.png", "https://tiles.example/{z}/{x}/{y}.png#a",
            "https://tiles.example/{z}/{x} /{y}.png", "//tiles.example/{z}/{x}/{y}.png",
        ])
    func refusedBaseMap(_ template: String) { #expect(OnlineBaseMap(tiles: template) == nil) }
}
