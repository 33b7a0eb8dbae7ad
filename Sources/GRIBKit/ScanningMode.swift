/// The order of the grid's points in a message.
///
/// Source: WMO FM 92 GRIB edition 2, flag table 3.4
package struct ScanningMode: Sendable, Hashable {
    /// The octet. Bit 1 (128) is −i, bit 2 (64) +j, and bit 3 (32) points consecutive in j. Bit 4 (16) reverses every
    /// second line (boustrophedon). The other bits shift points by half a step.
    package let rawValue: UInt8

    /// Returns nil for modes that shift points.
    package init?(rawValue: UInt8) {
        guard rawValue & 0x0F == 0 else { return nil }
        self.rawValue = rawValue
    }

    /// From the south-west eastward, row by row northward: the order of `GRIBField.values`.
    package static let normalised = ScanningMode(rawValue: 0x40)!

    package static let allCases = (0..<16).compactMap { ScanningMode(rawValue: $0 << 4) }

    package var isNegativeI: Bool { rawValue & 0x80 != 0 }
    package var isPositiveJ: Bool { rawValue & 0x40 != 0 }
    package var isConsecutiveInJ: Bool { rawValue & 0x20 != 0 }
    package var isBoustrophedon: Bool { rawValue & 0x10 != 0 }

    /// The position of a message's line in the normalised order: the index of its first point, and the step between
    /// points. Lines are rows, or columns if points are consecutive in j.
    func line(_ number: Int, columns: Int, rows: Int) -> (start: Int, step: Int) {
        let reversed = isBoustrophedon && number % 2 == 1
        if isConsecutiveInJ {
            let column = isNegativeI ? columns - 1 - number : number
            let up = isPositiveJ != reversed
            return up ? (column, columns) : ((rows - 1) * columns + column, -columns)
        }
        let row = isPositiveJ ? number : rows - 1 - number
        let right = isNegativeI == reversed
        return right ? (row * columns, 1) : (row * columns + columns - 1, -1)
    }

    /// The number of lines in a message, and their length.
    func lines(columns: Int, rows: Int) -> (count: Int, length: Int) {
        isConsecutiveInJ ? (columns, rows) : (rows, columns)
    }

    /// Reorders values from the normalised order to the message's.
    package func listed<Value>(_ values: [Value], columns: Int, rows: Int) -> [Value] {
        let lines = lines(columns: columns, rows: rows)
        var listed: [Value] = []
        listed.reserveCapacity(values.count)
        for number in 0..<lines.count {
            let line = line(number, columns: columns, rows: rows)
            for place in 0..<lines.length { listed.append(values[line.start + place * line.step]) }
        }
        return listed
    }
}
