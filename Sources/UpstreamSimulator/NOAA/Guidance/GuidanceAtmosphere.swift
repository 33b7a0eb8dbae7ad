import Foundation

/// The air of the simulated world in a turbulence guidance: EDR at the points of a grid, at the valid time of a file.
///
/// The bodies of turbulent air are the same as for the world's aircraft, so guidance and reports agree. In a forecast
/// they are slightly displaced and weaker. In addition there are a background that drifts with the wind, the shear
/// beside the jet streams, and waves behind mountains. It is a pure function of seed, file and altitude.
struct GuidanceAtmosphere: Sendable {
    /// The quantities of each level in a file.
    enum Quantity: Sendable, Hashable {
        /// The maximum of all.
        case combined
        case clearAir
        case mountainWave
        /// The code of the largest of them, which isn't an EDR.
        case origin
    }

    private let ground: GuidanceTerrain
    private let seed: UInt64
    private let file: SimulatedGuidanceFile
    private let jets: [Patch.Snapshot]
    private let storms: [Patch.Snapshot]

    /// The salt of each noise pattern.
    private enum Salt: Int {
        case broad = 101
        case middle, fine, finest, streaks, waves, error, warpEast, warpNorth, clumps
    }

    private enum Origin {
        static let none: Float = 0
        static let mountainWave: Float = 19
        static let storm: Float = 50
    }

    /// The wind that moves the background, in km per hour.
    private static let wind = (east: 54.0, north: 9.0)
    /// The width of the strip without values along the border.
    private static let borderKm = 33.0
    /// The displacement of turbulence in a forecast, per hour of lead time.
    private static let errorKm = 7.0

    init(_ file: SimulatedGuidanceFile, seed: UInt64, ground: GuidanceTerrain) {
        self.ground = ground
        self.file = file
        self.seed = seed
        let time = file.validSeconds
        let slots = (time - World.longestPatch) / World.slotSeconds...time / World.slotSeconds
        let patches = slots.flatMap { World.patches(slot: $0, seed: seed) }.filter { $0.isAlive(at: time) }
        jets = patches.filter(\.isJet).map { $0.state(at: time) }
        storms = patches.filter { !$0.isJet }.map { $0.state(at: time) }
    }

    /// The EDR of each point of the grid, from the south-west in row-major order. NaN at the border and below the
    /// ground.
    func values(_ quantity: Quantity, altitudeFeet: Int) -> [Float] {
        let feet = Double(altitudeFeet)
        var calm = background(feet)
        let bodies = body(jets, feet, streaks: true)
        let storms = body(self.storms, feet, streaks: false)
        var waves = [Float](repeating: 0, count: ground.plane.count)
        if quantity != .clearAir { addWaves(to: &waves, feet) }
        let stormFactor: Float = file.product == .gtgn ? 1 : 0.7
        calm.withUnsafeMutableBufferPointer { values in
            waves.withUnsafeBufferPointer { waves in
                forEachPoint(bodies, storms) { point, body, storm in
                    // The bodies also contain the small patterns of the background.
                    let grain = 0.8 + 4 * values[point]
                    let air = Self.joined(values[point], body * grain)
                    let storm = storm * grain * stormFactor
                    let wave = waves[point] * (0.2 + 9 * values[point])
                    switch quantity {
                    case .clearAir: values[point] = air
                    case .mountainWave: values[point] = 0.01 + 0.15 * values[point] + wave
                    case .combined: values[point] = max(Self.joined(air, wave), storm)
                    case .origin:
                        let largest = max(air, wave, storm)
                        values[point] =
                            largest == air ? Origin.none : largest == storm ? Origin.storm : Origin.mountainWave
                    }
                }
            }
        }
        removeMissing(from: &calm, altitudeFeet)
        return calm
    }

    /// Combines two intensities of the same air. The result is slightly more than the larger one, without an edge
    /// between them.
    private static func joined(_ a: Float, _ b: Float) -> Float {
        let (a, b) = (a * a, b * b)
        return (a * a + b * b).squareRoot().squareRoot()
    }

