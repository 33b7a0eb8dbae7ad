import Foundation
import EngineTestSupport
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import JSONKit
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP

/// What every route does alike: HEAD, OPTIONS, CORS and caching.
@Suite("Transport of every route")
struct TransportTests {
    private func withData(_ test: @Sendable (World) async throws -> Void) async throws {
        try await withWorld(feeds: ["skypath": [.observations]]) { world in
            try await world.insert([try observation(id: "a", try cell(10, 50), at: -60)])
            try await world.fetched("skypath", completeSince: noon.advanced(by: -86_400))
            try await world.refresh()
            try await test(world)
        }
    }

    /// The addresses of all routes that can be read, by route.
    private func addresses(_ world: World) throws -> [(route: String, addresses: [String])] {
        let routes = Set(world.application.router().routes.filter { $0.method == .get }.map { "\($0.path)" })
        return try routes.sorted().compactMap { route -> (route: String, addresses: [String])? in
            let known = route.hasPrefix("/ogc/") ? String(route.dropFirst("/ogc".count)) : route
            if let other = SampleAddresses.ofOthers[known] {
                return other.map { (route, [route == known ? $0 : "/ogc\($0)"]) }
            }
            let some = try SampleAddresses.ofData[known].orMissing("an example of \(route)")
            return (route, some.map { route == known ? $0 : "/ogc\($0)" })
        }
    }

    private func names(_ header: String?) -> Set<String> {
        Set((header ?? "").split(separator: ",").map { $0.filter { $0 != " " }.lowercased() })
    }

    /// The headers that a page of another origin reads.
    private static let exposed: Set = [
        "etag", "x-frame-time", "x-data-time", "x-simulated", "x-incomplete", "x-field", "retry-after", "link",
        "content-disposition", "content-range", "accept-ranges", "x-request-id", "location", "allow", "ratelimit",
        "ratelimit-policy", "www-authenticate",
    ]

    @Test("HEAD describes what GET gives, without a body, at every address")
    func head() async throws {
        try await withData { world in
            for (route, addresses) in try addresses(world) where route != "/events" {
                for address in addresses {
                    let whole = try await world.get(address)
                    let head = try await world.get(address, method: .head)
                    #expect(head.status == whole.status, "\(address): \(head.status)")
                    #expect(head.body.readableBytes == 0, "\(address)")
                    for name in [
                        HTTPField.Name.contentType, .eTag, .cacheControl, .contentDisposition, .vary, .frameTime,
                        .dataTime,
                    ] {
                        // HEAD of an export is about a file, whose entity tag and caching are those of its bytes.
                        if route == "/export/{file}", [.eTag, .cacheControl].contains(name) { continue }
                        #expect(head.headers[name] == whole.headers[name], "\(address): \(name)")
                    }
                    if let length = whole.headers[.contentLength], whole.status == .ok {
                        #expect(head.headers[.contentLength] == length, "\(address)")
                    }
                }
            }
        }
    }

    @Test("HEAD of events describes the stream, ends at once and is no listener")
    func headOfEvents() async throws {
        try await withData { world in
            let head = try await world.get("/events", method: .head)
            #expect(head.status == .ok && head.headers[.contentType] == "text/event-stream")
            #expect(head.body.readableBytes == 0)
            #expect(world.application.events.listeners == 0)
            #expect(try await world.get("/events?flight=nothing", method: .head).status.code >= 400)
        }
    }

