import Foundation
package import Geometry
import Hummingbird
package import Logging
import NIOCore
import ServiceLifecycle

/// Look-alikes of the upstreams over real HTTP, under one base URL: SkyPath (the v5 corridor call, the v5 bulk
/// hexagons call, the v4 tick call, and as assumed polygons, nowcast, live flights and pilot reports), OpenSky (all
/// its services), aviationweather.gov and NOAA's turbulence grids, over a deterministic moving world, with faults on demand. Its data
/// is invented, or captured and moved in time; never mix it with real data.
///
/// Two simulators of the same seed, number of flights and clock give the same answers, whenever they were started.
/// Source: docs/upstreams/skypath.md, "Corridor call", "Map call", "Bulk call" and "Limits of the simulator"
package struct UpstreamSimulator: Service {
    package struct Configuration: Sendable {
        package var seed: UInt64
        package var host: String
        /// 0 lets the system choose one; see `boundPort`.
        package var port: Int
        /// Flights in the air at a time, about; 0…20,000.
        package var flights: Int
        /// What `x-api-key` must be.
        package var apiKey: String
        /// Whether SkyPath's data calls need a session's token beside the key.
        package var needsSession = false
        /// The largest corridor taken, in km²; nil takes any.
        package var areaLimitKm2: Double?
        /// What SkyPath's account may not have: 403.
        package var disabledProducts: Set<SkyPathProduct> = []
        /// More identical calls within a minute get 429; nil never does.
        package var identicalCallsPerMinute: Int?
        /// The pause between the pieces of a slow body.
        package var dripInterval: Duration
        package var fault: Fault?
        /// Captured answers, served in place of the simulated ones.
        package var replay: Replay?
        /// The OpenSky API client that it knows.
        package var openSkyClientID: String
        package var openSkyClientSecret: String
        /// OpenSky credits of a day, in each bucket, with and without a token; nil counts none.
        package var openSkyCredits: Int?
        package var openSkyAnonymousCredits: Int?
        /// NOAA's turbulence grids; nil serves none.
        package var guidance: GuidanceSimulation?
        /// Unix seconds.
        package var clock: @Sendable () -> Int

        package init(
            seed: UInt64 = 1, host: String = "127.0.0.1", port: Int = 0, flights: Int = 300,
            apiKey: String = "demo",
            areaLimitKm2: Double? = 7_500, identicalCallsPerMinute: Int? = nil,
            dripInterval: Duration = .milliseconds(500), fault: Fault? = nil,
            replay: Replay? = nil, openSkyClientID: String = "demo", openSkyClientSecret: String = "demo",
            openSkyCredits: Int? = nil, openSkyAnonymousCredits: Int? = nil,
            clock: @escaping @Sendable () -> Int = UpstreamSimulator.systemClock
        ) {
            self.seed = seed
            self.host = host
            self.port = port
            self.flights = flights
            self.apiKey = apiKey
            self.areaLimitKm2 = areaLimitKm2
            self.identicalCallsPerMinute = identicalCallsPerMinute
            self.dripInterval = dripInterval
            self.fault = fault
            self.replay = replay
            self.openSkyClientID = openSkyClientID
            self.openSkyClientSecret = openSkyClientSecret
            self.openSkyCredits = openSkyCredits
            self.openSkyAnonymousCredits = openSkyAnonymousCredits
            self.clock = clock
        }
    }

    private let configuration: Configuration
    private let state: SimulatorState
    private let port: PortPromise
    private let logger: Logger

    package init(
        _ configuration: Configuration = Configuration(), logger: Logger = Logger(label: "simulator")
    ) {
        self.configuration = configuration
        self.logger = logger
        state = SimulatorState(configuration)
        port = PortPromise()
    }

    /// Serves until cancelled or gracefully shut down. Six hours of the past are built before the port opens.
    ///
    /// - Throws: what binding the port throws, and `ReplayError`.
    package func run() async throws {
        let port = port
        let router: Router<SimulatorContext>
        do {
            router = try SimulatorRoutes(configuration: configuration, state: state, replay: configuration.replay)
                .router()
        } catch {
            port.fail(error)
            throw error
        }
        state.warmUp()
        let application = Application(
            router: router,
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.host, port: configuration.port),
                serverName: "upstream-simulator"),
            onServerRunning: { channel in port.succeed(channel.localAddress?.port ?? 0) },
            logger: logger)
        do {
            try await application.run()
            port.fail(CancellationError())
        } catch {
            port.fail(error)
            throw error
        }
    }

    /// The port that is served. Waits for `run()` to have opened it.
    ///
    /// - Throws: what kept `run()` from opening it.
    package var boundPort: Int { get async throws { try await port.value() } }

    /// From now on misbehaves so; nil behaves well again.
    ///
    /// - Parameters:
    ///   - count: After this many calls that it touched, the fault goes away by itself; nil never.
    ///   - upstream: Only this one misbehaves; nil: all.
    package func setFault(_ fault: Fault?, count: Int? = nil, of upstream: SimulatedUpstream? = nil) {
        state.setFault(fault, count: count, of: upstream)
    }

    /// The fault in force.
    package var fault: Fault? { state.currentFault }

    /// How many data calls were answered, well or ill.
    package var calls: Int { state.calls }

    /// How many OpenSky tokens were given out.
    package var openSkyTokens: Int { state.openSkyAccounts.tokens.issued }

    /// How many SkyPath sessions were opened.
    package var skyPathSessions: Int { state.skyPathSessions.issued }

    /// Puts a report into the world, as if an aircraft had sent it now. It counts if it is the newest of its cell and
    /// level. Levels beyond 5…52 and EDR beyond 0…1 are brought into range.
    ///
    /// - Parameter observedAt: Unix seconds; nil is now.
    package func inject(cell: Cell, altitudeThousands: Int, edr: Double, observedAt: Int? = nil) {
        state.inject(cell: cell, level: altitudeThousands, edr: edr, observedAt: observedAt)
    }

    /// Unix seconds of this machine.
    package static let systemClock: @Sendable () -> Int = { Int(Date().timeIntervalSince1970) }

    /// Runs a simulator while `body` works with it, then stops it. For tests.
    package static func withRunning<Result: Sendable>(
        _ configuration: Configuration = Configuration(), logger: Logger = quietLogger,
        _ body: @Sendable (_ simulator: UpstreamSimulator, _ baseURL: String) async throws -> Result
    ) async throws -> Result {
        let simulator = UpstreamSimulator(configuration, logger: logger)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await simulator.run() }
            let baseURL = "http://\(configuration.host):\(try await simulator.boundPort)"
            let result: Result
            do {
                result = try await body(simulator, baseURL)
            } catch {
                group.cancelAll()
                throw error
            }
            group.cancelAll()
            return result
        }
    }

    /// Says only what is critical.
    package static let quietLogger: Logger = {
        var logger = Logger(label: "simulator")
        logger.logLevel = .critical
        return logger
    }()
}
