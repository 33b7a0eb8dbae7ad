import AviationFormats
import Foundation
import Geometry
import Synchronization
import JSONKit

/// The simulated world in the products of the Aviation Weather Center. Some flights report, and warnings surround the
/// bodies of turbulent air and drift with them. It is a pure function of world and time.
final class AviationWeatherWorld: Sendable {
    private let world: World
    /// A cache of the reports of each slot, which are slow to make.
    private let reports = Mutex<[Int: [AviationWeatherRecord]]>([:])
    /// A cache of the bodies at recently requested times.
    private let lastBodies = Mutex<[Int: [Body]]>([:])

    /// Reports are made at multiples of this interval in seconds.
    private static let reportSlotSeconds = 300
    /// In each slot, one in this many flights reports.
    private static let flightsPerReport = 8
    /// The maximum age of reports in seconds.
    private static let reportSeconds = 6 * 3_600
    /// The contiguous US and its waters.
    private static let conus = (west: -128.0, south: 22.0, east: -62.0, north: 52.0)
    private static let offices = ["KSFO", "KSLC", "KCHI", "KDFW", "KBOS", "KMIA"]
    /// The names of domestic SIGMETs that aren't convective.
    ///
    /// Source: NWS Instruction 10-811: NOVEMBER to YANKEE, without SIERRA and TANGO
    private static let seriesNames = [
        "NOVEMBER", "OSCAR", "PAPA", "QUEBEC", "ROMEO", "UNIFORM", "VICTOR", "WHISKEY", "XRAY", "YANKEE",
    ]

    init(world: World) { self.world = world }

    // MARK: Aircraft reports

    /// All reports of the last hours, newest last.
    func pilotReports(at now: Int) -> [AviationWeatherRecord] {
        let last = now / Self.reportSlotSeconds
        let wanted = last - Self.reportSeconds / Self.reportSlotSeconds...last
        return reports.withLock { reports in
            reports = reports.filter { wanted.contains($0.key) }
            let missing = wanted.filter { reports[$0] == nil }
            if let first = missing.first, let last = missing.last { make(first...last, into: &reports) }
            return wanted.flatMap { reports[$0, default: []] }
        }
    }

    private func make(_ slots: ClosedRange<Int>, into reports: inout [Int: [AviationWeatherRecord]]) {
        let step = Self.reportSlotSeconds
        let flights = ((slots.lowerBound * step - SimulatedFlight.longestDuration) / 60...slots.upperBound * step / 60)
            .flatMap { world.departures(minute: $0) }
        let patches = bodies(bornBy: slots.upperBound * step, aliveAfter: slots.lowerBound * step).map(\.patch)
        for slot in slots where reports[slot] == nil {
            let time = slot * step
            let reporting = flights.filter {
                (Self.number(of: $0) + slot) % Self.flightsPerReport == 0 && $0.departure <= time && $0.arrival >= time
            }
            let air = Air(reporting.isEmpty ? [] : patches.filter { $0.isAlive(at: time) }.map { $0.state(at: time) })
            reports[slot] = reporting.compactMap { flight in
                guard let report = world.report(of: flight, at: time, in: air), let state = flight.state(at: time)
                else { return nil }
                return record(flight, report, state.place)
            }
        }
    }

