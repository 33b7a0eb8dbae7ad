import BillowPacks
import EngineTestSupport
import Foundation
import Geometry
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import JSONKit
import NIOCore
import NIOHTTP1
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

@Suite("Content coding")
struct ContentCodingTests {
    @Test(
        "a client gets the coding that it prefers, and the fastest of those that it prefers equally",
        arguments: [
            (nil, .identity), ("", .identity), ("gzip", .gzip), ("GZIP", .gzip), ("x-gzip", .gzip),
            ("br, gzip", .brotli), ("BR", .brotli), ("gzip, deflate, br, zstd", .zstandard), ("zstd", .zstandard),
            ("gzip;q=0", .identity), ("gzip;q=0.000, *", .identity), ("*", .gzip), ("*;q=0", .identity),
            ("gzip; q=0.5", .gzip), ("identity, gzip;q=0.5", .identity), ("identity;q=0.5, gzip", .gzip),
            ("identity, zstd;q=0.9, br;q=0.9", .identity), ("identity;q=0", .identity),
            ("identity;q=0, gzip;q=0.1", .gzip), ("deflate, br", .brotli), ("gzip;q=x", .identity),
            ("gzip;q=2", .identity), (" ,;, gzip ;q=1.0 ", .gzip), ("br;q=1.0, gzip;q=0.8, *;q=0.1", .brotli),
            ("gzip, br;q=0.9, zstd;q=0.8", .gzip), ("zstd;q=0, br;q=0, gzip", .gzip), ("gzip;q=-1", .identity),
            ("compress, *;q=0.5", .gzip), ("br;q=0, *", .gzip),
        ] as [(String?, ContentCoding)])
    func negotiation(header: String?, coding: ContentCoding) {
        #expect(ContentCoding(accepted: header) == coding)
    }

    @Test(
        "a client without a preference gets vector tiles with gzip",
        arguments: [
            ("gzip, deflate, br, zstd", .gzip), ("br, zstd", .zstandard), ("gzip;q=0.9, br", .brotli), ("br", .brotli),
        ] as [(String, ContentCoding)])
    func negotiationOfTiles(header: String, coding: ContentCoding) {
        #expect(ContentCoding(accepted: header, .tiles) == coding)
    }

    private static let codings = [ContentCoding.gzip, .zstandard, .brotli]
    private static let gzip: HTTPFields = [.acceptEncoding: "gzip"]

    private func withTurbulence(_ test: @Sendable (World) async throws -> Void) async throws {
        try await withWorld { world in
            let cells = H3.disk(around: try cell(10, 50), distance: 20)
            try await world.insert(try cells.map { try observation($0) })
            try await test(world)
        }
    }

    private static let texts = [
        "/collections", "/collections/hexagons/items?limit=20", "/collections/hexagons/items?limit=10000",
        "/export/hexagons.csv", "/export/hexagons.geojson", "/timeline.json", "/tiles/hexagons.json",
        "/styles/skypath.json", "/tiles/hexagons/latest/4/8/5.mvt", "/changes/hexagons", "/",
        "/vendor/maplibre/maplibre-gl.js",
    ]

