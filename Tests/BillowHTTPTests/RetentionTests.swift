import EngineTestSupport
import BillowStore
import Foundation
import Geometry
import HTTPTypes
import HummingbirdTesting
import JSONKit
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

@Suite("Nothing is deleted because of the clock alone, and deleted data is in no picture")
struct RetentionTests {
    private static let day = 86_400

    private func rows(_ world: World) async throws -> [Int] {
        try await world.store.rows(from: .distantPast, to: .distantFuture).rows.map {
            $0.observedAt.seconds - noon.seconds
        }
    }

    @Test("a clock that starts 30 days ahead deletes nothing; put right, it deletes what is old")
    func clockAhead() async throws {
        try await withWorld(configured: ["skypath"]) { world in
            let stored = [-6 * Self.day, -Self.day, -60]
            try await world.insert(try stored.map { try observation(try cell(10, 50), at: $0) })
            let key = try await world.key(.ingest)
            let h3 = String(try cell(11, 50).h3, radix: 16)
            @Sendable func report(at instant: Instant) -> String {
                #"{"h3":"\#(h3)","altitude":38000,"severity":2,"observedAt":"\#(instant)"}"#
            }
            world.clock.advance(by: 30 * Self.day)
            _ = try await world.application.retention.prune()
            #expect(try await rows(world) == stored)
            // What a reporter sends by a clock that is right isn't refused as too old, either.
            let now = noon.advanced(by: 60)
            let answer = try await world.send(.post, "/observations", report(at: now), key: key.text)
            #expect(answer.status == .ok, "\(answer.text)")
            _ = try await world.application.retention.prune()
            #expect(try await rows(world) == stored + [60])

            // The clock is right again, and a week of data later what is old goes.
            world.clock.advance(by: -30 * Self.day)
            for days in 1...9 {
                world.clock.advance(by: Self.day)
                try await world.insert([try observation(try cell(12, 50), at: days * Self.day)])
            }
            _ = try await world.application.retention.prune()
            let left = try await rows(world)
            #expect(left.first == Self.day * 2 || left.first == Self.day, "\(left)")
        }
    }

    @Test("without any data there is nothing to go by, and nothing is deleted or refused as old")
    func withoutData() async throws {
        try await withWorld { world in
            world.clock.advance(by: 30 * Self.day)
            #expect(try await world.application.retention.prune(from: noon) == noon)
            #expect(try await world.store.trustedNow(world.clock.now, retentionSeconds: 7 * Self.day) == nil)
            let key = try await world.key(.ingest)
            let h3 = String(try cell(11, 50).h3, radix: 16)
            let report = #"{"h3":"\#(h3)","altitude":38000,"severity":2,"observedAt":"\#(noon)"}"#
            #expect(try await world.send(.post, "/observations", report, key: key.text).status == .ok)
        }
    }

    @Test("one reporter with a clock that is ahead causes no loss of other data", arguments: [30, 400])
    func wrongReporter(daysAhead: Int) async throws {
        try await withWorld { world in
            let h3 = String(try cell(11, 50).h3, radix: 16)
            @Sendable func report(_ instant: Instant) -> String {
                #"{"h3":"\#(h3)","altitude":38000,"severity":2,"observedAt":"\#(instant)"}"#
            }
            let key = try await world.key(.ingest).text
            let many = (0..<250).map { report(noon.advanced(by: -60 - $0)) }.joined(separator: ",")
            #expect(try await world.send(.post, "/observations", "[\(many)]", key: key).status == .ok)
            for days in [30, daysAhead] {
                world.clock.advance(by: days * Self.day)
                let future = try await world.send(.post, "/observations", report(world.clock.now), key: key)
                #expect(future.status == .ok, "\(future.text)")
                // By the right time, while the server's clock is still ahead and when it is put right.
                let right = try await world.send(.post, "/observations", report(noon.advanced(by: days)), key: key)
                #expect(right.status == .ok, "\(right.text)")
                #expect(try await world.application.retention.prune(from: noon) == noon)
                world.clock.advance(by: -days * Self.day)
                let again = try await world.send(.post, "/observations", report(noon.advanced(by: -days)), key: key)
                #expect(again.status == .ok, "\(again.text)")
            }
            #expect(try await rows(world).count { $0 <= 400 } >= 252)
        }
    }

    @Test("a lone record of the future deletes nothing; an old archive goes when new data comes")
    func archive() async throws {
        try await withWorld(configured: ["skypath"]) { world in
            let old = (0..<20).map { -100 * Self.day + $0 }
            try await world.insert(try old.map { try observation(try cell(10, 50), at: $0) })
            try await world.insert([try observation(try cell(10, 50), at: 0)])
            world.clock.advance(by: 2 * Self.day)
            _ = try await world.application.retention.prune()
            #expect(try await rows(world).count == 21)
            try await world.insert([try observation(try cell(11, 50), at: Self.day)])
            _ = try await world.application.retention.prune()
            #expect(try await rows(world) == [0, Self.day])
        }
    }

