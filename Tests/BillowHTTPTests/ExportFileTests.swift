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

    private func report(_ id: String, at seconds: Int) throws -> PilotReport {
        PilotReport(
            id: id, place: try place(-80, 26), observedAt: noon.advanced(by: seconds), type: "PIREP", aircraft: nil,
            altitudeFeet: 35_000, turbulence: [], text: "UA", source: try source("awc"))
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

    @Test("a file that both kinds of path share varies by Accept only for the one without a format")
    func sharedFile() async throws {
        try await withObservations { world in
            for isNamedFirst in [true, false] {
                var tags: Set<String?> = []
                for isNamed in [isNamedFirst, !isNamedFirst] {
                    let head = try await world.get(
                        isNamed ? "/export/observations.csv" : "/export/observations", [.accept: "text/csv"],
                        method: .head)
                    tags.insert(head.headers[.eTag])
                    let names = head.headers[.vary]?.split(separator: ", ") ?? []
                    #expect(names.contains("Accept") == !isNamed, "\(isNamedFirst): \(names)")
                }
                #expect(tags.count == 1 && !tags.contains(nil))
                // The next file is another one.
                world.clock.advance(by: 1_000)
            }
        }
    }

    @Test(
        "the parts of an export join to the whole of its version, though data arrives meanwhile",
        arguments: [
            "observations.geojsonl", "observations.csv?severity=3", "hexagons.geojsonl", "hexagons.csv?bbox=0,45,20,55",
            "hexagons?f=csv", "pireps.geojsonl", "observations.geojsons?minSeverity=4",
        ])
    func limitedParts(_ export: String) async throws {
        try await withObservations { world in
            try await world.insert([], reports: try (0..<700).map { try report("r\($0)", at: -60 - $0 % 3) })
            let isTable = export.contains("csv")
            func lines(_ answer: TestResponse) throws -> [Substring] {
                let lines = answer.text.split(whereSeparator: \.isNewline)
                return isTable ? Array(lines.dropFirst()) : lines
            }
            let whole = try lines(try await world.get("/export/\(export)"))
            var joined: [Substring] = []
            let separator = export.contains("?") ? "&" : "?"
            var next: String? = "/export/\(export)\(separator)limit=500"
            var parts = 0
            while let path = next {
                let answer = try await world.get(path)
                #expect(answer.status == .ok && answer.headers[.acceptRanges] == "bytes", "\(path): \(answer.text)")
                #expect(answer.headers[.contentLength] == "\(answer.body.readableBytes)")
                let found = try lines(answer)
                #expect(found.count <= 500)
                joined += found
                parts += 1
                try #require(parts < 20)
                next = try answer.headers[.link].map { link in
                    let address = try #require(link.split(separator: ">").first?.dropFirst())
                    #expect(link.contains("rel=\"next\""))
                    return String(address).replacing("http://localhost", with: "")
                }
                // A part that is repeated is the same, though new data came.
                let place = try cell(11, 51 + Double(parts))
                try await world.insert([try observation(place, at: -70 - parts)])
                if path.contains("after=") { world.clock.advance(by: 61) }
                #expect(try await world.get(path).body == answer.body)
            }
            #expect(joined == whole)
            #expect(parts == max(1, (whole.count + 499) / 500))
        }
    }

    @Test("a start of a part that is changed, or of another export, is refused, and so is a part of a file")
    func wrongParts() async throws {
        try await withObservations { world in
            let link = try #require(try await world.get("/export/observations.csv?limit=10").headers[.link])
            let address = String(try #require(link.split(separator: ">").first?.dropFirst()))
            let next = address.replacing("http://localhost", with: "")
            #expect(try await world.get(next.replacing("observations.csv", with: "observations.geojson")).status == .ok)
            let changed = next.replacing("&limit", with: "0&limit")
            for path in [next + "&severity=1", changed, "/export/observations.csv?after=x"] {
                let answer = try await world.get(path)
                #expect(answer.status == .badRequest, "\(path)")
                #expect(try answer.json["parameter"]?.string == "after", "\(path)")
            }
            for ending in ["kml", "kmz", "gpkg"] {
                let answer = try await world.get("/export/observations.\(ending)?limit=10")
                #expect(try answer.json["parameter"]?.string == "limit" && answer.status == .badRequest, "\(ending)")
            }
            #expect(try await world.get("/export/observations.csv?limit=0").status == .badRequest)
        }
    }

    @Test("a job makes a part, whose result links to the next one")
    func partOfJob() async throws {
        try await withObservations { world in
            let made = try await world.send(.post, "/export/observations.csv?limit=10")
            #expect(made.status == .accepted, "\(made.text)")
            let path = try #require(made.headers[.location])
            #expect(await world.application.exportJobs.runNext())
            let result = try await world.get("\(path)/results")
            #expect(result.text.split(whereSeparator: \.isNewline).count == 11)
            #expect(result.headers[.link]?.contains("/export/observations.csv?after=") == true)
            let refused = try await world.send(.post, "/export/observations.csv?estimate")
            #expect(try refused.json["parameter"]?.string == "estimate" && refused.status == .badRequest)
        }
    }

    @Test(
        "an estimate tells the features and bytes of an export",
        arguments: [
            "observations.geojsonl", "observations.csv?severity=4", "hexagons.geojson", "pireps.csv", "polygons.csv",
        ])
    func estimates(_ export: String) async throws {
        try await withObservations { world in
            let whole = try await world.get("/export/\(export)")
            let separator = export.contains("?") ? "&" : "?"
            let estimate = try await world.json("/export/\(export)\(separator)estimate")
            #expect(estimate["bytes"]?.integer == whole.body.readableBytes)
            #expect(estimate["exact"]?.bool == true)
            let lines = whole.text.split(whereSeparator: \.isNewline).count
            let count =
                try export.hasSuffix("geojson") ? whole.json.features.count : lines - (export.contains("csv") ? 1 : 0)
            #expect(estimate["features"]?.integer == count)
        }
    }

    @Test("an estimate of many observations is near the export, from a sample of them")
    func sampledEstimates() async throws {
        try await withWorld { world in
            let cells = H3.disk(around: try cell(10, 50), distance: 30)
            for round in 0..<5 {
                try await world.insert(
                    try cells.map { try observation($0, severity: .light, at: -60 - 1_000 * round) })
            }
            let estimate = try await world.json("/export/observations.csv?estimate=true")
            let whole = try await world.get("/export/observations.csv")
            let features = try #require(estimate["features"]?.integer)
            let bytes = try #require(estimate["bytes"]?.integer)
            #expect(estimate["exact"]?.bool == false)
            #expect(features == 5 * cells.count && cells.count * 5 > ExportEstimate.sampleRecords)
            #expect(abs(bytes - whole.body.readableBytes) < whole.body.readableBytes / 50)
            for ending in ["kml", "kmz", "gpkg"] {
                let files = try await world.json("/export/observations.\(ending)?estimate")
                #expect(files["features"]?.integer == features && files["bytes"] == nil, "\(ending)")
            }
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

    @Test("a file stays the address's one while a request waits for it or reads it, however long that takes")
    func use() async throws {
        try await withObservations { world in
            let application = world.application
            let files = ExportFiles(work: WorkExecutor(), now: { world.clock.now })
            let routes = ExportRoutes(
                frames: application.frames, features: application.features, policy: application.policy,
                work: WorkExecutor(), files: files, packs: application.packs, timelines: application.timelines,
                styleStore: application.styles, publicURL: nil)
            let name = try #require(Self.path.split(separator: "/").last.map(String.init))
            func prepared() async throws -> PreparedExport {
                let head = HTTPRequest(method: .get, scheme: "http", authority: "h", path: Self.path)
                return try await routes.prepare(name, Request(head: head, body: RequestBody(buffer: ByteBuffer())))
            }
            var slow = try await files.file(of: try await prepared())
            let tag = try #require(slow?.file.entityTag)
            try await world.insert([try observation(try cell(20, 40))])
            for _ in 0..<5 {
                world.clock.advance(by: 100)
                files.expire()
                // Another reader comes and goes.
                #expect(try await files.file(of: try await prepared())?.file.entityTag == tag)
            }
            slow = nil
            world.clock.advance(by: 59)
            files.expire()
            #expect(files.statistics.entries == 1)
            world.clock.advance(by: 2)
            files.expire()
            #expect(files.statistics.entries == 0)
            #expect(try await files.file(of: try await prepared())?.file.entityTag != tag)
        }
    }

    @Test("who takes a whole file gets one of the last minute, while others read an older one in parts")
    func fresh() async throws {
        try await withObservations { world in
            let path = "/export/hexagons.mbtiles?bbox=5,45,15,55&maxzoom=3"
            func bytes(_ range: String, _ tag: String? = nil) async throws -> TestResponse {
                var headers: HTTPFields = [.range: "bytes=\(range)"]
                headers[.ifRange] = tag
                return try await world.get(path, headers)
            }
            let first = try await world.get(path)
            let tag = try #require(first.headers[.eTag])
            #expect(first.headers[.frameTime] == noon.description)
            var newest = first
            for round in 1...6 {
                world.clock.advance(by: 45)
                try await world.insert([try observation(try cell(9, 48 + Double(round) / 4), at: 0)])
                // The reader of parts has the first file all the time, by its tag and without.
                for part in [try await bytes("0-99", tag), try await bytes("0-99")] {
                    #expect(part.status == .partialContent && part.headers[.eTag] == tag)
                }
                for whole in [try await world.get(path), try await bytes("0-")] {
                    let made = try #require(whole.headers[.frameTime].flatMap { Instant($0) })
                    #expect(world.clock.now.seconds - made.seconds <= 60)
                    newest = whole
                }
                #expect(try await world.get(path, method: .head).headers[.eTag] == tag)
            }
            // A download of a newer file is resumed by its tag too.
            let other = try #require(newest.headers[.eTag])
            #expect(other != tag)
            let rest = try await bytes("100-", other)
            #expect(rest.status == .partialContent && rest.headers[.eTag] == other)
            #expect(Array(buffer: rest.body) == Array(Array(buffer: newest.body)[100...]))
            // All of them expire.
            world.clock.advance(by: 61)
            world.application.exportFiles.expire()
            #expect(world.application.exportFiles.statistics.entries == 0)
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
                styleStore: application.styles, publicURL: nil
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