    @Test("a preflight is answered at every address, also where a key is needed, and allows every header")
    func preflight() async throws {
        try await withWorld(anonymousRead: false) { world in
            let routes = Dictionary(grouping: world.application.router().routes, by: \.path.description)
            let samples = Dictionary(uniqueKeysWithValues: try addresses(world).map { ($0.route, $0.addresses) })
            for (path, routes) in routes {
                let address = samples[path]?.first ?? path.replacing(/\{[a-zA-Z]+\}/, with: "x")
                for route in routes {
                    let answer = try await world.get(
                        address,
                        [
                            .origin: "https://elsewhere.example", .accessControlRequestMethod: route.method.rawValue,
                            .accessControlRequestHeaders: "authorization,if-none-match,if-range,range,x-api-key",
                        ], method: .options)
                    #expect(answer.status == .noContent, "\(address)")
                    #expect(answer.headers[.accessControlAllowOrigin] == "*")
                    #expect(
                        names(answer.headers[.accessControlAllowMethods]).contains(route.method.rawValue.lowercased()))
                    // The wildcard doesn't stand for Authorization.
                    let headers = names(answer.headers[.accessControlAllowHeaders])
                    #expect(headers.isSuperset(of: ["*", "authorization"]))
                    #expect(answer.headers[.accessControlMaxAge] == "86400")
                    #expect(answer.headers[.allow] == answer.headers[.accessControlAllowMethods])
                }
            }
        }
    }

    @Test("a page of another origin may ask for a path that isn't there, and reads the 404")
    func preflightOfNothing() async throws {
        try await withWorld { world in
            let answer = try await world.get(
                "/nothing", [.origin: "https://elsewhere.example", .accessControlRequestMethod: "GET"],
                method: .options)
            #expect(answer.status == .noContent)
            #expect(answer.headers[.accessControlAllowMethods] == "GET")
            #expect(names(answer.headers[.accessControlAllowHeaders]).isSuperset(of: ["*", "authorization"]))
            #expect(answer.headers[.allow] == nil && answer.headers[.accessControlMaxAge] == nil)
            let plain = try await world.get("/nothing", method: .options)
            #expect(plain.status == .notFound && plain.headers[.accessControlAllowOrigin] == "*")
        }
    }

    @Test("pages of other origins read the headers of every answer, of errors too")
    func exposed() async throws {
        try await withData { world in
            var answers: [(String, TestResponse)] = []
            for (route, addresses) in try addresses(world) where route != "/events" {
                for address in addresses {
                    answers.append((address, try await world.get(address)))
                    let path = address.split(separator: "?")[0]
                    answers.append(("DELETE \(path)", try await world.get(String(path), method: .delete)))
                    answers.append(("\(path)?f=nonsense", try await world.get("\(path)?f=nonsense&hours=9")))
                }
            }
            answers.append(("unknown", try await world.get("/nothing")))
            answers.append(("key", try await world.get("/admin/sources")))
            answers.append(("file", try await world.get("/timeline.js")))
            answers.append(("folder", try await world.get("/docs")))
            answers.append(("preflight", try await world.get("/collections", method: .options)))
            answers.append(("path", try await world.get("/%00")))
            answers.append(("long", try await world.get("/collections?f=" + String(repeating: "x", count: 9_000))))
            #expect(Set(answers.map { $0.1.status.code }).isSuperset(of: [200, 204, 400, 401, 404, 405, 414]))
            for (what, answer) in answers {
                #expect(answer.headers[.accessControlAllowOrigin] == "*", "\(what)")
                let exposed = names(answer.header("Access-Control-Expose-Headers"))
                #expect(exposed.isSuperset(of: Self.exposed), "\(what): \(Self.exposed.subtracting(exposed))")
                // Every header that this server makes up is exposed.
                for field in answer.headers where field.name.rawName.lowercased().hasPrefix("x-") {
                    let name = field.name.rawName.lowercased()
                    guard !["x-content-type-options", "x-frame-options", "x-accel-buffering"].contains(name) else {
                        continue
                    }
                    #expect(exposed.contains(name), "\(what): \(name)")
                }
            }
        }
    }

    @Test("an answer says how long it may be cached, and what expires may be served while it is renewed")
    func caching() async throws {
        try await withData { world in
            for (route, addresses) in try addresses(world) where route != "/events" {
                for address in addresses {
                    let answer = try await world.get(address)
                    guard answer.status == .ok else { continue }
                    let control = try answer.headers[.cacheControl].orMissing("\(address): Cache-Control")
                    let directives = control.components(separatedBy: ", ")
                    guard let age = directives.first(where: { $0.hasPrefix("max-age=") }) else {
                        #expect(!Set(directives).isDisjoint(with: ["no-cache", "no-store"]), "\(address): \(control)")
                        #expect(!control.contains("stale-while-revalidate"))
                        continue
                    }
                    let seconds = try Int(age.dropFirst("max-age=".count)).orMissing("\(address): \(control)")
                    let isFixed = directives.contains("immutable")
                    #expect(isFixed || (0...60).contains(seconds), "\(address): \(control)")
                    #expect(
                        directives.contains("stale-while-revalidate=5") == (!isFixed && seconds > 0),
                        "\(address): \(control)")
                    // What may be cached can be renewed without its bytes.
                    if let tag = answer.headers[.eTag] {
                        let again = try await world.get(address, [.ifNoneMatch: tag])
                        #expect(again.status == .notModified, "\(address)")
                        #expect(again.headers[.cacheControl] != nil && again.headers[.eTag] == tag, "\(address)")
                        #expect(again.body.readableBytes == 0)
                    }
                }
            }
        }
    }
}
