import ArgumentParser
import AsyncHTTPClient
import BillowExchange
import BillowSync
import Foundation
import Geometry
import OpenSky
import Turbulence

struct OpenSkyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "opensky", abstract: "Query the OpenSky Network and print the answer.",
        discussion:
            "Credentials come from OPENSKY_CLIENT_ID and OPENSKY_CLIENT_SECRET, or from the first source of kind "
            + "opensky in --config; without them the request is anonymous. Its data is for research and other "
            + "non-commercial use.",
        subcommands: [States.self, Own.self, Flights.self, Aircraft.self, Arrivals.self, Departures.self, Track.self])
}

/// The options of all services.
struct OpenSkyOptions: ParsableArguments {
    @Option(help: "A YAML file of settings with a source of kind opensky.")
    var config: String?

    @Option(
        name: .customLong("base-url"), help: "The service's address (default: \(OpenSkyConfiguration.publicBaseURL)).")
    var baseURL: String?

    @Option(name: .customLong("token-url"), help: "The address that issues tokens.")
    var tokenURL: String?

    @Option(help: "table, json or geojson (states and tracks only).")
    var format = RecordFormat.table

    /// Sends the request, prints the records, and reports skipped ones on standard error.
    func run(_ ask: (OpenSkyClient) async throws -> OpenSkyAnswer) async throws {
        try await Failure.reported {
            let configuration = try self.configuration()
            let httpClient = HTTPClient(
                eventLoopGroupProvider: .singleton, configuration: OpenSkyClient.recommendedHTTPConfiguration)
            let answer: OpenSkyAnswer
            do {
                answer = try await ask(try OpenSkyClient(configuration: configuration, httpClient: httpClient))
            } catch {
                // A client must be shut down before it is released; the original error is reported.
                try? await httpClient.shutdown()
                throw error
            }
            try await httpClient.shutdown()
            // A reader that closes the pipe early, such as `head`, ends the program silently.
            signal(SIGPIPE, SIG_DFL)
            let out = FileHandle.standardOutput
            do { try out.write(contentsOf: Data(try format.text(answer.records))) } catch let failure as Failure {
                throw failure
            } catch {
                throw Failure(.inputOutput, "standard output can't be written: \(error.localizedDescription)")
            }
            for (reason, count) in answer.counts.skipped.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
                Terminal.write("\(count) skipped (\(reason.rawValue))")
            }
            Terminal.write("\(answer.records.count) \(answer.records.count == 1 ? "record" : "records")")
        }
    }

    private func configuration() throws -> OpenSkyConfiguration {
        let environment = ProcessInfo.processInfo.environment
        var configuration = OpenSkyConfiguration()
        if let config {
            let settings = try Settings.read(
                file: config, environment: environment, overrides: SettingsOverrides())
            let sources = settings.sources.compactMap { source in
                if case .openSky(let openSky) = source.kind { openSky } else { nil }
            }
            guard let first = sources.first else { throw Failure(.usage, "\(config) has no source of kind opensky") }
            configuration = first.configuration
        }
        var credentials = configuration.credentials
        switch (environment["OPENSKY_CLIENT_ID"], environment["OPENSKY_CLIENT_SECRET"]) {
        case (nil, nil): break
        case (let id?, let secret?):
            guard let secret = Secret(secret) else {
                throw Failure(.usage, "OPENSKY_CLIENT_SECRET must be 1 or more printable ASCII characters")
            }
            credentials = OpenSkyConfiguration.Credentials(clientID: id, clientSecret: secret)
        default: throw Failure(.usage, "OPENSKY_CLIENT_ID and OPENSKY_CLIENT_SECRET go together: one is not set")
        }
        return OpenSkyConfiguration(
            baseURL: baseURL ?? configuration.baseURL, tokenURL: tokenURL ?? configuration.tokenURL,
            credentials: credentials, timeout: configuration.timeout,
            allowsPlainHTTP: configuration.allowsPlainHTTP)
    }
}

/// The records of a response, ready to be printed.
struct OpenSkyAnswer {
    var records: [Record]
    var counts = RowCounts()
}

/// Parses values of flags; errors list the valid values.
private enum Reading {
    static func instant(_ text: String, _ name: String) throws -> Date {
        guard let instant = Instant(text) else {
            throw Failure(
                .usage,
                "\(name) is '\(text)'; it must be an instant in whole seconds with a zone, such as "
                    + "20261121T023000Z")
        }
        return Date(timeIntervalSince1970: Double(instant.seconds))
    }

    static func address(_ text: String) throws -> TransponderAddress {
        guard let address = TransponderAddress(text) else {
            throw Failure(.usage, "'\(text)' is no transponder address; it must be six hexadecimal digits")
        }
        return address
    }

    static func addresses(_ lists: [String]) throws -> [TransponderAddress] {
        try items(of: lists).map { try address($0) }
    }

    /// The items of comma-separated lists. An empty item is an item too; it does not select everything.
    static func items(of lists: [String]) -> [String] {
        lists.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) }
    }

    static func box(_ text: String) throws -> GeographicBox {
        let sides = text.split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
        guard sides.count == 4, let west = sides[0], let south = sides[1], let east = sides[2], let north = sides[3],
            let box = GeographicBox(west: west, south: south, east: east, north: north)
        else {
            throw Failure(
                .usage,
                "--bbox is '\(text)'; it must be west,south,east,north in degrees, west below east and south "
                    + "below north")
        }
        return box
    }
}

