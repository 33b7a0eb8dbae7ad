package import Datasets
package import Geometry
package import Turbulence

/// Writes features one by one into a buffer that the caller empties now and then, so that an export of any size takes
/// the memory of a few features. The names are those that an import reads.
///
///     var writer = FeatureWriter(.observations, as: .geojson, members: members)
///     writer.begin()
///     for … { writer.write(observation, …); if writer.count > 64 << 10 { try await out.write(writer.drain()) } }
///     writer.end()
///     try await out.write(writer.drain())
package struct FeatureWriter: Sendable {
    package let dataset: Dataset
    package let format: ExportFormat
    private let members: CollectionMembers?
    private let hasGeometry: Bool
    /// The names of the CSV's columns between `id` and the geometry's.
    private let columns: [StaticString]
    /// Of observations and hexagons.
    private let plan: WritingPlan<ObservationFeature>
    private var json = JSONWriter()
    private var day = DayText()
    /// Polygons of the feature that was begun.
    private var polygons = 0
    /// Features written so far.
    package private(set) var features = 0
    /// Whether each feature says by itself that it is simulated, because no collection around them can.
    private var isSimulatedAlone: Bool { members?.simulated == true && format != .geojson }

    /// Longitudes and latitudes are written to 7 decimals, about a centimetre.
    package static let coordinateDecimals = 7

    /// - Parameters:
    ///   - members: of a FeatureCollection. The other formats have no place for them, but for `simulated`: where it is
    ///     true each
    ///     feature and row says so.
    ///   - hasGeometry: false writes null in its place, for clients that know it by the feature's id.
    package init(
        _ dataset: Dataset, as format: ExportFormat, members: CollectionMembers? = nil,
        hasGeometry: Bool = true
    ) {
        self.dataset = dataset
        plan = dataset.isHexagons ? .hexagons : .observations
        columns = dataset.properties.filter { !$0.isOfTilesOnly }.map(\.name)
        self.format = format
        self.members = members
        self.hasGeometry = hasGeometry
    }

    /// Whether a hexagon's outline is written: CSV has its centre alone, and who knows the cell may leave it out.
    package var writesOutlines: Bool { format != .csv && hasGeometry }

    // MARK: Bytes

    /// Bytes waiting to be drained.
    package var count: Int { json.bytes.count }

    /// The bytes waiting to be drained.
    package var bytes: [UInt8] { json.bytes }

    /// Empties the buffer but keeps its room, for a caller that has copied `bytes` out.
    package mutating func removeAll() { json.bytes.removeAll(keepingCapacity: true) }

    /// Takes the bytes out. The next ones find room for as many: a long export doesn't grow its buffer piece by piece.
    package mutating func drain() -> [UInt8] {
        let bytes = json.bytes
        json.bytes = []
        json.bytes.reserveCapacity(bytes.count + bytes.count / 16)
        return bytes
    }

    // MARK: Begin and end

    /// Writes what comes before the first feature.
    ///
    /// - Parameter more: writes further members of the FeatureCollection, in front of `features`.
    package mutating func begin(_ more: (inout JSONWriter) -> Void = { _ in }) {
        switch format {
        case .geojsonl, .geojsons: break
        case .csv: header()
        case .geojson:
            json.openObject()
            member("type", "FeatureCollection")
            if let members { write(members) }
            more(&json)
            json.name("features")
            json.openArray()
        }
    }

    /// Writes what comes behind the last feature.
    ///
    /// - Parameter more: writes further members of the FeatureCollection, behind `features`.
    package mutating func end(_ more: (inout JSONWriter) -> Void = { _ in }) {
        guard format == .geojson else { return }
        json.append("\n")
        json.closeArray()
        more(&json)
        json.closeObject()
        json.append("\n")
    }

    private mutating func write(_ members: CollectionMembers) {
        json.name("version")
        json.value(members.version.rawValue)
        member("time", members.time)
        json.name("history")
        if let history = members.history { json.value(history.hours, decimals: 1) } else { json.null() }
        json.name("dataTime")
        if let time = members.dataTime { json.value(time) } else { json.null() }
        json.name("stale")
        json.value(members.stale)
        json.name("simulated")
        json.value(members.simulated)
        json.name("completeSince")
        if let time = members.completeSince { json.value(time) } else { json.null() }
        json.name("incomplete")
        json.value(members.incomplete)
    }

    // MARK: Features

    /// Writes an observation or a hexagon.
    ///
    /// - Parameter more: further properties, for which CSV has no columns.
    package mutating func write(
        _ feature: ObservationFeature, geometry: FeatureGeometry,
        more: [(name: StaticString, value: PropertyValue)] = []
    ) {
        guard format == .csv else { return write(feature, plan, id: feature.id, geometry: geometry, more: more) }
        let place = if case .point(let place) = geometry { place } else { H3.center(of: feature.observation.cell) }
        row(feature, plan, id: feature.id, at: place)
    }

    /// Writes a pilot report. Its turbulence groups are an array, empty where it says nothing about turbulence.
    package mutating func write(_ report: PilotReport) { write(report, .reports, id: report.id, at: report.place) }

    /// Writes an aircraft where it was.
    package mutating func write(_ position: AircraftPosition) {
        write(position, .traffic, id: position.icao24.text, at: position.place)
    }

    private mutating func write<Record>(
        _ record: borrowing Record, _ plan: WritingPlan<Record>, id: String, at place: LonLat
    ) {
        guard format == .csv else { return write(record, plan, id: id, geometry: .point(place)) }
        row(record, plan, id: id, at: place)
    }

    private mutating func write<Record>(
        _ record: borrowing Record, _ plan: WritingPlan<Record>, id: String, geometry: FeatureGeometry,
        more: [(name: StaticString, value: PropertyValue)] = []
    ) {
        openFeature(id: id, geometry: geometry)
        for step in plan.steps { json.member(step, record) }
        for (name, value) in more {
            json.name(name)
            json.value(value)
        }
        closeFeature()
    }

    /// Writes a feature of a collection that has few. In CSV a line or an area is Well-known Text.
    package mutating func write(_ feature: Feature) {
        if format == .csv { return row(feature) }
        openFeature(id: feature.id, geometry: feature.geometry)
        writeProperties(of: feature)
        closeFeature()
    }

    // MARK: Features of many polygons

    /// Begins a feature that is too large to be written at once. Its polygons follow one by one, and then its end; the
    /// buffer may be emptied in between. The geometry of `feature` is not looked at.
    package mutating func begin(polygonsOf feature: Feature) {
        polygons = 0
        guard format != .csv else {
            rowWithoutGeometry(feature)
            json.append(",\"MULTIPOLYGON (")
            return
        }
        openFeature(id: feature.id)
        guard hasGeometry else { return json.null() }
        json.openObject()
        member("type", "MultiPolygon")
        json.name("coordinates")
        json.openArray()
    }

    /// Writes the next polygon: its rings, the exterior first.
    package mutating func write(polygon rings: [[LonLat]]) {
        guard format != .csv else {
            if polygons > 0 { json.append(", ") }
            polygons += 1
            json.bytes.append(contentsOf: FeatureGeometry.wellKnownText(rings).utf8)
            return
        }
        if hasGeometry { write(rings) }
    }

    /// Ends what `begin(polygonsOf:)` began.
    package mutating func end(polygonsOf feature: Feature) {
        guard format != .csv else {
            json.append(")\"")
            return endRow()
        }
        if hasGeometry {
            json.closeArray()
            json.closeObject()
        }
        openProperties()
        writeProperties(of: feature)
        closeFeature()
    }

    private mutating func writeProperties(of feature: Feature) {
        for (name, value) in feature.properties {
            json.name(name)
            json.value(value)
        }
    }

    // MARK: JSON

    /// A geometry as the bytes of its JSON, for one that is written many times.
    package static func encoded(_ geometry: FeatureGeometry) -> FeatureGeometry { .encoded(bytes(of: geometry)) }

    /// The JSON of a geometry.
    package static func bytes(of geometry: FeatureGeometry) -> [UInt8] {
        var writer = FeatureWriter(Dataset.hexagons, as: .geojsonl)
        writer.write(geometry)
        return writer.bytes
    }

    private mutating func openFeature(id: String, geometry: FeatureGeometry) {
        openFeature(id: id)
        if hasGeometry { write(geometry) } else { json.null() }
        openProperties()
    }

    /// Up to the name of the geometry.
    private mutating func openFeature(id: String) {
        switch format {
        case .geojson:
            if features > 0 { json.append(",") }
            json.append("\n")
        case .geojsons: json.append("\u{1E}")
        case .geojsonl, .csv: break
        }
        json.restart()
        features += 1
        json.append("{\"type\":\"Feature\",\"id\":")
        json.value(id)
        if isSimulatedAlone { json.append(",\"simulated\":true") }
        json.begin(",\"geometry\":")
    }

    private mutating func openProperties() {
        json.name("properties")
        json.openObject()
    }

    /// Writes a feature that is JSON already: as a line of `geojsonl` without its end.
    package mutating func write(encoded feature: some Sequence<UInt8>) {
        if features > 0 { json.append(",") }
        json.append("\n")
        json.bytes.append(contentsOf: feature)
        features += 1
    }

    private mutating func closeFeature() {
        json.closeObject()
        json.closeObject()
        if format != .geojson { json.append("\n") }
    }

    private mutating func write(_ geometry: FeatureGeometry) {
        if case .encoded(let bytes) = geometry { return json.rawValue(bytes) }
        switch geometry {
        case .encoded: break
        case .point(let place):
            json.begin("{\"type\":\"Point\",\"coordinates\":")
            write(place)
        case .polygon(let rings):
            json.begin("{\"type\":\"Polygon\",\"coordinates\":")
            write(rings)
        case .multiPolygon(let polygons):
            json.begin("{\"type\":\"MultiPolygon\",\"coordinates\":")
            json.openArray()
            for rings in polygons { write(rings) }
            json.closeArray()
        case .lineString(let line):
            json.begin("{\"type\":\"LineString\",\"coordinates\":")
            write(line)
        case .multiLineString(let lines):
            json.begin("{\"type\":\"MultiLineString\",\"coordinates\":")
            write(lines)
        }
        json.closeObject()
    }

    private mutating func write(_ rings: [[LonLat]]) {
        json.openArray()
        for ring in rings { write(ring) }
        json.closeArray()
    }

    private mutating func write(_ places: [LonLat]) {
        json.openArray()
        for place in places { write(place) }
        json.closeArray()
    }

    private mutating func write(_ place: LonLat) {
        json.value(place, decimals: FeatureWriter.coordinateDecimals)
    }

    private mutating func member(_ name: StaticString, _ text: String) {
        json.name(name)
        json.value(text)
    }

    private mutating func member(_ name: StaticString, _ value: Int) {
        json.name(name)
        json.value(Int64(value))
    }

    private mutating func member(_ name: StaticString, _ instant: Instant) {
        json.name(name)
        json.value(instant)
    }

    // MARK: CSV

    private mutating func header() {
        json.append("id")
        for name in columns {
            json.append(",")
            json.append(name)
        }
        // A line or an area is text in one column; a hexagon is known by its cell, and its centre is enough.
        json.append(dataset.geometry == .point || dataset.isHexagons ? ",longitude,latitude" : ",geometry")
        endRow(isHeader: true)
    }

    /// Ends a row, which is the one place where a CSV can say what it is made of.
    private mutating func endRow(isHeader: Bool = false) {
        if isSimulatedAlone { json.append(isHeader ? ",simulated" : ",true") }
        json.append("\r\n")
    }

    /// A record as a row with its place, empty where it has no value.
    private mutating func row<Record>(
        _ record: borrowing Record, _ plan: WritingPlan<Record>, id: String, at place: LonLat
    ) {
        beginRow(id)
        for step in plan.steps { cell(step, record) }
        cells(place)
        endRow()
    }

    /// A feature as a row, empty where it has no value.
    private mutating func row(_ feature: Feature) {
        rowWithoutGeometry(feature)
        if case .point(let place) = feature.geometry { cells(place) } else { cell(feature.geometry.wellKnownText) }
        endRow()
    }

    private mutating func beginRow(_ id: String) {
        features += 1
        cell(id, first: true)
    }

    private mutating func rowWithoutGeometry(_ feature: Feature) {
        beginRow(feature.id)
        var next = feature.properties.startIndex
        for name in columns {
            guard next < feature.properties.endIndex, feature.properties[next].name.description == name.description
            else {
                json.append(",")
                continue
            }
            cell(feature.properties[next].value)
            next += 1
        }
    }

    /// What a step finds in a feature, empty where that is nothing.
    private mutating func cell<Record>(_ step: WritingPlan<Record>.Step, _ record: borrowing Record) {
        switch step.reading {
        case .text(let read): if let text = read(record) { return cell(text) }
        case .integer(let read): if let number = read(record) { return cell(number) }
        case .decimal(let read): if let number = read(record) { return cell(number, decimals: step.decimals) }
        case .flag(let read): if let flag = read(record) { return cell(flag ? "true" : "false") }
        case .instant(let read): if let instant = read(record) { return cell(instant) }
        case .instants(let read): if let instants = read(record) { return cell(.instants(instants)) }
        case .groups(let read): if let groups = read(record) { return cell(.groups(groups)) }
        }
        json.append(",")
    }

    /// A property's value, empty where there is none.
    private mutating func cell(_ value: PropertyValue?) {
        switch value {
        case nil: json.append(",")
        case .text(let text): cell(text)
        case .integer(let number): cell(number)
        case .decimal(let number, let decimals): cell(number, decimals: decimals)
        case .flag(let flag): cell(flag ? "true" : "false")
        case .instant(let instant): cell(instant)
        case .instants(let instants): cell(instants.map(\.description).joined(separator: " "))
        case .groups: cell(value?.json ?? "")
        }
    }

    private mutating func cells(_ place: LonLat) {
        cell(place.longitude, decimals: FeatureWriter.coordinateDecimals)
        cell(place.latitude, decimals: FeatureWriter.coordinateDecimals)
    }

    private mutating func cell(_ number: Double, decimals: Int) {
        json.append(",")
        _ = json.bytes.appendDecimal(number, decimals: decimals)
    }

    private mutating func cell(_ instant: Instant) {
        json.append(",")
        json.bytes.append(instant, day: &day)
    }

    private mutating func cell(_ value: Int) {
        json.append(",")
        json.bytes.appendDecimal(Int64(value))
    }

    /// A cell, quoted where it must be (RFC 4180 section 2) and where blanks at its ends would be lost.
    private mutating func cell(_ text: String, first: Bool = false) {
        if !first { json.append(",") }
        func needsQuotes(_ byte: UInt8) -> Bool {
            byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\"") || byte == 0x0A || byte == 0x0D
        }
        func isBlank(_ byte: UInt8?) -> Bool { byte == 0x20 || byte == 0x09 }
        var text = text
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
