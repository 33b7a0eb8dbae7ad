import BillowFields
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

/// What people see, against pictures that were looked at.
@Suite("Golden pictures", .timeLimit(.minutes(20)))
struct GoldenTests {
    /// Fonts and floating point may round a pixel at an edge either way; nothing else may differ.
    private static let tolerance = Golden.Tolerance(channel: 8, share: 0.001)

    /// z6 from 5.6° to 11.25° east and 48.9° to 52.5° north, where all of the data is.
    private static let tile = "6/33/21"
    private static let box = "bbox=5.6,48.9,11.3,52.5"

    /// Patches of every severity, one of which grows within the last hour.
    private static func observations() throws -> [Observation] {
        var all: [Observation] = []
        for column in 0..<18 {
            for row in 0..<14 {
                let (x, y) = (Double(column) / 17, Double(row) / 13)
                let bump = 4.6 * max(0, 1 - 1.7 * ((x - 0.55) * (x - 0.55) + (y - 0.5) * (y - 0.5)).squareRoot())
                guard bump > 1, (column * 7 + row * 5) % 11 != 0 else { continue }
                all.append(
                    try observation(
                        try cell(6 + 4.9 * x, 49.2 + 3 * y), altitude: 28 + (column + row) % 12,
                        severity: Severity(rawValue: UInt8(bump)), at: -60 - 180 * column))
            }
        }
        for column in 0..<6 {
            all.append(
                try observation(
                    try cell(5.9 + 0.28 * Double(column), 52), altitude: 35, severity: .smooth, at: -300))
        }
        return all
    }

    private static func reports() throws -> [PilotReport] {
        let kinds: [(Severity?, String)] = [
            (nil, "PIREP"), (.smooth, "PIREP"), (.light, "PIREP"), (.lightModerate, "AIREP"), (.moderate, "PIREP"),
            (.moderateSevere, "PIREP"), (.moderate, "Urgent PIREP"), (.moderateSevere, "Urgent PIREP"),
        ]
        return try kinds.enumerated().map { index, kind in
            let groups = kind.0.map {
                [
                    TurbulenceGroup(
                        severity: $0, intensity: nil, baseFeet: nil, topFeet: nil, type: nil, frequency: nil)
                ]
            }
            return PilotReport(
                id: "report\(index)", place: try place(6.2 + 1.3 * Double(index % 4), index < 4 ? 51.8 : 49.6),
                observedAt: noon.advanced(by: -300 * (index + 1)), type: kind.1, aircraft: "B738",
                altitudeFeet: 35_000, turbulence: groups ?? [], text: "UA", source: try source("awc"))
        }
    }

    private static func areas() throws -> [IssuedArea] {
        func area(
            _ collection: IssuedArea.DatasetNumber, _ kind: String, _ hazard: String, _ severity: Severity?,
            _ corners: [(Double, Double)], endsIn seconds: Int = 9_000
        ) throws -> IssuedArea {
            IssuedArea(
                collection: collection, id: "\(kind)-\(hazard)", source: try source("awc"), kind: kind, hazard: hazard,
                severity: severity, altitudeMinFeet: 25_000, altitudeMaxFeet: 41_000,
                validFrom: noon.advanced(by: -3_600), validTo: noon.advanced(by: seconds),
                geometry: try MultiPolygon(outline: try corners.map { try place($0.0, $0.1) }).orMissing())
        }
        return [
            try area(.hazards, "gairmet", "TURB-HI", .moderate, [(5.9, 50.9), (8, 51.1), (8.2, 52.3), (6, 52.2)]),
            try area(.hazards, "sigmet", "TURB", .moderateSevere, [(9, 50.6), (11, 50.8), (10.6, 52.2), (8.8, 52)]),
            // In its last half hour it is faint.
            try area(
                .hazards, "sigmet", "CONVECTIVE", nil, [(6, 49.1), (7.4, 49), (7.5, 50.2), (6.1, 50.3)],
                endsIn: 1_200),
            try area(
                .forecast, "nowcast", "TURB", .lightModerate, [(7.7, 49.1), (9.2, 49.2), (9.1, 50.3), (7.8, 50.2)]),
            try area(.advisories, "cwa", "TURB", nil, [(9.6, 49.1), (11, 49.2), (10.9, 50.2), (9.5, 50.3)]),
        ]
    }

