package import Turbulence

/// One property of a dataset's features. It is described here once; GeoJSON, CSV, vector tiles, TileJSON and the
/// documentation are derived from it.
package struct Property: Sendable {
    /// What sort of value a property has.
    package enum ValueType: Sendable, Hashable {
        case text
        case integer
        /// A number with at most so many decimals.
        case decimal(Int)
        case flag
        /// ISO 8601 with a zone.
        case instant
        /// A list of instants: the time of each vertex of a line.
        case instants
        /// A list of turbulence groups.
        case groups
    }

    /// Its name in GeoJSON, CSV and vector tiles.
    package let name: StaticString
    package let type: ValueType
    /// What a number counts; nil for what has no unit.
    package let unit: String?
    /// What a number may be, both ends included; nil where nothing bounds it.
    package let range: ClosedRange<Double>?
    /// A sentence without its full stop.
    package let summary: String
    /// The parameter that selects by it; nil for none.
    package let filter: String?
    /// Other names under which an import reads it.
    package let aliases: [String]
    /// Whether it has a column in CSV, and is in GeoJSON; what only vector tiles have is not.
    package let isOfTilesOnly: Bool
    /// Whether vector tiles have it.
    package let isInTiles: Bool

    package init(
        _ name: StaticString, _ type: ValueType, _ summary: String, unit: String? = nil,
        range: ClosedRange<Double>? = nil, filter: String? = nil, aliases: [String] = [], isInTiles: Bool = true,
        isOfTilesOnly: Bool = false
    ) {
        self.name = name
        self.type = type
        self.summary = summary
        self.unit = unit
        self.range = range
        self.filter = filter
        self.aliases = aliases
        self.isInTiles = isInTiles
        self.isOfTilesOnly = isOfTilesOnly
    }

    /// The most decimals of its numbers; 0 for what has none.
    package var decimals: Int { if case .decimal(let decimals) = type { decimals } else { 0 } }

    /// The type as TileJSON 3.0.0 names it in `vector_layers`; lists are texts there.
    ///
    /// Source: TileJSON 3.0.0 section 3.3, github.com/mapbox/tilejson-spec
    package var tileType: String {
        switch type {
        case .integer, .decimal: "Number"
        case .flag: "Boolean"
        case .text, .instant, .instants, .groups: "String"
        }
    }
}

/// The value of a feature's property.
package enum PropertyValue: Sendable, Hashable {
    case text(String)
    case integer(Int)
    /// With at most so many decimals.
    case decimal(Double, decimals: Int)
    case flag(Bool)
    case instant(Instant)
    /// The time of each vertex of a line.
    case instants([Instant])
    case groups([TurbulenceGroup])
}

/// The properties of one kind of record, each with the way to its value.
package struct Schema<Record>: Sendable {
    /// How a record gives the value of a property: one function of the value's own type, so that a writer of millions
    /// of records goes from it to its bytes with nothing in between. It gives nil where a record doesn't have it.
    package enum Reading: Sendable {
        case text(@Sendable (borrowing Record) -> String?)
        case integer(@Sendable (borrowing Record) -> Int?)
        /// With the decimals that the property says.
        case decimal(@Sendable (borrowing Record) -> Double?)
        case flag(@Sendable (borrowing Record) -> Bool?)
        case instant(@Sendable (borrowing Record) -> Instant?)
        case instants(@Sendable (borrowing Record) -> [Instant]?)
        case groups(@Sendable (borrowing Record) -> [TurbulenceGroup]?)

        /// A severity as its number.
        static func number(_ severity: @escaping @Sendable (borrowing Record) -> Severity?) -> Reading {
            .integer { record in severity(record).map { Int($0.rawValue) } }
        }

        /// A severity as its name.
        static func name(_ severity: @escaping @Sendable (borrowing Record) -> Severity?) -> Reading {
            .text { record in severity(record)?.name }
        }
    }

    /// A property, and how a record gives its value.
    package struct Field: Sendable {
        package let property: Property
        package let reading: Reading

        package init(_ property: Property, _ reading: Reading) {
            self.property = property
            self.reading = reading
        }

        /// The value; nil where the record doesn't have it.
        package func value(_ record: borrowing Record) -> PropertyValue? {
            switch reading {
            case .text(let read): read(record).map { .text($0) }
            case .integer(let read): read(record).map { .integer($0) }
            case .decimal(let read): read(record).map { .decimal($0, decimals: property.decimals) }
            case .flag(let read): read(record).map { .flag($0) }
            case .instant(let read): read(record).map { .instant($0) }
            case .instants(let read): read(record).map { .instants($0) }
            case .groups(let read): read(record).map { .groups($0) }
            }
        }
    }

    /// In the order of the columns.
    package let fields: [Field]

    package init(_ fields: [Field]) { self.fields = fields }

    package var properties: [Property] { fields.map(\.property) }

    /// The values that a record has, by name and in order.
    package func values(of record: borrowing Record) -> [(name: StaticString, value: PropertyValue)] {
        var values: [(name: StaticString, value: PropertyValue)] = []
        values.reserveCapacity(fields.count)
        for field in fields {
            if let value = field.value(record) { values.append((field.property.name, value)) }
        }
        return values
    }
}
