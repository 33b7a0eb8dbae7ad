import CivilCalendar
package import GRIBKit
import Geometry

/// A GRIB2 message to encode, for tests and for the simulator of NOAA.
package struct GRIBDraft: Sendable {
    /// How values are packed. `ComplexPacking` implements complex packing, ecCodes the others.
    package enum Packing: String, Sendable, CaseIterable {
        case simple
        case complex
        /// As in NOAA's GTG files.
        case complexWithDifferences
        /// As in NOAA's GTGN files.
        case jpeg2000
        case ccsds
        /// 32 bits, which preserve values exactly.
        case ieee
    }

    /// The vertical position of the field.
    package enum Level: Sendable, Hashable {
        /// Above mean sea level, in metres without decimals (type 102).
        case altitude(AltitudeLevel)
        /// The whole column (type 10).
        case column
    }

    /// The lead time of the field, in the message's unit.
    package enum Lead: Sendable, Hashable {
        case minutes(Int)
        case hours(Int)
    }

    package var grid: GRIBGrid
    package var parameter = GRIBParameter.eddyDissipation
    package var level = Level.altitude(AltitudeLevel(feet: 35_000))
    /// The reference time in seconds since 1970.
    package var referenceSeconds: Int
    package var lead = Lead.hours(0)
    package var productionStatus = GRIBHeader.ProductionStatus.operational
    package var packing = Packing.simple
    /// The number of bits per value, if the packing has a choice and `decimals` is nil.
    package var bits = 12
    /// The decimal scale factor: values are packed in steps of 10 to the power of −`decimals`. nil divides their range
    /// into steps of `bits`.
    package var decimals: Int?
    /// The order of complex packing with differences: 1 or 2.
    package var differencingOrder = 2
    /// Whether a bitmap marks missing values. Without it, NaN is packed as it is, or can't be packed.
    package var hasBitmap = true
    /// The values in the normalised order of `GRIBField.values`, whatever the grid's scanning; NaN for missing.
    package var values: [Float]

    package init(grid: GRIBGrid, referenceSeconds: Int, values: [Float]) {
        self.grid = grid
        self.referenceSeconds = referenceSeconds
        self.values = values
    }
}

extension GRIBDraft {
    /// The placeholder for missing values while they are packed.
    private static let missing = 9_999.0

    /// Encodes the message with ecCodes, from its GRIB2 sample.
    ///
    /// - Throws: `decoder` for keys or values that ecCodes rejects.
    package func message() throws(GRIBError) -> [UInt8] {
        precondition(values.count == grid.count, "\(values.count) values for \(grid.count) points")
        let listed = grid.scanning.listed(values, columns: grid.columns, rows: grid.rows)
        let message = try ECCodes.message(
            keys: identificationKeys + gridKeys + productKeys + packingKeys,
            values: listed.map { hasBitmap && $0.isNaN ? Self.missing : Double($0) }, missing: Self.missing)
        return switch packing {
        case .complex: ComplexPacking(order: 0).repacked(message)
        case .complexWithDifferences: ComplexPacking(order: differencingOrder).repacked(message)
        default: message
        }
    }

    private typealias Keys = [(String, ECCodes.KeyValue)]

    private var identificationKeys: Keys {
        let time = CivilTime(unixSeconds: referenceSeconds)
        return [
            ("discipline", .long(Int(parameter.discipline))), ("tablesVersion", .long(2)),
            ("centre", .long(7)), ("subCentre", .long(0)),
            ("significanceOfReferenceTime", .long(1)),
            ("year", .long(time.year)), ("month", .long(time.month)), ("day", .long(time.day)),
            ("hour", .long(time.hour)), ("minute", .long(time.minute)), ("second", .long(time.second)),
            ("productionStatusOfProcessedData", .long(productionStatus.rawValue)),
            ("typeOfProcessedData", .long(leadSeconds == 0 ? 0 : 1)),
        ]
    }

    private var leadSeconds: Int {
        switch lead {
        case .minutes(let minutes): minutes * 60
        case .hours(let hours): hours * 3_600
        }
    }

    private static func microdegrees(_ degrees: Double) -> ECCodes.KeyValue { .long(Int((degrees * 1e6).rounded())) }

    /// The longitude in 0 to 360°.
    private static func longitude(_ degrees: Double) -> ECCodes.KeyValue {
        microdegrees(degrees < 0 ? degrees + 360 : degrees)
    }

    private static func millimetres(_ metres: Double) -> ECCodes.KeyValue { .long(Int((metres * 1e3).rounded())) }