    /// Five aircraft on ways of forty minutes, one of them on the ground.
    private static func positions() throws -> [AircraftPosition] {
        try (0..<5).flatMap { number in
            try (0..<20).map { step in
                let (along, across) = (Double(step) / 19, Double(number))
                return AircraftPosition(
                    icao24: try ICAO24("3c640\(number)").orMissing(), callsign: "DLH\(number)4",
                    place: try place(
                        number.isMultiple(of: 2) ? 6 + 3.4 * along : 10.8 - 3.4 * along,
                        49.3 + 0.6 * across + 0.5 * along), source: try source("awc"),
                    observedAt: noon.advanced(by: 120 * (step - 19) - 20),
                    altitudeFeet: number == 4 ? 0 : 31_000 + 2_000 * number,
                    groundSpeedKnots: number == 4 ? 12 : 440, headingDegrees: number.isMultiple(of: 2) ? 78 : 282,
                    isOnGround: number == 4)
            }
        }
    }

    /// A world with all of it, of which the log is complete for twenty minutes, and old where that is wanted.
    private func withPictures(isStale: Bool = false, _ test: @escaping @Sendable (World) async throws -> Void)
        async throws
    {
        try await withWorld(configured: ["skypath"], simulated: true) { world in
            _ = try await world.store.commit(
                Batch(
                    source: nil, observations: try Self.observations(), pilotReports: try Self.reports(),
                    areas: try Self.areas(), positions: try Self.positions()))
            try await world.fetched(
                "skypath", secondsAgo: isStale ? 900 : 10, completeSince: noon.advanced(by: -1_200))
            try await world.refresh()
            try await test(world)
        }
    }

    private func expect(_ uri: String, is name: String, in world: World) async throws {
        let answer = try await world.get(uri)
        #expect(answer.status == .ok, "\(uri): \(answer.text.prefix(300))")
        try Golden.expect(Array(buffer: answer.body), is: name, within: Self.tolerance)
    }

    @Test(
        "a tile of each layer looks as it did",
        arguments: [
            "hexagons", "polygons", "pireps", "hazards", "forecast,advisories", "tracks,traffic",
        ])
    func tiles(layers: String) async throws {
        try await withPictures { world in
            let name = "tile-\(layers.replacing(",", with: "-"))"
            try await expect("/tiles/\(layers)/latest/\(Self.tile).png", is: name, in: world)
        }
    }

    @Test("a tile of all layers that lacks data is hatched")
    func composed() async throws {
        try await withPictures(isStale: true) { world in
            let layers = "turbulence,hazards,forecast,advisories,tracks,traffic,pireps"
            let uri = "/tiles/\(layers)/latest/\(Self.tile).png?incomplete=hatch"
            let answer = try await world.get(uri)
            #expect(answer.header("X-Incomplete") == "true")
            try await expect(uri, is: "tile-composed-incomplete", in: world)
        }
    }

    @Test("a map has its caption, its warnings of old, missing and simulated data, its legend and its scale bar")
    func map() async throws {
        try await withPictures(isStale: true) { world in
            try await expect(
                "/maps/hexagons.png?\(Self.box)&width=560&height=400&legend=true&timestamp=true&scalebar=true"
                    + "&incomplete=hatch&minSeverity=1", is: "map-caption-stale", in: world)
        }
    }

    @Test("a legend names the severities and the signs of the other layers", arguments: ["light", "dark"])
    func legend(theme: String) async throws {
        try await withPictures { world in
            let isDark = theme == "dark"
            let query = isDark ? "orientation=horizontal" : "orientation=vertical"
            let layers = isDark ? "hexagons" : "hexagons,hazards,pireps"
            try await expect("/legend.png?layer=\(layers)&theme=\(theme)&\(query)", is: "legend-\(theme)", in: world)
        }
    }

