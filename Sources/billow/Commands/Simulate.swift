import ArgumentParser
import Logging
import NIOCore
import ServiceLifecycle
import UnixSignals
public import UpstreamSimulator

struct Simulate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Simulate the upstreams, with a simulated world or with captured answers.",
        discussion: "Faults can be changed while it runs: POST /_simulator/fault?name=NAME[&count=N][&upstream=NAME], "
            + "or name=none.")

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on.")
    var port = 9_000

    @Option(help: "The seed: each number makes another world.")
    var seed: UInt64 = 1

    @Option(help: "Flights in the air at a time.")
    var flights = 300

    @Option(help: "How many times as fast as the clock SkyPath's flights and turbulence move; 1 to 60.")
    var speed = 1

    @Option(help: "The key that the simulator accepts.")
    var apiKey = "demo"

    @Option(help: "The name of a fault to begin with; an unknown name lists all faults.")
    var fault: Fault?

    @Option(help: "A folder of captured answers to serve instead, their times moved to now.")
    var replay: String?

    @Option(
        help: """
            NOAA's grids: none, levels (those of Billow's settings), or whole (half a minute to make each file).
            """)
    var guidance = GuidanceExtent.levels

    @Option(help: "Thins NOAA's grids: uses every Nth point in both directions, for quick tests.")
    var guidanceEvery = 1

    @Option(help: "The limit of requests a minute to NOAA's grids, above which the answer is 403; 0 for no limit.")
    var guidanceRequests = 120

    /// The simulated part of NOAA's grids.
    enum GuidanceExtent: String, CaseIterable, ExpressibleByArgument {
        case none, levels, whole

        fileprivate func simulation(seed: UInt64, every: Int) -> GuidanceSimulation? {
            switch self {
            case .none: nil
            case .levels: GuidanceSimulation(seed: seed, .levels, every: every)
            case .whole: GuidanceSimulation(seed: seed, .whole, every: every)
            }
        }
    }

    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port is \(port); it must be 0 to 65535") }
        guard (0...5_000).contains(flights) else {
            throw ValidationError("--flights is \(flights); it must be 0 to 5000")
        }
        guard (1...60).contains(speed) else { throw ValidationError("--speed is \(speed); it must be 1 to 60") }
        guard (1...200).contains(guidanceEvery) else {
            throw ValidationError("--guidance-every is \(guidanceEvery); it must be 1 to 200")
        }
        guard guidanceRequests >= 0 else {
            throw ValidationError("--guidance-requests is \(guidanceRequests); it must be 0 or more")
        }
    }

    func run() async throws {
        try await Failure.reported {
            let logger = Logs.start(level: "info")
            let replay = try replay.map { (folder) throws(ReplayError) in try Replay(folder: folder) }
            var upstreams = UpstreamSimulator.Configuration(
                seed: seed, host: host, port: port, flights: flights, apiKey: apiKey, fault: fault, replay: replay)
            upstreams.speed = speed
            upstreams.guidance = guidance.simulation(seed: seed, every: guidanceEvery)
            upstreams.guidance?.requestsPerMinute = guidanceRequests == 0 ? nil : guidanceRequests
            let simulator = UpstreamSimulator(upstreams, logger: logger)
            let configuration = ServiceGroupConfiguration(
                services: [simulator], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
            do { try await ServiceGroup(configuration: configuration).run() } catch let error as IOError {
                throw ListenError(host: host, port: port, cause: error)
            }
        }
    }
}

extension Fault: ExpressibleByArgument {}