    @Test(
        "every text is the same compressed and plain, says that it differs by coding, and is smaller",
        arguments: texts, codings)
    func same(path: String, coding: ContentCoding) async throws {
        try await withTurbulence { world in
            let plain = try await world.get(path)
            let packed = try await world.get(path, [.acceptEncoding: coding.rawValue])
            #expect(plain.status == .ok && packed.status == .ok, "\(path)")
            #expect(plain.headers[.contentEncoding] == nil)
            #expect(plain.headers[.vary]?.hasSuffix("Accept-Encoding") == true)
            #expect(packed.headers[.vary] == plain.headers[.vary])
            #expect(packed.headers[.contentEncoding] == coding.rawValue)
            #expect(try #require(coding.decompress(packed.body)) == Array(buffer: plain.body), "\(path)")
            #expect(packed.body.readableBytes < plain.body.readableBytes)
            if let length = packed.headers[.contentLength] { #expect(length == "\(packed.body.readableBytes)") }
        }
    }

    @Test("each coding has a strong tag of its own, and 304 works with each of them in each coding")
    func tags() async throws {
        try await withTurbulence { world in
            for path in ["/collections/hexagons/items?limit=20", "/vendor/maplibre/maplibre-gl.js", "/timeline.json"] {
                let plain = try #require(try await world.get(path).headers[.eTag])
                var tags = [plain, "W/\(plain)"]
                for coding in ["gzip", "zstd", "br"] {
                    let tag = try #require(try await world.get(path, [.acceptEncoding: coding]).headers[.eTag])
                    #expect(tag == "\(plain.dropLast())+\(coding)\"")
                    tags.append(tag)
                }
                for tag in tags {
                    for headers in [Self.gzip, [.acceptEncoding: "br"], [:]] {
                        var headers = headers
                        headers[.ifNoneMatch] = tag
                        let answer = try await world.get(path, headers)
                        #expect(answer.status == .notModified, "\(path) \(tag)")
                        #expect(headers[.acceptEncoding] == nil || answer.headers[.eTag] == tag, "\(path) \(tag)")
                        #expect(answer.body.readableBytes == 0)
                        #expect(answer.headers[.vary]?.hasSuffix("Accept-Encoding") == true)
                    }
                }
            }
        }
    }

    @Test("small bodies, pictures and ranges are not compressed")
    func untouched() async throws {
        try await withTurbulence { world in
            let small = try await world.get("/healthz", Self.gzip)
            #expect(small.headers[.contentEncoding] == nil)
            let asked = try await world.get("/healthz", [.acceptEncoding: "gzip, identity;q=0"])
            #expect(asked.headers[.contentEncoding] == "gzip")
            #expect(gunzip(asked.body) == Array(buffer: small.body))
            let picture = try await world.get("/tiles/hexagons/latest/4/8/5.png", Self.gzip)
            #expect(picture.headers[.contentEncoding] == nil)
            #expect(picture.headers[.vary] == nil)
            #expect(picture.headers[.eTag]?.hasPrefix("W/") == false)
            let part = try await world.get(
                "/vendor/maplibre/maplibre-gl.js", [.acceptEncoding: "gzip", .range: "bytes=10-19"])
            #expect(part.status == .partialContent)
            #expect(part.headers[.contentEncoding] == nil)
            #expect(part.headers[.acceptRanges] == "bytes")
            #expect(part.body.readableBytes == 10)
        }
    }

    @Test("what is compressed can't be had in parts, and a part of it is not mixed with plain bytes")
    func ranges() async throws {
        try await withTurbulence { world in
            let path = "/vendor/maplibre/maplibre-gl.js"
            let whole = try await world.get(path, Self.gzip)
            #expect(whole.headers[.acceptRanges] == "none")
            let rest = try await world.get(
                path, [.acceptEncoding: "gzip", .range: "bytes=10-", .ifRange: try #require(whole.headers[.eTag])])
            #expect(rest.status == .ok)
            #expect(rest.body == whole.body)
        }
    }

    @Test("HEAD tells of the plain bytes, whatever the client takes", arguments: [gzip, [:]])
    func head(headers: HTTPFields) async throws {
        try await withTurbulence { world in
            for path in ["/collections/hexagons/items?limit=20", "/vendor/maplibre/maplibre-gl.js"] {
                let whole = try await world.get(path)
                let head = try await world.get(path, headers, method: .head)
                for name in [HTTPField.Name.contentEncoding, .eTag, .vary, .contentLength, .acceptRanges] {
                    #expect(head.headers[name] == whole.headers[name], "\(path) \(name)")
                }
                #expect(head.body.readableBytes == 0)
            }
        }
    }

    @Test("a file is compressed once, and again when it has changed")
    func cached() async throws {
        let folder = URL.temporaryDirectory.appending(path: "coding-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "a.js")
        try Data(repeating: 0x61, count: 5_000).write(to: file)
        try await withWorld(publicFolder: folder.path) { world in
            let cache = world.application.compressed.cache
            for _ in 0..<5 { _ = try await world.get("/a.js", Self.gzip) }
            #expect(cache.statistics.misses == 1)
            #expect(cache.statistics.hits == 4)
            try Data(repeating: 0x62, count: 6_000).write(to: file)
            #expect(gunzip(try await world.get("/a.js", Self.gzip).body)?.first == 0x62)
        }
    }

    @Test(
        "bytes compressed as they come are one body, whose stream takes the memory that is reserved",
        arguments: codings, [0, 1, 70_000, 1_000_000])
    func stream(coding: ContentCoding, count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 5) }
        let stream = try #require(coding.stream())
        var packed: [UInt8] = []
        for start in stride(from: 0, to: count, by: 33_000) {
            packed += stream.compress(Array(bytes[start..<min(start + 33_000, count)]), isLast: false)
        }
        if let stream = stream as? ZstandardStream { #expect(stream.usedBytes <= coding.streamBytes) }
        packed += stream.compress([], isLast: true)
        #expect(coding.decompress(ByteBuffer(bytes: packed)) == bytes)
    }

    @Test("bytes compressed at once are one body", arguments: codings, [0, 1, 70_000, 1_000_000])
    func whole(coding: ContentCoding, count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 5) }
        for effort in [CompressionEffort.low, .high] {
            let packed = try #require(coding.compress(bytes, effort))
            #expect(coding.decompress(ByteBuffer(bytes: packed)) == bytes)
        }
    }

    @Test("a file is cached by coding, so that no client gets a coding that it can't read")
    func cachedByCoding() async throws {
        try await withTurbulence { world in
            let path = "/vendor/maplibre/maplibre-gl.js"
            let plain = try await world.get(path)
            for coding in Self.codings + Self.codings {
                let packed = try await world.get(path, [.acceptEncoding: coding.rawValue])
                #expect(packed.headers[.contentEncoding] == coding.rawValue)
                #expect(coding.decompress(packed.body) == Array(buffer: plain.body))
            }
        }
    }
}
