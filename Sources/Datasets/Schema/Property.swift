package import Turbulence

/// A property of a dataset's features. It is described once; GeoJSON, CSV, vector tiles, TileJSON and the documentation
/// are derived from it.
package struct Property: Sendable {
    /// The type of a property's value.
    package enum ValueType: Sendable, Hashable {
        case text
        case integer
        /// A number with at most the given decimals.
        case decimal(Int)
        case flag
        /// ISO 8601 with a zone.
        case instant
        /// A list of instants: the time of each vertex of a line.
        case instants
        /// A list of turbulence groups.
        case groups
    }

    /// What a property means to code that handles the features of any dataset.
    package enum Role: Sendable, Hashable {
        /// A name of the feature for people. Of those that a feature has, the one with the lowest rank is shown.
        case title(rank: Int)
        /// The number of the severity.
        case severity
        /// The altitude in feet of a feature at one level; if there is an upper one too, the lowest.
        case altitude
        case lowerAltitude, upperAltitude
        /// `AGL` for altitudes above the ground.
        case altitudeReference
        /// The instant of a feature.
        case time
        /// The beginning and the end of the time to which a feature applies.
        case start, end
    }

    /// The name in GeoJSON, CSV and vector tiles.
    package let name: StaticString
    /// The same as a string, which is made once.
    package let text: String
    package let type: ValueType
    /// The unit of a number; nil if it has none.
    package let unit: String?
    /// The allowed range of a number, both ends included; nil if it is unbounded.
    package let range: ClosedRange<Double>?
    /// A sentence without a full stop.
    package let summary: String
    /// nil if it means something else.
    package let role: Role?
    /// The query parameter that filters by it; nil if there is none.
    package let filter: String?
    /// Other names that an import accepts.
    package let aliases: [String]
    /// Whether only vector tiles have it. Otherwise it is in GeoJSON and has a column in CSV.
    package let isOfTilesOnly: Bool
    /// Whether vector tiles have it.
    package let isInTiles: Bool

    package init(
        _ name: StaticString, _ type: ValueType, _ summary: String, role: Role? = nil, unit: String? = nil,
        range: ClosedRange<Double>? = nil, filter: String? = nil, aliases: [String] = [], isInTiles: Bool = true,
        isOfTilesOnly: Bool = false
    ) {
        self.name = name
        text = name.description
        self.type = type
        self.summary = summary
        self.role = role
        self.unit = unit
        self.range = range
        self.filter = filter
        self.aliases = aliases
        self.isInTiles = isInTiles
        self.isOfTilesOnly = isOfTilesOnly
    }

    /// The maximum decimals of its numbers; 0 if it has none.
    package var decimals: Int { if case .decimal(let decimals) = type { decimals } else { 0 } }

    /// The type's name in `vector_layers` of TileJSON 3.0.0, where lists are texts.
    ///
    /// Source: TileJSON 3.0.0 section 3.3, https://github.com/mapbox/tilejson-spec
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
    /// A number with at most the given decimals.
    case decimal(Double, decimals: Int)
    case flag(Bool)
    case instant(Instant)
    /// The time of each vertex of a line.
    case instants([Instant])
    case groups([TurbulenceGroup])
}

/// The properties of one kind of record, each with the function that reads its value.
package struct Schema<Record>: Sendable {
    /// A function that reads a property from a record, in the value's own type. So a writer of millions of records
    /// needs no intermediate values. It returns nil if the record doesn't have the property.
    package enum Reading: Sendable {
        case text(@Sendable (borrowing Record) -> String?)
        case integer(@Sendable (borrowing Record) -> Int?)
        /// A number with the decimals of the property.
        case decimal(@Sendable (borrowing Record) -> Double?)
        case flag(@Sendable (borrowing Record) -> Bool?)
        case instant(@Sendable (borrowing Record) -> Instant?)
        case instants(@Sendable (borrowing Record) -> [Instant]?)
        case groups(@Sendable (borrowing Record) -> [TurbulenceGroup]?)

        /// The number of a severity.
        static func number(_ severity: @escaping @Sendable (borrowing Record) -> Severity?) -> Reading {
            .integer { record in severity(record).map { Int($0.rawValue) } }
        }

        /// The name of a severity.
        static func name(_ severity: @escaping @Sendable (borrowing Record) -> Severity?) -> Reading {
            .text { record in severity(record)?.name }
        }
    }

    /// A property and the function that reads it.
    package struct Field: Sendable {
        package let property: Property
        package let reading: Reading

        package init(_ property: Property, _ reading: Reading) {
            self.property = property
            self.reading = reading
        }

        /// The value; nil if the record doesn't have it.
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

    /// The fields in the order of the columns.
    package let fields: [Field]

    package init(_ fields: [Field]) { self.fields = fields }

    package var properties: [Property] { fields.map(\.property) }

    /// The values of a record by name, in order.
    package func values(of record: borrowing Record) -> [(name: StaticString, value: PropertyValue)] {
        var values: [(name: StaticString, value: PropertyValue)] = []
        values.reserveCapacity(fields.count)
        for field in fields {
            if let value = field.value(record) { values.append((field.property.name, value)) }
        }
        return values
    }
}
