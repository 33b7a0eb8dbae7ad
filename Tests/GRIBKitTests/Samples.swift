import Foundation
import GRIBKit
import GRIBMaking
import Geometry
import Testing

/// Small grids of each template, and fields on them.
enum Samples {
    /// 2026-11-22T12:00:00Z.
    static let reference = 1_795_348_800

    struct Named: CustomTestStringConvertible, Sendable {
        let name: String
        let grid: GRIBGrid
        /// PROJ's definition; nil for longitudes and latitudes.
        let proj: String?

        var testDescription: String { name }
    }

    static func place(_ longitude: Double, _ latitude: Double) -> LonLat {
        LonLat(longitude: longitude, latitude: latitude)!
    }

    /// GTG's projection with a corner of its grid.
    static func guidance(columns: Int = 7, rows: Int = 5) -> GRIBGrid {
        var grid = GRIBGrid.turbulenceGuidance
        grid.columns = columns
        grid.rows = rows
        return grid
    }

    static let grids = [
        Named(
            name: "GTG", grid: .turbulenceGuidance,
            proj: "+proj=lcc +lat_1=38.5 +lat_2=38.5 +lat_0=38.5 +lon_0=-97.5 +R=6371229"),
        Named(
            name: "Lambert with two parallels on an ellipsoid",
            grid: GRIBGrid(
                shape: .wgs84, columns: 40, rows: 30, scanning: .normalised,
                template: .lambertConformal(
                    first: place(-10, 35), orientation: 10, parallels: (30, 60), dx: 50_000, dy: 40_000)),
            proj: "+proj=lcc +lat_1=30 +lat_2=60 +lat_0=30 +lon_0=10 +ellps=WGS84"),
        Named(
            name: "Lambert of the south across the antimeridian",
            grid: GRIBGrid(
                shape: .wgs84, columns: 30, rows: 40, scanning: .normalised,
                template: .lambertConformal(
                    first: place(165, -55), orientation: 178, parallels: (-30, -60), dx: 50_000, dy: 60_000)),
            proj: "+proj=lcc +lat_1=-30 +lat_2=-60 +lat_0=-30 +lon_0=178 +ellps=WGS84"),
        Named(
            name: "polar stereographic of the north",
            grid: GRIBGrid(
                shape: .sphere, columns: 50, rows: 50, scanning: .normalised,
                template: .polarStereographic(
                    first: place(-150, 40), orientation: 255, trueLatitude: 60, south: false, dx: 190_500,
                    dy: 190_500)),
            proj: "+proj=stere +lat_0=90 +lat_ts=60 +lon_0=255 +R=6371229"),
        Named(
            name: "polar stereographic of the south on an ellipsoid",
            grid: GRIBGrid(
                shape: .wgs84, columns: 60, rows: 50, scanning: .normalised,
                template: .polarStereographic(
                    first: place(-135, -50), orientation: 20, trueLatitude: -71, south: true, dx: 150_000,
                    dy: 100_000)),
            proj: "+proj=stere +lat_0=-90 +lat_ts=-71 +lon_0=20 +ellps=WGS84"),
        Named(
            name: "polar stereographic that is true at the pole",
            grid: GRIBGrid(
                shape: .wgs84, columns: 60, rows: 50, scanning: .normalised,
                template: .polarStereographic(
                    first: place(-135, 40), orientation: 0, trueLatitude: 90, south: false, dx: 150_000, dy: 100_000)),
            proj: "+proj=stere +lat_0=90 +lat_ts=90 +lon_0=0 +ellps=WGS84"),
        Named(
            name: "longitudes and latitudes across the antimeridian",
            grid: GRIBGrid(
                shape: .sphere, columns: 21, rows: 11, scanning: .normalised,
                template: .lonLat(first: place(170, -10), last: place(-170, 10))),
            proj: nil),
        Named(
            name: "the world",
            grid: GRIBGrid(
                shape: .sphere, columns: 72, rows: 37, scanning: .normalised,
                template: .lonLat(first: place(0, -90), last: place(355, 90))),
            proj: nil),
    ]

    static let ofEachTemplate = [grids[0], grids[3], grids[7]]

    /// The same points listed in another order: the first one is another corner.
    static func scanned(_ grid: GRIBGrid, _ mode: ScanningMode) throws -> GRIBGrid {
        let projection = try GridProjection(grid)
        func corner(_ x: Bool, _ y: Bool) -> LonLat {
            projection.lonLat(
                GridPosition(x: x ? Double(grid.columns - 1) : 0, y: y ? Double(grid.rows - 1) : 0))!
        }
        let first = corner(mode.isNegativeI, !mode.isPositiveJ)
        let last = corner(!mode.isNegativeI, mode.isPositiveJ)
        var scanned = grid
        scanned.scanning = mode
        switch grid.template {
        case .lonLat: scanned.template = .lonLat(first: first, last: last)
        case .polarStereographic(_, let orientation, let latitude, let south, let dx, let dy):
            scanned.template = .polarStereographic(
                first: first, orientation: orientation, trueLatitude: latitude, south: south, dx: dx, dy: dy)
        case .lambertConformal(_, let orientation, let parallels, let dx, let dy):
            scanned.template = .lambertConformal(
                first: first, orientation: orientation, parallels: parallels, dx: dx, dy: dy)
        }
        return scanned
    }

    /// EDR from 0 to 0.6 in whole hundredths, smooth, with a missing corner.
    static func values(_ grid: GRIBGrid, missing: Bool = true) -> [Float] {
        (0..<grid.count).map { place in
            let (column, row) = (place % grid.columns, place / grid.columns)
            if missing, column + row < 3 { return .nan }
            let value = 0.3 + 0.3 * sin(Double(column) / 3) * cos(Double(row) / 2)
            return Float((value * 100).rounded() / 100)
        }
    }

    static func draft(_ grid: GRIBGrid = guidance()) -> GRIBDraft {
        GRIBDraft(grid: grid, referenceSeconds: reference, values: values(grid))
    }

    static func message(_ bytes: [UInt8]) throws -> GRIBMessage {
        let items = GRIBMessages.items(in: bytes)
        switch try items.first.orThrow("nothing found") {
        case .message(let message): return message
        case .refused(let reason, _, _): throw reason
        }
    }

    static func field(_ draft: GRIBDraft) throws -> GRIBField { try GRIBField(message(draft.message())) }
}

extension Optional {
    func orThrow(_ what: String) throws -> Wrapped {
        guard let self else { throw GRIBTool.Failure(description: what) }
        return self
    }
}
