/// The metadata of a field in a message, parsed without decoding the values.
///
/// Source: WMO FM 92 GRIB edition 2, sections 0, 1, 3, 4 and 5
package struct GRIBHeader: Sendable, Hashable {
    package let parameter: GRIBParameter
    package let level: GRIBLevel
    /// The reference time in seconds since 1970: the start of the run for a forecast.
    package let referenceSeconds: Int
    /// The valid time in seconds since 1970: its end for a field over an interval.
    package let validSeconds: Int
    /// The originating centre (common code table C-11: 7 is NCEP) and its sub-centre.
    package let centre: Int
    package let subcentre: Int
    package let productionStatus: ProductionStatus
    /// Code table 1.4: 0 is an analysis, 1 a forecast.
    package let dataType: Int
    /// Code table 4.3: 0 is an analysis, 2 a forecast.
    package let generatingProcess: Int
    package let grid: GRIBGrid
    package let packing: GRIBPacking
    /// Whether a bitmap marks the points with a value.
    package let hasBitmap: Bool

    /// The production status of a message's data.
    ///
    /// Source: WMO FM 92 GRIB edition 2, code table 1.3
    package struct ProductionStatus: RawRepresentable, Sendable, Hashable {
        package let rawValue: Int

        package init(rawValue: Int) { self.rawValue = rawValue }

        package static let operational = ProductionStatus(rawValue: 0)
        /// Not for operational use; Billow's simulator marks its messages with it.
        package static let operationalTest = ProductionStatus(rawValue: 1)
    }

    package var leadSeconds: Int { validSeconds - referenceSeconds }

    /// The product definition templates whose first 34 octets are those of 4.0. The value is the octet at which the end
    /// of an interval begins.
    private static let products: [Int: Int?] = [0: nil, 1: nil, 2: nil, 8: 35, 11: 38, 12: 37, 15: nil]

    init(discipline: Int, sections: GRIBFieldSections, limits: GRIBLimits) throws(GRIBError) {
        // The grid comes first, because a grid that is too large must be rejected at once.
        grid = try GRIBGrid(sections.grid, limit: limits.gridPoints)
        _ = try grid.definition()
        packing = try GRIBPacking(sections.representation)
        guard packing.count <= grid.count else {
            throw .gridMismatch(points: packing.count, columns: grid.columns, rows: grid.rows)
        }
        let identification = sections.identification
        try identification.require(21)
        centre = try identification.unsigned(6...7)
        subcentre = try identification.unsigned(8...9)
        referenceSeconds = try GRIBTime.seconds(identification, at: 13)
        productionStatus = ProductionStatus(rawValue: try identification.octet(20))
        dataType = try identification.octet(21)

        let product = sections.product
        let template = try product.unsigned(8...9)
        guard let end = Self.products[template] else { throw .unknownTemplate(section: 4, number: template) }
        try product.require(34)
        parameter = GRIBParameter(
            discipline: UInt8(discipline), category: UInt8(try product.octet(10)),
            number: UInt8(try product.octet(11)))
        generatingProcess = try product.octet(12)
        let unit = try product.octet(18)
        guard let unitSeconds = GRIBTime.seconds(unit: unit) else { throw .unknownValue("unit of time", unit) }
        if let end {
            validSeconds = try GRIBTime.seconds(product, at: end)
        } else {
            validSeconds = referenceSeconds + (try product.signed(19...22)) * unitSeconds
        }
        level = try GRIBLevel(type: try product.octet(23), value: try product.scaled(factor: 24, value: 25...28))
        hasBitmap = sections.bitmap != nil
    }
}

/// The sections of one field.
struct GRIBFieldSections {
    let identification: GRIBSection
    let grid: GRIBSection
    let product: GRIBSection
    let representation: GRIBSection
    /// nil if every point has a value.
    let bitmap: GRIBSection?
    let data: GRIBSection

    /// The octets of the sections that identify a field, for finding duplicates.
    var identity: [UInt8] { Array(identification.bytes) + grid.bytes + product.bytes }

    /// The bits of the bitmap.
    var bits: ArraySlice<UInt8>? { bitmap?.bytes.dropFirst(6) }

    /// - Throws: `bitmapMismatch` unless the bitmap has the grid's length, and as many points as there are packed
    ///   values.
    func checkBitmap(_ header: GRIBHeader) throws(GRIBError) {
        guard let bits else {
            guard header.packing.count == header.grid.count else {
                throw .bitmapMismatch(present: header.grid.count, values: header.packing.count)
            }
            return
        }
        let count = header.grid.count
        guard bits.count == (count + 7) / 8 else { throw .lengthMismatch(section: 6) }
        var present = bits.reduce(0) { $0 + $1.nonzeroBitCount }
        // The padding of the last octet may have any value.
        if count % 8 != 0, let last = bits.last { present -= (last & (0xFF >> UInt8(count % 8))).nonzeroBitCount }
        guard present == header.packing.count else {
            throw .bitmapMismatch(present: present, values: header.packing.count)
        }
    }
}
