internal import CH3

extension H3 {
    /// The resolution (0–15) of a cell index; nil if it is invalid.
    package static func resolution(of index: UInt64) -> Int? {
        H3Bits.isValidCell(index) ? H3Bits.resolution(index) : nil
    }

    /// The resolution-5 descendant at an ordinal position of a cell of resolution 0–5, in the order of H3's
    /// `childPosToCell`. That is index order; under a pentagon, missing sequences aren't counted. nil if the parent
    /// isn't such a cell, or if the position is out of range (0 ..< 7^(5 − r), fewer under a pentagon).
    package static func cell(childPosition: Int, of parent: UInt64) -> Cell? {
        guard let resolution = resolution(of: parent), resolution <= Cell.resolution else { return nil }
        var child: UInt64 = 0
        guard childPosToCell(Int64(childPosition), parent, Int32(Cell.resolution), &child) == 0 else {
            return nil
        }
        return Cell(h3: child)
    }

    /// The ordinal position of a cell among the resolution-5 descendants of its ancestor of resolution 0–5: the inverse
    /// of `cell(childPosition:of:)`.
    package static func childPosition(of cell: Cell, parentResolution: Int) -> Int {
        precondition((0...Cell.resolution).contains(parentResolution), "a parent has resolution 0 to 5")
        var position: Int64 = 0
        precondition(
            cellToChildPos(cell.h3, Int32(parentResolution), &position) == 0,
            "cellToChildPos refused a valid cell")
        return Int(position)
    }

    /// The ancestor of a cell at a resolution of 0–5.
    public static func parent(of cell: Cell, resolution: Int) -> UInt64 {
        precondition((0...Cell.resolution).contains(resolution), "a parent has resolution 0 to 5")
        return H3Bits.index(
            dense: Int(cell.dense) / H3Bits.powerOfSeven(Cell.resolution - resolution),
            resolution: resolution)
    }

    /// The cell of a finer resolution (5–15) at the centre of a cell.
    package static func centerChild(of cell: Cell, resolution: Int) -> UInt64 {
        precondition((Cell.resolution...15).contains(resolution), "a child has resolution 5 to 15")
        var child: UInt64 = 0
        precondition(
            cellToCenterChild(cell.h3, Int32(resolution), &child) == 0, "cellToCenterChild refused a cell"
        )
        return child
    }
}
