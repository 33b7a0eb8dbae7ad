import AviationFormats

/// Parses one JSON record (a Feature, or an object with the same names) and ignores unknown names.
struct JSONRecordReader {
    /// The values under `properties`; if there is no such member, those of the object itself.
    private(set) var fields = RecordFields()
    private var outer = RecordFields()
    private(set) var featureID = RecordFields.Value.null
    /// Whether the record has a simulation mark, which exports write beside the properties.
    private(set) var saysSimulated = false

    /// The kind of a record, derived from its names.
    enum Kind {
        case observation
        case exportedPilotReport
        case aviationWeather
        case hazard
    }

    /// Whether the record has a member that only hazards have.
    private var hasHazardMark = false

    mutating func read(_ bytes: [UInt8], in range: Range<Int>) throws(RefusalReason) -> Kind {
        fields.removeAll()
        outer.removeAll()
        featureID = .null
        saysSimulated = false
        hasHazardMark = false
        var hasProperties = false
        var type: String?
        // The object's own members count only if it has no `properties`.
        var contradiction: RefusalReason?
        var cursor = JSONCursor(bytes, in: range)
        guard cursor.peek() == UInt8(ascii: "{") else {
            try cursor.skip()
            try cursor.expectEnd()
            throw .notAFeature
        }
        try cursor.openObject()
        var first = true
        while let key = try cursor.nextKey(&first) {
            switch key {
            case "properties" where cursor.peek() == UInt8(ascii: "{"):
                hasProperties = true
                try readProperties(&cursor)
            case "geometry" where cursor.peek() == UInt8(ascii: "{"): try readGeometry(&cursor, bytes)
            case "id": featureID = try cursor.value()
            case "type":
                let value = try cursor.value()
                if case .text(let text) = value { type = text }
                store(value, as: .type, &contradiction)
            default:
                let value = try cursor.value()
                switch Meaning(key) {
                case .field(let name): store(value, as: name, &contradiction)
                case .hazardMark: note(value)
                case .nothing: break
                }
            }
        }
        try cursor.expectEnd()
        saysSimulated = outer.saysSimulated
        if !hasProperties {
            if type == "Feature" || type == "FeatureCollection" { throw .notAFeature }
            if let contradiction { throw contradiction }
            outer.point = fields.point
            fields = outer
        }
        if fields[.rawOb] != .null || fields[.obsTime] != .null { return .aviationWeather }
        if hasHazardMark { return .hazard }
        return fields[.turbulence] != .null ? .exportedPilotReport : .observation
    }

    private mutating func note(_ mark: JSONCursor.Value) {
        if mark != .null, mark != .text("") { hasHazardMark = true }
    }

    private mutating func store(_ value: JSONCursor.Value, as name: FieldName, _ contradiction: inout RefusalReason?) {
        do throws(RefusalReason) { try outer.set(name, value) } catch { contradiction = error }
    }

    /// The property names of the previous record, in order: most records of a file have the same names in the same
    /// order.
    private var remembered: [(key: String, meaning: Meaning)] = []

    /// The meaning of a property's name.
    private enum Meaning {
        case field(FieldName)
        /// A name that only hazards have.
        case hazardMark
        case nothing

        init(_ key: String) {
            if let name = FieldName(key) {
                self = .field(name)
            } else {
                self = HazardDecoder.catalogue.marks.contains(key) ? .hazardMark : .nothing
            }
        }
    }

    private mutating func meaning(of key: String, at place: Int) -> Meaning {
        if place < remembered.count {
            if remembered[place].key == key { return remembered[place].meaning }
            remembered.removeSubrange(place...)
        }
        let meaning = Meaning(key)
        if place == remembered.count, place < 64 { remembered.append((key, meaning)) }
        return meaning
    }

    private mutating func readProperties(_ cursor: inout JSONCursor) throws(RefusalReason) {
        try cursor.openObject()
        var first = true
        var place = -1
        while let key = try cursor.nextKey(&first) {
            place += 1
            switch meaning(of: key, at: place) {
            case .field(let name): try fields.set(name, try cursor.value())
            case .hazardMark: note(try cursor.value())
            case .nothing: try cursor.skip()
            }
        }
    }

    /// Reads the coordinates of a Point. Other geometries are ignored, because `h3` gives the position.
    private mutating func readGeometry(_ cursor: inout JSONCursor, _ bytes: [UInt8]) throws(RefusalReason) {
        var isPoint = false
        var coordinates: Range<Int>?
        var first = true
        try cursor.openObject()
        while let key = try cursor.nextKey(&first) {
            switch (key, try cursor.value()) {
            case ("type", .text(let type)): isPoint = type == "Point"
            case ("coordinates", .structure(let range)): coordinates = range
            default: break
            }
        }
        guard isPoint, let coordinates else { return }
        var inner = JSONCursor(bytes, in: coordinates)
        var numbers: [Double] = []
        first = true
        try inner.openArray()
        while try inner.nextElement(&first) {
            guard case .number(let text) = try inner.value(), let number = Double(text) else {
                throw .invalid("coordinates", "another type", "longitude and latitude")
            }
            numbers.append(number)
        }
        guard numbers.count >= 2 else { throw .missing("coordinates") }
        fields.point = (longitude: numbers[0], latitude: numbers[1])
    }
}
