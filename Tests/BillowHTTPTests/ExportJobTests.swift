import BillowExchange
import BillowStore
import Datasets
import EngineTestSupport
import Foundation
import Geometry
import HTTPTypes
import HummingbirdTesting
import JSONKit
import NIOCore
import Testing
import Turbulence

@testable import BillowEngine
@testable import BillowHTTP
@testable import BillowParameters

@Suite("Export jobs")
struct ExportJobTests {
    private func withObservations(_ test: @Sendable (World) async throws -> Void) async throws {
        try await withWorld { world in
            try await world.insert(try H3.disk(around: try cell(10, 50), distance: 20).map { try observation($0) })
            try await test(world)
        }
    }

    /// Makes a job, and gives its path.
    private func job(_ export: String, _ world: World) async throws -> String {
        let answer = try await world.send(.post, export)
        #expect(answer.status == .accepted, "\(export): \(answer.text)")
        let path = try #require(answer.headers[.location])
        #expect(try answer.json["links"]?.items.first?["href"]?.string?.hasSuffix(path) == true)
        return path
    }

    private func status(_ path: String, _ world: World) async throws -> String? {
        try await world.json(path)["status"]?.string
    }

    @Test(
        "a job's file is the export, with a strong tag, and can be read in parts",
        arguments: ["observations.csv?hours=1", "hexagons.gpkg", "hexagons.kmz", "hexagons.mbtiles?maxzoom=2"])
    func whole(_ export: String) async throws {
        try await withObservations { world in
            let path = try await job("/export/\(export)", world)
            let waiting = try await world.get(path)
            #expect(try waiting.json["status"]?.string == "accepted" && waiting.headers[.retryAfter] == "1")
            let early = try await world.get("\(path)/results")
            #expect(early.status == .notFound && early.headers[.retryAfter] == "1")
            #expect(try early.json["code"]?.string == "result-not-ready")
            #expect(await world.application.exportJobs.runNext())
            let document = try await world.json(path)
            #expect(document["status"]?.string == "successful" && document["export"]?.string == "/export/\(export)")
            let whole = try await world.get("\(path)/results")
            #expect(whole.status == .ok && whole.headers[.contentDisposition] != nil)
            #expect(document["bytes"]?.double == Double(whole.body.readableBytes))
            let items = try #require(document["items"]?.double)
            #expect(items > 0)
            let version = try await world.store.head().version.rawValue
            #expect(document["version"]?.double == Double(version))
            let tag = try #require(whole.headers[.eTag])
            let direct = try await world.get("/export/\(export)", method: .head)
            #expect(direct.headers[.eTag] == tag)
            // New data leaves the file as it is.
            try await world.insert([try observation(try cell(20, 40))])
            let half = whole.body.readableBytes / 2
            let rest = try await world.get("\(path)/results", [.range: "bytes=\(half)-", .ifRange: tag])
            #expect(rest.status == .partialContent && rest.headers[.eTag] == tag)
            #expect(Array(buffer: rest.body) == Array(Array(buffer: whole.body)[half...]))
            #expect(try await world.get("\(path)/results", [.ifNoneMatch: tag]).status == .notModified)
        }
    }

    @Test("a mistake in the request is refused at once, and an estimate needs no job")
    func mistakes() async throws {
        try await withObservations { world in
            for (export, code) in [
                ("hexagons.csv?hours=99", "invalid-parameter"), ("hexagons.csv?x=1", "unknown-parameter"),
                ("nothing.csv", "unknown-collection"), ("hexagons.doc", "unknown-format"),
                ("hexagons.mbtiles?estimate=true", "invalid-parameter"),
            ] {
                let answer = try await world.send(.post, "/export/\(export)")
                #expect(try answer.json["code"]?.string == code, "\(export)")
            }
            #expect(world.application.exportJobs.counts.isEmpty)
            #expect(try await world.get("/jobs/x").json["code"]?.string == "unknown-job")
            #expect(try await world.get("/jobs/x?y=1").json["code"]?.string == "unknown-parameter")
        }
    }

