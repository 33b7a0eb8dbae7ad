import Foundation
package import Geometry
import Hummingbird
package import Logging
import NIOCore
import ServiceLifecycle

/// Simulators of the upstreams over HTTP, under one base URL. SkyPath has the v5 corridor call, the v5 bulk hexagons
/// call and the v4 tick call. It also has polygons, nowcast, live flights and pilot reports in assumed formats. OpenSky
/// has all its services; aviationweather.gov and NOAA's turbulence grids are also simulated.
///
/// The world is deterministic and moves; faults occur on demand. Its data is invented, or captured and shifted in time;
/// never mix it with real data. Two simulators with equal seed, number of flights and clock give equal responses,
/// whenever they were started.
///
/// Source: docs/upstreams/skypath.md, "Corridor call", "Map call", "Bulk call" and "Limits of the simulator"
package struct UpstreamSimulator: Service {
    package struct Configuration: Sendable {
        package var seed: UInt64
        package var host: String
        /// The port; 0 lets the system choose one, see `boundPort`.
        package var port: Int
        /// The approximate number of flights in the air; 0…20,000.
        package var flights: Int
        /// How many times as fast as the clock the world of SkyPath's hexagons moves: a flight reports as many times a
        /// minute; 1...60.
        package var speed = 1
        /// The required value of `x-api-key`.
        package var apiKey: String
        /// Whether SkyPath's data calls need a session's token in addition to the key.
        package var needsSession = false
        /// The maximum area of a corridor in km²; nil for no limit.
        package var areaLimitKm2: Double?
        /// The products that SkyPath's account may not have; they return 403.
        package var disabledProducts: Set<SkyPathProduct> = []
        /// The maximum number of identical calls within a minute, after which they return 429; nil for no limit.
        package var identicalCallsPerMinute: Int?
        /// The pause between the pieces of a slow body.
        package var dripInterval: Duration
        package var fault: Fault?
        /// Captured responses, served instead of simulated ones.
        package var replay: Replay?
        /// The credentials of the only OpenSky API client.
        package var openSkyClientID: String
        package var openSkyClientSecret: String
        /// OpenSky credits per day in each budget, with and without a token; nil disables counting.
        package var openSkyCredits: Int?
        package var openSkyAnonymousCredits: Int?
        /// The simulation of NOAA's turbulence grids; nil disables it.
        package var guidance: GuidanceSimulation?
        /// The clock in Unix seconds.
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
    /// - Throws: errors of binding the port, and `ReplayError`.
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

    /// The port in use. It waits until `run()` has opened it.
    ///
    /// - Throws: the error that prevented `run()` from opening it.
    package var boundPort: Int { get async throws { try await port.value() } }

    /// Sets the fault; nil ends it.
    ///
    /// - Parameters:
    ///   - count: the number of affected calls after which the fault ends; nil for no limit.
    ///   - upstream: the affected upstream; nil for all.
    package func setFault(_ fault: Fault?, count: Int? = nil, of upstream: SimulatedUpstream? = nil) {
        state.setFault(fault, count: count, of: upstream)
    }

    /// The current fault.
    package var fault: Fault? { state.currentFault }

    /// The number of data calls, including failed ones.
    package var calls: Int { state.calls }

    /// The number of issued OpenSky tokens.
    package var openSkyTokens: Int { state.openSkyAccounts.tokens.issued }

    /// The number of opened SkyPath sessions.
    package var skyPathSessions: Int { state.skyPathSessions.issued }

    /// Adds a report to the world, as if an aircraft had sent it now. It counts if it is the newest of its cell and
    /// level. Levels outside 5…52 and EDRs outside 0…1 are clamped.
    ///
    /// - Parameter observedAt: Unix seconds; nil is now.
    package func inject(cell: Cell, altitudeThousands: Int, edr: Double, observedAt: Int? = nil) {
        state.inject(cell: cell, level: altitudeThousands, edr: edr, observedAt: observedAt)
    }

    /// The local clock in Unix seconds.
    package static let systemClock: @Sendable () -> Int = { Int(Date().timeIntervalSince1970) }

    /// Runs a simulator while `body` runs, then stops it. For tests.
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

    /// Logs only critical messages.
    package static let quietLogger: Logger = {
        var logger = Logger(label: "simulator")
        logger.logLevel = .critical
        return logger
    }()
}
