package import Geometry
import Synchronization

/// Which H3 cell of resolution 5 each point of a grid lies in, so that a plane becomes hexagons in a few milliseconds.
///
/// Points that follow each other mostly lie in one cell, so they are held as runs: of GTG's 1.9 million points some
/// 350,000 runs in 70,000 cells, 2 MB.
package struct FieldCells: Sendable {
    /// The dense indices of the cells with a point, rising.
    private let cells: [UInt32]
    /// How many points each of them has.
    private let points: [UInt32]
    /// For each run, which of `cells` it lies in; `nowhere` for points without a place.
    private let runs: [UInt32]
    /// How many points each run has.
    private let lengths: [UInt8]
    private let columns: Int
    private let rows: Int

    private static let nowhere = UInt32.max

    /// - Complexity: O(points); libh3 finds a cell in some 0.5 µs, so GTG's grid takes a second.
    package init(_ grid: GridDefinition) {
        let projection = GridProjection(grid)
        columns = grid.columns
        rows = grid.rows
        var runs: [UInt32] = []
        var lengths: [UInt8] = []
        for row in 0..<grid.rows {
            for column in 0..<grid.columns {
                let place = projection.lonLat(GridPosition(x: Double(column), y: Double(row)))
                let cell = place.map { H3.cell(at: $0).dense } ?? Self.nowhere
                if let last = runs.last, last == cell, lengths[lengths.count - 1] < .max {
                    lengths[lengths.count - 1] += 1
                } else {
                    runs.append(cell)
                    lengths.append(1)
                }
            }
        }
        let cells = Set(runs).subtracting([Self.nowhere]).sorted()
        let numbers = Dictionary(uniqueKeysWithValues: cells.enumerated().map { ($0.element, UInt32($0.offset)) })
        var points = [UInt32](repeating: 0, count: cells.count)
        for index in runs.indices {
            guard let number = numbers[runs[index]] else { continue }
            points[Int(number)] += UInt32(lengths[index])
            runs[index] = number
        }
        self.cells = cells
        self.points = points
        self.runs = runs
        self.lengths = lengths
    }

    // MARK: Shared tables

    private static let tables = Mutex<[GridDefinition: FieldCells]>([:])
    /// More grids than a server ever shows at once.
    private static let mostTables = 8

    /// The one table of a grid, made when it is first asked for.
    package static func of(_ grid: GridDefinition) -> FieldCells {
        if let made = tables.withLock({ $0[grid] }) { return made }
        // Made outside the lock: two threads may make the same table, and make it equal.
        let made = FieldCells(grid)
        tables.withLock { tables in
            if tables.count >= mostTables { tables.removeAll() }
            tables[grid] = made
        }
        return made
    }

    // MARK: Hexagons

    /// A cell with a point of the grid in it.
    package struct Hexagon: Sendable, Hashable {
        /// Its dense index at the resolution asked for.
        package var dense: UInt32
        /// The most severe EDR in it, in hundredths.
        package var maximum: UInt8
        /// The mean EDR of its points with a value, in hundredths.
        package var mean: Float
        /// How many points have a value: at least 1.
        package var count: UInt32
        /// How many points it has.
        package var points: UInt32
    }

    /// The cells of a resolution in which any point has a value, rising. A coarser cell has the points of the cells of
    /// resolution 5 that descend from it.
    ///
    /// - Parameters:
    ///   - plane: on the grid of the table.
    ///   - resolution: 0…5.
    /// - Complexity: O(points)
    package func hexagons(of plane: FieldPlane, resolution: Int) -> [Hexagon] {
        precondition(plane.width == columns && plane.height == rows, "a plane of another grid")
        precondition((0...Cell.resolution).contains(resolution), "a cell has resolution 0 to 5")
        struct Sum {
            /// Above the most severe value by 1; 0 without any.
            var maximum: UInt8 = 0
            var sum: UInt32 = 0
            var count: UInt32 = 0
        }
        var sums = [Sum](repeating: Sum(), count: cells.count)
        plane.values.withUnsafeBufferPointer { values in
            sums.withUnsafeMutableBufferPointer { sums in
                var first = 0
                for (run, length) in zip(runs, lengths) {
                    let end = first + Int(length)
                    defer { first = end }
                    guard run != Self.nowhere else { continue }
                    var own = sums[Int(run)]
                    for point in first..<end {
                        let value = values[point]
                        // `missing` comes out as the smallest of all.
                        own.maximum = max(own.maximum, value &+ 1)
                        let isThere: UInt32 = value == FieldPlane.missing ? 0 : 1
                        own.sum &+= UInt32(value) &* isThere
                        own.count &+= isThere
                    }
                    sums[Int(run)] = own
                }
            }
        }
        var divisor: UInt32 = 1
        for _ in resolution..<Cell.resolution { divisor *= 7 }
        var hexagons: [Hexagon] = []
        var total: (maximum: UInt8, sum: UInt64, count: UInt32, points: UInt32) = (0, 0, 0, 0)
        for (index, cell) in cells.enumerated() {
            let own = sums[index]
            total.maximum = max(total.maximum, own.maximum)
            total.sum += UInt64(own.sum)
            total.count += own.count
            total.points += points[index]
            let dense = cell / divisor
            guard index + 1 == cells.count || cells[index + 1] / divisor != dense else { continue }
            if total.count > 0 {
                hexagons.append(
                    Hexagon(
                        dense: dense, maximum: total.maximum - 1,
                        mean: Float(Double(total.sum) / Double(total.count)), count: total.count,
                        points: total.points))
            }
            total = (0, 0, 0, 0)
        }
        return hexagons
    }
}
