/// A field's header and values.
package struct GRIBField: Sendable {
    package let header: GRIBHeader
    /// The values in the normalised order: rows northward from the southernmost, each eastward from the westernmost
    /// point. It doesn't depend on the message's scanning mode: `values[row * columns + column]`. NaN if there is no
    /// value.
    package let values: [Float]
    package let statistics: GRIBStatistics

    /// Decodes a field of a message. The time depends on the packing (some 100 ms for JPEG 2000). It waits for other
    /// decoding in the process: see `ECCodes`.
    ///
    /// - Parameter field: its index in `message.fields`.
    /// - Throws: `decoder` with the library's message.
    package init(_ message: GRIBMessage, field: Int = 0) throws(GRIBError) {
        header = message.fields[field]
        let sections = message.sections(field)
        let packed = try Self.packedValues(header, sections)
        (values, statistics) = Self.arranged(packed, header: header, bits: sections.bits)
    }

    /// The placeholder for missing values; no packing can give it.
    private static let missing = -Double.greatestFiniteMagnitude

    /// Unpacks the values, without those that the bitmap excludes.
    private static func packedValues(
        _ header: GRIBHeader, _ sections: GRIBFieldSections
    ) throws(GRIBError) -> [Double] {
        let count = header.packing.count
        if count == 0 { return [] }
        let packed = PackedData(header.packing, representation: sections.representation, data: sections.data)
        if try packed.isConstant {
            return Array(repeating: try constant(sections.representation), count: count)
        }
        return try ECCodes.values(bareMessage(header, sections), count: count, missing: missing)
    }

    /// The reference value with its decimal scale.
    ///
    /// Source: WMO FM 92 GRIB edition 2, regulation 92.9.4
    private static func constant(_ section: GRIBSection) throws(GRIBError) -> Double {
        let reference = Double(Float(bitPattern: UInt32(try section.unsigned(12...15))))
        let exponent = try section.signed(18...19)
        let power = (0..<min(abs(exponent), 400)).reduce(1.0) { power, _ in power * 10 }
        return exponent >= 0 ? reference / power : reference * power
    }

    /// A message made by Billow around the packed values, as one row. The decoder sees only sections 5 and 7 of the
    /// original message. Billow handles bitmap and scanning itself.
    private static func bareMessage(_ header: GRIBHeader, _ sections: GRIBFieldSections) -> [UInt8] {
        func octets(_ value: Int, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
        }
        let count = octets(header.packing.count, 4)
        var message: [UInt8] = Array("GRIB".utf8) + [0, 0, 0, 2] + octets(0, 8)
        message.reserveCapacity(sections.representation.bytes.count + sections.data.bytes.count + 200)
        // Section 1: NCEP, table version 2, 2000-01-01.
        message += octets(21, 4) + [1, 0, 7, 0, 0, 2, 0, 1] + octets(2_000, 2) + [1, 1, 0, 0, 0, 0, 1]
        // Section 3: template 3.0, one row.
        message += octets(72, 4) + [3, 0] + count + [0, 0, 0, 0]
        message += [6] + Array(repeating: 0, count: 15) + count + octets(1, 4)
        message += octets(0, 4) + octets(-1, 4) + octets(0, 8) + [0x30] + octets(0, 16) + [0x40]
        // Section 4: template 4.0.
        message += octets(34, 4) + [4] + octets(0, 4) + [19, 30, 2, 0, 0, 0, 0, 0, 1] + octets(0, 4)
        message += [102, 0] + octets(0, 4) + [255, 255] + octets(-1, 4)
        message += sections.representation.bytes
        message += octets(6, 4) + [6, 255]
        message += sections.data.bytes
        message += "7777".utf8
        message.replaceSubrange(8..<16, with: octets(message.count, 8))
        return message
    }

    /// Assigns packed values to their points, line by line of the message.
    private static func arranged(
        _ packed: [Double], header: GRIBHeader, bits: ArraySlice<UInt8>?
    ) -> ([Float], GRIBStatistics) {
        let grid = header.grid
        var statistics = GRIBStatistics()
        let values = [Float](unsafeUninitializedCapacity: grid.count) { values, initialised in
            packed.withUnsafeBufferPointer { packed in
                if let bits {
                    bits.withUnsafeBufferPointer { bitmap in
                        statistics = arrange(packed, of: grid, to: values) { point in
                            bitmap[point >> 3] & (0x80 >> UInt8(point & 7)) != 0
                        }
                    }
                } else {
                    statistics = arrange(packed, of: grid, to: values) { _ in true }
                }
            }
            initialised = grid.count
        }
        return (values, statistics)
    }

    /// - Parameter isPacked: whether the packed values have one for a point of the message.
    @inline(__always)
    private static func arrange(
        _ packed: UnsafeBufferPointer<Double>, of grid: GRIBGrid, to values: UnsafeMutableBufferPointer<Float>,
        _ isPacked: (Int) -> Bool
    ) -> GRIBStatistics {
        let lines = grid.scanning.lines(columns: grid.columns, rows: grid.rows)
        // A static constant that isn't a literal is read by a call.
        let missing = missing
        var statistics = GRIBStatistics()
        var next = 0
        var point = 0
        for number in 0..<lines.count {
            let line = grid.scanning.line(number, columns: grid.columns, rows: grid.rows)
            var place = line.start
            for _ in 0..<lines.length {
                var value = Float.nan
                if isPacked(point) {
                    let found = packed[next]
                    next += 1
                    if found == missing {
                        statistics.missing += 1
                    } else {
                        value = Float(found)
                        statistics.add(value)
                    }
                } else {
                    statistics.missing += 1
                }
                values[place] = value
                place += line.step
                point += 1
            }
        }
        return statistics
    }
}

/// Statistics of a field's values, for callers that validate them. No field is rejected because of them here.
package struct GRIBStatistics: Sendable, Hashable {
    /// The number of points without a value, by bitmap or packing.
    package var missing = 0
    /// The number of usable values: finite, and within ±10¹⁵.
    package var usable = 0
    /// The number of usable values below zero.
    package var negative = 0
    /// The number of values packed as NaN.
    package var notANumber = 0
    /// The number of infinite values, and of those beyond ±10¹⁵, such as 1e20. Some writers use these for missing
    /// values.
    package var huge = 0
    /// The smallest and the largest usable value; nil if there is none.
    package var range: ClosedRange<Float>? { usable > 0 ? least...largest : nil }

    private var least = Float.infinity
    private var largest = -Float.infinity

    /// Larger than any measured value, and smaller than any placeholder for missing ones.
    private static let huge: Float = 1e15

    @inline(__always)
    fileprivate mutating func add(_ value: Float) {
        if abs(value) <= Self.huge {
            usable += 1
            negative += value < 0 ? 1 : 0
            least = min(least, value)
            largest = max(largest, value)
        } else if value.isNaN {
            notANumber += 1
        } else {
            huge += 1
        }
    }
}