    @Test("a profile shows the severities by level along the way, and the hazards that are met")
    func profile() async throws {
        try await withPictures { world in
            try await expect(
                "/profiles.png?route=6,50.9%2011,51.2&width=120&width-pixels=400&height-pixels=220",
                is: "profile", in: world)
        }
    }

    @Test(
        "a profile in time shows the field below the reports, the way flown, and what isn't known",
        arguments: [true, false])
    func fieldProfile(isDark: Bool) async throws {
        try await withWorld { world in
            for hour in 0...3 {
                try await world.insertAir(
                    valid: hour * 3_600, levels: Array(stride(from: 24_000, to: 45_000, by: 2_000))
                ) {
                    column, row, feet in
                    guard column < 17 else { return FieldPlane.missing }
                    let (x, y) = (Double(column - hour) - 6, Double(feet - 34_000) / 4_000)
                    return UInt8(4 + 40 * exp(-(x * x / 6 + y * y)) * Double(10 + row) / 16)
                }
            }
            try await world.insert([
                try observation(cell(-90, 35), altitude: 30, severity: .moderateSevere, at: -60),
                try observation(cell(-97, 35), altitude: 38, top: 39, severity: .light, at: -60),
            ])
            try await expect(
                "/profiles.png?route=35N100W%2035N082W&speed=380&level=35000&climb=2400&descent=1800&minAltitude=10000"
                    + "&maxAltitude=48000&width-pixels=700&height-pixels=360" + (isDark ? "&style=night" : ""),
                is: "profile-field-\(isDark ? "dark" : "light")", in: world)
        }
    }

    @Test("a contact sheet has the frames of a timeline beside each other")
    func sheet() async throws {
        try await withPictures { world in
            try await expect(
                "/animations/hexagons.png?\(Self.box)&width=150&height=150&intervals=4&start=-45m&end=now&hours=0.5"
                    + "&form=sheet&legend=false",
                is: "contact-sheet", in: world)
        }
    }

    /// A jet stream, a mountain wave and two storms on GTG's grid; without values along the border, and over a lake.
    private static func field() throws -> FieldLevelDraft {
        let grid = GridDefinition.turbulenceGuidance
        let values = (0..<grid.count).map { point -> UInt8 in
            let (column, row) = (point % grid.columns, point / grid.columns)
            let (x, y) = (Double(column) / Double(grid.columns), Double(row) / Double(grid.rows))
            func bump(_ atX: Double, _ atY: Double, _ size: Double) -> Double {
                exp(-((x - atX) * (x - atX) * 3 + (y - atY) * (y - atY)) / (size * size))
            }
            let border = min(column, row, grid.columns - 1 - column, grid.rows - 1 - row)
            guard border >= 20, bump(0.62, 0.68, 0.05) < 0.5 else { return FieldPlane.missing }
            let jet = 22 * exp(-pow((y - 0.55 - 0.12 * sin(7 * x)) / 0.06, 2)) * (0.6 + 0.4 * sin(11 * x + 1))
            let wave = 30 * bump(0.3, 0.5, 0.12) * (0.7 + 0.3 * sin(90 * x + 20 * y))
            let storms = 60 * bump(0.75, 0.3, 0.035) + 48 * bump(0.55, 0.25, 0.04)
            return UInt8(min(max(3 + jet, wave, storms), 250))
        }
        let plane = try FieldPlane(width: grid.columns, height: grid.rows, values: values).orMissing()
        let identity = try FieldIdentity(
            product: .nowcast, run: noon.advanced(by: -600), validTime: noon.advanced(by: -600)
        ).orMissing()
        return FieldLevelDraft(identity: identity, grid: grid, level: .column, packed: plane.packed())
    }

    @Test(
        "a turbulence field tells smooth air from what isn't known, by severity and by EDR",
        arguments: ["skypath", "edr", "print"])
    func field(style: String) async throws {
        try await withWorld { world in
            _ = try await world.store.commit(Batch(source: try source("awc"), fields: [try Self.field()]))
            try await world.refresh()
            try await expect(
                "/maps/gtg.png?bbox=-136,20,-59,54&width=700&legend=true&style=\(style)", is: "map-gtg-\(style)",
                in: world)
        }
    }
}