    private func record(_ flight: SimulatedFlight, _ report: Report, _ place: LonLat) -> AviationWeatherRecord {
        let level = report.key & 63
        let number = Self.number(of: flight)
        let isAirep = number % 4 == 0
        // Every fifth says nothing about turbulence, which is not smooth air.
        let word: String? = number % 5 == 0 ? nil : Self.intensity(edr: Double(report.edr) / 10_000)
        let name = isAirep ? "BLW\(100 + flight.id % 900)" : ["B738", "A320", "E75L", "B77W"][number / 8 % 4]
        let clock = Self.clock(report.observedAt)
        let text =
            "\(isAirep ? "ARP" : "KWBC UA") \(name) /TM \(clock) /FL\(level)0"
            + (word.map { " /TB \($0)" } ?? "") + " /RM SIMULATED \(flight.id)"
        return AviationWeatherRecord(members: [
            "receiptTime": .string(AviationWeatherRecord.text(report.changedAt)),
            "obsTime": .number(Double(report.observedAt)), "qcField": .number(0), "icaoId": .string("KWBC"),
            "acType": .string(name), "lat": Self.number(place.latitude), "lon": Self.number(place.longitude),
            "fltLvl": .number(Double(level) * 10), "fltLvlType": .string("OTHER"), "clouds": .null,
            "tbBas1": .null, "tbTop1": .null, "tbInt1": .string(word ?? ""), "tbType1": .string(""),
            "tbFreq1": .string(""), "pirepType": .string(isAirep ? "AIREP" : "PIREP"), "rawOb": .string(text),
        ])
    }

    /// Most flights' ids are round numbers; these numbers increase by one from flight to flight.
    private static func number(of flight: SimulatedFlight) -> Int { flight.id / 1_000 + flight.id % 1_000 }

    private static func intensity(edr: Double) -> String {
        switch edr {
        case ..<0.1: "NEG"
        case ..<0.15: "LGT"
        case ..<0.2: "LGT-MOD"
        case ..<0.45: "MOD"
        default: "SEV"
        }
    }

    // MARK: Warnings

    /// A body of turbulent air that exists at a time.
    struct Body: Sendable {
        /// Constant during the body's life.
        let number: Int
        let isJet: Bool
        let patch: Patch
    }

    /// The bodies born up to one time that exist after another.
    private func bodies(bornBy last: Int, aliveAfter first: Int) -> [Body] {
        let slots = (first - World.longestPatch) / World.slotSeconds...last / World.slotSeconds
        return slots.flatMap { slot in
            world.patches(slot: slot).enumerated().map { place, patch in
                Body(number: slot % 100_000 * 16 + place, isJet: patch.isJet, patch: patch)
            }
        }.filter { $0.patch.death > first }
    }

    private func bodies(at time: Int) -> [Body] {
        lastBodies.withLock { last in
            if let known = last[time] { return known }
            // A few times are requested repeatedly: the forecast hours of an issue, the starts of SIGMETs.
            if last.count > 20 { last = [:] }
            let bodies = bodies(bornBy: time, aliveAfter: time).filter { $0.patch.isAlive(at: time) }
            last[time] = bodies
            return bodies
        }
    }

    /// The bodies that need a warning, the strongest first.
    func warned(at time: Int, edr: Double, inside: Bool) -> [(body: Body, state: Patch.Snapshot)] {
        bodies(at: time).map { ($0, $0.patch.state(at: time)) }
            .filter { body, state in
                let area = Self.conus
                let isInside =
                    state.longitude > area.west && state.longitude < area.east && state.latitude > area.south
                    && state.latitude < area.north
                return state.strength >= edr && isInside == inside
            }
            .sorted { ($0.1.strength, $0.0.number) > ($1.1.strength, $1.0.number) }
    }

