import BillowAreas
import BillowEngine
import BillowExchange
import BillowFields
import Datasets
import Geometry
import Turbulence

/// Writes values of a turbulence field as CoverageJSON: a coverage at a place, along a flight or on a grid; without any
/// value a collection without coverages.
///
/// Source: OGC 21-069r2 (CoverageJSON 1.0)
struct CoverageWriter {
    /// A property of the field that coverages have.
    private enum Parameter: String, CaseIterable {
        case edr, severity
    }

    private let collection: Dataset
    private let members: CollectionMembers
    private let parameters: [Parameter]
    private var json = JSONWriter()
    private var isEmpty = true

    /// - Parameter parameters: the names of requested properties; nil for all. Properties that coverages lack are
    ///   ignored.
    init(_ collection: Dataset, members: CollectionMembers, parameters: Set<String>?) {
        self.collection = collection
        self.members = members
        self.parameters = Parameter.allCases.filter { parameters?.contains($0.rawValue) ?? true }
    }

    private static let vertical = "z"
    private static let decimals = 7

    // MARK: - Coverages

    /// The values of levels at a place: a vertical profile, or a point for one level. The maximum of the column has no
    /// altitude, so that it is a coverage by itself only where no level is there.
    mutating func write(profileAt place: LonLat, _ levels: [FieldLevelValue]) {
        let flown = levels.compactMap { level -> (feet: Int, value: FieldLevelValue)? in
            if case .feet(let feet) = level.level { (Int(feet), level) } else { nil }
        }
        let values = flown.isEmpty ? levels : flown.map(\.value)
        guard let first = values.first else { return }
        begin(flown.count > 1 ? "VerticalProfile" : "Point")
        axis("x", [place.longitude])
        axis("y", [place.latitude])
        if !flown.isEmpty { axis("z", flown.map { Double($0.feet) }) }
        axis(time: first.identity.validTime)
        json.closeObject()
        endDomain(hasLevels: !flown.isEmpty)
        let names = flown.count > 1 ? ["z"] : []
        let shape = flown.count > 1 ? [flown.count] : []
        write(names, shape, values.lazy.map(\.tenThousandths), values.lazy.map(\.severity))
        field(first.identity, first.source)
        json.closeObject()
    }

    /// The values along a flight.
    mutating func write(_ trajectory: FieldTrajectory) {
        guard let first = trajectory.points.first else { return }
        let hasLevels = first.at.altitudeFeet != nil
        begin("Trajectory")
        json.name("composite")
        json.openObject()
        json.name("dataType")
        json.value("tuple")
        json.name("coordinates")
        json.openArray()
        for name in ["t", "x", "y"] + (hasLevels ? ["z"] : []) { json.value(name) }
        json.closeArray()
        json.name("values")
        json.openArray()
        for point in trajectory.points {
            json.openArray()
            json.value(point.at.time)
            json.value(point.at.place.longitude, decimals: Self.decimals)
            json.value(point.at.place.latitude, decimals: Self.decimals)
            if let feet = point.at.altitudeFeet { json.value(feet, decimals: 0) }
            json.closeArray()
        }
        json.closeArray()
        json.closeObject()
        json.closeObject()
        endDomain(hasLevels: hasLevels)
        write(
            ["composite"], [trajectory.points.count], trajectory.points.lazy.map { $0.sample?.tenThousandths },
            trajectory.points.lazy.map(\.severity))
        json.closeObject()
    }

    /// The values on a grid.
    mutating func write(_ grid: FieldGrid) {
        begin("Grid")
        axis("x", grid.longitudes)
        axis("y", grid.latitudes)
        if !grid.levels.isEmpty { axis("z", grid.levels.map(Double.init)) }
        axis(time: grid.frame.identity.validTime)
        json.closeObject()
        endDomain(hasLevels: !grid.levels.isEmpty)
        let levels = grid.levels.isEmpty ? [] : [grid.levels.count]
        write(
            (levels.isEmpty ? [] : ["z"]) + ["y", "x"], levels + [grid.latitudes.count, grid.longitudes.count],
            grid.values.lazy.joined(), grid.severities.lazy.joined())
        field(grid.frame.identity, grid.frame.source)
        json.closeObject()
    }

    /// The bytes of the document.
    mutating func end() -> [UInt8] {
        if isEmpty {
            json.openObject()
            member("type", "CoverageCollection")
            writeMembers()
            json.name("coverages")
            json.openArray()
            json.closeArray()
            writeParameters()
            json.closeObject()
        }
        return json.bytes
    }

    // MARK: - Parts

    /// Writes a coverage up to its axes.
    private mutating func begin(_ type: String) {
        isEmpty = false
        json.openObject()
        member("type", "Coverage")
        writeMembers()
        json.name("domain")
        json.openObject()
        member("type", "Domain")
        member("domainType", type)
        json.name("axes")
        json.openObject()
    }

    /// The same members as in a FeatureCollection.
    private mutating func writeMembers() {
        json.name("version")
        json.value(members.version.rawValue)
        json.name("time")
        json.value(members.time)
        json.name("dataTime")
        if let time = members.dataTime { json.value(time) } else { json.null() }
        json.name("stale")
        json.value(members.stale)
        json.name("simulated")
        json.value(members.simulated)
        json.name("incomplete")
        json.value(members.incomplete)
    }

