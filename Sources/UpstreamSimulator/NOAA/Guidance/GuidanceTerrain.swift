import Foundation
import GRIBKit
import Geometry

/// The static surface below the guidance: a rough North America with its heights, and the ranges that cause mountain
/// waves. It is computed once for a grid, on a mesh of some 12 km.
struct GuidanceTerrain: Sendable {
    /// A range of mountains, and the distance of each point of the mesh to its east.
    struct Range: Sendable {
        /// Kilometres, negative in the west; by points of the mesh.
        let eastward: [Float]
        /// The rows and columns of the mesh near the range.
        let rows: Swift.Range<Int>
        let columns: Swift.Range<Int>
    }

    let grid: GRIBGrid
    let plane: GuidanceNoise.Plane
    /// The number of grid points per point of the mesh.
    let stride: Int
    let mesh: GuidanceNoise.Plane
    /// By points of the mesh in row-major order.
    let longitudes: [Double]
    let latitudes: [Double]
    /// Feet above the sea; negative for the sea.
    let heights: [Float]
    let ranges: [Range]

    private static let meshKm = 12.0
    /// The length of waves to the east of a range.
    static let reachKm: Float = 320

    /// - Parameter every: the step in rows and columns of NOAA's grid, which has 3 km.
    init(every: Int) {
        let whole = GRIBGrid.turbulenceGuidance
        guard case .lambertConformal(let first, let orientation, let parallels, let dx, let dy) = whole.template else {
            preconditionFailure("NOAA's grid is a Lambert one")
        }
        let grid = GRIBGrid(
            shape: whole.shape, columns: (whole.columns - 1) / every + 1, rows: (whole.rows - 1) / every + 1,
            scanning: .normalised,
            template: .lambertConformal(
                first: first, orientation: orientation, parallels: parallels, dx: dx * Double(every),
                dy: dy * Double(every)))
        let spacingKm = dx * Double(every) / 1_000
        let stride = max(1, Int(Self.meshKm / spacingKm))
        // One more point than the last cell needs, so that each point of the grid lies between two of the mesh.
        let mesh = GuidanceNoise.Plane(
            columns: (grid.columns - 1) / stride + 2, rows: (grid.rows - 1) / stride + 2,
            spacingKm: spacingKm * Double(stride))
        let projection: GridProjection
        do { projection = try GridProjection(grid) } catch { preconditionFailure("NOAA's grid: \(error)") }
        let places = (0..<mesh.count).map { point in
            let position = GridPosition(
                x: Double(point % mesh.columns * stride), y: Double(point / mesh.columns * stride))
            return projection.lonLat(position) ?? first
        }
        self.grid = grid
        self.stride = stride
        self.mesh = mesh
        plane = GuidanceNoise.Plane(columns: grid.columns, rows: grid.rows, spacingKm: spacingKm)
        longitudes = places.map { LonLat.wrap($0.longitude) }
        latitudes = places.map(\.latitude)
        heights = places.map { Float(Self.height(LonLat.wrap($0.longitude), $0.latitude)) }
        ranges = Self.crests.map { Self.range($0, places, mesh) }
    }

    // MARK: Mountains

    /// Crests from north to south: the Cascades, the Sierra Nevada, the Front Range, the Wasatch and Tetons, the
    /// Appalachians. Each point is a longitude and latitude.
    private static let crests: [[(Double, Double)]] = [
        [(-121.4, 49.0), (-121.8, 46.9), (-121.7, 45.4), (-122.0, 43.0), (-122.2, 41.4)],
        [(-120.6, 39.6), (-119.6, 38.2), (-118.6, 37.0), (-118.2, 35.8)],
        [
            (-113.6, 48.8), (-112.6, 47.2), (-109.6, 43.6), (-106.2, 41.0), (-105.6, 39.6), (-105.2, 37.6),
            (-105.6, 35.8),
        ],
        [(-110.8, 44.6), (-111.0, 43.4), (-111.6, 41.4), (-111.6, 40.0), (-112.2, 38.0)],
        [(-71.4, 44.2), (-75.6, 41.6), (-78.4, 39.6), (-80.2, 37.8), (-82.4, 36.0), (-84.2, 34.8)],
    ]

