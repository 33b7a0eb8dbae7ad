import Foundation

/// Smooth random numbers 0…1 over the plane of a grid and over altitude: value noise on a drifting lattice. The numbers
/// don't depend on the sampling grid, so a coarser grid shows the same air.
struct GuidanceNoise: Sendable {
    let seed: UInt64
    /// Selects the pattern; another salt gives other numbers.
    let salt: Int
    /// The width of a lattice cell on the plane.
    let cellKm: Double
    /// The height of a lattice cell.
    let cellFeet: Double

    /// A regular grid on the plane, from its south-western point.
    struct Plane: Sendable, Hashable {
        let columns: Int
        let rows: Int
        let spacingKm: Double

        var count: Int { columns * rows }
    }

    /// Adds the noise times an amplitude to each value, in row-major order.
    ///
    /// - Parameter drift: the displacement of the pattern eastward and northward, in km.
    func add(
        _ amplitude: Float, to values: inout [Float], on plane: Plane, drift: (east: Double, north: Double),
        altitudeFeet: Double
    ) {
        let step = plane.spacingKm / cellKm
        let east = Self.steps(plane.columns, from: -drift.east / cellKm, step)
        let north = Self.steps(plane.rows, from: -drift.north / cellKm, step)
        guard let last = east.places.last else { return }
        // A grid coarser than the lattice skips most of it.
        var corners: [Int] = []
        for place in east.places {
            for corner in [Int(place), Int(place) + 1] where corners.last.map({ corner > $0 }) ?? true {
                corners.append(corner)
            }
        }
        let layer = altitudeFeet / cellFeet
        var below = [Float](repeating: 0, count: Int(last) + 2)
        var above = below
        var mixed = below
        var row = Int.min
        values.withUnsafeMutableBufferPointer { values in
            for y in 0..<plane.rows {
                if Int(north.places[y]) != row {
                    row = Int(north.places[y])
                    fill(&below, at: corners, east.first, north.first + row, layer)
                    fill(&above, at: corners, east.first, north.first + row + 1, layer)
                }
                let weight = north.weights[y]
                for x in corners { mixed[x] = amplitude * (below[x] + (above[x] - below[x]) * weight) }
                let start = y * plane.columns
                mixed.withUnsafeBufferPointer { mixed in
                    east.places.withUnsafeBufferPointer { places in
                        east.weights.withUnsafeBufferPointer { weights in
                            for x in 0..<plane.columns {
                                let place = Int(places[x])
                                values[start + x] += mixed[place] + (mixed[place + 1] - mixed[place]) * weights[x]
                            }
                        }
                    }
                }
            }
        }
    }

    /// The lattice cell of each point, counted from that of the first, and the smoothed position in the cell.
    private static func steps(_ count: Int, from start: Double, _ step: Double) -> (
        first: Int, places: [Int32], weights: [Float]
    ) {
        let first = Int(start.rounded(.down))
        var places: [Int32] = []
        var weights: [Float] = []
        places.reserveCapacity(count)
        weights.reserveCapacity(count)
        for point in 0..<count {
            let place = start - Double(first) + Double(point) * step
            let part = Float(place - place.rounded(.down))
            places.append(Int32(place))
            weights.append(part * part * (3 - 2 * part))
        }
        return (first, places, weights)
    }

    /// Fills a row of the lattice at an altitude.
    private func fill(_ row: inout [Float], at corners: [Int], _ x: Int, _ y: Int, _ layer: Double) {
        let floor = layer.rounded(.down)
        let part = Float(layer - floor)
        for place in corners {
            let low = number(x + place, y, Int(floor))
            row[place] = low + (number(x + place, y, Int(floor) + 1) - low) * part
        }
    }

    /// The number of a lattice corner, 0 ..< 1.
    private func number(_ x: Int, _ y: Int, _ z: Int) -> Float {
        var hash = seed
        for word in [salt, x, y, z] {
            hash = (hash ^ UInt64(bitPattern: Int64(word))) &* 0x9E37_79B9_7F4A_7C15
            hash ^= hash >> 29
        }
        hash = (hash ^ hash >> 32) &* 0xBF58_476D_1CE4_E5B9
        return Float((hash ^ hash >> 31) >> 40) * 0x1p-24
    }

    /// The number at an instant, of a pattern that depends only on time.
    func value(at seconds: Double, cellSeconds: Double, _ place: Int) -> Double {
        let time = seconds / cellSeconds
        let part = time - time.rounded(.down)
        let smooth = part * part * (3 - 2 * part)
        let before = Double(number(Int(time.rounded(.down)), place, 0))
        return before + (Double(number(Int(time.rounded(.down)) + 1, place, 0)) - before) * smooth
    }
}
