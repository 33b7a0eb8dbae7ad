package import Datasets
package import Geometry
package import Turbulence

/// Writes features one by one into a buffer. The caller drains the buffer regularly, so an export of any size needs
/// memory for a few features only. Property names are the names that an import reads.
///
///     var writer = FeatureWriter(.observations, as: .geojson, members: members)
///     writer.begin()
///     for … { writer.write(observation, …); if writer.count > 64 << 10 { try await out.write(writer.drain()) } }
///     writer.end()
///     try await out.write(writer.drain())
package struct FeatureWriter: Sendable {
    package let dataset: Dataset
    package let form: FeatureFormat
    private let members: CollectionMembers?
    private let hasGeometry: Bool
    /// The names of a table's columns between `id` and the geometry's.
    let columns: [StaticString]
    /// The plan of observations and hexagons.
    private let plan: EncodingPlan<ObservationFeature>
    private let reports: EncodingPlan<PilotReport>
    private let positions: EncodingPlan<AircraftPosition>
    /// The properties to write; nil writes all. Rows of a GeoPackage always have all, because its table does.
    let selected: Set<String>?
    /// The writer of KML; nil in other forms.
    private var kml: KMLWriter?
    /// The height of the open KML feature.
    private var height: KMLWriter.Height?
    var json = JSONWriter()
    var day = CachedDateText()
    /// The number of polygons that a CSV row of the open feature has so far.
    private var polygons = 0
    /// Features written so far.
    package internal(set) var features = 0
    /// Whether another writer's features come before the first one.
    private var isContinuation = false
    /// Whether each feature has its own `simulated` member, because the form has no collection for it.
    var isSimulatedAlone: Bool { members?.simulated == true && form != .geojson }

    /// Longitudes and latitudes are written to 7 decimals, about a centimetre.
    package static let coordinateDecimals = 7

    /// - Parameters:
    ///   - members: the members of a FeatureCollection. Other formats write only `simulated`: if it is true, each
    ///     feature and row contains it.
    ///   - hasGeometry: false writes null instead, for clients that know the geometry by the feature's id.
    ///   - properties: the dataset's properties to write; nil writes all. CSV has columns for these alone.
    package init(
        _ dataset: Dataset, as format: ExportFormat, members: CollectionMembers? = nil,
        hasGeometry: Bool = true, properties: Set<String>? = nil
    ) {
        self.init(dataset, in: .text(format), members: members, hasGeometry: hasGeometry, properties: properties)
    }

    /// Creates a writer for any form.
    ///
    /// - Parameter design: the style of KML features; other forms ignore it.
    package init(
        _ dataset: Dataset, in form: FeatureFormat, members: CollectionMembers? = nil, hasGeometry: Bool = true,
        properties: Set<String>? = nil, design: KMLStyle? = nil
    ) {
        self.dataset = dataset
        let selected = form == .rows ? nil : properties
        self.selected = selected
        let plan: EncodingPlan<ObservationFeature> = dataset.isHexagons ? .hexagons : .observations
        self.plan = plan.selecting(selected)
        reports = EncodingPlan.reports.selecting(selected)
        positions = EncodingPlan.traffic.selecting(selected)
        kml = form == .kml ? KMLWriter(dataset, design, isSimulated: members?.simulated ?? false) : nil
        columns = dataset.properties.filter { !$0.isOfTilesOnly }.map(\.name).filter {
            selected?.contains($0.description) ?? true
        }
        self.form = form
        self.members = members
        self.hasGeometry = hasGeometry
    }

    /// Whether a cell's outline is written. CSV and tables of points contain the centre only. Clients that know the
    /// cell may omit the outline.
    package var writesOutlines: Bool {
        switch form {
        case .text(.csv): false
        case .rows: dataset.geometry != .point
        case .text: hasGeometry && dataset.geometry != .point
        }
    }

    // MARK: Bytes

    /// Bytes waiting to be drained.
    package var count: Int { json.bytes.count }

    /// The bytes waiting to be drained.
    package var bytes: [UInt8] { json.bytes }

    /// Empties the buffer but keeps its capacity, for a caller that has copied `bytes`.
    package mutating func removeAll() { json.bytes.removeAll(keepingCapacity: true) }

    /// Returns the bytes and empties the buffer. The new buffer reserves as much capacity, so a long export does not
    /// grow it repeatedly.
    package mutating func drain() -> [UInt8] {
        let bytes = json.bytes
        json.bytes = []
        json.bytes.reserveCapacity(bytes.count + bytes.count / 16)
        return bytes
    }

    // MARK: Parts

    /// Returns a writer for features that follow others, so that parts can be written concurrently. It also writes the
    /// separator (`separatorBytes`) before its first feature.
    package func continuation() -> FeatureWriter {
        var writer = self
        writer.json = JSONWriter()
        writer.features = 0
        writer.isContinuation = true
        return writer
    }

    /// The number of bytes between two features that belong to neither of them.
    package var separatorBytes: Int { form == .geojson ? 1 : 0 }

    // MARK: Begin and end

    /// Writes the start of the document.
    ///
    /// - Parameter more: writes further members of the FeatureCollection before `features`.
    package mutating func begin(_ more: (inout JSONWriter) -> Void = { _ in }) {
        switch form {
        case .text(.geojsonl), .text(.geojsons), .rows: break
        case .text(.csv): header()
        case .text(.kml): kml?.begin(&json.bytes)
        case .text(.geojson):
            json.openObject()
            member("type", "FeatureCollection")
            if let members { write(members) }
            more(&json)
            json.name("features")
            json.openArray()
        }
    }

    /// Writes the end of the document.
    ///
    /// - Parameter more: writes further members of the FeatureCollection after `features`.
    package mutating func end(_ more: (inout JSONWriter) -> Void = { _ in }) {
        if let kml { return kml.end(&json.bytes) }
        guard form == .geojson else { return }
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

    /// Begins a folder of KML.
    package mutating func begin(_ folder: KMLFolder) { kml?.begin(folder, &json.bytes) }

    /// Ends the open folder of KML.
    package mutating func endFolder() { kml?.endFolder(&json.bytes) }

    /// Returns the features of KML by their folders, in the order of writing, and empties the buffer.
    package mutating func drainByFolder() -> [(folder: KMLFolder, bytes: ArraySlice<UInt8>)] {
        let sections = kml?.sections ?? []
        kml?.restartSections()
        let bytes = drain()
        return sections.indices.map { index in
            let end = index + 1 < sections.count ? sections[index + 1].start : bytes.count
            return (sections[index].folder, bytes[sections[index].start..<end])
        }
    }

    // MARK: Features

    /// Writes an observation or a hexagon.
    ///
    /// - Parameter geometry: the outline of the cell; a dataset of points has the centre instead.
    /// - Parameter more: further properties. Tables omit them, because they have no columns for them.
    package mutating func write(
        _ feature: ObservationFeature, geometry: FeatureGeometry,
        more: [(name: StaticString, value: PropertyValue)] = []
    ) {
        let geometry =
            dataset.geometry == .point ? .point(H3.center(of: feature.observation.cell)) : geometry
        if kml != nil {
            let schema: Schema<ObservationFeature> = dataset.isHexagons ? .hexagons : .observations
            return write(Feature(id: feature.id, geometry: geometry, properties: schema.values(of: feature)))
        }
        guard form.isTable else { return write(feature, plan, id: feature.id, geometry: geometry, more: more) }
        if form == .rows, writesOutlines { return row(feature, plan, id: feature.id, geometry: geometry) }
        let place = if case .point(let place) = geometry { place } else { H3.center(of: feature.observation.cell) }
        row(feature, plan, id: feature.id, geometry: .point(place))
    }

    /// Writes a pilot report. Its turbulence groups are an array, which is empty if it does not mention turbulence.
    package mutating func write(_ report: PilotReport) {
        if kml != nil { return write(Feature(report)) }
        write(report, reports, id: report.id, at: report.place)
    }

    /// Writes an aircraft's position.
    ///
    /// - Parameter id: nil for that of the aircraft.
    package mutating func write(_ position: AircraftPosition, id: String? = nil) {
        if kml != nil { return write(Feature(position, id: id)) }
        write(position, positions, id: id ?? position.icao24.text, at: position.place)
    }

    private mutating func write<Record>(
        _ record: borrowing Record, _ plan: EncodingPlan<Record>, id: String, at place: LonLat
    ) {
        guard form.isTable else { return write(record, plan, id: id, geometry: .point(place)) }
        row(record, plan, id: id, geometry: .point(place))
    }

    private mutating func write<Record>(
        _ record: borrowing Record, _ plan: EncodingPlan<Record>, id: String, geometry: FeatureGeometry,
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

    /// Writes a feature of a small collection. CSV contains lines and areas as Well-known Text.
    package mutating func write(_ feature: Feature) {
        if kml != nil {
            kml?.write(feature, &json.bytes)
            features += 1
            return
        }
        if form.isTable { return row(feature) }
        openFeature(id: feature.id, geometry: feature.geometry)
        writeProperties(of: feature)
        closeFeature()
    }

    // MARK: Features of many polygons

    /// Begins a feature that is too large to be written at once. Its polygons follow one by one, then
    /// `end(polygonsOf:)`. The caller may drain the buffer in between. The geometry of `feature` is ignored.
    package mutating func begin(polygonsOf feature: Feature) {
        polygons = 0
        if kml != nil {
            kml?.begin(feature, &json.bytes)
            features += 1
            height = kml?.height(of: feature)
            kml?.beginParts(&json.bytes)
            return
        }
        guard !form.isTable else {
            rowWithoutGeometry(feature)
            if form == .csv { json.append(",\"MULTIPOLYGON (") } else { endColumns() }
            return
        }
        openFeature(id: feature.id)
        guard hasGeometry else { return json.null() }
        json.openObject()
        member("type", "MultiPolygon")
        json.name("coordinates")
        json.openArray()
    }

    /// Writes the next polygon. The first ring is the exterior.
    package mutating func write(polygon rings: [[LonLat]]) {
        if let kml {
            if let height { kml.polygon(rings, height, &json.bytes) }
            return
        }
        if form == .rows {
            json.bytes.append(.polygon) { _ = GeoPackageGeometry.appendPolygon(rings, to: &$0) }
            return
        }
        guard form != .csv else {
            if polygons > 0 { json.append(", ") }
            polygons += 1
            json.bytes.append(contentsOf: FeatureGeometry.wellKnownText(rings).utf8)
            return
        }
        if hasGeometry { write(rings) }
    }

    /// Ends the feature that `begin(polygonsOf:)` began.
    package mutating func end(polygonsOf feature: Feature) {
        if let kml {
            kml.endParts(&json.bytes)
            return kml.endPlacemark(&json.bytes)
        }
        if form == .rows { return json.bytes.append(.endOfPolygons) }
        guard form != .csv else {
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
        let own = selected == nil ? [] : dataset.propertyNames
        for (name, value) in feature.properties {
            // A query may add properties that the dataset lacks, such as a distance. They are always written.
            if let selected, !selected.contains("\(name)"), own.contains("\(name)") { continue }
            json.name(name)
            json.value(value)
        }
    }

    // MARK: JSON

    /// Encodes a geometry as JSON once, for features that write it many times.
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

    /// Writes a feature up to the name of its geometry.
    private mutating func openFeature(id: String) {
        switch form {
        case .text(.geojson): separate()
        case .text(.geojsons): json.append("\u{1E}")
        case .text(.geojsonl), .text(.csv), .text(.kml), .rows: break
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

    /// Writes a feature that is already JSON: a line of `geojsonl` without its line end.
    package mutating func write(encoded feature: some Sequence<UInt8>) {
        separate()
        json.bytes.append(contentsOf: feature)
        features += 1
    }

    private mutating func separate() {
        if features > 0 || isContinuation { json.append(",") }
        json.append("\n")
    }

    private mutating func closeFeature() {
        json.closeObject()
        json.closeObject()
        if form != .geojson { json.append("\n") }
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
}
