import Geometry
import Turbulence

/// Decodes the raw values of a record to an observation.
struct ObservationDecoder {
    /// The import's clock.
    let now: Instant
    /// The source of records without a source name.
    let source: SourceID

    /// The seconds by which an observation may be ahead of the clock, because clocks differ.
    static let aheadSeconds = 300
    /// The longest id, aircraft or report type, in bytes.
    static let longestText = 256

    /// An observation, and the adjustments to its values.
    struct Decoded {
        var observation: Observation
        var finerCell = false
    }

    func observation(_ fields: RecordFields, featureID: RecordFields.Value) throws(RefusalReason) -> Decoded {
        guard fields[.reports] == .null else { throw .aggregated }
        let (cell, finer) = try place(fields)
        let altitude = try altitude(fields)
        let intensity = try intensity(fields)
        let observedAt = try observedAt(fields)
        let observation = Observation(
            id: try id(fields, featureID: featureID, observedAt: observedAt), cell: cell, altitude: altitude,
            intensity: intensity, observedAt: observedAt, category: try category(fields), source: try source(fields),
            kind: try kind(fields), aircraft: try shortText(fields, .aircraft))
        return Decoded(observation: observation, finerCell: finer)
    }

    // MARK: Place

    private func place(_ fields: RecordFields) throws(RefusalReason) -> (cell: Cell, finer: Bool) {
        if let (index, text) = try h3(fields) {
            switch H3Index.classify(index) {
            case .cell(let cell): return (cell, false)
            case .finer(_, let parent): return (parent, true)
            case .coarser(let resolution): throw .coarserCell(h3: text, resolution: resolution)
            case .invalid: throw .invalid("h3", text, "the index of an H3 cell")
            }
        }
        guard let place = try point(fields) else { throw .missing("h3") }
        return (H3.cell(at: place), false)
    }

    /// The H3 index: a text is hexadecimal, and a JSON number is the 64-bit index itself.
    private func h3(_ fields: RecordFields) throws(RefusalReason) -> (index: UInt64, text: String)? {
        switch fields[.h3] {
        case .null: return nil
        case .text(let text):
            guard let index = H3Index.parse(text) else { throw .invalid("h3", text, "15 hexadecimal digits") }
            return (index, text)
        case .number(let text):
            guard let index = UInt64(text) else { throw .invalid("h3", text, "an H3 index") }
            return (index, text)
        case .bool, .structure: throw .invalid("h3", "another type", "15 hexadecimal digits")
        }
    }

    /// The Point, or else the longitude and latitude columns; nil without either.
    func point(_ fields: RecordFields) throws(RefusalReason) -> LonLat? {
        let longitude: Double
        let latitude: Double
        if let point = fields.point {
            (longitude, latitude) = point
        } else {
            let given = (
                try fields.number(.longitude, "degrees, -180 to 180"),
                try fields.number(.latitude, "degrees, -90 to 90")
            )
            switch given {
            case (nil, nil): return nil
            case (nil, _): throw .missing("longitude")
            case (_, nil): throw .missing("latitude")
            case (let given?, let other?): (longitude, latitude) = (given, other)
            }
        }
        guard abs(latitude) <= 90 else { throw .invalid("latitude", "\(latitude)", "degrees, -90 to 90") }
        guard let place = LonLat(longitude: longitude, latitude: latitude) else {
            throw .invalid("longitude", "\(longitude)", "degrees, -180 to 180")
        }
        return place
    }

    // MARK: Altitude

    private func altitude(_ fields: RecordFields) throws(RefusalReason) -> AltitudeBand {
        let single = try block(fields, .altitude)
        let lowest = try block(fields, .altitudeMin)
        let highest = try block(fields, .altitudeMax)
        guard let from = lowest ?? single ?? highest, let to = highest ?? single ?? lowest else {
            throw .missing("altitude")
        }
        guard let band = AltitudeBand(lowest: from, highest: to) else {
            throw .contradiction("altitudeMin \(from.feet) is above altitudeMax \(to.feet)")
        }
        if let single, single < from || single > to {
            throw .contradiction("altitude \(single.feet) is not within altitudeMin and altitudeMax")
        }
        return band
    }

    private func block(_ fields: RecordFields, _ name: FieldName) throws(RefusalReason) -> AltitudeBlock? {
        let expected = "feet from 0 to 60999"
        guard let feet = try fields.number(name, expected) else { return nil }
        guard let block = AltitudeBlock(feet: feet) else {
            throw .invalid(name.name, try fields.text(name) ?? "", expected)
        }
        return block
    }

    // MARK: Intensity

    private func intensity(_ fields: RecordFields) throws(RefusalReason) -> Intensity {
        let severity = try severity(fields)
        let edr = try edr(fields)
        // A severity that was derived from the EDR is derived again with the current table.
        if let edr, try fields.text(.severityBasis) == "edr" { return .measured(edr) }
        guard let intensity = Intensity(severity: severity, edr: edr) else { throw .withoutIntensity }
        return intensity
    }