    /// The G-AIRMETs of a forecast hour, from the last issue before `now`.
    func gairmets(forecastHour: Int, at now: Int) -> [AviationWeatherRecord] {
        // Issued for 03, 09, 15 and 21 UTC, a quarter of an hour before.
        let issueFor = (now + 900 - 3 * 3_600) / 21_600 * 21_600 + 3 * 3_600
        let valid = issueFor + forecastHour * 3_600
        let strong = warned(at: valid, edr: 0.16, inside: true)
        let high = strong.filter(\.body.isJet).prefix(6).map { body, state in
            gairmet(
                body, state, "TURB-HI",
                (state.altitudeFeet - 1 / state.inverseDepth, state.altitudeFeet + 1 / state.inverseDepth)
            )
        }
        let low = strong.filter { !$0.body.isJet }.prefix(3).map { body, state in
            gairmet(body, state, "TURB-LO", (0, 12_000))
        }
        let shear = strong.suffix(1).map { body, state in gairmet(body, state, "LLWS", nil) }
        let freezing = strong.prefix(1).map { body, state in gairmet(body, state, "FZLVL", nil) }
        return (high + low + shear + freezing).map { record in
            var record = record
            record.members["forecastHour"] = .number(Double(forecastHour))
            record.members["validTime"] = .string(AviationWeatherRecord.text(valid))
            record.members["issueTime"] = .number(Double(issueFor - 900))
            record.members["receiptTime"] = .number(Double(issueFor - 1_500))
            record.members["expireTime"] = .number(Double(issueFor + 21_600))
            return record
        }
    }

    private func gairmet(
        _ body: Body, _ state: Patch.Snapshot, _ hazard: String, _ band: (base: Double, top: Double)?
    ) -> AviationWeatherRecord {
        func level(_ feet: Double?) -> JSONValue {
            guard let feet else { return .null }
            return .string(feet < 1_000 ? "SFC" : String(format: "%03d", Int(feet / 1_000) * 10))
        }
        let isLine = hazard == "FZLVL"
        return AviationWeatherRecord(members: [
            "tag": .string("\(body.number % 10_000)C"), "hazard": .string(hazard),
            "geometryType": .string(isLine ? "LINE" : "AREA"), "geom": .string(isLine ? "LINE" : "AREA"),
            "severity": hazard.hasPrefix("TURB") ? .string("MOD") : .null, "due_to": .string("SIMULATED"),
            "status": .string("NRML"), "base": level(band?.base), "top": level(band?.top),
            "level": isLine ? .string("160") : .null, "product": .string(isLine ? "ZULU" : "TANGO"),
            "coords": .array(
                state.outline.map { place in
                    // The service writes these numbers as texts.
                    .object([
                        "lat": .string(String(format: "%.2f", place.latitude)),
                        "lon": .string(String(format: "%.2f", place.longitude)),
                    ])
                }),
        ])
    }

    /// Every strong body has a SIGMET for each four hours of its life. It is listed under two offices.
    func sigmets(at now: Int) -> [AviationWeatherRecord] {
        let from = now / 14_400 * 14_400
        var names = Set<String>()
        return warned(at: from, edr: 0.3, inside: true).flatMap { body, patch -> [AviationWeatherRecord] in
            // A body's name is constant during its life. If a stronger body has the name, a weaker one gets no SIGMET.
            let name = Self.seriesNames[body.number % Self.seriesNames.count]
            guard names.insert(name).inserted else { return [] }
            let issue = (from - body.patch.birth) / 14_400 + 1
            let low = Self.feet(patch.altitudeFeet - 1 / patch.inverseDepth)
            let high = Self.feet(patch.altitudeFeet + 1 / patch.inverseDepth)
            return (0..<2).map { place in
                let office = Self.offices[(body.number + place) % Self.offices.count]
                let day = Self.day(from)
                let text =
                    "WSUS0\(place + 1) KKCI \(day)\n\(office.dropFirst())\(name.prefix(1)) WS \(day)\n"
                    + "SIGMET \(name) \(issue) VALID UNTIL \(Self.day(from + 14_400))\nSIGMET\n"
                    + "OCNL SEV TURB BTN FL\(Self.level(low)) AND FL\(Self.level(high)). SIMULATED."
                return AviationWeatherRecord(members: [
                    "icaoId": .string(office), "alphaChar": .string(String(name.prefix(1))),
                    "seriesId": .string("\(name) \(issue)"), "receiptTime": .string(AviationWeatherRecord.text(from)),
                    "creationTime": .string(AviationWeatherRecord.text(from)), "validTimeFrom": .number(Double(from)),
                    "validTimeTo": .number(Double(from + 14_400)), "airSigmetType": .string("SIGMET"),
                    "hazard": .string(body.isJet ? "TURB" : "CONVECTIVE"), "altitudeLow1": .number(low),
                    "altitudeLow2": .null, "altitudeHi1": .null, "altitudeHi2": .number(high), "movementDir": .null,
                    "movementSpd": .null, "severity": .number(5), "rawAirSigmet": .string(text),
                    "coords": .array(patch.outline.map(Self.corner)),
                ])
            }
        }
    }

