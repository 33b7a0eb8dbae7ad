import Datasets
import Foundation
import Geometry
import Turbulence

@testable import BillowStore

/// A folder that goes with the value's last owner.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("billow-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }
}

struct Missing: Error {}

extension Optional {
    /// The value, or a test failure instead of a trap.
    func orMissing() throws -> Wrapped {
        guard let self else { throw Missing() }
        return self
    }
}

let noon = Instant(clamping: 1_795_262_400)

func source(_ name: String) throws -> SourceID { try SourceID(name).orMissing() }

func observation(
    id: String? = nil, cell: Int = 20_000, altitude: Int = 38, top: Int? = nil, severity: Int? = 2, edr: Int? = nil,
    at seconds: Int = 0, category: Int? = nil, source name: String = "skypath", kind: ObservationKind = .inSitu,
    aircraft: String? = nil
) throws -> Observation {
    let lowest = try AltitudeBlock(thousands: altitude).orMissing()
    let highest = try AltitudeBlock(thousands: top ?? altitude).orMissing()
    let intensity = Intensity(
        severity: severity.flatMap { Severity(rawValue: UInt8($0)) }, edr: edr.flatMap { EDR(tenThousandths: $0) })
    return Observation(
        id: id, cell: try Cell(dense: cell).orMissing(),
        altitude: try AltitudeBand(lowest: lowest, highest: highest).orMissing(), intensity: try intensity.orMissing(),
        observedAt: noon.advanced(by: seconds), category: category.flatMap { AircraftCategory(number: $0) },
        source: try source(name), kind: kind, aircraft: aircraft)
}

func pilotReport(
    id: String = "r1", at seconds: Int = 0, source name: String = "awc", text: String = "UA /OV MIA /TM 1200 /FL350"
) throws -> PilotReport {
    PilotReport(
        id: id, place: try LonLat(longitude: -80.290001, latitude: 25.79325).orMissing(),
        observedAt: noon.advanced(by: seconds), type: "PIREP", aircraft: "B738", altitudeFeet: 35_000,
        turbulence: [
            TurbulenceGroup(
                severity: .moderate, intensity: "MOD", baseFeet: 33_000, topFeet: nil, type: "CAT", frequency: nil),
            TurbulenceGroup(
                severity: nil, intensity: nil, baseFeet: nil, topFeet: nil, type: nil, frequency: "ISOL \"/é"),
        ], text: text, source: try source(name))
}

extension SQLStore {
    /// Everything that counts, with its details, without keys and versions.
    func contents() async throws -> [Observation] {
        let sources = Dictionary(uniqueKeysWithValues: try await sources().map { ($0.number, $0.id) })
        return try await page(after: nil, from: .distantPast, to: .distantFuture, limit: .max).map { row, details in
            Observation(
                id: details.id, cell: row.cell, altitude: row.altitude, intensity: row.intensity,
                observedAt: row.observedAt, category: row.category, source: try sources[row.source].orMissing(),
                kind: row.kind, aircraft: details.aircraft)
        }
    }

    /// Executes a statement in a transaction.
    func execute(_ sql: String) async throws {
        try await writing { db in try RawStatement(db, sql).run() }
    }

    /// The values of a query with one column.
    func values(_ sql: String) async throws -> [Int64] {
        try await reading { db in
            var values: [Int64] = []
            try RawStatement(db, sql).forEachValue { values.append($0) }
            return values
        }
    }

    func commit(_ observations: Observation...) async throws -> BatchResult {
        try await commit(Batch(source: nil, observations: observations))
    }
}

/// A store in SQLite with the sources of `makeStore(_:)`.
func makeStore() async throws -> SQLiteStore {
    let store = try await SQLiteStore.temporary()
    try await addSources(to: store)
    return store
}

/// A store with the sources `skypath` (replace) and `awc` (keep).
func makeStore(_ kind: StoreKind) async throws -> any SQLStore {
    let store = try await kind.emptyStore()
    try await addSources(to: store)
    return store
}

private func addSources(to store: some SQLStore) async throws {
    _ = try await store.register(try source("skypath"), merge: .replace, simulated: false)
    _ = try await store.register(try source("awc"), merge: .keep, simulated: false)
}

/// A square degree whose south-west corner is at a place.
func area(
    _ id: String, kind: String = "gairmet", from: Int = 0, to: Int = 3_600, longitude: Double = -80, text: String? = nil
) throws -> IssuedArea {
    let corners = try [(0.0, 0.0), (1, 0), (1, 1), (0, 1)].map { east, north in
        try LonLat(longitude: longitude + east, latitude: 40 + north).orMissing()
    }
    return IssuedArea(
        collection: .hazards, id: id, source: try source("awc"), kind: kind, hazard: "TURB-HI", severity: .moderate,
        altitudeMinFeet: 18_000, altitudeMaxFeet: 39_000, validFrom: noon.advanced(by: from),
        validTo: noon.advanced(by: to), issuedAt: noon, forecastHour: 3, historySeconds: nil, status: "AMD", text: text,
        geometry: try MultiPolygon(outline: corners).orMissing())
}

func position(_ address: String, at seconds: Int, longitude: Double = 10, source name: String = "awc") throws
    -> AircraftPosition
{
    AircraftPosition(
        icao24: try ICAO24(address).orMissing(), callsign: "DLH4AB",
        place: try LonLat(longitude: longitude, latitude: 50.123456).orMissing(), source: try source(name),
        observedAt: noon.advanced(by: seconds), altitudeFeet: 36_000, geometricAltitudeFeet: nil,
        groundSpeedKnots: 451.5, headingDegrees: 271.25, verticalRateFeetPerMinute: -640, isOnGround: false, category: 4
    )
}

extension Retraction {
    /// A fetch of the whole world that has nothing.
    static var everything: Retraction {
        Retraction(from: .distantPast, to: .distantFuture, covers: { _ in true }, standing: [:])
    }
}
