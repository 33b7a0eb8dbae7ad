package import Geometry

/// The definition of a grid in a message.
package struct GRIBGrid: Sendable, Hashable {
    package var shape: EarthShape
    /// The number of points along i and along j, at least 1 each.
    package var columns: Int
    package var rows: Int
    package var scanning: ScanningMode
    package var template: Template

    package init(shape: EarthShape, columns: Int, rows: Int, scanning: ScanningMode, template: Template) {
        self.shape = shape
        self.columns = columns
        self.rows = rows
        self.scanning = scanning
        self.template = template
    }

    /// The grid template, with values in degrees, and in metres in the plane of the projection. `first` and `last` are
    /// the first and last points in the message; the scanning mode decides which corners they are.
    package enum Template: Sendable, Hashable {
        /// 3.0, regular longitudes and latitudes.
        case lonLat(first: LonLat, last: LonLat)
        /// 3.20. The steps are true to scale at `trueLatitude` (LaD); `orientation` is the meridian along y (LoV).
        case polarStereographic(
            first: LonLat, orientation: Double, trueLatitude: Double, south: Bool, dx: Double, dy: Double)
        /// 3.30. The steps are those in the plane, true to scale at the standard parallels. LaD is ignored, as by PROJ,
        /// ecCodes and GDAL. It is one of the parallels in all known files.
        case lambertConformal(
            first: LonLat, orientation: Double, parallels: (first: Double, second: Double), dx: Double, dy: Double)

        package static func == (one: Template, other: Template) -> Bool { one.values == other.values }

        package func hash(into hasher: inout Hasher) { hasher.combine(values) }

        private var values: [Double] {
            switch self {
            case .lonLat(let first, let last):
                [0, first.longitude, first.latitude, last.longitude, last.latitude]
            case .polarStereographic(let first, let orientation, let trueLatitude, let south, let dx, let dy):
                [20, first.longitude, first.latitude, orientation, trueLatitude, south ? 1 : 0, dx, dy]
            case .lambertConformal(let first, let orientation, let parallels, let dx, let dy):
                [30, first.longitude, first.latitude, orientation, parallels.first, parallels.second, dx, dy]
            }
        }
    }

    /// The grid of GTG and GTGN, which is that of the HRRR model: 1799 × 1059 points, 3 km apart.
    package static let turbulenceGuidance = GRIBGrid(
        shape: .sphere, columns: 1_799, rows: 1_059, scanning: .normalised,
        template: .lambertConformal(
            first: LonLat(longitude: 237.280_472, latitude: 21.138_123)!, orientation: 262.5, parallels: (38.5, 38.5),
            dx: 3_000, dy: 3_000))

    package var count: Int { columns * rows }
}

