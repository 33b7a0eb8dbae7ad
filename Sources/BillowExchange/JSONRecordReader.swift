/// Reads one JSON record (a Feature, or an object with the same names in it) as far as its names mean something.
struct JSONRecordReader {
    /// The values under `properties`, or those of the object itself where it has none.
    private(set) var fields = RecordFields()
    private var outer = RecordFields()
    private(set) var featureID = RecordFields.Value.null
    /// Whether the record says of itself that it is simulated, as exports do beside the properties.
    private(set) var saysSimulated = false

    /// What sort of record it is, told by its names.
    enum Kind {
        case observation
        case exportedPilotReport
        case aviationWeather
        case hazard
    }

    /// One of these names makes a SIGMET or G-AIRMET.
    private static let hazardNames: [FieldName] = [.airSigmetType, .rawAirSigmet, .rawSigmet, .firId, .forecastHour]

    mutating func read(_ bytes: [UInt8], in range: Range<Int>) throws(RefusalReason) -> Kind {
        fields.removeAll()
        outer.removeAll()
        featureID = .null
        saysSimulated = false
        var hasProperties = false
        var type: String?
        // Only an object without properties means its own members.
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
                keep(value, as: .type, &contradiction)
            default:
                let value = try cursor.value()
                if let name = FieldName(key) { keep(value, as: name, &contradiction) }
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
        if JSONRecordReader.hazardNames.contains(where: { fields[$0] != .null }) { return .hazard }
        return fields[.turbulence] != .null ? .exportedPilotReport : .observation
    }

    private mutating func keep(_ value: JSONCursor.Value, as name: FieldName, _ contradiction: inout RefusalReason?) {
        do throws(RefusalReason) { try outer.set(name, value) } catch { contradiction = error }
    }

    /// The names of the properties before, by their order: most records of a file have the same ones in the same order.
    private var remembered: [(key: String, name: FieldName?)] = []

    private mutating func fieldName(_ key: String, at place: Int) -> FieldName? {
        if place < remembered.count {
            if remembered[place].key == key { return remembered[place].name }
            remembered.removeSubrange(place...)
        }
        let name = FieldName(key)
        if place == remembered.count, place < 64 { remembered.append((key, name)) }
        return name
    }

    private mutating func readProperties(_ cursor: inout JSONCursor) throws(RefusalReason) {
        try cursor.openObject()
        var first = true
        var place = -1
        while let key = try cursor.nextKey(&first) {
            place += 1
            if let name = fieldName(key, at: place) {
                try fields.set(name, try cursor.value())
            } else {
                try cursor.skip()
            }
        }
    }

    /// Only a Point says where an observation is; other shapes are passed over, as `h3` does.
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