    private var shapeKeys: Keys {
        if grid.shape == .sphere { return [("shapeOfTheEarth", .long(6))] }
        if grid.shape == .wgs84 { return [("shapeOfTheEarth", .long(5))] }
        return [
            ("shapeOfTheEarth", .long(7)),
            ("scaleFactorOfEarthMajorAxis", .long(3)),
            ("scaledValueOfEarthMajorAxis", .long(Int((grid.shape.semiMajorAxis * 1e3).rounded()))),
            ("scaleFactorOfEarthMinorAxis", .long(3)),
            ("scaledValueOfEarthMinorAxis", .long(Int((grid.shape.semiMinorAxis * 1e3).rounded()))),
        ]
    }

    private var gridKeys: Keys {
        let scanning: Keys = [("scanningMode", .long(Int(grid.scanning.rawValue)))]
        func plane(_ template: Int, _ first: LonLat, _ dx: Double, _ dy: Double) -> Keys {
            [("gridDefinitionTemplateNumber", .long(template))] + shapeKeys + [
                ("Nx", .long(grid.columns)), ("Ny", .long(grid.rows)),
                ("latitudeOfFirstGridPoint", Self.microdegrees(first.latitude)),
                ("longitudeOfFirstGridPoint", Self.longitude(first.longitude)),
                ("Dx", Self.millimetres(dx)), ("Dy", Self.millimetres(dy)),
            ]
        }
        switch grid.template {
        case .lonLat(let first, let last):
            var span = last.longitude - first.longitude
            if grid.scanning.isNegativeI { span = -span }
            let keys: Keys = [
                ("gridDefinitionTemplateNumber", .long(0))
            ]
            return keys + shapeKeys + [
                ("Ni", .long(grid.columns)), ("Nj", .long(grid.rows)),
                ("latitudeOfFirstGridPoint", Self.microdegrees(first.latitude)),
                ("longitudeOfFirstGridPoint", Self.longitude(first.longitude)),
                ("latitudeOfLastGridPoint", Self.microdegrees(last.latitude)),
                ("longitudeOfLastGridPoint", Self.longitude(last.longitude)),
                (
                    "iDirectionIncrement",
                    Self.microdegrees((span <= 0 ? span + 360 : span) / Double(max(grid.columns - 1, 1)))
                ),
                (
                    "jDirectionIncrement",
                    Self.microdegrees(abs(last.latitude - first.latitude) / Double(max(grid.rows - 1, 1)))
                ),
            ] + scanning
        case .polarStereographic(let first, let orientation, let trueLatitude, let south, let dx, let dy):
            return plane(20, first, dx, dy) + [
                ("orientationOfTheGrid", Self.longitude(orientation)),
                ("LaD", Self.microdegrees(trueLatitude)), ("projectionCentreFlag", .long(south ? 128 : 0)),
            ] + scanning
        case .lambertConformal(let first, let orientation, let parallels, let dx, let dy):
            return plane(30, first, dx, dy) + [
                ("LoV", Self.longitude(orientation)), ("LaD", Self.microdegrees(parallels.first)),
                ("Latin1", Self.microdegrees(parallels.first)), ("Latin2", Self.microdegrees(parallels.second)),
                ("projectionCentreFlag", .long(parallels.first < 0 ? 128 : 0)),
                ("latitudeOfSouthernPole", Self.microdegrees(-90)), ("longitudeOfSouthernPole", .long(0)),
            ] + scanning
        }
    }

    private var productKeys: Keys {
        let (unit, steps) =
            switch lead {
            case .minutes(let minutes): (0, minutes)
            case .hours(let hours): (1, hours)
            }
        let surface: Keys =
            switch level {
            case .altitude(let level):
                [
                    ("typeOfFirstFixedSurface", .long(102)), ("scaleFactorOfFirstFixedSurface", .long(0)),
                    ("scaledValueOfFirstFixedSurface", .long(level.wholeMetres)),
                ]
            case .column: [("typeOfFirstFixedSurface", .long(10))]
            }
        let keys: Keys = [
            ("productDefinitionTemplateNumber", .long(0)),
            ("parameterCategory", .long(Int(parameter.category))), ("parameterNumber", .long(Int(parameter.number))),
            ("typeOfGeneratingProcess", .long(leadSeconds == 0 ? 0 : 2)),
            ("indicatorOfUnitOfTimeRange", .long(unit)), ("forecastTime", .long(steps)),
        ]
        return keys + surface
    }

    private var packingKeys: Keys {
        var keys: Keys = [("bitmapPresent", .long(hasBitmap ? 1 : 0))]
        switch packing {
        case .simple, .complex, .complexWithDifferences: break
        case .jpeg2000: keys.append(("packingType", .string("grid_jpeg")))
        case .ccsds: keys.append(("packingType", .string("grid_ccsds")))
        case .ieee: return keys + [("packingType", .string("grid_ieee")), ("precision", .long(1))]
        }
        if let decimals { return keys + [("bitsPerValue", .long(0)), ("decimalScaleFactor", .long(decimals))] }
        return keys + [("bitsPerValue", .long(bits))]
    }
}
