import BillowStore
import EngineTestSupport
import Foundation
import Geometry
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import JSONKit
import NIOCore
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

@Suite("Exports in parts")
struct ExportFileTests {
    private static let path = "/export/observations.geojsonl"

    private func withObservations(_ test: @Sendable (World) async throws -> Void) async throws {
        try await withWorld { world in
            let cells = H3.disk(around: try cell(10, 50), distance: 20)
            try await world.insert(try cells.map { try observation($0) })
            try await test(world)
        }
    }

    private func part(_ range: String, _ world: World, _ more: HTTPFields = [:]) async throws -> TestResponse {
        var headers = more
        headers[.range] = "bytes=\(range)"
        return try await world.get(Self.path, headers)
    }

    @Test("HEAD tells the length, and parts together are the whole, while the data changes")
    func parts() async throws {
        try await withObservations { world in
            let whole = try await world.get(Self.path)
            #expect(whole.headers[.acceptRanges] == "bytes")
            let head = try await world.get(Self.path, method: .head)
            let size = whole.body.readableBytes
            #expect(head.headers[.contentLength] == "\(size)")
            #expect(head.headers[.acceptRanges] == "bytes")
            let tag = try #require(head.headers[.eTag])
            #expect(tag.hasPrefix("\""))
            var bytes: [UInt8] = []
            for start in stride(from: 0, to: size, by: 100_000) {
                let end = min(start + 100_000, size)
                let answer = try await part("\(start)-\(start + 99_999)", world)
                #expect(answer.status == .partialContent)
                #expect(answer.headers[.contentRange] == "bytes \(start)-\(end - 1)/\(size)")
                #expect(answer.headers[.contentLength] == "\(end - start)")
                #expect(answer.headers[.eTag] == tag)
                bytes += Array(buffer: answer.body)
                // What comes in between is of no part.
                let place = try cell(20, 40 + Double(start % 7))
                try await world.insert([try observation(place, at: -1 - start / 100_000)])
                world.clock.advance(by: 10)
            }
            #expect(bytes == Array(buffer: whole.body))
            #expect(try await world.get(Self.path).body.readableBytes > size)
        }
    }

    @Test("a minute after the last reader the next one gets newer data; If-Range tells a reader who continues")
    func expiry() async throws {
        try await withObservations { world in
            let first = try await part("0-9", world)
            let tag = try #require(first.headers[.eTag])
            try await world.insert([try observation(try cell(20, 40))])
            #expect(try await part("10-19", world, [.ifRange: tag]).status == .partialContent)
            world.clock.advance(by: 61)
            try await world.refresh()
            let rest = try await part("10-19", world, [.ifRange: tag])
            #expect(rest.status == .ok)
            #expect(rest.headers[.eTag] != tag)
            #expect(rest.headers[.contentLength] == "\(rest.body.readableBytes)")
            #expect(world.application.exportFiles.statistics.entries == 1)
            world.clock.advance(by: 61)
            world.application.exportFiles.expire()
            #expect(world.application.exportFiles.statistics.entries == 0)
            #expect(world.application.exportFiles.statistics.bytes == 0)
        }
    }

    @Test("a download is resumed with the tag of its beginning only, so that no two versions mix")
    func resumption() async throws {
        try await withObservations { world in
            let begun = try await part("0-", world)
            let tag = try #require(begun.headers[.eTag])
            let bytes = Array(buffer: begun.body)
            let half = bytes.count / 2
            let rest = try await part("\(half)-", world, [.ifRange: tag])
            #expect(rest.status == .partialContent && Array(buffer: rest.body) == Array(bytes[half...]))
            // `curl -C -` and `wget -c` send no tag.
            let blind = try await part("\(half)-", world)
            #expect(blind.status == .ok && blind.headers[.contentRange] == nil)
            #expect(blind.body.readableBytes == bytes.count)
        }
    }

    @Test(
        "every form of a range is answered as the specification has it",
        arguments: [
            ("bytes=-5", 206, 5), ("bytes=0-0", 206, 1), ("bytes=99999999-99999999", 416, nil), ("bytes=5-2", 200, nil),
            ("bytes=0-", 206, nil), ("bytes=5-", 200, nil), ("bytes=99999999-", 416, nil),
            ("bytes=0-1,4-5", 200, nil), ("lines=0-1", 200, nil), ("bytes=-0", 416, nil), ("bytes=x", 200, nil),
        ] as [(String, Int, Int?)])
    func ranges(range: String, status: Int, count: Int?) async throws {
        try await withObservations { world in
            let answer = try await world.get(Self.path, [.range: range])
            #expect(answer.status.code == status)
            if let count { #expect(answer.body.readableBytes == count) }
            if status == 416 {
                #expect(answer.headers[.contentRange]?.hasPrefix("bytes */") == true)
                #expect(try answer.json["code"]?.string == "range-not-satisfiable")
            }
            if status == 200 { #expect(answer.headers[.contentLength] == "\(answer.body.readableBytes)") }
        }
    }

    @Test("a file that the client has is 304")
    func known() async throws {
        try await withObservations { world in
            let tag = try #require(try await world.get(Self.path, method: .head).headers[.eTag])
            let answer = try await world.get(Self.path, [.ifNoneMatch: tag], method: .head)
            #expect(answer.status == .notModified)
        }
    }

    @Test("what is requested in another order of parameters is the same file, and a file for itself by other ones")
    func addresses() async throws {
        try await withObservations { world in
            let files = world.application.exportFiles
            for query in ["hours=1&minSeverity=2", "minSeverity=2&hours=1"] {
                _ = try await world.get("\(Self.path)?\(query)", method: .head)
            }
            #expect(files.statistics.entries == 1)
            _ = try await world.get("\(Self.path)?hours=1", method: .head)
            #expect(files.statistics.entries == 2)
        }
    }

    @Test("an export that is too large says that it has no parts, and is whole")
    func tooLarge() async throws {
        try await withObservations { world in
            let application = world.application
            let files = ExportFiles(work: WorkExecutor(), largest: 1_000, now: { world.clock.now })
            let router = Router(context: BasicRequestContext.self)
            ExportRoutes(
                frames: application.frames, features: application.features, policy: application.policy,
                work: WorkExecutor(), files: files, packs: application.packs, timelines: application.timelines,
                styleStore: application.styles
            ).add(to: router)
            let whole = try await world.get(Self.path).body
            try await Application(router: router, logger: World.quiet()).test(.router) { client in
                let answer = try await client.executeRequest(
                    uri: Self.path, method: .get, headers: [.range: "bytes=0-9"], body: nil)
                #expect(answer.status == .ok)
                #expect(answer.headers[.acceptRanges] == "none")
                #expect(answer.body == whole)
                let head = try await client.executeRequest(uri: Self.path, method: .head, headers: [:], body: nil)
                #expect(head.headers[.acceptRanges] == "none")
            }
            #expect(files.statistics.bytes < 1_000)
        }
    }
}
