import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import TestSupport
import Testing

#if os(Linux)
    /// The short form of `Benchmarks/pressure.py`.
    @Suite("Memory under pressure, from outside", .timeLimit(.minutes(20)))
    struct PressureTests {
        let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        /// Megabytes: caches 48, answers 128, an animation 64; sprites, the response microcache and running jobs 64.
        private static let budgets = 304

        /// Resident megabytes of the server.
        private static func resident(_ server: Server, _ field: String = "VmRSS") throws -> Int {
            let status = try String(contentsOfFile: "/proc/\(server.command.processIdentifier)/status", encoding: .utf8)
            let line = try status.split(separator: "\n").first { $0.hasPrefix(field) }.orMissing(field)
            return try Int(line.split(whereSeparator: \.isWhitespace)[1]).orMissing("a size") / 1_024
        }

        private func world() throws -> String {
            let now = Int(Date().timeIntervalSince1970)
            var text = "id,lon,lat,altitude,severity,observedAt\n"
            for number in 0..<12_000 {
                let (column, row) = (number % 200, number / 200)
                let place = "\(Double(column) * 0.6 - 60),\(Double(row) * 0.8 + 10)"
                text += "p\(number),\(place),35000,\((column / 3 + row / 2) % 5),"
                text += "\(Date(timeIntervalSince1970: Double(now - 60 - number % 5_000)).formatted(.iso8601))\n"
            }
            return try folder.write("world.csv", text)
        }

        @Test("animations, polygons, exports and endless filters, read and unread, leave memory within its budgets")
        func pressure() async throws {
            // The shared client has eight connections to a host, fewer than are held open here.
            var configuration = HTTPClient.Configuration()
            configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 256
            let client = HTTPClient(configuration: configuration)
            do { try await pressure(by: client) } catch {
                try await client.shutdown()
                throw error
            }
            try await client.shutdown()
        }

        private func pressure(by client: HTTPClient) async throws {
            let database = folder.path("x.sqlite")
            #expect(try await Command.run("import", "--database", database, try world()).status == 0)
            let server = try await Server("--database", database)
            for zoom in 2...5 {
                #expect(try await server.get("/tiles/hexagons/latest/\(zoom)/1/1.png").status == 200)
            }
            let resting = try Self.resident(server)
            let names = (0..<32).map { "s\($0)" }.joined(separator: ",")
            let paths = (0..<96).map { number in
                [
                    "/animations/hexagons.png?start=-30m&intervals=4&width=400&height=400&opacity=0.\(number)1",
                    "/collections/polygons/items?hours=6&smooth=2&tolerance=0.0\(number)1",
                    "/export/polygons.geojson?hours=6", "/export/hexagons.geojson?hours=6", "/export/observations.csv",
                    "/changes/hexagons?hours=6", "/collections/hexagons/items?hours=6&limit=10000",
                    "/tiles/pireps/latest/3/1/1.png?source=\(names)\(number)",
                    "/timeline.json?start=-6d&intervals=500&source=a\(number)",
                    "/maps/forecast.png?width=1&height=\(100 + number)&scale=2",
                    "/collections/tracks/items?datetime=../..&limit=10000",
                    "/profiles.png?route=KJFK%20EGLL&width-pixels=2000&height-pixels=\(300 + number)",
                ][number % 12]
            }
            // Held open and not read until the end.
            let held = try await withThrowingTaskGroup(of: HTTPClientResponse.self) { group in
                for path in paths[..<36] {
                    let url = "http://127.0.0.1:\(server.port)\(path)"
                    group.addTask { try await client.execute(HTTPClientRequest(url: url), timeout: .minutes(10)) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(held.allSatisfy { [200, 503].contains($0.status.code) })
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for path in paths {
                    group.addTask {
                        let request = HTTPClientRequest(url: "http://127.0.0.1:\(server.port)\(path)")
                        let response = try await client.execute(request, timeout: .minutes(10))
                        for try await _ in response.body {}
                        return Int(response.status.code)
                    }
                }
                #expect(try await server.get("/healthz").status == 200)
                return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
            }
            #expect(Set(statuses.keys).isSubset(of: [200, 503]), "\(statuses)")
            #expect(statuses[200] ?? 0 > 40, "\(statuses)")
            #expect(try Self.resident(server, "VmHWM") <= 2 * resting + Self.budgets)
            for response in held {
                // The server has ended those that were not read for too long.
                do { for try await _ in response.body {} } catch {}
            }
            try await eventually("memory to be given back", within: .seconds(300)) {
                try Self.resident(server) <= 2 * resting + 48
            }
            #expect(try await server.stop() == 0)
        }
    }
#endif
