import Foundation
import Geometry

/// The simulated world as a pure function of (seed, number of flights). It gives the departures of a minute, the
/// turbulence that begins in it, and its reports. It has no state and no clock, so any part can be computed again.
struct World: Sendable {
    let seed: UInt64
    /// The approximate number of flights in the air.
    let flights: Int

    private let airports = Airports.all
    private let routes: Routes
    private let departuresPerMinute: Double

    /// The interval in seconds at which bodies of turbulence are born.
    static let slotSeconds = 300
    /// The maximum life of a body.
    static let longestPatch = 8 * 3_600
    private static let jetPatchesPerSlot = 4.5
    private static let convectivePatchesPerSlot = 4.5

    /// The purpose of each stream of random numbers.
    private enum Stream: Int {
        case departures = 1
        case flight, jets, convection, report
    }

    init(seed: UInt64, flights: Int) {
        self.seed = seed
        self.flights = max(0, min(flights, 20_000))
        routes = Routes(airports: airports)
        departuresPerMinute = Double(self.flights) * 60 / routes.meanDuration
    }

    /// The flights that depart in a minute (Unix time ÷ 60).
    func departures(minute: Int) -> [SimulatedFlight] {
        var random = SeededRandom(seed: seed, Stream.departures.rawValue, minute)
        return (0..<World.whole(departuresPerMinute, &random)).compactMap { place in
            var random = SeededRandom(seed: seed, Stream.flight.rawValue, minute, place)
            guard let route = routes.draw(&random) else { return nil }
            return SimulatedFlight(
                id: minute * 1_000 + place, departure: minute * 60 + Int(random.between(0, 60)),
                route: route,
                airports: airports, random: &random)
        }
    }

    /// The bodies born in a slot (Unix time ÷ `slotSeconds`).
    func patches(slot: Int) -> [Patch] { World.patches(slot: slot, seed: seed) }

    /// The bodies born in a slot, without preparing the flights, which is slow.
    static func patches(slot: Int, seed: UInt64) -> [Patch] {
        var jets = SeededRandom(seed: seed, Stream.jets.rawValue, slot)
        var convection = SeededRandom(seed: seed, Stream.convection.rawValue, slot)
        let birth = slot * World.slotSeconds
        return (0..<whole(World.jetPatchesPerSlot, &jets)).map { _ in
            Patch(jetBornAt: birth, random: &jets)
        }
            + (0..<whole(World.convectivePatchesPerSlot, &convection)).map { _ in
                Patch(convectiveBornAt: birth, random: &convection)
            }
    }

    /// The report of a flight at a Unix second; nil below the lowest reported level.
    func report(of flight: SimulatedFlight, at time: Int, in air: Air) -> Report? {
        guard let state = flight.state(at: time) else { return nil }
        let level = Int(state.altitudeFeet / 1_000)
        guard Report.levels.contains(level) else { return nil }
        var random = SeededRandom(seed: seed, Stream.report.rawValue, flight.id, time)
        var edr = 0.022 * exp(random.bell() * 0.6)
        // The boundary layer has more turbulence.
        if state.altitudeFeet < 12_000 { edr += random.between(0, 0.08) }
        let strongest = air.edr(
            longitude: state.place.longitude, latitude: state.place.latitude, altitudeFeet: state.altitudeFeet)
        edr = max(edr, strongest * random.between(0.85, 1.15))
        let late = random.unit() < 0.02
        let delay = late ? random.between(120, 420) : random.between(4, 28)
        return Report(
            key: Report.key(cell: H3.cell(at: state.place), level: level), observedAt: time,
            changedAt: time + Int(delay), edr: UInt16(min(0.9, max(0, edr)) * 10_000), flight: flight.id)
    }

    /// A whole number whose average over many calls is `mean`.
    private static func whole(_ mean: Double, _ random: inout SeededRandom) -> Int {
        Int(mean) + (random.unit() < mean - mean.rounded(.down) ? 1 : 0)
    }
}

/// Generates a world's reports minute by minute, with only the present flights and bodies in memory.
struct ReportGenerator: Sendable {
    private let world: World
    /// The next minute (Unix time ÷ 60) to generate.
    private(set) var minute: Int
    private var aloft: [SimulatedFlight] = []
    private var patches: [Patch] = []
    private var nextSlot: Int

    init(world: World, minute: Int) {
        self.world = world
        self.minute = minute
        for past in (minute - SimulatedFlight.longestDuration / 60)..<minute {
            aloft += world.departures(minute: past).filter { $0.arrival >= minute * 60 }
        }
        let slot = minute * 60 / World.slotSeconds
        nextSlot = slot - World.longestPatch / World.slotSeconds
        addPatches()
    }

    private mutating func addPatches() {
        let time = minute * 60
        while nextSlot * World.slotSeconds <= time {
            patches += world.patches(slot: nextSlot)
            nextSlot += 1
        }
        patches.removeAll { !$0.isAlive(at: time) }
    }

    /// The reports observed in the next minute: one of each flight in the air.
    mutating func next() -> [Report] {
        aloft += world.departures(minute: minute)
        addPatches()
        let time = minute * 60
        let air = Air(patches.map { $0.state(at: time) })
        let reports = aloft.compactMap { flight in
            world.report(of: flight, at: time + flight.departure % 60, in: air)
        }
        minute += 1
        aloft.removeAll { $0.arrival < minute * 60 }
        return reports
    }
}