extension GRIBGrid {
    /// Parses a grid definition section.
    ///
    /// - Throws: `gridTooLarge`, which is checked first; then errors in other values.
    ///
    /// Source: WMO FM 92 GRIB edition 2, section 3 and grid definition templates 3.0, 3.20 and 3.30
    init(_ section: GRIBSection, limit: Int) throws(GRIBError) {
        guard try section.octet(6) == 0 else { throw .unknownValue("source of grid definition", try section.octet(6)) }
        let points = try section.unsigned(7...10)
        guard try section.octet(11) == 0 else {
            throw .unknownValue("octets of a list of numbers of points", try section.octet(11))
        }
        let number = try section.unsigned(13...14)
        guard [0, 20, 30].contains(number) else { throw .unknownTemplate(section: 3, number: number) }
        let columns = try section.unsigned(31...34)
        let rows = try section.unsigned(35...38)
        let count = columns.multipliedReportingOverflow(by: rows)
        guard !count.overflow, count.partialValue <= limit else {
            throw .gridTooLarge(columns: columns, rows: rows, limit: limit)
        }
        guard count.partialValue == points, points > 0 else {
            throw .gridMismatch(points: points, columns: columns, rows: rows)
        }
        let shape = try EarthShape(section)
        func scanning(_ octet: Int) throws(GRIBError) -> ScanningMode {
            let mode = try section.octet(octet)
            guard let scanning = ScanningMode(rawValue: UInt8(mode)) else {
                throw .unknownValue("scanning mode", mode)
            }
            return scanning
        }
        switch number {
        case 0:
            let unit = try Self.unit(section)
            let first = try Self.place(section, latitude: 47, unit: unit)
            let last = try Self.place(section, latitude: 56, unit: unit)
            self.init(
                shape: shape, columns: columns, rows: rows, scanning: try scanning(72),
                template: .lonLat(first: first, last: last))
            try checkSteps(section, unit: unit)
        case 20:
            let centre = try section.octet(64)
            guard centre & 0x40 == 0 else { throw .unknownValue("projection centre", centre) }
            self.init(
                shape: shape, columns: columns, rows: rows, scanning: try scanning(65),
                template: .polarStereographic(
                    first: try Self.place(section, latitude: 39, unit: 1e-6),
                    orientation: Double(try section.signed(52...55)) / 1e6,
                    trueLatitude: Double(try section.signed(48...51)) / 1e6, south: centre & 0x80 != 0,
                    dx: Double(try section.unsigned(56...59)) / 1e3, dy: Double(try section.unsigned(60...63)) / 1e3))
        default:
            let centre = try section.octet(64)
            guard centre & 0x40 == 0 else { throw .unknownValue("projection centre", centre) }
            let mode = try scanning(65)
            self.init(
                shape: shape, columns: columns, rows: rows, scanning: mode,
                template: .lambertConformal(
                    first: try Self.place(section, latitude: 39, unit: 1e-6),
                    orientation: Double(try section.signed(52...55)) / 1e6,
                    parallels: (Double(try section.signed(66...69)) / 1e6, Double(try section.signed(70...73)) / 1e6),
                    dx: Double(try section.unsigned(56...59)) / 1e3, dy: Double(try section.unsigned(60...63)) / 1e3))
        }
    }

    /// The unit of template 3.0 in degrees.
    private static func unit(_ section: GRIBSection) throws(GRIBError) -> Double {
        guard let angle = try section.optional(39...42), angle != 0 else { return 1e-6 }
        guard let parts = try section.optional(43...46), parts != 0 else {
            throw .invalid("a basic angle of \(angle)° without subdivisions")
        }
        return Double(angle) / Double(parts)
    }

    /// Parses a latitude of four octets, and the longitude in the four after it.
    private static func place(
        _ section: GRIBSection, latitude octet: Int, unit: Double
    ) throws(GRIBError) -> LonLat {
        // Division by a million is exact to the nearest number; 21,138,123 × 10⁻⁶ isn't the nearest to 21.138123.
        func degrees(_ value: Int) -> Double { unit == 1e-6 ? Double(value) / 1e6 : Double(value) * unit }
        let latitude = degrees(try section.signed(octet...octet + 3))
        let longitude = degrees(try section.signed(octet + 4...octet + 7))
        guard let place = LonLat(longitude: longitude, latitude: latitude) else {
            throw .invalid("a point at \(longitude)°, \(latitude)°")
        }
        return place
    }

    /// The steps of template 3.0 are rounded to units, so a row may differ by half a unit per point. A larger
    /// difference is an error.
    private func checkSteps(_ section: GRIBSection, unit: Double) throws(GRIBError) {
        guard case .lonLat(_, _, let dx, let dy) = try definition().projection else { return }
        for (octets, steps, step, flag) in [
            (64...67, columns - 1, dx, 0x20), (68...71, rows - 1, dy, 0x10),
        ] where steps > 0 {
            guard try section.octet(55) & flag != 0, let given = try section.optional(octets) else { continue }
            guard abs(Double(given) * unit - step) <= 1.01 * unit + 1e-9 else {
                throw .invalid("a step of \(Double(given) * unit)° where the corners are \(step)° apart a point")
            }
        }
    }
}