    @Test("an answer about whatever is stored is incomplete from when on something of it was deleted, and not before")
    func openStart() async throws {
        try await withWorld(configured: ["skypath"]) { world in
            try await world.fetched("skypath", completeSince: noon.advanced(by: -20 * Self.day))
            try await world.insert(
                try [-9 * Self.day, -120, -60].map { try observation(try cell(10, 50), at: $0) })
            let addresses = [
                "/collections/observations/items", "/collections/observations/items?datetime=../..",
                "/collections/observations/items?datetime=../\(noon)", "/export/observations.geojson",
                "/export/observations.csv", "/collections/pireps/items",
            ]
            for address in addresses {
                #expect(try await world.get(address).header("X-Incomplete") == nil, "\(address)")
            }
            _ = try await world.application.retention.prune()
            try await world.refresh()
            for address in addresses {
                let answer = try await world.get(address)
                #expect(answer.status == .ok && answer.header("X-Incomplete") == "true", "\(address)")
                if address.contains("items") { #expect(try answer.json["incomplete"]?.bool == true) }
            }
            let recent = "/collections/observations/items?hours=2"
            #expect(try await world.get(recent).header("X-Incomplete") == nil)
        }
    }

    @Test("the next page of a version from before a deletion is gone where it would lack rows, and is there elsewhere")
    func pages() async throws {
        try await withWorld(configured: ["skypath"]) { world in
            let old = -9 * Self.day
            try await world.insert(
                try [old, old + 1, -120, -90, -60].map { try observation(try cell(10, 50), at: $0) })
            func next(_ address: String) async throws -> String {
                try await world.json(address).link("next").orMissing("the next page of \(address)")
            }
            let first = try await next("/collections/observations/items?limit=1")
            let later = try await next("/collections/observations/items?limit=3")
            _ = try await world.application.retention.prune()
            try await world.refresh()
            let gone = try await world.get(first)
            #expect(gone.status == .gone)
            #expect(try gone.json["code"]?.string == "version-expired")
            #expect(try await world.json(later).features.count == 2)
        }
    }

    @Test("an alert takes the details of its records from the log that its picture is of")
    func alertDetails() async throws {
        try await withWorld(configured: ["skypath"]) { world in
            try await world.insert([
                try observation(try cell(10.5, 50), at: -60, aircraft: "N1"),
                try observation(try cell(10, 50), at: -9_000),
            ])
            let body = #"{"position": [10, 50], "altitude": 38000, "track": 90, "aircraft": "N1"}"#
            _ = try await world.post("/alerts", body)
            _ = try await world.store.prune(Pruning(before: noon.advanced(by: -3_600), changesPictures: true))
            let changed = try await world.send(.post, "/alerts", body, [.contentType: "application/json"])
            #expect(changed.status == .serviceUnavailable)
            #expect(try changed.json["code"]?.string == "log-changed")
            try await world.refresh()
            _ = try await world.post("/alerts", body)
        }
    }

    @Test(
        "a clock that was set during a pause postpones the deletion",
        arguments: [
            (600, true), (640, true), (660, true), (662, false), (530, false), (30 * 86_400, false), (-600, false),
        ])
    func steady(seconds: Int, isSteady: Bool) {
        let watch = Retention.ClockWatch(noon)
        #expect(watch.ranEvenly(noon.advanced(by: seconds), after: .seconds(600)) == isSteady)
    }

    @Test("a picture that a deletion cuts into gets a new address and is incomplete; the old address leads there")
    func addresses() async throws {
        try await withWorld(configured: ["skypath"]) { world in
            let old = -8 * Self.day
            let (deleted, kept) = (try cell(10, 50), try cell(10.5, 50))
            // An import that makes pictures of that time valid requests.
            _ = try await world.store.commit(
                Batch(
                    source: nil,
                    observations: [
                        try observation(kept, severity: .light, at: old, source: "import"),
                        try observation(kept, severity: .light, at: old - Self.day, source: "import"),
                    ], importedBefore: .distantFuture))
            try await world.fetched("skypath", completeSince: noon.advanced(by: -20 * Self.day))
            try await world.insert([
                try observation(deleted, severity: .moderate, at: old), try observation(deleted, at: -60),
                try observation(deleted, at: -50),
            ])
            let path = "20261113T121000Z"
            let tile = PixelPlace(H3.center(of: deleted), zoom: 8).path(path)
            #expect(try await world.colour(deleted, path) == Pixel.moderate)
            let seen = FrameDependency.observed(.observations, at: noon.advanced(by: old + 600), lookBackSeconds: 7_200)
            let version = try await world.store.lastChange(of: seen).rawValue
            let address = "\(tile)?v=\(version)"
            #expect(try await world.get(address).status == .ok)

            // Deleted, but not published yet: the picture of before is shown as far as it is in memory, and no other.
            #expect(try await world.application.retention.prune() > noon.advanced(by: old))
            let record = try #require(try await world.store.sources().first { $0.id.name == "skypath" })
            #expect(record.completeSince.map { $0 > noon.advanced(by: old) } == true)
            #expect(try await world.colour(deleted, "20261113T121100Z") == Pixel.moderate)
            let between = try await world.get(PixelPlace(H3.center(of: kept), zoom: 9).path("20261112T130000Z"))
            #expect(between.status == .serviceUnavailable && between.headers[.retryAfter] == "1")
            #expect(try between.json["code"]?.string == "deleting")

            try await world.refresh()
            let moved = try await world.get(address)
            #expect(moved.status == .temporaryRedirect)
            let location = try #require(moved.headers[.location])
            #expect(!location.contains("v=\(version)&") && !location.hasSuffix("v=\(version)"))
            #expect(try await world.get(location).status == .ok)
            for time in [path, "20261113T121100Z"] {
                #expect(try await world.colour(deleted, time) == Pixel.none)
                #expect(try await world.colour(kept, time) == Pixel.light)
            }
        }
    }
}