    @Test("a repeated request gets the same job, and a client can have four jobs, until it deletes one")
    func limits() async throws {
        try await withObservations { world in
            let first = try await job("/export/hexagons.csv?hours=1&minSeverity=1", world)
            #expect(try await job("/export/hexagons.csv?minSeverity=1&hours=1", world) == first)
            for severity in 2...4 { _ = try await job("/export/hexagons.csv?minSeverity=\(severity)", world) }
            let refused = try await world.send(.post, "/export/polygons.csv")
            #expect(refused.status == .tooManyRequests && refused.headers[.retryAfter] != nil)
            #expect(try refused.json["code"]?.string == "too-many-jobs")
            let deleted = try await world.send(.delete, first)
            #expect(try deleted.json["status"]?.string == "dismissed")
            #expect(try await world.get(first).status == .notFound)
            _ = try await job("/export/polygons.csv", world)
            #expect(world.application.exportJobs.outcomes == [.dismissed: 1])
        }
    }

    @Test("finished jobs keep nobody out: a fifth one takes the place of its client's oldest")
    func finished() async throws {
        try await withObservations { world in
            var paths: [String] = []
            for severity in 1...4 {
                paths.append(try await job("/export/hexagons.csv?minSeverity=\(severity)", world))
                #expect(await world.application.exportJobs.runNext())
            }
            for path in paths { #expect(try await status(path, world) == "successful") }
            let fifth = try await job("/export/observations.csv", world)
            #expect(try await world.get(paths[0]).status == .notFound)
            for path in paths.dropFirst() { #expect(try await status(path, world) == "successful") }
            #expect(try await status(fifth, world) == "accepted")
        }
    }

    @Test("a finished job and its file end after their time")
    func expiry() async throws {
        try await withObservations { world in
            let path = try await job("/export/hexagons.csv", world)
            #expect(await world.application.exportJobs.runNext())
            #expect(world.application.exportJobs.bytes > 0)
            world.clock.advance(by: 3_599)
            #expect(try await status(path, world) == "successful")
            world.clock.advance(by: 1)
            #expect(try await world.get(path).status == .notFound)
            #expect(world.application.exportJobs.bytes == 0)
            #expect(await world.application.exportJobs.runNext() == false)
        }
    }

    @Test("the disk space of all files is limited, and a job that exceeds it fails and says so")
    func diskSpace() async throws {
        try await withObservations { world in
            let jobs = ExportJobs(
                ExportJobSettings(diskBytes: 20_000, keepSeconds: 60), work: WorkExecutor(), logger: World.quiet(),
                now: { world.clock.now })
            let (frames, features, policy) = (
                world.application.frames, world.application.features, world.application.policy
            )
            let made = try jobs.add("/export/observations.geojson", of: .thisMachine) {
                let snapshot = try frames.snapshot()
                let query = try FeatureParameters(QueryReader([:]), of: .observations).query(frames, in: snapshot)
                return PreparedExport(
                    address: "observations.geojson", headers: [:], version: 1,
                    content: .text(
                        FeatureExport(
                            features: features, query: query, format: .geojson, snapshot: snapshot, policy: policy)))
            }
            #expect(await jobs.runNext())
            let job = try #require(jobs.job(made.id))
            #expect(job.status == .failed && job.problem?.code == .exportsFull && job.file == nil)
            #expect(jobs.bytes == 0)
        }
    }

    @Test("a running job that is deleted stops, and the jobs of a client run one after the other")
    func deletion() async throws {
        try await withObservations { world in
            let jobs = world.application.exportJobs
            let began = TestGate()
            let goesOn = TestGate()
            let made = try jobs.add("/export/x", of: .thisMachine) {
                began.open()
                await goesOn.pass()
                throw EngineError.cancelled
            }
            async let isRun = jobs.runNext()
            await began.pass()
            _ = try jobs.add("/export/y", of: .thisMachine) { throw EngineError.cancelled }
            #expect(await jobs.runNext() == false, "the client's first job still runs")
            #expect(jobs.dismiss(made.id)?.status == .dismissed)
            goesOn.open()
            #expect(await isRun)
            #expect(jobs.job(made.id) == nil && jobs.counts == [.accepted: 1])
        }
    }

    @Test("metrics count jobs by status, and their bytes")
    func metrics() async throws {
        try await withObservations { world in
            _ = try await job("/export/hexagons.csv", world)
            _ = try await job("/export/polygons.csv", world)
            #expect(await world.application.exportJobs.runNext())
            let key = try await world.key(.admin)
            let text = try await world.get("/metrics", [.apiKey: key.text]).text
            #expect(text.contains("billow_export_jobs{status=\"accepted\"} 1"))
            #expect(text.contains("billow_export_jobs{status=\"successful\"} 1"))
            #expect(text.contains("billow_export_jobs_ended_total{status=\"successful\"} 1"))
            #expect(text.contains("billow_export_job_bytes \(world.application.exportJobs.bytes)"))
        }
    }
}