    /// The displacement of the patterns at the file's valid time.
    private var drift: (east: Double, north: Double) {
        let hours = Double(file.validSeconds) / 3_600
        let error = Double(file.leadHours) * Self.errorKm
        let noise = GuidanceNoise(seed: seed, salt: Salt.error.rawValue, cellKm: 1, cellFeet: 1)
        func off(_ place: Int) -> Double {
            (noise.value(at: Double(file.runSeconds), cellSeconds: 10_800, place) - 0.5) * error
        }
        return (hours * Self.wind.east + off(1), hours * Self.wind.north + off(2))
    }

    // MARK: Background

    private func background(_ feet: Double) -> [Float] {
        var values = [Float](repeating: 0, count: ground.plane.count)
        let drift = drift
        for (salt, cellKm, cellFeet, part) in [
            (Salt.broad, 420.0, 9_000.0, Float(0.50)), (.middle, 130, 6_000, 0.29), (.fine, 42, 4_000, 0.15),
            (.finest, 13, 2_500, 0.06),
        ] {
            GuidanceNoise(seed: seed, salt: salt.rawValue, cellKm: cellKm, cellFeet: cellFeet)
                .add(part, to: &values, on: ground.plane, drift: drift, altitudeFeet: feet)
        }
        // More turbulence near the ground and the tropopause.
        func bell(_ centre: Double, _ width: Double) -> Double {
            let distance = (feet - centre) / width
            return exp(-distance * distance)
        }
        let factor = Float(0.72 + 0.5 * bell(0, 6_000) + 0.28 * bell(34_000, 9_000))
        values.withUnsafeMutableBufferPointer { values in
            for point in values.indices {
                let noise = values[point]
                values[point] = (0.012 + 0.23 * noise * noise) * factor
            }
        }
        return values
    }

    // MARK: Bodies

    /// The strongest of some bodies at each point of the mesh, with the shear beside the jet streams.
    private func body(_ patches: [Patch.Snapshot], _ feet: Double, streaks: Bool) -> [Float] {
        let near = patches.filter { abs(feet - $0.altitudeFeet) * $0.inverseDepth < 1 }
        let air = Air(near)
        let (east, north) = patchError
        var values = [Float](repeating: 0, count: ground.mesh.count)
        if streaks {
            GuidanceNoise(seed: seed, salt: Salt.streaks.rawValue, cellKm: 600, cellFeet: 12_000)
                .add(1, to: &values, on: ground.mesh, drift: drift, altitudeFeet: feet)
        }
        let strength = file.product == .gtgn ? 1 : max(0.55, 0.85 - 0.015 * Double(file.leadHours))
        let (warpEast, warpNorth, clumps) = (warp(.warpEast, feet), warp(.warpNorth, feet), warp(.clumps, feet))
        for point in values.indices {
            let (longitude, latitude) = (ground.longitudes[point], ground.latitudes[point])
            let body = air.edr(
                longitude: longitude - east + Double(warpEast[point]),
                latitude: latitude - north + Double(warpNorth[point]),
                altitudeFeet: feet)
            // A guidance has smoother peaks than single reports, and no edges.
            let rise = body * body / (body + 0.08)
            let seen = 0.31 * (1 - exp(-rise / 0.36)) * strength * (1 + 0.22 * Double(clumps[point]))
            let shear = streaks ? Self.shear(longitude, latitude, feet, file.validSeconds) * Double(values[point]) : 0
            values[point] = Float(max(seen, shear))
        }
        return values
    }

    /// Distorts the outlines and the inside of bodies: about −1…1, by points of the mesh.
    private func warp(_ salt: Salt, _ feet: Double) -> [Float] {
        var values = [Float](repeating: -1, count: ground.mesh.count)
        for (cellKm, part) in [(300.0, Float(1)), (110, 0.65), (45, 0.35)] {
            GuidanceNoise(seed: seed, salt: salt.rawValue, cellKm: cellKm, cellFeet: 10_000)
                .add(part, to: &values, on: ground.mesh, drift: drift, altitudeFeet: feet)
        }
        return values
    }

    /// The displacement of the bodies in a forecast, in degrees.
    private var patchError: (east: Double, north: Double) {
        let hours = Double(file.validSeconds) / 3_600
        return (
            (drift.east - hours * Self.wind.east) / 85,
            (drift.north - hours * Self.wind.north) / Patch.Snapshot.kmPerDegree
        )
    }

