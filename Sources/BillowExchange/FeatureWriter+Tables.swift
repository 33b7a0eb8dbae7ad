import Datasets
import Geometry
import Turbulence

/// Features as rows of a table: CSV, and the rows of a GeoPackage.
extension FeatureWriter {
    mutating func header() {
        json.append("id")
        for name in columns {
            json.append(",")
            json.append(name)
        }
        // A line or an area is text in one column. The cell defines a hexagon's outline, so its centre suffices.
        json.append(dataset.geometry == .point || dataset.isHexagons ? ",longitude,latitude" : ",geometry")
        endRow(isHeader: true)
    }

    /// Ends a row of CSV. Its last column is the only place in CSV that can mark simulated data.
    mutating func endRow(isHeader: Bool = false) {
        if isSimulatedAlone { json.append(isHeader ? ",simulated" : ",true") }
        json.append("\r\n")
    }

    /// Writes a record as a row with its geometry. Missing values are empty cells.
    mutating func row<Record>(
        _ record: borrowing Record, _ plan: EncodingPlan<Record>, id: String, geometry: FeatureGeometry
    ) {
        beginRow(id)
        for step in plan.steps { cell(step, record) }
        endRow(geometry)
    }

    /// Writes a feature as a row. Missing values are empty cells.
    mutating func row(_ feature: Feature) {
        rowWithoutGeometry(feature)
        endRow(feature.geometry)
    }

    /// Ends a row with its geometry.
    mutating func endRow(_ geometry: FeatureGeometry) {
        guard form == .csv else {
            endColumns()
            return json.bytes.append(.geometry) { GeoPackageGeometry.append(geometry, to: &$0) }
        }
        if case .point(let place) = geometry {
            cell(place.longitude, decimals: FeatureWriter.coordinateDecimals)
            cell(place.latitude, decimals: FeatureWriter.coordinateDecimals)
        } else {
            cell(geometry.wellKnownText)
        }
        endRow()
    }

    /// Ends the columns before a binary geometry.
    mutating func endColumns() {
        guard isSimulatedAlone else { return }
        json.bytes.append(.integer)
        json.bytes.append(little: Int64(1))
    }

    mutating func beginRow(_ id: String) {
        features += 1
        cell(id, first: true)
    }

    mutating func rowWithoutGeometry(_ feature: Feature) {
        beginRow(feature.id)
        var properties = feature.properties
        if let selected { properties.removeAll { !selected.contains($0.name.description) } }
        var next = properties.startIndex
        for name in columns {
            guard next < properties.endIndex, properties[next].name.description == name.description else {
                emptyCell()
                continue
            }
            cell(properties[next].value)
            next += 1
        }
    }

    mutating func emptyCell() {
        if form == .csv { json.append(",") } else { json.bytes.append(.null) }
    }

    /// Writes the value that a step reads from a record. A missing value is an empty cell.
    mutating func cell<Record>(_ step: EncodingPlan<Record>.Step, _ record: borrowing Record) {
        switch step.reading {
        case .text(let read): if let text = read(record) { return cell(text) }
        case .integer(let read): if let number = read(record) { return cell(number) }
        case .decimal(let read): if let number = read(record) { return cell(number, decimals: step.decimals) }
        case .flag(let read): if let flag = read(record) { return cell(flag) }
        case .instant(let read): if let instant = read(record) { return cell(instant) }
        case .instants(let read): if let instants = read(record) { return cell(.instants(instants)) }
        case .groups(let read): if let groups = read(record) { return cell(.groups(groups)) }
        }
        emptyCell()
    }

    mutating func cell(_ value: PropertyValue) {
        switch value {
        case .text(let text): cell(text)
        case .integer(let number): cell(number)
        case .decimal(let number, let decimals): cell(number, decimals: decimals)
        case .flag(let flag): cell(flag)
        case .instant(let instant): cell(instant)
        case .instants(let instants): cell(instants.map(\.description).joined(separator: " "))
        case .groups: cell(value.json)
        }
    }

    mutating func cell(_ flag: Bool) {
        if form == .csv { cell(flag ? "true" : "false") } else { cell(flag ? 1 : 0) }
    }

    mutating func cell(_ number: Double, decimals: Int) {
        guard form == .csv else {
            let scale = FeatureWriter.scales[min(max(decimals, 0), 9)]
            json.bytes.append(.decimal)
            return json.bytes.append(little: (number * scale).rounded() / scale)
        }
        json.append(",")
        _ = json.bytes.appendDecimal(number, decimals: decimals)
    }

    private static let scales: [Double] = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]

    mutating func cell(_ instant: Instant) {
        guard form == .csv else {
            json.bytes.append(.text)
            json.bytes.append(little: UInt32(FeatureWriter.instantLength))
            json.bytes.append(instant, day: &day)
            // GeoPackage requires milliseconds.
            json.bytes.removeLast()
            json.append(".000Z")
            return
        }
        json.append(",")
        json.bytes.append(instant, day: &day)
    }

    /// The number of bytes of `2026-11-21T02:30:00.000Z`.
    private static let instantLength = 24

    mutating func cell(_ value: Int) {
        guard form == .csv else {
            json.bytes.append(.integer)
            return json.bytes.append(little: Int64(value))
        }
        json.append(",")
        json.bytes.appendDecimal(Int64(value))
    }

    /// Writes a text cell. CSV quotes it if RFC 4180 section 2 requires quotes, or if blanks at its ends would be lost.
    mutating func cell(_ text: String, first: Bool = false) {
        guard form == .csv else {
            var text = text
            return text.withUTF8 { json.bytes.append(.text, $0) }
        }
        if !first { json.append(",") }
        func needsQuotes(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\"") || byte == 0x0A || byte == 0x0D
        }
        func isBlank(_ byte: UInt8?) -> Bool { byte == 0x20 || byte == 0x09 }
        var text = CSVFormula.isOne(text) ? CSVFormula.mark + text : text
        text.withUTF8 { utf8 in
            guard utf8.contains(where: needsQuotes) || isBlank(utf8.first) || isBlank(utf8.last) else {
                json.bytes.append(contentsOf: utf8)
                return
            }
            json.append("\"")
            for byte in utf8 {
                if byte == UInt8(ascii: "\"") { json.bytes.append(byte) }
                json.bytes.append(byte)
            }
            json.append("\"")
        }
    }
}