    private static func range(
        _ crest: [(Double, Double)], _ places: [LonLat], _ mesh: GuidanceNoise.Plane
    ) -> Range {
        var (south, north, west, east) = (mesh.rows, 0, mesh.columns, 0)
        let eastward = places.indices.map { point -> Float in
            let distance = kilometres(of: places[point], eastOf: crest)
            if distance > -60, distance < reachKm {
                let (row, column) = (point / mesh.columns, point % mesh.columns)
                (south, north) = (min(south, row), max(north, row + 1))
                (west, east) = (min(west, column), max(east, column + 1))
            }
            return distance
        }
        return Range(
            eastward: eastward, rows: min(south, north)..<north, columns: min(west, east)..<east)
    }

    /// The distance of a place to the east of a crest in km; very large beyond the crest's ends.
    private static func kilometres(of place: LonLat, eastOf crest: [(Double, Double)]) -> Float {
        let far: Float = 10_000
        let latitude = place.latitude
        for (north, south) in zip(crest, crest.dropFirst()) where latitude <= north.1 && latitude >= south.1 {
            let part = (north.1 - latitude) / (north.1 - south.1)
            let longitude = north.0 + (south.0 - north.0) * part
            let degrees = LonLat.wrap(place.longitude) - longitude
            return Float(degrees * Patch.Snapshot.kmPerDegree * cos(latitude * .pi / 180))
        }
        return far
    }

    // MARK: Heights

    /// The coast of North America between the tropic and 56° N, from the north-west counter-clockwise, much simplified.
    private static let coast: [(Double, Double)] = [
        (-130.0, 56.0), (-127.5, 52.0), (-124.7, 48.4), (-124.1, 46.2), (-124.5, 42.8), (-123.8, 39.0), (-122.4, 37.2),
        (-120.6, 34.6), (-118.4, 33.8), (-117.1, 32.5), (-115.8, 30.0), (-114.2, 28.0), (-112.2, 25.5), (-110.0, 23.0),
        (-109.6, 24.2), (-112.0, 28.4), (-114.6, 31.6), (-112.6, 29.6), (-109.4, 25.6), (-106.4, 23.2), (-105.5, 20.0),
        (-97.3, 20.0), (-97.8, 22.5), (-97.2, 25.9), (-97.2, 27.8), (-94.7, 29.3), (-91.3, 29.4), (-89.2, 29.2),
        (-88.0, 30.3), (-85.5, 30.0), (-84.0, 30.0), (-82.8, 28.5), (-81.8, 26.0), (-80.4, 25.2), (-80.1, 27.0),
        (-81.3, 30.0), (-81.0, 32.0), (-78.5, 33.9), (-75.6, 35.3), (-76.0, 37.0), (-74.2, 39.5), (-74.0, 40.6),
        (-70.0, 41.6), (-70.8, 42.7), (-69.0, 44.0), (-67.0, 44.8), (-64.5, 43.6), (-60.0, 46.0), (-64.5, 47.5),
        (-65.0, 48.8), (-67.0, 49.2), (-60.0, 50.2), (-56.0, 52.0), (-56.0, 56.0),
    ]

    private static func isLand(_ longitude: Double, _ latitude: Double) -> Bool {
        var isInside = false
        for (index, corner) in coast.enumerated() {
            let next = coast[(index + 1) % coast.count]
            guard (corner.1 > latitude) != (next.1 > latitude) else { continue }
            let crossing = corner.0 + (latitude - corner.1) / (next.1 - corner.1) * (next.0 - corner.0)
            if longitude < crossing { isInside.toggle() }
        }
        return isInside
    }

    /// Feet above the sea: plains that rise westward to the Rockies, basins behind them, the Appalachians. The sea has
    /// negative heights, so that the coast is where heights cross zero.
    private static func height(_ longitude: Double, _ latitude: Double) -> Double {
        guard isLand(longitude, latitude) else { return -300 }
        func hill(_ centre: Double, _ width: Double) -> Double {
            let distance = (longitude - centre) / width
            return exp(-distance * distance)
        }
        let plains = 5_500 / (1 + exp((longitude + 101.5) / 2.2))
        let west = longitude < -119.5 ? max(0, 1 - (-119.5 - longitude) / 4) : 1
        let sierra = latitude > 35 && latitude < 41 ? 3_000 * hill(-118.8, 0.8) : 0
        let appalachians = latitude > 33 && latitude < 45 ? 2_200 * hill(-68 - (45 - latitude) * 1.5, 1.6) : 0
        return 500 + plains * west + 3_500 * hill(-106.5, 2) * west + sierra + appalachians
    }
}