    /// The EDR of the shear on both sides of the jet streams.
    private static func shear(_ longitude: Double, _ latitude: Double, _ feet: Double, _ time: Int) -> Double {
        var strongest = 0.0
        for band in JetBand.all where band.meanLatitude > 0 {
            let core = band.meanLatitude > 40 ? 33_000.0 : 38_000
            let up = (feet - core) / 6_500
            let off = latitude - band.latitude(longitude: longitude, time: time)
            guard abs(up) < 2.5, abs(off) < 6 else { continue }
            let (north, south) = ((off - 1.3) / 1.2, (off + 1.7) / 1.5)
            strongest = max(
                strongest, 0.15 * exp(-up * up) * (exp(-north * north) + 0.6 * exp(-south * south)))
        }
        return strongest
    }

    // MARK: Mountain waves

    private func addWaves(to values: inout [Float], _ feet: Double) {
        let activity = GuidanceNoise(seed: seed, salt: Salt.waves.rawValue, cellKm: 1, cellFeet: 1)
        let peak = (feet - 36_000) / 8_000
        let height = 0.35 + 0.65 * exp(-peak * peak)
        let plane = ground.plane
        for (number, range) in ground.ranges.enumerated() {
            let strength = activity.value(at: Double(file.validSeconds), cellSeconds: 6 * 3_600, number)
            let amplitude = Float(0.22 * strength * height)
            let lengthKm = Float(26 + 4 * number)
            guard amplitude > 0.01 else { continue }
            let rows = range.rows.lowerBound * ground.stride..<min(plane.rows, range.rows.upperBound * ground.stride)
            let columns =
                range.columns.lowerBound * ground.stride..<min(plane.columns, range.columns.upperBound * ground.stride)
            values.withUnsafeMutableBufferPointer { values in
                for row in rows {
                    for column in columns {
                        let east = between(range.eastward, row, column)
                        guard east > -60, east < GuidanceTerrain.reachKm else { continue }
                        let fade = east < 0 ? exp(east / 18) : exp(-east / 120)
                        guard fade > 0.03 else { continue }
                        let wave = 0.6 + 0.4 * cos(east * 2 * .pi / lengthKm)
                        values[row * plane.columns + column] += amplitude * fade * wave
                    }
                }
            }
        }
    }

    // MARK: From the mesh to the grid

    private func between(_ mesh: [Float], _ row: Int, _ column: Int) -> Float {
        let place = row / ground.stride * ground.mesh.columns + column / ground.stride
        let (x, y) = (Float(column % ground.stride), Float(row % ground.stride))
        let size = Float(ground.stride)
        let south = mesh[place] + (mesh[place + 1] - mesh[place]) * x / size
        let above = place + ground.mesh.columns
        let north = mesh[above] + (mesh[above + 1] - mesh[above]) * x / size
        return south + (north - south) * y / size
    }

    /// Calls `body` with the values of two meshes, interpolated at each point of the grid.
    private func forEachPoint(_ a: [Float], _ b: [Float], _ body: (Int, Float, Float) -> Void) {
        let (stride, width, columns) = (ground.stride, ground.mesh.columns, ground.plane.columns)
        var rowA = [Float](repeating: 0, count: width)
        var rowB = rowA
        for row in 0..<ground.plane.rows {
            let start = row / stride * width
            let part = Float(row % stride) / Float(stride)
            for place in 0..<width {
                rowA[place] = a[start + place] + (a[start + width + place] - a[start + place]) * part
                rowB[place] = b[start + place] + (b[start + width + place] - b[start + place]) * part
            }
            var (place, step) = (0, 0)
            for column in 0..<columns {
                let part = Float(step) / Float(stride)
                body(
                    row * columns + column, rowA[place] + (rowA[place + 1] - rowA[place]) * part,
                    rowB[place] + (rowB[place + 1] - rowB[place]) * part)
                step += 1
                if step == stride { (place, step) = (place + 1, 0) }
            }
        }
    }

    private func removeMissing(from values: inout [Float], _ altitudeFeet: Int) {
        let plane = ground.plane
        let border = max(1, Int((Self.borderKm / plane.spacingKm).rounded()))
        let level = Float(altitudeFeet)
        values.withUnsafeMutableBufferPointer { values in
            forEachPoint(ground.heights, ground.heights) { point, height, _ in
                let (row, column) = (point / plane.columns, point % plane.columns)
                let isInside =
                    row >= border && row < plane.rows - border && column >= border && column < plane.columns - border
                if !isInside || height > level { values[point] = .nan }
            }
        }
    }
}
