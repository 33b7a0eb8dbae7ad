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
            for uri in ["/", "/healthz", "/nothing", "/tiles/hexagons/latest/0/0/0.png", "/collections"] {
                #expect(try await world.get(uri).header("X-Content-Type-Options") == "nosniff", "\(uri)")
            }
        }
    }
}
