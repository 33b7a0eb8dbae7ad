package import Geometry

/// The H3 cell of each point of a grid. It is computed once per grid and used for all of its planes.
package final class GridCells: Sendable {
    /// The cells of resolution 5 with any point, ascending.
    package let cells: [Cell]
    /// `cells` grouped by chunk of H3 cells (`CellTable.chunkSize`).
    package let chunks: [Chunk]

    package struct Chunk: Sendable, Hashable {
        package let number: Int
        /// Indices in `cells`.
        package let cells: Range<Int>
    }

    /// The index in `cells` of each point's cell, in row-major order.
    fileprivate let places: [UInt32]

    /// The memory in bytes.
    package var estimatedBytes: Int { (cells.count + places.count) * 4 }

    /// Finds the cells of a grid's points.
    /// - Complexity: O(points); GTG's 1.9 million take a second or two, most of it in libh3.
    ///
    /// Source: https://h3geo.org/docs/api/indexing (latLngToCell)
    package init(_ grid: GridDefinition) throws(CancellationError) {
        let projection = GridProjection(grid)
        var dense = [UInt32](repeating: 0, count: grid.count)
        for row in 0..<grid.rows {
            guard !Task.isCancelled else { throw CancellationError() }
            for column in 0..<grid.columns {
                // A point outside the projection has no value either; it is assigned to the first cell.
                guard let place = projection.lonLat(GridPosition(x: Double(column), y: Double(row))) else { continue }
                dense[row * grid.columns + column] = H3.cell(at: place).dense
            }
        }
        let known = Set(dense).sorted()
        let placeOf = Dictionary(uniqueKeysWithValues: zip(known, known.indices.map { UInt32($0) }))
        var last: (dense: UInt32, place: UInt32)?
        places = dense.map { dense in
            // Adjacent points usually share a cell.
            if let last, last.dense == dense { return last.place }
            let place = placeOf[dense] ?? 0
            last = (dense, place)
            return place
        }
        cells = known.map { Cell(uncheckedDense: $0) }
        var chunks: [Chunk] = []
        for (place, dense) in known.enumerated() {
            let number = Int(dense) / CellTable.chunkSize
            let first = chunks.last?.number == number ? chunks.removeLast().cells.lowerBound : place
            chunks.append(Chunk(number: number, cells: first..<place + 1))
        }
        self.chunks = chunks
    }

    /// The largest value of a plane in each of `cells`; `FieldPlane.missing` if none of its points has a value.
    ///
    /// - Precondition: the plane belongs to the grid.
    /// - Complexity: O(points)
    package func largest(of plane: FieldPlane) -> [UInt8] {
        precondition(plane.values.count == places.count, "a plane of another grid")
        // The value plus one, which makes a missing value the smallest.
        var largest = [UInt8](repeating: 0, count: cells.count)
        largest.withUnsafeMutableBufferPointer { largest in
            plane.values.withUnsafeBufferPointer { values in
                places.withUnsafeBufferPointer { places in
                    for point in values.indices {
                        let place = Int(places[point])
                        largest[place] = max(largest[place], values[point] &+ 1)
                    }
                }
            }
        }
        return largest.map { $0 &- 1 }
    }

    /// The index of a cell in `cells`; nil if it contains no grid point.
    /// - Complexity: O(log n)
    package func place(of cell: Cell) -> Int? {
        var (low, high) = (0, cells.count)
        while low < high {
            let middle = (low + high) / 2
            if cells[middle].dense < cell.dense { low = middle + 1 } else { high = middle }
        }
        return low < cells.count && cells[low] == cell ? low : nil
    }
}

/// The values of a plane by H3 cell: the maximum and the mean of the points in each.
package struct FieldCells: Sendable {
    package struct Entry: Sendable, Hashable {
        /// The cell's dense index at the resolution.
        package let dense: UInt32
        /// The largest EDR in hundredths of m^(2/3)/s.
        package let largest: UInt8
        /// The sum of all points in hundredths.
        package let sum: UInt32
        /// The number of points with a value, at least 1.
        package let count: UInt32

        /// The mean EDR in m^(2/3)/s.
        package var mean: Double { Double(sum) / Double(count) / 100 }

        package init(dense: UInt32, largest: UInt8, sum: UInt32, count: UInt32) {
            self.dense = dense
            self.largest = largest
            self.sum = sum
            self.count = count
        }
    }

    /// The resolution of the cells, 0…5.
    package let resolution: Int
    /// The cells with a value, ascending.
    package let entries: [Entry]

    /// - Precondition: the cells are those of the plane's grid.
    /// - Complexity: O(points)
    package init(_ plane: FieldPlane, _ cells: GridCells) {
        precondition(plane.values.count == cells.places.count, "a plane of another grid")
        resolution = Cell.resolution
        var largest = [UInt8](repeating: 0, count: cells.cells.count)
        var sums = [UInt32](repeating: 0, count: cells.cells.count)
        var counts = [UInt32](repeating: 0, count: cells.cells.count)
        plane.values.withUnsafeBufferPointer { values in
            cells.places.withUnsafeBufferPointer { places in
                largest.withUnsafeMutableBufferPointer { largest in
                    sums.withUnsafeMutableBufferPointer { sums in
                        counts.withUnsafeMutableBufferPointer { counts in
                            for point in values.indices where values[point] != FieldPlane.missing {
                                let place = Int(places[point])
                                largest[place] = max(largest[place], values[point])
                                sums[place] &+= UInt32(values[point])
                                counts[place] &+= 1
                            }
                        }
                    }
                }
            }
        }
        entries = cells.cells.indices.compactMap { place in
            counts[place] == 0
                ? nil
                : Entry(
                    dense: cells.cells[place].dense, largest: largest[place], sum: sums[place], count: counts[place])
        }
    }

    private init(resolution: Int, entries: [Entry]) {
        self.resolution = resolution
        self.entries = entries
    }

    /// The values by coarser cells. Each cell is assigned to its parent in H3, whose dense index is a seventh.
    ///
    /// - Parameter resolution: from 0 to the current one.
    package func coarsened(to resolution: Int) -> FieldCells {
        precondition((0...self.resolution).contains(resolution), "resolution \(resolution) of \(self.resolution)")
        guard resolution < self.resolution else { return self }
        let children = (resolution..<self.resolution).reduce(UInt32(1)) { number, _ in number * 7 }
        var coarse: [Entry] = []
        for entry in entries {
            let dense = entry.dense / children
            if let last = coarse.last, last.dense == dense {
                coarse[coarse.count - 1] = Entry(
                    dense: dense, largest: max(last.largest, entry.largest), sum: last.sum + entry.sum,
                    count: last.count + entry.count)
            } else {
                coarse.append(Entry(dense: dense, largest: entry.largest, sum: entry.sum, count: entry.count))
            }
        }
        return FieldCells(resolution: resolution, entries: coarse)
    }
}