    /// The strongest bodies outside the US, worldwide and across the antimeridian.
    func internationalSigmets(at now: Int) -> [AviationWeatherRecord] {
        let from = now / 14_400 * 14_400
        return warned(at: from, edr: 0.35, inside: false).prefix(20).map { body, patch in
            let low = Self.feet(patch.altitudeFeet - 1 / patch.inverseDepth)
            let high = Self.feet(patch.altitudeFeet + 1 / patch.inverseDepth)
            let series = "\(body.number % 100)"
            let day = Self.day(from)
            let text =
                "WSZZ21 ZZZZ \(day)\nZZZZ SIGMET \(series) VALID \(day)/\(Self.day(from + 14_400)) ZZZZ-\n"
                + "ZZZZ SIMULATED FIR SEV TURB FL\(Self.level(low))/\(Self.level(high)) NC="
            return AviationWeatherRecord(members: [
                "icaoId": .string("ZZZZ"), "firId": .string("ZZZZ"), "firName": .string("ZZZZ SIMULATED"),
                "receiptTime": .string(AviationWeatherRecord.text(from)), "validTimeFrom": .number(Double(from)),
                "validTimeTo": .number(Double(from + 14_400)), "seriesId": .string(series),
                "hazard": .string(body.isJet ? "TURB" : "TS"), "qualifier": .string(body.isJet ? "SEV" : "EMBD"),
                "base": .number(low), "top": .number(high), "geom": .string("AREA"), "dir": .string("-"),
                "spd": .string("0"), "chng": .string("NC"), "rawSigmet": .string(text),
                "coords": .array(patch.outline.map(Self.corner)),
            ])
        }
    }

    // MARK: Shapes and words

    static func corner(_ place: (longitude: Double, latitude: Double)) -> JSONValue {
        .object(["lat": number(place.latitude), "lon": number(place.longitude)])
    }

    /// A number with three decimals, as the service has.
    static func number(_ value: Double) -> JSONValue { .number((value * 1_000).rounded() / 1_000) }

    /// Feet rounded to whole thousands.
    static func feet(_ value: Double) -> Double { max(0, (value / 1_000).rounded()) * 1_000 }

    static func level(_ feet: Double) -> String { String(format: "%03d", Int(feet / 100)) }

    /// The time as `HHMM`.
    private static func clock(_ seconds: Int) -> String {
        String(format: "%02d%02d", seconds / 3_600 % 24, seconds / 60 % 60)
    }

    /// The day and time as `DDHHMM`.
    static func day(_ seconds: Int) -> String {
        AviationWeatherRecord.text(seconds).dropFirst(8).prefix(2) + clock(seconds)
    }
}

extension SigmetFormat: SimulatedFormat {
    static func records(in world: AviationWeatherWorld, at now: Int) -> [AviationWeatherRecord] {
        world.sigmets(at: now)
    }
}

extension InternationalSigmetFormat: SimulatedFormat {
    static func records(in world: AviationWeatherWorld, at now: Int) -> [AviationWeatherRecord] {
        world.internationalSigmets(at: now)
    }
}

extension GairmetFormat: SimulatedFormat {
    /// Those of the first forecast hour. The hours are requested one by one.
    static func records(in world: AviationWeatherWorld, at now: Int) -> [AviationWeatherRecord] {
        world.gairmets(forecastHour: 0, at: now)
    }
}
