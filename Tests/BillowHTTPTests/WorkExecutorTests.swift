import EngineTestSupport
import BillowStore
import Foundation
import Geometry
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import JSONKit
import Synchronization
import TestSupport
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

@Suite("Heavy work that is refused is answered, and holds up nothing cheap", .timeLimit(.minutes(20)))
struct RefusedWorkTests {
    private static func executor(jobs: Int, queue: Int) -> WorkExecutor {
        let limits = WorkLimits(threads: 2, jobs: jobs, queue: queue, niceness: 0)
        return WorkExecutor(limits: Dictionary(uniqueKeysWithValues: WorkClass.allCases.map { ($0, limits) }))
    }

    @Test("a full queue is answered with 503 and when to come again, for each class of route")
    func refusals() async throws {
        let work = Self.executor(jobs: 0, queue: 0)
        try await withWorld(work: work) { world in
            let routes = [
                "/tiles/hexagons/latest/2/1/1.png?hours=1", "/maps/hexagons.png",
                "/animations/hexagons.png?intervals=2",
                "/legend.png", "/timeline.json", "/collections/hexagons/items", "/changes/hexagons",
                "/export/hexagons.csv", "/profiles.json?route=KJFK%20EGLL", "/collections/polygons/items",
            ]
            for route in routes {
                let answer = try await world.get(route)
                #expect(answer.status == .serviceUnavailable, "\(route)")
                #expect(try answer.json["code"]?.string == "overloaded", "\(route)")
                #expect(Int(answer.headers[.retryAfter] ?? "") ?? 0 >= 1, "\(route)")
            }
            let alert = try await world.send(.post, "/alerts", #"{"position":[8,50]}"#)
            #expect(alert.status == .serviceUnavailable)
            #expect(try await world.get("/healthz").status == .ok)
            #expect(try await world.get("/readyz").status == .ok)
        }
    }

    @Test("while every class is busy with blocked work and 64 requests wait for each, what is cheap is answered")
    func saturation() async throws {
        let work = WorkExecutor(hasOwnThreads: true)
        try await withWorld(work: work) { world in
            try await world.insert([try observation(try cell(10, 50))])
            let cached = "/tiles/hexagons/latest/3/4/2.png"
            // A frame of the past, which what comes in then doesn't change.
            let past = "/tiles/hexagons/20261121T110000Z/3/4/2.png"
            let frame = try await world.get(past)
            try await world.insert([try observation(try cell(11, 51), at: -5)])
            let tile = try await world.get(cached)
            #expect(tile.status == .ok)

            let gate = TestGate()
            var blocked: [Task<Void, any Error>] = []
            for workClass in WorkClass.allCases {
                // Every thread of the class, and every turn.
                for _ in 0..<work.limits(workClass).jobs {
                    blocked.append(Task { try await work.run(workClass) { gate.block() } })
                }
            }
            try await eventually("every turn is taken") {
                WorkClass.allCases.allSatisfy { work.statistics($0).running == work.limits($0).jobs }
            }
            let requests = [
                "/tiles/pireps/latest/3/1/1.png", "/maps/hexagons.png?width=",
                "/animations/hexagons.png?intervals=2&width=",
                "/collections/hexagons/items?limit=",
            ]
            let clients = requests.flatMap { route in
                (1...64).map { number in
                    let path = route.hasSuffix("=") ? "\(route)\(number + 200)" : route
                    return Task { try await world.get(path).status }
                }
            }
            try await eventually("the queues are full") {
                work.statistics(.map).waiting == work.limits(.map).queue
                    && work.statistics(.animation).waiting == work.limits(.animation).queue
                    && work.statistics(.query).waiting == 64
                    && work.statistics(.tile).waiting + work.statistics(.renewal).waiting == 64
            }
            // Nobody is let in until these are answered: what waited for a job would never end.
            #expect(try await world.get("/healthz").status == .ok)
            #expect(try await world.get("/readyz").status == .ok)
            let again = try await world.get(cached)
            #expect(again.status == .ok)
            #expect(again.body == tile.body)
            #expect(try await world.get(past).body == frame.body)
            gate.open()
            for task in blocked { try await task.value }
            var statuses: [HTTPResponse.Status: Int] = [:]
            for client in clients { statuses[try await client.value, default: 0] += 1 }
            #expect(statuses.keys.allSatisfy { [.ok, .serviceUnavailable].contains($0) }, "\(statuses)")
            // Of maps and of animations, those beyond the queue.
            #expect(statuses[.serviceUnavailable] == 2 * (64 - work.limits(.map).queue))
        }
    }

    @Test("a tile that was requested before is renewed after a publication while new tiles fill their class")
    func renewal() async throws {
        let work = WorkExecutor(hasOwnThreads: true)
        try await withWorld(work: work) { world in
            let cell = try cell(10, 50)
            let known = PixelPlace(H3.center(of: cell), zoom: 8).path()
            try await world.insert([try observation(cell, severity: .light)])
            #expect(try await world.colour(cell) == Pixel.light)

            let gate = TestGate()
            let blocked = (0..<work.limits(.tile).jobs).map { _ in
                Task { try await work.run(.tile) { gate.block() } }
            }
            try await eventually("every turn is taken") {
                work.statistics(.tile).running == work.limits(.tile).jobs
            }
            world.clock.advance(by: 60)
            try await world.insert([try observation(cell, severity: .moderate, at: 30)])
            let client = Task { try await world.get("/tiles/pireps/latest/3/1/1.png").status }
            try await eventually("a tile that is asked for the first time waits") {
                work.statistics(.tile).waiting == 1
            }
            #expect(try await world.get(known).status == .ok)
            #expect(try await world.colour(cell) == Pixel.moderate)
            #expect(work.statistics(.tile).waiting == 1)
            gate.open()
            for task in blocked { try await task.value }
            #expect(try await client.value == .ok)
        }
    }
}