    private func severity(_ fields: RecordFields) throws(RefusalReason) -> Severity? {
        let expected = ObservationDecoder.severities
        let named = try fields.text(.severityName).flatMap { Severity($0.lowercased()) }
        guard let text = try fields.text(.severity) else {
            if named == nil, let word = try fields.text(.severityName) {
                throw .invalid("severityName", word, expected)
            }
            return named
        }
        var severity = Severity(text.lowercased())
        if severity == nil, RecordFields.looksLikeANumber(text), let number = Double(text) {
            severity = UInt8(exactly: number).flatMap { Severity(rawValue: $0) }
        }
        guard let severity else { throw .invalid("severity", text, expected) }
        if let named, named != severity {
            throw .contradiction("severity \(severity.rawValue) is not severityName \(named.name)")
        }
        return severity
    }

    private static let severities = "0 to 4 or one of " + Severity.allCases.map(\.name).joined(separator: ", ")

    private func edr(_ fields: RecordFields) throws(RefusalReason) -> EDR? {
        let expected = "m^(2/3)/s from 0 to 1"
        guard let value = try fields.number(.edr, expected) else { return nil }
        guard let edr = EDR(value) else { throw .invalid("edr", "\(value)", expected) }
        return edr
    }

    // MARK: Time

    /// Parses ISO 8601 with a zone, or Unix seconds as a number or digits; not ahead of the clock.
    func observedAt(_ fields: RecordFields) throws(RefusalReason) -> Instant {
        let expected = "ISO 8601 with a zone (2026-11-21T02:30:00Z), or Unix seconds"
        guard let text = try fields.text(.observedAt) else { throw .missing("observedAt") }
        // Eight digits are treated as a date without a time, not as seconds in 1970.
        let isDate = text.utf8.count == 8 && (text.hasPrefix("19") || text.hasPrefix("20"))
        var instant: Instant?
        if let seconds = Instant.unixSeconds(text, fraction: true) {
            guard seconds >= 0 else { throw .invalid("observedAt", text, "1970 or later") }
            guard seconds <= Instant.range.upperBound else { throw .future(observedAt: text) }
            instant = Instant(seconds: seconds)
        } else if !isDate, RecordFields.looksLikeANumber(text), let seconds = Double(text), seconds >= 0,
            seconds <= Double(Instant.range.upperBound)
        {
            instant = Instant(seconds: Int(seconds))
        }
        guard let instant else { throw .invalid("observedAt", text, expected) }
        try refuseFuture(instant)
        return instant
    }

    func refuseFuture(_ instant: Instant) throws(RefusalReason) {
        guard instant <= now.advanced(by: ObservationDecoder.aheadSeconds) else {
            throw .future(observedAt: instant.description)
        }
    }

    // MARK: Identity

    /// The id of the record, or else of the feature. An id that Billow derived from the content is dropped, because the
    /// content identifies the observation.
    private func id(_ fields: RecordFields, featureID: RecordFields.Value, observedAt: Instant) throws(RefusalReason)
        -> String?
    {
        var given = try shortText(fields, .id)
        if given == nil {
            switch featureID {
            case .text(let text), .number(let text): given = text.isEmpty ? nil : try short(text, "id")
            case .null: break
            case .bool, .structure: throw .invalid("id", "another type", "a text or a number")
            }
        }
        if let id = given, let key = ObservationKey(id: id), key.observedAt == observedAt { return nil }
        return given
    }

    private func category(_ fields: RecordFields) throws(RefusalReason) -> AircraftCategory? {
        guard let text = try fields.text(.category) else { return nil }
        guard let category = AircraftCategory(text.uppercased()) ?? Int(text).flatMap({ AircraftCategory(number: $0) })
        else { throw .invalid("category", text, "C10, C20 … C110") }
        return category
    }

    func source(_ fields: RecordFields) throws(RefusalReason) -> SourceID {
        guard let text = try fields.text(.source) else { return source }
        guard let named = SourceID(text) else {
            throw .invalid("source", text, "1 to 64 letters, digits, '-', '_' and '.'")
        }
        return named
    }

    private func kind(_ fields: RecordFields) throws(RefusalReason) -> ObservationKind {
        guard let text = try fields.text(.kind) else { return .inSitu }
        guard let kind = ObservationKind(name: text.lowercased()) else {
            throw .invalid("kind", text, ObservationKind.shown.map(\.name).joined(separator: " or "))
        }
        return kind
    }

    func shortText(_ fields: RecordFields, _ name: FieldName) throws(RefusalReason) -> String? {
        guard let text = try fields.text(name) else { return nil }
        return try short(text, name.name)
    }

    private func short(_ text: String, _ name: String) throws(RefusalReason) -> String {
        guard text.utf8.count <= ObservationDecoder.longestText else {
            throw .invalid(name, text, "at most \(ObservationDecoder.longestText) bytes long")
        }
        return text
    }
}