/// The time interval of flights.
struct IntervalOptions: ParsableArguments {
    @Option(
        help:
            "The start, an instant (default: an hour, or a day for one aircraft or airport, before the end)."
    )
    var begin: String?

    @Option(help: "The end of the interval (default: now).")
    var end: String?

    func interval(hours: Int) throws -> ClosedRange<Date> {
        let end = try self.end.map { try Reading.instant($0, "--end") } ?? Date()
        let begin =
            try self.begin.map { try Reading.instant($0, "--begin") }
            ?? end.addingTimeInterval(-3_600 * Double(hours))
        guard begin <= end else { throw Failure(.usage, "--begin is after --end") }
        return begin...end
    }
}

/// The airport of flights.
struct AirportOptions: ParsableArguments {
    @OptionGroup var options: OpenSkyOptions
    @OptionGroup var interval: IntervalOptions

    @Argument(help: "The ICAO location indicator of the airport, such as EDDF.")
    var airport: String

    func run(_ direction: FlightDirection) async throws {
        try await options.run { client in
            OpenSkyAnswer(try await client.flights(direction, airport: airport, during: interval.interval(hours: 24)))
        }
    }
}

// MARK: - The seven services

extension OpenSkyCommand {
    struct States: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "All aircraft, now or up to an hour back.")
        @OptionGroup var options: OpenSkyOptions

        @Option(parsing: .unconditional, help: "west,south,east,north in degrees.")
        var bbox: String?

        @Option(help: "Only these transponder addresses, separated by commas.")
        var icao24: [String] = []

        @Option(help: "An instant of the last hour; needs credentials.")
        var time: String?

        @Flag(help: "Include the category of each aircraft.")
        var category = false

        func run() async throws {
            try await options.run { client in
                let answer = try await client.states(
                    at: time.map { try Reading.instant($0, "--time") }, of: Reading.addresses(icao24),
                    in: bbox.map { try Reading.box($0) }, includesCategory: category)
                return OpenSkyAnswer(records: answer.vectors.map { Record($0) }, counts: answer.counts)
            }
        }
    }

    struct Own: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Aircraft that your own receivers see; needs credentials.")
        @OptionGroup var options: OpenSkyOptions

        @Option(help: "Only the receivers with these serial numbers, separated by commas.")
        var serials: [String] = []

        @Option(help: "Only these transponder addresses, separated by commas.")
        var icao24: [String] = []

        @Option(help: "An instant (default: now).")
        var time: String?

        @Flag(help: "Include the category of each aircraft.")
        var category = false

        func run() async throws {
            try await options.run { client in
                let serials = try Reading.items(of: serials).map { text in
                    guard let serial = Int(text), serial >= 0 else {
                        throw Failure(.usage, "'\(text)' is no serial number; it must be a whole number from 0")
                    }
                    return serial
                }
                let answer = try await client.ownStates(
                    at: time.map { try Reading.instant($0, "--time") }, of: Reading.addresses(icao24), serials: serials,
                    includesCategory: category)
                return OpenSkyAnswer(records: answer.vectors.map { Record($0) }, counts: answer.counts)
            }
        }
    }

    struct Flights: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "All flights of an interval of at most 2 hours.")
        @OptionGroup var options: OpenSkyOptions
        @OptionGroup var interval: IntervalOptions

        func run() async throws {
            try await options.run { client in
                OpenSkyAnswer(try await client.flights(during: interval.interval(hours: 1)))
            }
        }
    }

    struct Aircraft: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "The flights of an aircraft in an interval of at most 2 days.")
        @OptionGroup var options: OpenSkyOptions
        @OptionGroup var interval: IntervalOptions

        @Argument(help: "The transponder address of the aircraft: six hexadecimal digits.")
        var address: String

        func run() async throws {
            try await options.run { client in
                OpenSkyAnswer(
                    try await client.flights(of: Reading.address(address), during: interval.interval(hours: 24)))
            }
        }
    }

    struct Arrivals: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Flights that arrived at an airport in an interval of at most 2 days.")
        @OptionGroup var airport: AirportOptions

        func run() async throws { try await airport.run(.arrival) }
    }

    struct Departures: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Flights that left an airport in an interval of at most 2 days.")
        @OptionGroup var airport: AirportOptions

        func run() async throws { try await airport.run(.departure) }
    }

    struct Track: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "The track of a flight, up to 30 days back.")
        @OptionGroup var options: OpenSkyOptions

        @Argument(help: "The aircraft's transponder address: six hexadecimal digits.")
        var address: String

        @Option(help: "An instant of the flight (default: the live one).")
        var time: String?

        func run() async throws {
            try await options.run { client in
                let track = try await client.track(
                    of: Reading.address(address), at: time.map { try Reading.instant($0, "--time") })
                guard let track else { return OpenSkyAnswer(records: []) }
                // GeoJSON has one line per track, other formats one row per point.
                let records =
                    options.format == .geojson
                    ? [SourceID(OpenSkyUpstream.kind).flatMap { Record(track, source: $0) }].compactMap { $0 }
                    : track.path.map { Record($0, of: track) }
                return OpenSkyAnswer(records: records, counts: track.counts)
            }
        }
    }
}

extension OpenSkyAnswer {
    fileprivate init(_ flights: OpenSky.Flights) {
        self.init(records: flights.flights.map { Record($0) }, counts: flights.counts)
    }
}
