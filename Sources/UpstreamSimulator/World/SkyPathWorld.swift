import Geometry
import JSONKit

/// SkyPath's products other than turbulence. Paths and formats are not public; they are the assumptions of Billow's
/// client.
package enum SkyPathProduct: String, CaseIterable, Sendable {
    case polygons
    case nowcast
    case flights
    case pireps

    var path: String {
        switch self {
        case .polygons: "observations/v5/polygons"
        case .nowcast: "nowcasting/v5/polygons"
        case .flights: "traffic/v5/flights"
        case .pireps: "pireps/v5/reports"
        }
    }
}

/// The simulated world in the formats of these products. It is a pure function of world and time.
///
/// Source: docs/upstreams/skypath.md, "Products that are assumed"
struct SkyPathWorld: Sendable {
    private let world: World
    private let traffic: OpenSkyTraffic
    private let reports: AviationWeatherWorld

    /// The update interval of polygons in seconds.
    private static let polygonSeconds = 60
    private static let hour = 3_600
    private static let nowcastHours = 0...6

    init(world: World) {
        self.world = world
        traffic = OpenSkyTraffic(world: world)
        reports = AviationWeatherWorld(world: world)
    }

    /// - Parameter hours: the history of polygons and pilot reports.
    func answer(_ product: SkyPathProduct, hours: Double, at now: Int) -> JSONValue {
        switch product {
        case .polygons: polygons(hours: hours, at: now)
        case .nowcast: nowcast(at: now)
        case .flights: .object(["data": .object(["flights": .array(flights(at: now))])])
        case .pireps: .object(["data": .object(["pireps": .array(pilotReports(hours: hours, at: now))])])
        }
    }

    // MARK: Areas

    private func polygons(hours: Double, at now: Int) -> JSONValue {
        let time = now / Self.polygonSeconds * Self.polygonSeconds
        return collection(
            patches(at: time).filter { $0.severity > 0 }.map { severity, patch in
                feature(
                    patch,
                    ["sev": number(severity), "hours": .number(hours), "updatedAt": number(time)])
            })
    }

    /// There is an issue every hour, for the current hour and the following ones.
    private func nowcast(at now: Int) -> JSONValue {
        let issued = now / Self.hour * Self.hour
        return collection(
            Self.nowcastHours.flatMap { ahead in
                let time = issued + ahead * Self.hour
                return patches(at: time).filter { $0.severity > 1 }.map { severity, patch in
                    feature(
                        patch,
                        [
                            "sev": number(severity), "forecastH": number(ahead), "ts": number(time),
                            "updatedAt": number(issued),
                        ])
                }
            })
    }

    private func patches(at time: Int) -> [(severity: Int, state: Patch.Snapshot)] {
        let slots = (time - World.longestPatch) / World.slotSeconds...time / World.slotSeconds
        return slots.flatMap { world.patches(slot: $0) }.filter { $0.isAlive(at: time) }.map { patch in
            let state = patch.state(at: time)
            let strength = UInt16(min(1, max(0, state.strength)) * 10_000)
            return (Category.medium.severity(tenThousandths: strength), state)
        }
    }

    private func collection(_ features: [JSONValue]) -> JSONValue {
        .object(["type": .string("FeatureCollection"), "features": .array(features)])
    }

    private func feature(_ patch: Patch.Snapshot, _ properties: [String: JSONValue]) -> JSONValue {
        let depth = 1 / patch.inverseDepth
        let band = [patch.altitudeFeet - depth, patch.altitudeFeet + depth].map { feet in
            number(min(52, max(5, Int(feet / 1_000))))
        }
        let ring = patch.outline.map { JSONValue.array([.number($0.longitude), .number($0.latitude)]) }
        return .object([
            "type": .string("Feature"),
            "properties": .object(properties.merging(["altFrom": band[0], "altTo": band[1]]) { $1 }),
            "geometry": .object(["type": .string("MultiPolygon"), "coordinates": .array([.array([.array(ring)])])]),
        ])
    }

    // MARK: Points

    /// Every fourth flight reports.
    private func flights(at now: Int) -> [JSONValue] {
        traffic.airborneFlights(at: now).filter { $0.id % 4 == 0 }.compactMap { flight in
            guard let state = flight.state(at: now) else { return nil }
            let number = Airframe(flight, seed: world.seed).callsign.filter { $0 != " " }
            let motion = Motion(of: flight, at: now, over: OpenSkyTraffic.speedSeconds)
            return .object([
                "id": .string("\(number)-\(flight.origin)-\(flight.destination)"), "number": .string(number),
                "dep": .string(flight.origin), "dest": .string(flight.destination), "acType": .string("A320"),
                "acSize": .string("medium"), "ts": self.number(now), "lon": .number(state.place.longitude),
                "lat": .number(state.place.latitude), "altFt": .number(state.altitudeFeet.rounded()),
                "hdg": motion.map { self.number(Int($0.headingDegrees)) } ?? .null,
                "spdMs": motion.map { .number($0.metresPerSecond) } ?? .null,
            ])
        }
    }

    private func pilotReports(hours: Double, at now: Int) -> [JSONValue] {
        let words = ["NEG", "LGT", "LGT-MOD", "MOD", "SEV"]
        return reports.pilotReports(at: now).compactMap { report in
            guard let time = report.time("obsTime"), Double(now - time) < hours * 3_600, let text = report["rawOb"]
            else { return nil }
            let severity = report["tbInt1"]?.string.flatMap { words.firstIndex(of: $0) }
            return .object([
                "id": .string("\(time)-\(text.string?.split(separator: " ").last ?? "")"), "ts": number(time),
                "lon": report["lon"] ?? .null, "lat": report["lat"] ?? .null,
                "altFt": .number((report["fltLvl"]?.number ?? 0) * 100), "acType": report["acType"] ?? .null,
                "sev": severity.map(number) ?? .null, "text": text,
            ])
        }
    }

    private func number(_ value: Int) -> JSONValue { .number(Double(value)) }
}

extension JSONValue {
    /// The response with empty lists of records.
    var withoutRecords: JSONValue { mapRecords { _ in [] } }

    /// The response with an invalid record at the start of each list.
    var withBrokenRecord: JSONValue { mapRecords { [.object(["id": .null])] + $0 } }

    private func mapRecords(_ change: ([JSONValue]) -> [JSONValue]) -> JSONValue {
        switch self {
        case .array(let records): .array(change(records))
        case .object(let members): .object(members.mapValues { $0.mapRecords(change) })
        default: self
        }
    }
}