    private mutating func axis(_ name: StaticString, _ values: [Double]) {
        json.name(name)
        json.openObject()
        json.name("values")
        json.openArray()
        for value in values { json.value(value, decimals: Self.decimals) }
        json.closeArray()
        json.closeObject()
    }

    private mutating func axis(_ name: StaticString, _ axis: FieldGrid.Axis) {
        json.name(name)
        json.openObject()
        json.name("start")
        json.value(axis.start, decimals: Self.decimals)
        json.name("stop")
        json.value(axis.stop, decimals: Self.decimals)
        json.name("num")
        json.value(Int64(axis.count))
        json.closeObject()
    }

    private mutating func axis(time: Instant) {
        json.name("t")
        json.openObject()
        json.name("values")
        json.openArray()
        json.value(time)
        json.closeArray()
        json.closeObject()
    }

    /// Writes the part between the axes and the ranges.
    private mutating func endDomain(hasLevels: Bool) {
        json.name("referencing")
        json.openArray()
        system(["x", "y"]) { json in
            json.name("type")
            json.value("GeographicCRS")
            json.name("id")
            json.value(Link.crs84)
        }
        if hasLevels {
            system([Self.vertical]) { json in
                json.name("type")
                json.value("VerticalCRS")
                json.name("cs")
                json.openObject()
                json.name("csAxes")
                json.openArray()
                json.openObject()
                Self.text("name", "Pressure altitude", &json)
                json.name("direction")
                json.value("up")
                Self.unit("[ft_i]", &json)
                json.closeObject()
                json.closeArray()
                json.closeObject()
            }
        }
        system(["t"]) { json in
            json.name("type")
            json.value("TemporalRS")
            json.name("calendar")
            json.value("Gregorian")
        }
        json.closeArray()
        json.closeObject()
        writeParameters()
    }

    private mutating func system(_ coordinates: [String], _ write: (inout JSONWriter) -> Void) {
        json.openObject()
        json.name("coordinates")
        json.openArray()
        for name in coordinates { json.value(name) }
        json.closeArray()
        json.name("system")
        json.openObject()
        write(&json)
        json.closeObject()
        json.closeObject()
    }

    private mutating func writeParameters() {
        json.name("parameters")
        json.openObject()
        for parameter in parameters {
            guard let property = collection.sampleProperties.first(where: { "\($0.name)" == parameter.rawValue }) else {
                continue
            }
            json.name(property.name)
            json.openObject()
            member("type", "Parameter")
            Self.text("description", property.summary, &json)
            if let unit = property.unit { Self.unit(unit, &json) }
            json.name("observedProperty")
            json.openObject()
            Self.text("label", property.summary, &json)
            if parameter == .severity { writeCategories() }
            json.closeObject()
            if parameter == .severity {
                json.name("categoryEncoding")
                json.rawValue(Self.encoding)
            }
            json.closeObject()
        }
        json.closeObject()
    }

    private mutating func writeCategories() {
        json.name("categories")
        json.openArray()
        for severity in Severity.allCases {
            json.openObject()
            json.name("id")
            json.value(severity.name)
            Self.text("label", severity.label, &json)
            json.closeObject()
        }
        json.closeArray()
    }

    /// The numbers of the categories.
    private static let encoding = Array(
        ("{" + Severity.allCases.map { "\"\($0.name)\":\($0.rawValue)" }.joined(separator: ",") + "}").utf8)

    private mutating func write(
        _ axes: [String], _ shape: [Int], _ values: some Sequence<Int?>, _ severities: some Sequence<Severity?>
    ) {
        json.name("ranges")
        json.openObject()
        for parameter in parameters {
            switch parameter {
            case .edr:
                json.name("edr")
                array("float", axes, shape) { json in
                    for value in values {
                        if let value { json.value(Double(value) / 10_000, decimals: 4) } else { json.null() }
                    }
                }
            case .severity:
                json.name("severity")
                array("integer", axes, shape) { json in
                    for severity in severities {
                        if let severity { json.value(Int64(severity.rawValue)) } else { json.null() }
                    }
                }
            }
        }
        json.closeObject()
    }

    private mutating func array(
        _ type: String, _ axes: [String], _ shape: [Int], _ write: (inout JSONWriter) -> Void
    ) {
        json.openObject()
        member("type", "NdArray")
        member("dataType", type)
        json.name("axisNames")
        json.openArray()
        for name in axes { json.value(name) }
        json.closeArray()
        json.name("shape")
        json.openArray()
        for count in shape { json.value(Int64(count)) }
        json.closeArray()
        json.name("values")
        json.openArray()
        write(&json)
        json.closeArray()
        json.closeObject()
    }

    /// The field that all values are of.
    private mutating func field(_ identity: FieldIdentity, _ source: SourceID) {
        json.name("field")
        json.openObject()
        member("product", identity.product.name)
        json.name("run")
        json.value(identity.run)
        json.name("lead")
        json.value(Int64(identity.lead))
        json.name("validTime")
        json.value(identity.validTime)
        member("source", source.name)
        json.closeObject()
    }

    private mutating func member(_ name: StaticString, _ text: String) {
        json.name(name)
        json.value(text)
    }

    private static func text(_ name: StaticString, _ text: String, _ json: inout JSONWriter) {
        json.name(name)
        json.openObject()
        json.name("en")
        json.value(text)
        json.closeObject()
    }

    private static func unit(_ symbol: String, _ json: inout JSONWriter) {
        json.name("unit")
        json.openObject()
        json.name("symbol")
        json.value(symbol)
        json.closeObject()
    }
}
