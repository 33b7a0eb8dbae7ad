package import BillowFields
package import Geometry

extension FieldCells {
    /// The cells whose bounding box shares a point with a box, in this world or an adjacent one, ascending.
    ///
    /// - Complexity: O(cells near the box × log(cells)), because the tree of cells leaves out whole regions.
    package func entries(touching box: GridBox) -> [Entry] {
        var found: [Entry] = []
        let deepest = min(resolution, CellTree.deepest)
        /// Searches the descendants of a cell, which are consecutive.
        func search(_ cell: Int, _ level: Int, in range: Range<Int>) {
            guard !range.isEmpty else { return }
            switch CellTree.shared.relation(resolution: level, dense: cell, to: box) {
            case .apart: return
            case .inside: found += entries[range]
            case .touching:
                if level == deepest {
                    for entry in entries[range]
                    where VectorTile.touches(box, dense: Int(entry.dense), resolution: resolution) {
                        found.append(entry)
                    }
                    return
                }
                // The number of own cells in each child.
                let share = (level + 1..<resolution).reduce(1) { number, _ in number * 7 }
                var start = range.lowerBound
                for child in cell * 7..<cell * 7 + 7 {
                    let end = firstIndex(from: (child + 1) * share, in: start..<range.upperBound)
                    search(child, level + 1, in: start..<end)
                    start = end
                }
            }
        }
        let share = (0..<resolution).reduce(1) { number, _ in number * 7 }
        var start = 0
        while start < entries.count {
            let base = Int(entries[start].dense) / share
            let end = firstIndex(from: (base + 1) * share, in: start..<entries.count)
            search(base, 0, in: start..<end)
            start = end
        }
        return found
    }

    /// The index of the first entry with a dense index from `dense` on; the end of the range if there is none.
    private func firstIndex(from dense: Int, in range: Range<Int>) -> Int {
        var (low, high) = (range.lowerBound, range.upperBound)
        while low < high {
            let middle = (low + high) / 2
            if Int(entries[middle].dense) < dense { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
